"""A hash of training data."""

import hashlib

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics.types import FloatArray, IntArray
from hdsp.scaling import Design

_CHUNK = 1 << 20


def fingerprint(counts: csr_array, design: Design) -> str:
    """The SHA-256 of counts [M, V] and label values [M, J], independent of their dtypes."""
    digest = hashlib.sha256()
    for matrix in (counts, design):
        digest.update(repr(tuple(map(int, matrix.shape))).encode())
        _feed(digest, matrix.indptr, "<i8")
        _feed(digest, matrix.indices, "<i8")
        _feed(digest, matrix.data, "<f8")
    return digest.hexdigest()


def _feed(digest: "hashlib._Hash", array: FloatArray | IntArray, dtype: str) -> None:
    for first in range(0, len(array), _CHUNK):
        digest.update(np.ascontiguousarray(array[first : first + _CHUNK], dtype=dtype).data)
