"""Dataclasses as JSON and arrays, by their type hints: what is read is checked, and holds no code.

A field is written and read as its hint says, so that a new one, or another name, needs nothing
here. What else must hold stands in the hint, or in a method `check_stored` of the dataclass::

    topics: Annotated[FloatArray, Limits("V T", least=SMALLEST)]
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

AnyArray = NDArray[Any]

# Numbers beyond these come from no fit, and would overflow or vanish in what is computed of them.
SMALLEST, LARGEST = 1e-30, 1e30
_LARGEST_INTEGER = 2**63
_SPARSE_PARTS = ("data", "indices", "indptr")
_INTEGERS = np.dtype[np.integer[Any]]
_SPARSE_TYPES = (np.dtype[np.floating[Any]], _INTEGERS, _INTEGERS)
_PLAIN = re.compile(r"[\w:.]+", re.ASCII)
_LENGTH = re.compile(r"([A-Za-z])([+-]1)?")


class InvalidContents(ValueError):
    """The contents of a file are invalid, for the reason in the message."""


def require(valid: object, reason: str) -> None:
    """Raise `InvalidContents` for this reason unless the contents of a file are valid."""
    if not valid:
        raise InvalidContents(reason)


@dataclass(frozen=True)
class Limits:
    """What an array, a number or a list of texts in a file must be like.

    Attributes
    ----------
    shape : str or None, default=None
        The lengths, such as ``"V T-1"``. A capital letter is the same length in the whole file, and
        a small one in its dataclass. None is any shape.
    least, most : float
        The range of numbers.
    below : str, int or None, default=None
        Of indices: a length, or a number, that all are below; they begin at 0.
    missing : bool, default=False
        Whether numbers may be NaN.
    """

    shape: str | None = None
    least: float = -LARGEST
    most: float = LARGEST
    below: str | int | None = None
    missing: bool = False


ANY = Limits()


def encode(
    value: Any, arrays: dict[str, AnyArray], path: str = "", given: Mapping[str, Any] | None = None
) -> Any:
    """A value as JSON data; its arrays are added to `arrays` by path, such as "state.topics".

    What the reader will be `given`, by path, is left out.
    """
    if isinstance(value, str):
        return value
    if is_dataclass(value):
        paths = {f.name: _join(path, f.name) for f in fields(value) if f.init}
        return {
            name: encode(getattr(value, name), arrays, own, given)
            for name, own in paths.items()
            if own not in (given or {})
        }
    if isinstance(value, csr_array):
        for part in _SPARSE_PARTS:
            arrays[f"{path}.{part}"] = getattr(value, part)
        return list(map(int, value.shape))
    if isinstance(value, np.ndarray):
        by_column = value.flags.f_contiguous and not value.flags.c_contiguous
        array = np.ascontiguousarray(value.T if by_column else value)
        arrays[path] = array.view(np.uint8) if array.dtype == np.bool_ else array
        return "F" if by_column else "C"
    if isinstance(value, Mapping):
        return {
            str(key): encode(own, arrays, entry_path(path, i, str(key)), given)
            for i, (key, own) in enumerate(value.items())
        }
    if isinstance(value, (list, tuple)):
        return [encode(own, arrays, f"{path}.{i}", given) for i, own in enumerate(value)]
    return value.item() if isinstance(value, np.generic) else value


@dataclass
class Decoder:
    """Reads what `encode` wrote, and raises one of `PARSE_ERRORS` if it is invalid.

    Attributes
    ----------
    arrays : mapping of str to array
        The arrays of the file.
    sizes : dict of str to int
        What is known of the lengths that capital letters stand for.
    given : mapping of str to object
        What the file does not contain, by path.
    """

    arrays: Mapping[str, AnyArray]
    sizes: dict[str, int] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    _local: dict[str, int] = field(default_factory=dict, init=False)

    def decode(self, kind: Any, data: Any, path: str = "", limits: Limits = ANY) -> Any:
        """The value of a type from its JSON data."""
        if kind is str and isinstance(data, str) and limits is ANY:
            return data
        origin, args = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self.decode(args[0], data, path, args[1])
        if origin in (UnionType, Union):
            return self._decode_union(args, data, path, limits)
        if origin is np.ndarray:
            return self._decode_array(args[1], data, path, limits)
        if kind is csr_array:
            return self._decode_sparse(data, path, limits)
        if is_dataclass(kind):
            return self._decode_dataclass(kind, data, path)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            require(isinstance(data, dict), f"its {path} is no table")
            return {
                args[0](name): self.decode(args[1], own, entry_path(path, i, name))
                for i, (name, own) in enumerate(data.items())
            }
        if origin in (list, tuple):
            require(isinstance(data, list), f"its {path} is no list")
            kinds = [args[0]] * len(data) if origin is list or args[-1] is Ellipsis else args
            fits = len(kinds) == len(data) and self._fits((len(data),), limits)
            require(fits, f"its {path} is of another length")
            return origin(self.decode(kinds[i], data[i], f"{path}.{i}") for i in range(len(data)))
        if origin is Literal:
            require(isinstance(data, str) and data in args, f"its {path} is invalid")
        elif kind is not Any:
            _check_scalar(kind, data, path, limits)
        # An integer stays one where numbers are wanted: files that are saved again are the same.
        return data

    def _decode_union(self, kinds: tuple[Any, ...], data: Any, path: str, limits: Limits) -> Any:
        if data is None and NoneType in kinds:
            return None
        *others, last = (kind for kind in kinds if kind is not NoneType)
        for kind in others:
            with suppress(InvalidContents):
                return self.decode(kind, data, path, limits)
        return self.decode(last, data, path, limits)

    def _decode_dataclass(self, kind: Any, data: Any, path: str) -> Any:
        hints = get_type_hints(kind, include_extras=True)
        paths = {field.name: _join(path, field.name) for field in fields(kind) if field.init}
        values = {name: self.given[own] for name, own in paths.items() if own in self.given}
        wanted = [name for name in paths if name not in values]
        fits = isinstance(data, dict) and sorted(data) == sorted(wanted)
        require(fits, f"its {path or 'contents'} lack an entry, or have another one")
        inner = replace(self)
        for name in wanted:
            values[name] = inner.decode(hints[name], data[name], paths[name])
        value = kind(**values)
        if hasattr(value, "check_stored"):
            value.check_stored()
        return value

    def _decode_array(self, dtype: Any, order: Any, path: str, limits: Limits) -> AnyArray:
        require(path in self.arrays and order in ("C", "F"), f"it has no array {path!r}")
        array = self.arrays[path].T if order == "F" else self.arrays[path]
        kind = get_origin(get_args(dtype)[0]) or get_args(dtype)[0]
        is_flag = kind is np.bool_
        fits = array.dtype == np.uint8 if is_flag else np.issubdtype(array.dtype, kind)
        require(fits, f"its array {path!r} is {array.dtype}")
        require(self._fits(array.shape, limits), f"its array {path!r} is {array.shape}")
        self._check_range(array, path, Limits(below=2) if is_flag else limits)
        return array.view(np.bool_) if is_flag else array

    def _decode_sparse(self, data: Any, path: str, limits: Limits) -> csr_array:
        shape, free = self.decode(tuple[int, int], data, path), replace(limits, shape=None)
        require(self._fits(shape, limits), f"its matrix {path!r} has shape {shape}")
        parts = [
            self._decode_array(dtype, "C", f"{path}.{part}", own)
            for dtype, part, own in zip(_SPARSE_TYPES, _SPARSE_PARTS, (free, ANY, ANY), strict=True)
        ]
        return checked_matrix(parts, shape)

    def _fits(self, shape: tuple[int, ...], limits: Limits) -> bool:
        """Whether an array has the lengths that are wanted, of which new ones are remembered."""
        if limits.shape is None:
            return True
        wanted = limits.shape.split()
        return len(wanted) == len(shape) and all(map(self._is_length, wanted, shape))

    def _is_length(self, wanted: str, length: int) -> bool:
        if (parts := _LENGTH.fullmatch(wanted)) is None:
            return length == int(wanted)
        letter, rest = parts[1], length - int(parts[2] or 0)
        known = self.sizes if letter.isupper() else self._local
        return rest >= 0 and known.setdefault(letter, rest) == rest

    def _check_range(self, array: AnyArray, path: str, limits: Limits) -> None:
        least, most, below = limits.least, limits.most, limits.below
        if below is not None:
            least, most = 0, (below if isinstance(below, int) else self.sizes[below]) - 1
        # Not np.isfinite, which needs an array of the same size. NaN fails every comparison.
        smallest, largest = (np.fmin, np.fmax) if limits.missing else (np.minimum, np.maximum)
        low = smallest.reduce(array, None, np.float64, initial=least)
        high = largest.reduce(array, None, np.float64, initial=least)
        inside = not array.size or (low >= least and high <= most)
        require(inside, f"its array {path!r} holds numbers out of range")


def checked_matrix(parts: Sequence[AnyArray], shape: tuple[int, int]) -> csr_array:
    """The matrix of data, indices and starts, of which none reaches compiled code unchecked."""
    matrix = csr_array(tuple(parts), shape=shape)
    matrix.check_format(full_check=True)
    require(matrix.has_canonical_format, "a matrix has entries out of order")
    return matrix


def _check_scalar(kind: Any, data: Any, path: str, limits: Limits) -> None:
    fits = kind in (bool, int, float, str)
    fits &= type(data) in ((int, float) if kind is float else (kind,))
    if fits and kind in (int, float):
        inside = kind is float or abs(data) < _LARGEST_INTEGER
        fits = inside and limits.least <= data <= limits.most
    require(fits, f"its {path} is invalid")


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def entry_path(path: str, number: int, key: str) -> str:
    """The path of an entry of a mapping: names of arrays cannot be any text."""
    return f"{path}.{key if _PLAIN.fullmatch(key) else f'#{number}'}"
