"""Scaling functions that are given by their log scale, with weights that are points."""

from abc import abstractmethod

import numpy as np

from hdsp.checks import check_positive
from hdsp.labels import Term
from hdsp.numerics import FloatArray
from hdsp.scaling.base import Design, Parameters, ScalingFunction

# Steps of an update, and how often each is halved before it is given up.
_STEPS, _HALVINGS = 3, 12
_CHUNK = 2_048


class PointFunction(ScalingFunction):
    """A function that is given by its log scale, with weights w_kj ~ Normal(0, variance).

    The posterior is a point, with Laplace's approximation of the variance there.

    Parameters
    ----------
    *columns : str or Term
        Label columns; without names, all that no other factor takes.
    variance : float, default=1.0
        The prior's variance.
    """

    positive = frozenset({"spread"})

    def __init__(self, *columns: str | Term, variance: float = 1.0) -> None:
        check_positive(variance, "variance", type(self).__name__)
        super().__init__(*columns)
        # A NumPy number would decide the precision of what it is added to.
        self.variance = float(variance)

    def settings(self) -> dict[str, float]:
        """The prior."""
        return {"variance": self.variance}

    @abstractmethod
    def log_scale(self, weights: FloatArray, design: Design) -> FloatArray:
        """ln s_mk of given weights, [M, T]; 0 where all labels or all weights are 0."""

    def initial(self, n_topics: int, n_labels: int) -> Parameters:
        """w = 0, with the prior's variance."""
        weight = np.zeros((n_topics, n_labels))
        return {"weight": weight, "spread": np.full_like(weight, self.variance)}

    def rate(self, weights: FloatArray, design: Design) -> FloatArray:
        """1 / s_mk, [M, T]."""
        return np.asarray(np.exp(-self.log_scale(weights, design)))

    def expected_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """The same at the point w, [M, T]."""
        return self.rate(parameters["weight"], design)

    def expected_log_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """-ln s_mk, [M, T]."""
        return -self.log_scale(parameters["weight"], design)

    def expected_scale(self, parameters: Parameters, design: Design) -> FloatArray:
        """s_mk, [M, T]."""
        return 1.0 / self.rate(parameters["weight"], design)

    def prior_terms(self, parameters: Parameters) -> FloatArray:
        """ln Normal(w_k; 0, variance), [T]."""
        weight = parameters["weight"]
        constant = -0.5 * weight.shape[1] * np.log(2.0 * np.pi * self.variance)
        return np.asarray(constant - 0.5 * (weight**2).sum(axis=1) / self.variance)

    def draw_prior(self, n_topics: int, n_labels: int, rng: np.random.Generator) -> FloatArray:
        """Weights w, [T, J]."""
        return rng.normal(0.0, np.sqrt(self.variance), size=(n_topics, n_labels))

    def draw_posterior(self, parameters: Parameters, rng: np.random.Generator) -> FloatArray:
        """The point w, [T, J]."""
        return parameters["weight"]

    def update(
        self, parameters: Parameters, design: Design, prior_shape: FloatArray, exposure: FloatArray
    ) -> Parameters:
        """Gauss and Newton's steps, each halved until no topic's objective is lower."""
        weight, spread = parameters["weight"], parameters["spread"]

        def value(weight: FloatArray) -> FloatArray:
            with np.errstate(all="ignore"):
                found = self.objective({"weight": weight}, design, prior_shape, exposure)
            return np.where(np.isfinite(found), found, -np.inf)

        before = value(weight)
        for _ in range(_STEPS):
            slope, curvature = self._expansion(weight, design, prior_shape, exposure)
            step = np.linalg.solve(curvature, slope[:, :, None])[:, :, 0]
            spread = 1.0 / np.einsum("kjj->kj", curvature)
            for _ in range(_HALVINGS):
                after = value(weight + step)
                lower = after < before
                if not lower.any():
                    break
                step[lower] /= 2.0
            step[after < before] = 0.0
            weight, before = weight + step, np.maximum(after, before)
        return {"weight": weight, "spread": spread}

    def _expansion(
        self, weight: FloatArray, design: Design, prior_shape: FloatArray, exposure: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The objective's slope [T, J], and its curvature [T, J, J] but for that of the scale."""
        slope = -weight / self.variance
        curvature = np.tile(np.eye(weight.shape[1]) / self.variance, (len(weight), 1, 1))
        for first in range(0, design.shape[0], _CHUNK):
            rows = design[first : first + _CHUNK]
            load = self.rate(weight, rows) * exposure[first : first + _CHUNK]
            gradient = self.log_scale_gradient(weight, rows)
            slope = slope + np.einsum("jmk,mk->kj", gradient, load - prior_shape)
            curvature += np.einsum("imk,jmk,mk->kij", gradient, gradient, load, optimize=True)
        return slope, curvature
