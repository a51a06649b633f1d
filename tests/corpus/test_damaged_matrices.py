"""Sparse matrices with indices out of range, which SciPy does not check by itself."""

import numpy as np
import pytest
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array

from hdsp import HDSP, Corpus


def damaged(format, wrong):
    rng = np.random.default_rng(0)
    counts = csr_array(rng.poisson(1.0, size=(8, 5)).astype(float))
    matrix = {"csr": csr_array, "csc": csc_array, "bsr": bsr_array, "coo": coo_array}[format](
        counts
    )
    if wrong == "pointer":
        matrix.indptr[2] = matrix.indptr[3] + 3
    elif format == "coo":
        matrix.coords[1][1] = wrong
    else:
        matrix.indices[1] = wrong
    return matrix


CASES = [
    *((format, wrong) for format in ("csr", "csc", "bsr", "coo") for wrong in (-1, 10**6)),
    *((format, "pointer") for format in ("csr", "csc")),
]


@pytest.mark.parametrize(("format", "wrong"), CASES)
def test_indices_out_of_range_are_refused(format, wrong):
    message = r"must be a sparse matrix with indices within its shape \(8, 5\)"
    with pytest.raises(ValueError, match="X of HDSP.fit " + message):
        HDSP(max_components=2).fit(damaged(format, wrong))
    with pytest.raises(ValueError, match="`counts` of Corpus " + message):
        Corpus(damaged(format, wrong))
    with pytest.raises(ValueError, match="`labels` of Corpus " + message):
        Corpus(np.ones((8, 5)), labels=damaged(format, wrong))


@pytest.fixture(scope="module")
def model():
    counts = np.random.default_rng(0).poisson(1.0, size=(8, 5))
    model = HDSP(2, tol=1e9, random_state=0)
    return model.fit(counts, labels=np.eye(8, 5))


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_predictions_refuse_them_too(model, format):
    with pytest.raises(ValueError, match=r"X of HDSP.transform must be a sparse matrix with"):
        model.transform(damaged(format, 10**6))
    with pytest.raises(ValueError, match=r"`labels` of HDSP.expected_topics must be a sparse"):
        model.expected_topics(damaged(format, 10**6))
