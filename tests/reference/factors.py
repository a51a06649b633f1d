"""Non-negative coordinate descent, written for reading."""

import numpy as np


def descend_rows(gram, target, rows, n_sweeps):
    """Each coordinate of each row to its non-negative minimum of x G x / 2 - t x, in turn."""
    rows = rows.copy()
    for x, t in zip(rows, target, strict=True):
        for _ in range(n_sweeps):
            for k in range(len(x)):
                if gram[k, k] > 0:
                    x[k] = max(0.0, x[k] + (t[k] - gram[k] @ x) / gram[k, k])
    return np.asarray(rows)
