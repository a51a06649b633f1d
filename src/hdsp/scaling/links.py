"""Scales that grow more slowly than the exponential, and scales that only rise or only fall."""

import numpy as np

from hdsp.labels import Ramps, Term
from hdsp.numerics import FloatArray
from hdsp.scaling.base import Design
from hdsp.scaling.point import PointFunction

# Below it, the softplus is the exponential to the last digit.
_LOWEST = -40.0


class Softplus(PointFunction):
    """s_mk = ln(1 + exp(w_k . r_m)) / ln 2: a scale that grows as a line, not as the exponential.

    Labels that hold a topic back do so as in `LogLinear`; those that raise it add to its scale. A
    positive weight raises a topic.

    Parameters
    ----------
    *columns : str or Term
        Label columns; without names, all that no other factor takes.
    variance : float, default=1.0
        The variance of the weights' normal prior.

    Examples
    --------
    >>> Softplus("price")
    Softplus('price', variance=1.0)
    """

    def __init__(self, *columns: str | Term, variance: float = 1.0) -> None:
        super().__init__(*columns, variance=variance)

    def log_scale(self, weights: FloatArray, design: Design) -> FloatArray:
        """ln s_mk, [M, T]."""
        score = np.asarray(design @ weights.T, dtype=np.float64)
        found = np.log(np.logaddexp(0.0, np.maximum(score, _LOWEST)))
        return np.asarray(found + np.minimum(score - _LOWEST, 0.0) - np.log(np.log(2.0)))

    def log_scale_gradient(self, weights: FloatArray, design: Design) -> FloatArray:
        """r_mj times the slope of the log scale, [J, M, T]."""
        score = np.maximum(np.asarray(design @ weights.T, dtype=np.float64), _LOWEST)
        return _chained(design, 1.0 / ((1.0 + np.exp(-score)) * np.logaddexp(0.0, score)))


class Power(PointFunction):
    """s_mk = (x + sqrt(1 + x^2))^2, x = w_k . r_m / 2: a scale that grows as a square.

    Near 0 it is the exponential of `LogLinear`, far from it the square of the score or 1 over it,
    so that numbers with a long tail do not rule. A positive weight raises a topic.

    Parameters
    ----------
    *columns : str or Term
        Label columns; without names, all that no other factor takes.
    variance : float, default=1.0
        The variance of the weights' normal prior.

    Examples
    --------
    >>> Power("price")
    Power('price', variance=1.0)
    """

    def __init__(self, *columns: str | Term, variance: float = 1.0) -> None:
        super().__init__(*columns, variance=variance)

    def log_scale(self, weights: FloatArray, design: Design) -> FloatArray:
        """ln s_mk, [M, T]."""
        return 2.0 * np.arcsinh(np.asarray(design @ weights.T, dtype=np.float64) / 2.0)

    def log_scale_gradient(self, weights: FloatArray, design: Design) -> FloatArray:
        """r_mj times the slope of the log scale, [J, M, T]."""
        score = np.asarray(design @ weights.T, dtype=np.float64)
        return _chained(design, 1.0 / np.sqrt(1.0 + score**2 / 4.0))


class Monotone(PointFunction):
    """A scale that only rises, or only falls, with a number, as fast as documents show.

    ln s_mk is a line that bends at quantiles of the number: w_k0 times the sum of the parts c_mi of
    the number in each interval, in proportion to exp(w_ki). With equal w_ki it is straight, as in
    `LogLinear`; beyond the training documents it stays as it is. A positive w_k0 raises a topic.

    Parameters
    ----------
    *columns : str or Term
        The name of one number.
    n_knots : int, default=8
        The number of intervals, each with as many training documents.
    variance : float, default=1.0
        The variance of the weights' normal prior.

    Examples
    --------
    >>> Monotone("year")
    Monotone(Ramps('year', n_knots=8), variance=1.0)
    """

    kinds = frozenset({"number"})

    def __init__(self, *columns: str | Term, n_knots: int = 8, variance: float = 1.0) -> None:
        if len(columns) != 1 or not isinstance(columns[0], (str, Ramps)):
            raise ValueError(f"Monotone takes the name of one number. Got {columns!r}.")
        (one,) = columns
        super().__init__(
            Ramps(one, n_knots=n_knots) if isinstance(one, str) else one, variance=variance
        )

    def _parts(self, weights: FloatArray, design: Design) -> tuple[FloatArray, FloatArray]:
        """The parts c_mi, [M, n], and what each counts in topics, [n, T]."""
        parts = design.toarray().astype(np.float64)
        if parts.shape[1] > 1:
            # The number itself stands before its parts.
            parts = parts[:, 1:]
        bend = np.exp(weights[:, 1:] - weights[:, 1:].max(axis=1, initial=0.0, keepdims=True)).T
        shape = bend / np.maximum(bend.mean(axis=0), 1e-300) if len(bend) else np.ones((1, 1))
        return parts, np.broadcast_to(shape, (parts.shape[1], len(weights)))

    def log_scale(self, weights: FloatArray, design: Design) -> FloatArray:
        """ln s_mk, [M, T]."""
        parts, shape = self._parts(weights, design)
        return np.asarray(weights[:, 0] * (parts @ shape))

    def log_scale_gradient(self, weights: FloatArray, design: Design) -> FloatArray:
        """By the direction and by what each part counts, [J, M, T]."""
        parts, shape = self._parts(weights, design)
        whole = parts @ shape
        found = np.empty((weights.shape[1], *whole.shape))
        found[0] = whole
        for i in range(1, len(found)):
            away = parts[:, i - 1, None] - whole / len(shape)
            found[i] = weights[:, 0] * shape[i - 1] * away
        return found


def _chained(design: Design, slope: FloatArray) -> FloatArray:
    """r_mj times the slope of a function of the score, [J, M, T]."""
    return np.asarray(design.toarray().T[:, :, None] * slope)
