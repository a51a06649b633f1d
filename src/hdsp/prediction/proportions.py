"""Expected proportions given labels alone, by the definitions of equations 20 and 21."""

import numpy as np

from hdsp.model import GlobalState
from hdsp.numerics.quadrature import normalised_gamma_mean
from hdsp.numerics.softmax import normalised_exp
from hdsp.numerics.types import FloatArray
from hdsp.scaling import Design, ScalingFunction

# The integral needs positive shapes; a topic whose prior shape underflows has no share.
_SMALLEST_SHAPE = 1e-12


def ratio_proportions(state: GlobalState, scaling: ScalingFunction, design: Design) -> FloatArray:
    """theta_k proportional to beta p_k E[s_k(r)] (equation 20), [M, T]."""
    log_share = np.log(scaling.expected_scale(state.scaling, design))
    log_share += np.log(np.maximum(state.prior_shape, 1e-300))
    return normalised_exp(log_share)


def exact_proportions(state: GlobalState, scaling: ScalingFunction, design: Design) -> FloatArray:
    """The mean of the normalised gamma variables at the expected rates (equation 21), [M, T]."""
    shape = np.maximum(state.prior_shape, _SMALLEST_SHAPE)
    return normalised_gamma_mean(shape, scaling.expected_rate(state.scaling, design))
