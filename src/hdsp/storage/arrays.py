"""Reading arrays from a file, with a check of each."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics import FloatArray, IntArray
from hdsp.storage.codec import LARGEST, SMALLEST, AnyArray, require


class StoredArrays:
    """The arrays of a file, by name.

    Parameters
    ----------
    arrays : mapping of str to array
        The arrays as they were read.
    """

    def __init__(self, arrays: Mapping[str, AnyArray]) -> None:
        self._arrays = arrays

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def get(self, name: str, shape: Sequence[int | None], kind: str = "f") -> AnyArray:
        """An array, checked for its shape, where None is any length, and its NumPy dtype kinds."""
        require(name in self._arrays, f"it has no array {name!r}")
        array = self._arrays[name]
        fits = array.ndim == len(shape) and all(
            wanted in (None, length) for wanted, length in zip(shape, array.shape, strict=True)
        )
        found = "×".join(map(str, array.shape))
        wanted = "×".join("any" if length is None else str(length) for length in shape)
        require(
            fits and array.dtype.kind in kind,
            f"its array {name!r} is {array.dtype} of {found}, where {wanted} is needed",
        )
        return array

    def numbers(
        self,
        name: str,
        shape: Sequence[int | None],
        least: float = -np.inf,
        most: float = np.inf,
        positive: bool = False,
    ) -> FloatArray:
        """A float array of numbers within limits, none so large or small that sums overflow."""
        array = self.get(name, shape)
        least = max(least, SMALLEST if positive else -LARGEST)
        _check_range(name, array, least, min(most, LARGEST))
        return array

    def whole(self, name: str, shape: Sequence[int | None], below: int) -> IntArray:
        """An int array of numbers from 0 to `below`, exclusive."""
        array = self.get(name, shape, "i")
        _check_range(name, array, 0, below - 1)
        return array

    def sparse(self, name: str, shape: tuple[int | None, int], least: float = -np.inf) -> csr_array:
        """A sparse matrix that `put_sparse` wrote."""
        return self.matrix(name, shape, self.numbers(f"{name}.data", (None,), least))

    def matrix(self, name: str, shape: tuple[int | None, int], data: AnyArray) -> csr_array:
        """A sparse matrix of checked rows and columns, whose entries are `data`."""
        indices = self.whole(f"{name}.indices", data.shape, shape[1])
        n_rows = None if shape[0] is None else shape[0] + 1
        indptr = self.whole(f"{name}.indptr", (n_rows,), data.size + 1)
        bounds = len(indptr) and indptr[0] == 0 and indptr[-1] == data.size
        follow = bounds and (indptr[1:] >= indptr[:-1]).all()
        require(follow, f"its matrix {name!r} has rows that do not follow one another")
        matrix = csr_array((data, indices, indptr), shape=(len(indptr) - 1, shape[1]))
        require(matrix.has_canonical_format, f"its matrix {name!r} has entries out of order")
        return matrix

    def texts(self, name: str) -> tuple[str, ...]:
        """Strings that `put_texts` wrote."""
        text = self.get(f"{name}.text", (None,), "u").tobytes()
        ends = [0, *self.whole(f"{name}.ends", (None,), len(text) + 1).tolist()]
        follow = ends[-1] == len(text) and ends == sorted(ends)
        require(follow, f"its texts {name!r} do not follow one another")
        parts = (text[start:end] for start, end in pairwise(ends))
        return tuple(part.decode("utf-8", "surrogatepass") for part in parts)


def _check_range(name: str, array: AnyArray, least: float, most: float) -> None:
    # Not np.isfinite, which needs an array of the same size. NaN fails every comparison.
    inside = not array.size or (least <= float(array.min()) and float(array.max()) <= most)
    require(inside, f"its array {name!r} holds numbers out of range")


def put_sparse(arrays: dict[str, AnyArray], name: str, matrix: csr_array) -> None:
    """Add a sparse matrix to arrays."""
    for part in ("data", "indices", "indptr"):
        arrays[f"{name}.{part}"] = getattr(matrix, part)


def put_texts(arrays: dict[str, AnyArray], name: str, texts: Iterable[str]) -> None:
    """Add strings to arrays: their concatenation, and where each of them ends."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    arrays[f"{name}.text"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    arrays[f"{name}.ends"] = np.cumsum([len(text) for text in encoded], dtype=np.int64)


def put_all(arrays: dict[str, AnyArray], name: str, members: Mapping[str, Any]) -> None:
    """Add several arrays under a common prefix."""
    for part, array in members.items():
        arrays[f"{name}.{part}"] = array
