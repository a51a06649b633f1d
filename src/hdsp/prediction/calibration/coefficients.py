"""Coefficients of topics on labels with their uncertainty, and draws of them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hdsp.numerics.types import BoolArray, FloatArray, IntArray
from hdsp.prediction.calibration.regression import Regression


class Joint(NamedTuple):
    """Coefficients that are drawn together: their columns [B], and a factor F [T, B, B] of F F'."""

    columns: IntArray
    factor: FloatArray


@dataclass(frozen=True, eq=False)
class Calibration(Regression):
    """The regression of topics on labels, with the uncertainty of its coefficients.

    Attributes
    ----------
    intercept : float array of shape [T]
        The intercepts u_k.
    coefficients : float array of shape [J, T]
        The coefficients v_jk; in the columns of `functions`, their weights.
    functions : tuple of FunctionColumns, default=()
        Functions whose log scales stand in place of r . v for their columns.
    variance : float array of shape [J, T]
        The posterior variance of the coefficients, which includes overdispersion.
    indicator : bool array of shape [J]
        Whether a column of the design holds only 0 and 1.
    label_tokens : float array of shape [J, T]
        The expected tokens of topics by column, sum_m r_mj N_m theta_mk; where documents weigh the
        same, N_m is their mean length.
    mean_variance : float array of shape [T]
        The variance of log proportions in the mean document: that of the intercepts, if all columns
        had the mean 0.
    degrees : float array of shape [J] or None, default=None
        Where documents come in groups, the degrees of freedom of each column's variance: how many
        groups tell, less 1.
    joint : tuple of Joint, default=()
        Blocks of coefficients that are drawn together.
    """

    variance: FloatArray
    indicator: BoolArray
    label_tokens: FloatArray
    mean_variance: FloatArray
    degrees: FloatArray | None = None
    joint: tuple[Joint, ...] = ()

    def draw_mean(self, stream: np.random.Generator, n_draws: int) -> FloatArray:
        """Draw the errors of log proportions in the mean document, [n_draws, T].

        Proportions are gamma distributed, like a rate of counted tokens: of a topic that documents
        hardly have, little is known, but not that it may be all there is.
        """
        size = (n_draws, len(self.intercept))
        variance = np.broadcast_to(self.mean_variance, size)
        if self.degrees is not None:
            freedom = float(self.degrees.max(initial=1.0))
            variance = variance * freedom / np.maximum(stream.chisquare(freedom, size), 1e-3)
        return _log_gamma(variance, stream)

    def draw(self, column: int, stream: np.random.Generator, n_draws: int) -> FloatArray:
        """Draw the coefficients of a column from their posterior, [n_draws, T].

        They are normal. For indicators exp(v) is gamma distributed, like a rate of counted tokens:
        a topic that does not occur with a label may be nearly ruled out, but is unlikely to be
        common.
        """
        size = (n_draws, len(self.intercept))
        variance = self.variance[column]
        if self.degrees is not None:
            freedom = self.degrees[column]
            variance = variance * freedom / np.maximum(stream.chisquare(freedom, size), 1e-3)
        if self.indicator[column]:
            noise = _log_gamma(np.broadcast_to(variance, size), stream)
        else:
            noise = np.sqrt(variance) * stream.standard_normal(size)
        return np.asarray(self.coefficients[column] + noise)

    def draw_joint(self, block: Joint, stream: np.random.Generator, n_draws: int) -> FloatArray:
        """Draw the coefficients of a block from their posterior, [n_draws, B, T].

        They are normal, or have the tails of t by the column that the fewest groups tell of.
        """
        n_topics, n_columns = block.factor.shape[:2]
        noise = stream.standard_normal((n_draws, n_topics, n_columns))
        drawn = np.einsum("kij,dkj->dik", block.factor, noise)
        if self.degrees is not None:
            freedom = float(self.degrees[block.columns].min())
            chance = np.maximum(stream.chisquare(freedom, (n_draws, 1, n_topics)), 1e-3)
            drawn *= np.sqrt(freedom / chance)
        return np.asarray(self.coefficients[block.columns] + drawn)


def _log_gamma(variance: FloatArray, stream: np.random.Generator) -> FloatArray:
    """Logarithms of gamma variables of mean 1 with these variances."""
    shape = 1.0 / variance
    ratio = stream.standard_gamma(shape) / shape
    return np.asarray(np.log(np.maximum(ratio, 1e-12)))
