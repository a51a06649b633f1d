"""Log likelihood of counts under mixtures of known topics."""

from typing import Any

import numpy as np

from hdsp.kernels.special import kernel


@kernel
def mixture_log_likelihood(
    first: Any,
    last: Any,
    indptr: Any,
    indices: Any,
    counts: Any,
    proportions: Any,
    word_share: Any,
    out: Any,
) -> None:
    """``out[m] = sum_i c_mi ln sum_k theta_mk phi_ki`` for documents ``first`` to ``last``.

    `proportions` [M, T], `word_share` [V, T]. Plain twin: ``tests/reference/likelihood.py``.
    """
    for m in range(first, last):
        theta = proportions[m]
        total = 0.0
        for i in range(indptr[m], indptr[m + 1]):
            row = word_share[indices[i]]
            mixed = 0.0
            for k in range(theta.shape[0]):
                mixed += theta[k] * row[k]
            total += counts[i] * np.log(mixed)
        out[m] = total
