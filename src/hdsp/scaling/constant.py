"""The scaling function that does nothing: the HDP."""

import numpy as np

from hdsp.numerics import FloatArray
from hdsp.scaling.base import Design, DesignLimits, Parameters, ScalingFunction


class Constant(ScalingFunction):
    """rho_mk = 1 for every document and topic. The model is then the HDP.

    Examples
    --------
    >>> Constant()
    Constant()
    """

    kinds = frozenset()
    log_linear = True

    def __init__(self) -> None:
        super().__init__()

    def initial(self, n_topics: int, n_labels: int) -> Parameters:
        """One array without columns, so that the number of topics is known."""
        return {"none": np.zeros((n_topics, 0))}

    def expected_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """1, [M, T]."""
        return np.ones((design.shape[0], len(parameters["none"])))

    def expected_log_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """0, [M, T]."""
        return np.zeros((design.shape[0], len(parameters["none"])))

    def log_rate_total(self, parameters: Parameters, design: Design) -> FloatArray:
        """0, [T]."""
        return np.zeros(len(parameters["none"]))

    def expected_scale(self, parameters: Parameters, design: Design) -> FloatArray:
        """1, [M, T]."""
        return self.expected_rate(parameters, design)

    def prior_terms(self, parameters: Parameters) -> FloatArray:
        """0, [T]."""
        return np.zeros(len(parameters["none"]))

    def draw_prior(self, n_topics: int, n_labels: int, rng: np.random.Generator) -> FloatArray:
        """Nothing to draw: [T, 0]."""
        return np.zeros((n_topics, 0))

    def draw_posterior(self, parameters: Parameters, rng: np.random.Generator) -> FloatArray:
        """Nothing to draw: [T, 0]."""
        return parameters["none"]

    def rate(self, weights: FloatArray, design: Design) -> FloatArray:
        """1, [M, T]."""
        return np.ones((design.shape[0], len(weights)))

    def update(
        self, parameters: Parameters, design: Design, prior_shape: FloatArray, exposure: FloatArray
    ) -> Parameters:
        """Nothing to learn."""
        return parameters

    def statistics(
        self, parameters: Parameters, design: Design, exposure: FloatArray
    ) -> Parameters:
        """Nothing to sum."""
        return {}

    def update_from_statistics(
        self,
        parameters: Parameters,
        statistics: Parameters,
        prior_shape: FloatArray,
        limits: DesignLimits,
    ) -> Parameters:
        """Nothing to learn."""
        return parameters
