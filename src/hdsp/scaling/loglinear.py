"""The paper's second scaling function: log-linear in labels of any kind."""

import numpy as np

from hdsp import kernels
from hdsp.labels import Term, TermProduct
from hdsp.numerics import FloatArray
from hdsp.scaling.base import Design, DesignLimits, Parameters
from hdsp.scaling.point import PointFunction

# exp(x) <= 1 + x + 0.7183 x^2 for |x| <= 1
_QUADRATIC = np.e - 2.0


def of_terms(value: object) -> object:
    """The log-linear function of a term or of several, and anything else as it is."""
    if isinstance(value, Term):
        return LogLinear(value)
    return LogLinear(*value.terms) if isinstance(value, TermProduct) else value


class LogLinear(PointFunction):
    """rho_mk = exp(w_k . r_m), w_kj ~ Normal(0, variance): a positive weight holds a topic back.

    Takes labels of every kind: numbers enter standardised, tags and categories as 0 and 1. The
    posterior is a point, with Laplace's approximation of the variance there.

    Parameters
    ----------
    *columns : str or Term
        Label columns; without names, all that no other factor takes.
    variance : float, default=1.0
        The prior's variance (the paper's sigma).

    Examples
    --------
    >>> LogLinear("rating", variance=0.5)
    LogLinear('rating', variance=0.5)
    """

    log_linear = True

    def __init__(self, *columns: str | Term, variance: float = 1.0) -> None:
        super().__init__(*columns, variance=variance)

    def log_scale(self, weights: FloatArray, design: Design) -> FloatArray:
        """-w_k . r_m, [M, T]."""
        return -np.asarray(design @ weights.T)

    def rate(self, weights: FloatArray, design: Design) -> FloatArray:
        """exp(w_k . r_m), [M, T]."""
        return kernels.exp_product(design, weights.T)

    def log_rate_total(self, parameters: Parameters, design: Design) -> FloatArray:
        """w_k . sum_m r_m, [T]."""
        return np.asarray(parameters["weight"] @ design.sum(axis=0))

    def weighted_log_rate(
        self, parameters: Parameters, design: Design, prior_shape: FloatArray
    ) -> FloatArray:
        """r_m . sum_k prior_shape_k w_k, [M]."""
        return np.asarray(design @ (parameters["weight"].T @ prior_shape))

    def update(
        self, parameters: Parameters, design: Design, prior_shape: FloatArray, exposure: FloatArray
    ) -> Parameters:
        """Equation 16: a Newton step with halving on each label in turn.

        A sweep costs the stored labels times the topics, for any number of label columns.
        """
        load = np.ascontiguousarray(self.expected_rate(parameters, design) * exposure)
        by_label = design.tocsc()
        weight = parameters["weight"].T.copy()
        spread = np.empty_like(weight)
        kernels.sweep_normal_weights(
            *kernels.csr_arrays(by_label),
            load,
            np.asarray(prior_shape, dtype=np.float64),
            self.variance,
            weight,
            spread,
        )
        return {"weight": np.ascontiguousarray(weight.T), "spread": np.ascontiguousarray(spread.T)}

    def statistics(
        self, parameters: Parameters, design: Design, exposure: FloatArray
    ) -> Parameters:
        """sum_m r_mj, and sums of r_mj and r_mj^2 times E[rho_mk] exposure_mk, [T, J]."""
        load = self.expected_rate(parameters, design) * exposure
        return {
            "total": np.asarray(design.sum(axis=0)),
            "slope": np.asarray(design.T @ load).T,
            "curvature": np.asarray(design.power(2).T @ load).T,
        }

    def update_from_statistics(
        self,
        parameters: Parameters,
        statistics: Parameters,
        prior_shape: FloatArray,
        limits: DesignLimits,
    ) -> Parameters:
        """One step for all labels at once that cannot overshoot.

        With at most C labels on a document, exp(sum_j r_j d_j) <= (1/C) sum_j exp(C r_j d_j), and
        each exponential lies below a quadratic while abs(C r_j d_j) <= 1: the step maximises what
        the objective becomes with those quadratics, within that range.
        """
        weight = parameters["weight"]
        n_labels = limits.labels_per_document
        gradient = np.outer(prior_shape, statistics["total"]) - statistics["slope"]
        gradient -= weight / self.variance
        curvature = 2.0 * _QUADRATIC * n_labels * statistics["curvature"] + 1.0 / self.variance
        longest = 1.0 / (n_labels * np.maximum(limits.largest, 1e-300))
        return {
            "weight": weight + np.clip(gradient / curvature, -longest, longest),
            "spread": 1.0 / (statistics["curvature"] + 1.0 / self.variance),
        }
