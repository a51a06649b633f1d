"""Functions that are not log-linear: growing slowly, rising or falling only, or a user's own."""

from abc import abstractmethod
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array

from hdsp.checks import check_whole
from hdsp.numerics import FloatArray
from hdsp.scaling.functions import (
    Categorical,
    Constant,
    Design,
    LogLinear,
    Parameters,
    PointFunction,
    ScalingFunction,
)
from hdsp.scaling.terms import Ramps, Slots, Term

# Below it, the softplus is the exponential to the last digit.
_LOWEST = -40.0


class _ByScore(PointFunction):
    """A function whose log scale depends on the score w_k . r_m alone."""

    @abstractmethod
    def _link(self, score: FloatArray) -> FloatArray:
        """ln s_mk of scores, [M, T]."""

    @abstractmethod
    def _slope(self, score: FloatArray) -> FloatArray:
        """The derivative of `_link`, [M, T]."""

    def log_scale(self, weights: FloatArray, design: Design) -> FloatArray:
        """ln s_mk, [M, T]."""
        return self._link(np.asarray(design @ weights.T, dtype=np.float64))

    def log_scale_gradient(self, weights: FloatArray, design: Design) -> FloatArray:
        """r_mj times the slope of the log scale, [J, M, T]."""
        slope = self._slope(np.asarray(design @ weights.T, dtype=np.float64))
        return np.asarray(design.toarray().T[:, :, None] * slope)


class Softplus(_ByScore):
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

    def _link(self, score: FloatArray) -> FloatArray:
        found = np.log(np.logaddexp(0.0, np.maximum(score, _LOWEST)))
        return np.asarray(found + np.minimum(score - _LOWEST, 0.0) - np.log(np.log(2.0)))

    def _slope(self, score: FloatArray) -> FloatArray:
        score = np.maximum(score, _LOWEST)
        return np.asarray(1.0 / ((1.0 + np.exp(-score)) * np.logaddexp(0.0, score)))


class Power(_ByScore):
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

    def _link(self, score: FloatArray) -> FloatArray:
        return np.asarray(2.0 * np.arcsinh(score / 2.0))

    def _slope(self, score: FloatArray) -> FloatArray:
        return np.asarray(1.0 / np.sqrt(1.0 + score**2 / 4.0))


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
        terms = [Ramps(c, n_knots=n_knots) if isinstance(c, str) else c for c in columns]
        super().__init__(*terms, variance=variance)

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
        away = parts.T[: weights.shape[1] - 1, :, None] - whole / len(shape)
        bends = weights[:, 0] * shape[: len(away), None] * away
        return np.concatenate([whole[None], bends])


# Takes labels [J, M, 1] and weights [W, T]; returns [M, T], or such an array for each weight.
LogScale = Callable[[FloatArray, FloatArray], Any]


class Custom(PointFunction):
    """A scaling function of one's own, by its log scale: s_mk = exp(log_scale(r_m, w_k)).

    It counts from labels that are all 0 (the mean of a number, the absence of a tag), where the
    scale is 1, as it is for labels that are missing.

    Parameters
    ----------
    *columns : str or Term
        Label columns; without names, all that no other factor takes.
    log_scale : callable
        Takes labels and weights, and returns the log scale of documents. ``labels[j]`` is a column
        of the labels of all documents, [M, 1], numbers in standard units; ``weights[i]`` are the
        weights of all topics, [T]. An expression of these is [M, T], as it should be. Where weights
        are 0, labels must do nothing, and the first change of some weight must do something.
    n_weights : int or None, default=None
        The number of a topic's weights; None is one for each column of labels. For more weights
        than that, the columns must be named, and the last be a number.
    gradient : callable, "jax" or None, default=None
        Takes the same, and returns for each weight the derivative of the log scale by it, [M, T].
        ``"jax"`` derives `log_scale`, which must then be written with ``jax.numpy``; None takes
        central differences.
    variance : float, default=1.0
        The variance of the weights' normal prior.

    Examples
    --------
    >>> import numpy as np
    >>> def levelling(labels, weights):
    ...     return weights[0] * np.tanh(labels[0] * np.exp(weights[1]))
    >>> Custom("price", log_scale=levelling, n_weights=2)
    Custom('price', log_scale=levelling, n_weights=2, variance=1.0)
    """

    def __init__(
        self,
        *columns: str | Term,
        log_scale: LogScale,
        n_weights: int | None = None,
        gradient: LogScale | Literal["jax"] | None = None,
        variance: float = 1.0,
    ) -> None:
        if not callable(log_scale) or not (gradient in (None, "jax") or callable(gradient)):
            raise TypeError(
                "`log_scale` of Custom must be a function of labels and weights, and `gradient` "
                f"such a function, 'jax' or None. Got {log_scale!r} and {gradient!r}."
            )
        if n_weights is not None:
            check_whole(n_weights, "n_weights", 1, "Custom")
        self.function, self.n_weights, self.gradient = log_scale, n_weights, gradient
        if gradient == "jax":
            _jax()
        self._written = columns
        self._slots = max((n_weights or 0) - len(columns), 0) if columns else 0
        if self._slots:
            # More weights than columns: the last names a number.
            columns = (*columns[:-1], Slots(str(columns[-1]), n=self._slots))
        super().__init__(*columns, variance=variance)

    def settings(self) -> dict[str, Any]:
        """What the constructor takes by name."""
        return {**super().settings(), "log_scale": self.function}

    def __repr__(self) -> str:
        shown = {name: getattr(own, "__name__", repr(own)) for name, own in self.settings().items()}
        settings = [f"{name}={value}" for name, value in shown.items()]
        return f"Custom({', '.join([*map(repr, self._written), *settings])})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Custom) or repr(self) != repr(other):
            return False
        return self.function is other.function and self.gradient == other.gradient

    __hash__ = ScalingFunction.__hash__

    def initial(self, n_topics: int, n_labels: int) -> Parameters:
        """w = 0, with the prior's variance; raises unless labels then do nothing."""
        if self.n_weights is not None and self.n_weights > n_labels:
            raise ValueError(
                f"`n_weights` of Custom must be at most {n_labels}, as there are columns. Got "
                f"{self.n_weights}. Name the columns, the last of them a number, to have more."
            )
        start = super().initial(n_topics, n_labels)
        if n_topics and n_labels:
            labels = csr_array(np.array([[-1.0], [1.0]]) * np.ones(n_labels))
            scale = self.log_scale(start["weight"], labels)
            slope = self.log_scale_gradient(start["weight"], labels)
            if np.abs(scale).max() > 1e-12 or not np.abs(slope).max() > 1e-9:
                raise ValueError(
                    "Where all weights are 0, `log_scale` of Custom must not depend on labels (at "
                    f"1, it is {scale[1, 0]:.4g} more than at 0), and must change with some "
                    "weight: write exp(w) for a weight that others multiply."
                )
        return start

    def log_scale(self, weights: FloatArray, design: Design) -> FloatArray:
        """ln s_mk, less that of labels that are all 0, [M, T]."""
        labels, document = self._labels(design)
        given = self._call(self.function, labels, weights)
        found = _checked(given, (len(labels), len(weights)), "log_scale")
        return np.asarray((found - found[0])[document])

    def log_scale_gradient(self, weights: FloatArray, design: Design) -> FloatArray:
        """As `gradient` says, less those of labels that are all 0, [J, M, T]."""
        if self.gradient is None:
            return super().log_scale_gradient(weights, design)
        labels, document = self._labels(design)
        by_jax = partial(_derivatives, self.function)
        given = self._call(by_jax if self.gradient == "jax" else self.gradient, labels, weights)
        n_used = self.n_weights or weights.shape[1]
        if len(given) != n_used:
            raise ValueError(
                f"`gradient` of Custom must return one array for each of {n_used} weights. "
                f"Got {len(given)}."
            )
        # 0 for weights that the function does not use.
        found = np.zeros((weights.shape[1], len(labels), len(weights)))
        found[:n_used] = [_checked(one, found.shape[1:], "gradient") for one in given]
        return np.asarray((found - found[:, :1])[:, document])

    def _labels(self, design: Design) -> tuple[FloatArray, Any]:
        """The different labels [U, J] of documents, after labels that are all 0; and whose."""
        dense = design[:, : design.shape[1] - self._slots].toarray().astype(np.float64)
        different, document = np.unique(dense, axis=0, return_inverse=True)
        return np.vstack([np.zeros(dense.shape[1]), different]), document.reshape(-1) + 1

    def _call(self, function: LogScale, labels: FloatArray, weights: FloatArray) -> Any:
        used = np.asarray(weights.T[: self.n_weights], dtype=np.float64)
        with _jax().enable_x64(True) if self.gradient == "jax" else nullcontext():
            return function(labels.T[:, :, None], used)


def _derivatives(function: LogScale, labels: FloatArray, weights: FloatArray) -> list[Any]:
    """The derivatives of a function of ``jax.numpy`` by each weight."""
    units = np.eye(len(weights))[:, :, None] * np.ones(weights.shape)
    along = partial(_jax().jvp, partial(function, labels), (weights,))
    return [along((unit,))[1] for unit in units]


def _checked(found: Any, shape: tuple[int, ...], name: str) -> FloatArray:
    """An array of documents and topics; raises where it is none."""
    try:
        return np.broadcast_to(np.asarray(found, dtype=np.float64), shape)
    except (TypeError, ValueError):
        raise ValueError(
            f"`{name}` of Custom must return numbers [M, T] = {list(shape)} for labels[j] of shape "
            f"[M, 1] and weights[i] of shape [T]. Got the shape {list(np.shape(found))}."
        ) from None


def _jax() -> Any:
    try:
        import jax
    except ImportError:
        raise ImportError(
            "`gradient='jax'` of Custom needs JAX: pip install 'hdsp[jax]', or leave `gradient` "
            "out for differences."
        ) from None
    return jax


# The functions that model files name. A file holds no code, and so no function of a user's own.
FUNCTIONS: dict[str, type[ScalingFunction]] = {
    function.__name__: function
    for function in (Categorical, Constant, LogLinear, Monotone, Power, Softplus)
}
