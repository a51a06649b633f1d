"""Limits of the effect on several topics together, from those of single topics.

Proportions are weights over their sum, theta_k = w_k / sum_l w_l. If the logarithms of the weights
err independently of each other, an error of theta is, to first order, y_k - theta_k sum_l y_l with
independent y_l = theta_l d ln w_l. The topics of a set S with the share B = sum_S theta then err by
(1 - B) sum_S y - B sum_{not S} y. The limits of single topics say how far each y reaches down and
up; those of a set follow, the reaches of independent parts being added as squares (Zou and Donner,
2008). What S reaches down has the topics outside of it reach up.
"""

import numpy as np

ROUNDS = 30


def independent_reaches(below, above, share):
    """Squares of how far each y reaches down and up, [T] each.

    Solves below_k = (1 - b_k)^2 down_k + b_k^2 sum_{l != k} up_l, and likewise for above, for
    numbers that are not negative; `below` and `above` are squares, too.
    """
    down, up = below.copy(), above.copy()
    for _ in range(ROUNDS):
        for k, b in enumerate(share):
            rest_up, rest_down = up.sum() - up[k], down.sum() - down[k]
            kept = max((1.0 - b) ** 2, 1e-6)
            down[k] = max(below[k] - b**2 * rest_up, 0.0) / kept
            up[k] = max(above[k] - b**2 * rest_down, 0.0) / kept
    return down, up


def joint_limits(effect, lower, upper, share, members):
    """Lower and upper limit of the summed effect of `members`.

    Parameters
    ----------
    effect, lower, upper : float array of shape [T]
        The effects on single topics, with limits.
    share : float array of shape [T]
        Expected proportions.
    members : list of int
        The topics to add up.
    """
    below, above = np.maximum(effect - lower, 0.0) ** 2, np.maximum(upper - effect, 0.0) ** 2
    down, up = independent_reaches(below, above, share)
    inside = np.isin(np.arange(len(effect)), members)
    total = share[inside].sum()
    reach_down = (1 - total) ** 2 * down[inside].sum() + total**2 * up[~inside].sum()
    reach_up = (1 - total) ** 2 * up[inside].sum() + total**2 * down[~inside].sum()
    middle = effect[inside].sum()
    return max(middle - np.sqrt(reach_down), -1.0), min(middle + np.sqrt(reach_up), 1.0)
