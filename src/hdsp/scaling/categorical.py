"""The paper's first scaling function: an inverse-gamma weight for each label and topic."""

import numpy as np

from hdsp import kernels
from hdsp.checks import check_positive
from hdsp.labels import Pooled, Term
from hdsp.numerics import FloatArray, expected_log_gamma, gamma_divergence
from hdsp.scaling.base import Design, DesignLimits, Parameters, ScalingFunction


class Categorical(ScalingFunction):
    """rho_mk = prod_j lambda_kj^r_mj for r_mj in {0, 1}, lambda_kj ~ Gamma(a_w, b_w).

    A label j that a document carries scales topic k by w_kj = 1 / lambda_kj, an inverse-gamma
    variable; a label it does not carry, or whose value is missing, does nothing. The posterior is
    q(lambda_kj) = Gamma(a'_kj, b'_kj).

    Parameters
    ----------
    *columns : str or Term
        Tag or category columns; without names, all that no other factor takes.
    weight_shape : float, default=1.0
        The prior's a_w.
    weight_rate : float, default=1.0
        The prior's b_w.
    parents : str or None, default=None
        A category in whose levels those of `columns` are nested, such as venues of authors: it has
        weights of its own, and the weights of its children are drawn around them (see `Pooled`).

    Examples
    --------
    >>> Categorical("department", weight_shape=2.0)
    Categorical('department', weight_shape=2.0, weight_rate=1.0)
    >>> Categorical("author", parents="venue")
    Categorical(Pooled('author', parents='venue'), weight_shape=1.0, weight_rate=1.0)
    """

    kinds = frozenset({"tags", "category"})
    positive = frozenset({"shape", "rate"})
    log_linear = True

    def __init__(
        self,
        *columns: str | Term,
        weight_shape: float = 1.0,
        weight_rate: float = 1.0,
        parents: str | None = None,
    ) -> None:
        check_positive(weight_shape, "weight_shape", "Categorical")
        check_positive(weight_rate, "weight_rate", "Categorical")
        if parents is not None:
            if not columns or not all(isinstance(column, str) for column in columns):
                raise ValueError(
                    "`parents` of Categorical needs the names of the label columns that are nested "
                    f"in {parents!r}."
                )
            columns = tuple(Pooled(str(column), parents=parents) for column in columns)
        super().__init__(*columns)
        # A NumPy number would decide the precision of what it is added to.
        self.weight_shape = float(weight_shape)
        self.weight_rate = float(weight_rate)

    def settings(self) -> dict[str, float]:
        """The prior."""
        return {"weight_shape": self.weight_shape, "weight_rate": self.weight_rate}

    def initial(self, n_topics: int, n_labels: int) -> Parameters:
        """E[lambda] = 1, with the prior's shape."""
        ones = np.full((n_topics, n_labels), self.weight_shape)
        return {"shape": ones, "rate": ones.copy()}

    def expected_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """prod_j (a'_kj / b'_kj)^r_mj, [M, T]."""
        mean = (parameters["shape"] / parameters["rate"]).astype(design.dtype)
        return kernels.exp_product(design, np.log(mean).T)

    def expected_log_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """sum_j r_mj (psi(a'_kj) - ln b'_kj), [M, T]."""
        return np.asarray(design @ self._expected_log(parameters).T)

    def log_rate_total(self, parameters: Parameters, design: Design) -> FloatArray:
        """sum_j n_j (psi(a'_kj) - ln b'_kj), [T]."""
        return np.asarray(self._expected_log(parameters) @ design.sum(axis=0))

    def weighted_log_rate(
        self, parameters: Parameters, design: Design, prior_shape: FloatArray
    ) -> FloatArray:
        """sum_j r_mj sum_k prior_shape_k (psi(a'_kj) - ln b'_kj), [M]."""
        return np.asarray(design @ (self._expected_log(parameters).T @ prior_shape))

    def expected_scale(self, parameters: Parameters, design: Design) -> FloatArray:
        """prod_j (b'_kj / (a'_kj - 1))^r_mj, [M, T].

        An inverse gamma of shape 1 or less has no mean; its mode b' / (a' + 1) stands in.
        """
        shape, rate = parameters["shape"], parameters["rate"]
        mean = np.where(shape > 1.0, rate / np.maximum(shape - 1.0, 1e-300), rate / (shape + 1.0))
        return np.asarray(np.exp(design @ np.log(mean).T))

    def prior_terms(self, parameters: Parameters) -> FloatArray:
        """The negative divergence of q(lambda_k) from its prior, [T]."""
        divergence = gamma_divergence(
            parameters["shape"], parameters["rate"], self.weight_shape, self.weight_rate
        )
        return np.asarray(divergence.sum(axis=1))

    def draw_prior(self, n_topics: int, n_labels: int, rng: np.random.Generator) -> FloatArray:
        """Scales w, [T, J]."""
        return 1.0 / rng.gamma(self.weight_shape, 1.0 / self.weight_rate, size=(n_topics, n_labels))

    def draw_posterior(self, parameters: Parameters, rng: np.random.Generator) -> FloatArray:
        """Scales w, [T, J]."""
        return 1.0 / np.maximum(rng.gamma(parameters["shape"], 1.0 / parameters["rate"]), 1e-300)

    def rate(self, weights: FloatArray, design: Design) -> FloatArray:
        """prod_j w_kj^-r_mj, [M, T]."""
        return np.asarray(np.exp(-(design @ np.log(weights).T)))

    def update(
        self, parameters: Parameters, design: Design, prior_shape: FloatArray, exposure: FloatArray
    ) -> Parameters:
        """Equation 15, one label at a time."""
        # a' changes first, at fixed E[lambda], so that the rates stay as they were.
        shape = self.weight_shape + np.outer(prior_shape, design.sum(axis=0))
        start = {"shape": shape, "rate": parameters["rate"] * shape / parameters["shape"]}
        load = np.ascontiguousarray(self.expected_rate(start, design) * exposure)
        by_label = design.tocsc()
        rate = start["rate"].T.copy()
        kernels.sweep_gamma_weights(
            *kernels.csr_arrays(by_label)[:2],
            load,
            np.ascontiguousarray(shape.T),
            self.weight_rate,
            rate,
        )
        return {"shape": shape, "rate": np.ascontiguousarray(rate.T)}

    def statistics(
        self, parameters: Parameters, design: Design, exposure: FloatArray
    ) -> Parameters:
        """n_j and sum_{m: r_mj = 1} E[rho_mk] exposure_mk, [T, J]."""
        load = self.expected_rate(parameters, design) * exposure
        return {"carriers": np.asarray(design.sum(axis=0)), "load": np.asarray(design.T @ load).T}

    def update_from_statistics(
        self,
        parameters: Parameters,
        statistics: Parameters,
        prior_shape: FloatArray,
        limits: DesignLimits,
    ) -> Parameters:
        """Equation 15 for all labels at once, damped to 1/C in the logarithm of E[lambda].

        With at most C labels on a document, prod_j x_j^r_j <= (1/C) sum_j x_j^(C r_j): the step
        maximises what the objective becomes with that sum over labels in place of the rates.
        """
        shape = self.weight_shape + np.outer(prior_shape, statistics["carriers"])
        mean = parameters["shape"] / parameters["rate"]
        target = shape / (self.weight_rate + statistics["load"] / mean)
        damping = 1.0 / limits.labels_per_document
        new_mean = mean ** (1.0 - damping) * target**damping
        return {"shape": shape, "rate": shape / new_mean}

    def _expected_log(self, parameters: Parameters) -> FloatArray:
        return expected_log_gamma(parameters["shape"], parameters["rate"])
