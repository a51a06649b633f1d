"""Dataclasses as JSON and arrays, by their type hints: what is read is checked, and holds no code.

A field is written and read as its hint says, so that a new one, or another name, needs nothing
here. What else must hold stands in the hint, or in a method `check_stored` of the dataclass::

    topics: Annotated[FloatArray, Limits("V T", least=SMALLEST)]
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

AnyArray = NDArray[Any]

# Numbers beyond these come from no fit, and would overflow or vanish in what is computed of them.
SMALLEST, LARGEST = 1e-30, 1e30
_LARGEST_INTEGER = 2**63
_SPARSE_PARTS = ("data", "indices", "indptr")
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


def encode(
    value: Any, arrays: dict[str, AnyArray], path: str = "", given: Mapping[str, Any] | None = None
) -> Any:
    """A value as JSON data; its arrays are added to `arrays` by path, such as "state.topics".

    What the reader will be `given`, by path, is left out.
    """
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

    def __init__(
        self,
        arrays: Mapping[str, AnyArray],
        sizes: Mapping[str, int] | None = None,
        given: Mapping[str, Any] | None = None,
    ) -> None:
        self.arrays = arrays
        self.sizes = dict(sizes or {})
        self.given = given or {}

    def decode(self, kind: Any, data: Any, path: str = "") -> Any:
        """The value of a type from its JSON data."""
        return self._decode(kind, data, _Place(path, {}, Limits()))

    def _decode(self, kind: Any, data: Any, place: "_Place") -> Any:
        origin, args = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self._decode(args[0], data, place._replace(limits=args[1]))
        if origin in (UnionType, Union):
            return self._decode_union(args, data, place)
        if origin is np.ndarray:
            return self._decode_array(args[1], data, place)
        if kind is csr_array:
            return self._decode_sparse(data, place)
        if is_dataclass(kind):
            return self._decode_dataclass(kind, data, place.path)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            require(isinstance(data, dict), f"its {place.path} is no table")
            key, value = args
            return {
                key(name): self._decode(value, own, place.at(entry_path(place.path, i, name)))
                for i, (name, own) in enumerate(data.items())
            }
        if origin in (list, tuple):
            return self._decode_sequence(origin, args, data, place)
        if kind is Any or (origin is Literal and isinstance(data, str) and data in args):
            return data
        return _decode_scalar(kind, data, place)

    def _decode_union(self, kinds: tuple[Any, ...], data: Any, place: "_Place") -> Any:
        if data is None and NoneType in kinds:
            return None
        *others, last = (kind for kind in kinds if kind is not NoneType)
        for kind in others:
            try:
                return self._decode(kind, data, place)
            except InvalidContents:
                continue
        return self._decode(last, data, place)

    def _decode_dataclass(self, kind: Any, data: Any, path: str) -> Any:
        hints = get_type_hints(kind, include_extras=True)
        paths = {field.name: _join(path, field.name) for field in fields(kind) if field.init}
        stored = [name for name, own in paths.items() if own not in self.given]
        fits = isinstance(data, dict) and sorted(data) == sorted(stored)
        require(fits, f"its {path or 'contents'} lack an entry, or have another one")
        values, place = {}, _Place(path, {}, Limits())
        for name, own in paths.items():
            known = name not in stored
            values[name] = (
                self.given[own] if known else self._decode(hints[name], data[name], place.at(own))
            )
        value = kind(**values)
        if hasattr(value, "check_stored"):
            value.check_stored()
        return value

    def _decode_sequence(self, kind: Any, args: tuple[Any, ...], data: Any, place: "_Place") -> Any:
        require(isinstance(data, list), f"its {place.path} is no list")
        kinds = [args[0]] * len(data) if kind is list or args[-1] is Ellipsis else list(args)
        fits = len(kinds) == len(data) and self._fits((len(data),), place)
        require(fits, f"its {place.path} is of another length")
        return kind(
            self._decode(own, item, place.at(f"{place.path}.{i}"))
            for i, (own, item) in enumerate(zip(kinds, data, strict=True))
        )

    def _decode_array(self, dtype: Any, order: Any, place: "_Place") -> AnyArray:
        name = place.path
        require(name in self.arrays, f"it has no array {name!r}")
        array = self.arrays[name]
        array = array.T if order == "F" else array
        kind = get_origin(get_args(dtype)[0]) or get_args(dtype)[0]
        is_flag = kind is np.bool_
        fits = array.dtype == np.uint8 if is_flag else np.issubdtype(array.dtype, kind)
        require(fits, f"its array {name!r} is {array.dtype}")
        require(self._fits(array.shape, place), f"its array {name!r} has shape {array.shape}")
        limits = Limits(below=2) if is_flag else place.limits
        self._check_range(array, place._replace(limits=limits))
        return array.view(np.bool_) if is_flag else array

    def _decode_sparse(self, data: Any, place: "_Place") -> csr_array:
        shape, name = self.decode(tuple[int, int], data, place.path), place.path
        require(self._fits(shape, place), f"its matrix {name!r} has shape {shape}")
        limits = Limits(None, place.limits.least, place.limits.most)
        parts = [
            self._decode_array(dtype, "C", _Place(f"{name}.{part}", place.local, limits))
            for dtype, part in zip((_FLOATS, _INTEGERS, _INTEGERS), _SPARSE_PARTS, strict=True)
        ]
        matrix = csr_array(tuple(parts), shape=shape)
        # No index that is out of range reaches compiled code.
        matrix.check_format(full_check=True)
        require(matrix.has_canonical_format, f"its matrix {name!r} has entries out of order")
        return matrix

    def _fits(self, shape: tuple[int, ...], place: "_Place") -> bool:
        """Whether an array has the lengths that are wanted, of which new ones are remembered."""
        if place.limits.shape is None:
            return True
        wanted = place.limits.shape.split()
        return len(wanted) == len(shape) and all(
            self._is_length(own, length, place.local)
            for own, length in zip(wanted, shape, strict=True)
        )

    def _is_length(self, wanted: str, length: int, local: dict[str, int]) -> bool:
        if (parts := _LENGTH.fullmatch(wanted)) is None:
            return length == int(wanted)
        letter, more = parts[1], int(parts[2] or 0)
        known = self.sizes if letter.isupper() else local
        return length >= max(more, 0) and known.setdefault(letter, length - more) == length - more

    def _check_range(self, array: AnyArray, place: "_Place") -> None:
        least, most, below = place.limits.least, place.limits.most, place.limits.below
        if below is not None:
            least, most = 0, (below if isinstance(below, int) else self.sizes[below]) - 1
        # Not np.isfinite, which needs an array of the same size. NaN fails every comparison.
        smallest, largest = (np.fmin, np.fmax) if place.limits.missing else (np.minimum, np.maximum)
        inside = not array.size
        if array.size:
            low = float(smallest.reduce(array, axis=None))
            high = float(largest.reduce(array, axis=None))
            unknown = place.limits.missing and np.isnan(low)
            inside = bool(unknown) or (least <= low and high <= most)
        require(inside, f"its array {place.path!r} holds numbers out of range")


class _Place(NamedTuple):
    """Where a value is, which lengths small letters stand for there, and what it must be like."""

    path: str
    local: dict[str, int]
    limits: Limits

    def at(self, path: str) -> "_Place":
        """A value within this one, which has no limits yet."""
        return _Place(path, self.local, Limits())


_FLOATS = np.dtype[np.floating[Any]]
_INTEGERS = np.dtype[np.integer[Any]]


def _decode_scalar(kind: Any, data: Any, place: _Place) -> Any:
    fits = kind in (bool, int, float, str)
    fits &= type(data) in ((int, float) if kind is float else (kind,))
    if fits and kind in (int, float):
        inside = kind is float or abs(data) < _LARGEST_INTEGER
        fits = inside and place.limits.least <= data <= place.limits.most
    require(fits, f"its {place.path} is invalid")
    # An integer stays one where numbers are wanted: files that are saved again are the same.
    return data


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def entry_path(path: str, number: int, key: str) -> str:
    """The path of an entry of a mapping: names of arrays cannot be any text."""
    return f"{path}.{key if _PLAIN.fullmatch(key) else f'#{number}'}"
