"""Held-out documents: how well topics predict one half of their words from the other."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from hdsp.model.completion import (
    make_predictive_view,
    split_tokens,
    word_log_likelihood,
    word_share,
)
from hdsp.model.state import GlobalState
from hdsp.numerics.types import FloatArray
from hdsp.scaling import Design, ScalingFunction

# Concentrations that are tried are powers of two times the first, within these limits.
_LEAST, _MOST = 2.0**-4, 2.0**10
# Scores differ by far more between numbers of topics than between these tolerances.
_TOL = 1e-2


class HeldOut:
    """Documents that took no part in a fit, and the score of models on them.

    Each half of a document's tokens is predicted from the other half and its labels.

    Parameters
    ----------
    counts : sparse array of shape [M, V]
        The documents.
    design : sparse array of shape [M, J]
        Their labels.
    frequency : float array of shape [V]
        Word counts of the documents that are fitted. A word that none of them has only shows how
        much topics are smoothed, and is left out.
    """

    def __init__(self, counts: csr_array, design: Design, frequency: FloatArray) -> None:
        counts = csr_array(counts.multiply(frequency > 0))
        counts.eliminate_zeros()
        self._halves = split_tokens(counts)
        self._design = design
        self.tokens: FloatArray = np.asarray(counts.sum(axis=1), dtype=np.float64)
        known = np.log(np.maximum(frequency, 1.0) / frequency.sum())
        self.unigram: FloatArray = np.asarray(counts @ known)

    def score(self, state: GlobalState, scaling: ScalingFunction, near: float) -> "Score":
        """The log likelihood of documents at the concentration that predicts them best.

        `near` is where the search for that concentration starts.
        """
        view, share = make_predictive_view(state, scaling), word_share(state)

        def likelihood(concentration: float) -> FloatArray:
            total = np.zeros(len(self.tokens))
            for seen, hidden in (self._halves, self._halves[::-1]):
                proportions = view.proportions(seen, self._design, concentration, _TOL)
                total += word_log_likelihood(hidden, proportions, share)
            return total

        tried = {near: likelihood(near)}
        best = near
        for factor in (2.0, 0.5):
            following = best * factor
            while following not in tried and _LEAST <= following <= _MOST:
                tried[following] = likelihood(following)
                if tried[following].sum() <= tried[best].sum():
                    break
                best, following = following, following * factor
        return Score(best, tried[best], {beta: float(tried[beta].sum()) for beta in tried})


@dataclass(frozen=True, eq=False)
class Score:
    """How well a model predicts held-out documents.

    Attributes
    ----------
    concentration : float
        The best of the concentrations tried.
    likelihood : float array of shape [M]
        The log likelihood of each document there.
    tried : dict of float to float
        The log likelihood of all documents by concentration.
    """

    concentration: float
    likelihood: FloatArray
    tried: dict[float, float]

    def refined_concentration(self) -> float:
        """Where a parabola in ln beta through the best and its neighbours peaks."""
        near = [self.concentration * factor for factor in (0.5, 1.0, 2.0)]
        if not all(beta in self.tried for beta in near):
            return self.concentration
        low, best, high = (self.tried[beta] for beta in near)
        bend = low - 2.0 * best + high
        step = 0.5 * (low - high) / bend if bend < 0.0 else 0.0
        return float(self.concentration * 2.0 ** float(np.clip(step, -1.0, 1.0)))
