"""Sparse matrices with indices out of range, which SciPy does not check by itself."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from hdsp import HDSP, Corpus


def damaged(format, wrong):
    counts = csr_array(np.random.default_rng(0).poisson(1.0, size=(8, 5)).astype(float))
    matrix = counts.asformat(format)
    if wrong == "pointer":
        matrix.indptr[2] = matrix.indptr[3] + 3
    elif format == "coo":
        matrix.coords[1][1] = wrong
    else:
        matrix.indices[1] = wrong
    return matrix


@pytest.fixture(scope="module")
def model():
    counts = np.random.default_rng(0).poisson(1.0, size=(8, 5))
    return HDSP(2, tol=1e9, random_state=0).fit(counts, labels=np.eye(8, 5))


@pytest.mark.parametrize("format", ["csr", "csc", "bsr", "coo"])
@pytest.mark.parametrize("wrong", [-1, 10**6, "pointer"])
def test_indices_out_of_range_are_refused(format, wrong, model):
    if wrong == "pointer" and format in ("bsr", "coo"):
        return
    for subject, use in {
        "X of HDSP.fit": lambda matrix: HDSP(max_components=2).fit(matrix),
        "`counts` of Corpus": Corpus,
        "`labels` of Corpus": lambda matrix: Corpus(np.ones((8, 5)), labels=matrix),
        "X of HDSP.transform": model.transform,
        "`labels` of HDSP.expected_topics": model.expected_topics,
    }.items():
        message = rf"{subject} must be a sparse matrix with indices within its shape \(8, 5\)"
        with pytest.raises(ValueError, match=message):
            use(damaged(format, wrong))
