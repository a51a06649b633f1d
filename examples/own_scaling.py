"""A scaling function of one's own: numbers whose effect levels off."""

import numpy as np

from hdsp import ScalingFunction


class Saturating(ScalingFunction):
    """s_mk = exp(sum_j w_kj h(r_mj)), h(r) = width tanh(r / width), w_kj ~ Normal(0, variance).

    For numbers with a long tail, such as prices or follower counts. Within about `width` standard
    deviations of the mean the function is log-linear; further out its effect levels off, so that
    a few extreme documents neither rule the weights nor get extreme topics. A positive weight
    favours the topic. The posterior is a point.

    Parameters
    ----------
    *columns : str
        Number columns; without names, all that no other factor takes.
    width : float, default=2.0
        How far from the mean, in standard deviations, the effect levels off.
    variance : float, default=1.0
        The prior's variance.
    """

    kinds = frozenset({"number"})

    def __init__(self, *columns, width=2.0, variance=1.0):
        if not (width > 0 and variance > 0):
            raise ValueError(
                "`width` and `variance` of Saturating must be positive. "
                f"Got {width} and {variance}."
            )
        super().__init__(*columns)
        self.width = width
        self.variance = variance

    def settings(self):
        """What the constructor takes: shown by repr, compared by ==."""
        return {"width": self.width, "variance": self.variance}

    def initial(self, n_topics, n_labels):
        """w = 0, at which every rate is 1."""
        return {"weight": np.zeros((n_topics, n_labels))}

    def rate(self, weights, design):
        """exp(-w_k . h(r_m)), [M, T]."""
        return np.exp(self._log_rate(weights, design))

    def expected_rate(self, parameters, design):
        """The same at the point w, [M, T]."""
        return np.exp(self._log_rate(parameters["weight"], design))

    def expected_log_rate(self, parameters, design):
        """-w_k . h(r_m), [M, T]."""
        return self._log_rate(parameters["weight"], design)

    def prior_terms(self, parameters):
        """ln Normal(w_k; 0, variance), [T]."""
        squares = parameters["weight"] ** 2 / self.variance
        return -0.5 * (squares + np.log(2.0 * np.pi * self.variance)).sum(axis=1)

    def draw_prior(self, n_topics, n_labels, rng):
        """Weights w, [T, J]."""
        return rng.normal(0.0, np.sqrt(self.variance), size=(n_topics, n_labels))

    def draw_posterior(self, parameters, rng):
        """The point w, [T, J]."""
        return parameters["weight"]

    def expected_scale(self, parameters, design):
        """exp(w_k . h(r_m)), [M, T]: the default would average 2,000 draws of one point."""
        return 1.0 / self.expected_rate(parameters, design)

    def _log_rate(self, weights, design):
        # Only stored values change: one that is missing stays out, and so has rate 1.
        response = design.copy()
        response.data = self.width * np.tanh(design.data / self.width)
        return -np.asarray(response @ weights.T)
