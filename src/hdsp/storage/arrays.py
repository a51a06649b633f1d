"""Reading arrays from a file, with a check of each."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics.types import FloatArray, IntArray
from hdsp.storage.container import AnyArray, WrongContents

# Numbers beyond these come from no fit, and would overflow or vanish in what is computed of them.
SMALLEST, LARGEST = 1e-30, 1e30


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
        """An array, checked for its shape, where None is any length, and its NumPy dtype kind."""
        if name not in self._arrays:
            raise WrongContents(f"it has no array {name!r}")
        array = self._arrays[name]
        fits = array.ndim == len(shape) and all(
            wanted is None or wanted == length
            for wanted, length in zip(shape, array.shape, strict=True)
        )
        if not fits or array.dtype.kind != kind:
            wanted = "×".join("any" if length is None else str(length) for length in shape)
            raise WrongContents(
                f"its array {name!r} is {array.dtype} of {'×'.join(map(str, array.shape))}, where "
                f"{wanted} is needed"
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
        least, most = max(least, SMALLEST if positive else -LARGEST), min(most, LARGEST)
        # Not np.isfinite, which needs an array of the same size. NaN fails every comparison.
        if array.size and not (least <= array.min() and array.max() <= most):
            raise WrongContents(f"its array {name!r} holds numbers out of range")
        return array

    def whole(self, name: str, shape: Sequence[int | None], below: int) -> IntArray:
        """An int array of numbers from 0 to `below`, exclusive."""
        array = self.get(name, shape, "i")
        if array.size and not 0 <= array.min() <= array.max() < below:
            raise WrongContents(f"its array {name!r} holds numbers out of range")
        return array

    def sparse(self, name: str, shape: tuple[int | None, int], least: float = -np.inf) -> csr_array:
        """A sparse matrix that `put_sparse` wrote."""
        data = self.numbers(f"{name}.data", (None,), least)
        indices = self.whole(f"{name}.indices", data.shape, shape[1])
        n_rows = None if shape[0] is None else shape[0] + 1
        indptr = self.whole(f"{name}.indptr", (n_rows,), data.size + 1)
        bounds = len(indptr) and indptr[0] == 0 and indptr[-1] == data.size
        if not bounds or (indptr[1:] < indptr[:-1]).any():
            raise WrongContents(f"its matrix {name!r} has rows that do not follow one another")
        matrix = csr_array((data, indices, indptr), shape=(len(indptr) - 1, shape[1]))
        if not matrix.has_canonical_format:
            raise WrongContents(f"its matrix {name!r} has entries out of order")
        return matrix

    def texts(self, name: str) -> tuple[str, ...]:
        """Strings that `put_texts` wrote."""
        text = self.get(f"{name}.text", (None,), "u").tobytes()
        ends = self.whole(f"{name}.ends", (None,), len(text) + 1).tolist()
        starts = [0, *ends][: len(ends)]
        if (ends[-1] if ends else 0) != len(text) or any(
            end < start for start, end in zip(starts, ends, strict=True)
        ):
            raise WrongContents(f"its texts {name!r} do not follow one another")
        return tuple(
            text[start:end].decode("utf-8", "surrogatepass")
            for start, end in zip(starts, ends, strict=True)
        )


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
