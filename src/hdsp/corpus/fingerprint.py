"""A hash of training data."""

import hashlib

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics import IntArray

_CHUNK = 1 << 20


def fingerprint(counts: csr_array, design: csr_array, groups: IntArray | None = None) -> str:
    """The SHA-256 of counts [M, V] and label values [M, J], of any dtypes, and groups [M]."""
    digest = hashlib.sha256()
    for matrix in (counts, design):
        digest.update(repr(tuple(map(int, matrix.shape))).encode())
        for array, dtype in ((matrix.indptr, "<i8"), (matrix.indices, "<i8"), (matrix.data, "<f8")):
            for first in range(0, len(array), _CHUNK):
                digest.update(np.ascontiguousarray(array[first : first + _CHUNK], dtype=dtype).data)
    if groups is not None:
        digest.update(np.ascontiguousarray(groups, dtype="<i8").data)
    return digest.hexdigest()
