"""Prediction of held-out words: proportions of new documents, and the likelihood of words.

New documents are solved by CVB0: each token's topic is judged by the other tokens of its document
(equation 22), which predicts better than the document step of a fit.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from hdsp import kernels
from hdsp.kernels import run_ranges
from hdsp.model.data import Problem
from hdsp.model.documents import expected_rates, pad
from hdsp.model.priors import TopicPrior
from hdsp.model.state import GlobalState, padded
from hdsp.model.versions import Versions, expand_counts, learn_versions, version_share, word_spread
from hdsp.numerics import BLOCK_DOCUMENTS, FloatArray
from hdsp.scaling.functions import Design, ScalingFunction

# Documents a thread takes at a time; fixed, so that results do not depend on threads.
_PREDICTED_RANGE = 128
# A document that has not settled by then changes by little more than the tolerance.
_MAX_ITER = 100
_TOL = 1e-3
# Topics with less than this share of a document's tokens are solved in closed form.
_ACTIVE_SHARE = 2e-3
_SMALLEST_PRIOR = 1e-15


class PredictiveView:
    """What new documents see of a model.

    Parameters
    ----------
    state : GlobalState
        The topics, and the scaling function's parameters.
    scaling : ScalingFunction
        Bound to the columns of designs.
    """

    def __init__(self, state: GlobalState, scaling: ScalingFunction) -> None:
        self._state, self._scaling = state, scaling
        self._word_share = pad(group_share(state), padded(state.n_topics), np.dtype(np.float32))

    def proportions(
        self, counts: csr_array, design: Design, concentration: float, tol: float = _TOL
    ) -> FloatArray:
        """Proportions of documents given their words and labels, [M, T]; rows sum to 1.

        Parameters
        ----------
        counts : sparse array of shape [M, V]
            The documents.
        design : sparse array of shape [M, J]
            Their labels.
        concentration : float
            The value of beta.
        tol : float, default=1e-3
            The share of a document's tokens that may still move when it stops.
        """
        state, share = self._state, self._word_share
        counts = expand_counts(counts, design, state.content)
        width, dtype = share.shape[1], share.dtype
        # Products of much smaller priors underflow in single precision.
        prior_shape = np.maximum(concentration * state.topic_weight, _SMALLEST_PRIOR)
        prior_shape = pad(prior_shape, width, dtype)
        out = np.empty((counts.shape[0], state.n_topics))
        for first in range(0, counts.shape[0], BLOCK_DOCUMENTS):
            rows = slice(first, first + BLOCK_DOCUMENTS)
            rate = expected_rates(self._scaling, state.scaling, design[rows], width, dtype)
            predict_proportions(counts[rows], share, prior_shape, rate, out[rows], tol)
        return out


def predict_proportions(
    counts: csr_array,
    word_share: FloatArray,
    prior_shape: FloatArray,
    rate: FloatArray,
    out: FloatArray,
    tol: float = _TOL,
) -> None:
    """Write the proportions of documents [M, T] (equation 22) to `out`.

    A document without words has the prior's means, prior_shape / rate, normalised.

    Parameters
    ----------
    counts : sparse array of shape [M, V]
        The documents.
    word_share : float array of shape [V, K]
        E[phi], padded with zeros.
    prior_shape : float array of shape [K]
        The products beta p, padded with zeros.
    rate : float array of shape [M, K]
        E[rho_mk], padded with ones.
    out : float array of shape [M, T]
        Written; rows sum to 1.
    tol : float, default=1e-3
        The share of a document's tokens that may still move when it stops.
    """
    indptr, indices, data = kernels.csr_arrays(counts)
    real = word_share.dtype.type
    lengths, limits = counts.sum(axis=1), (_MAX_ITER, real(tol), real(_ACTIVE_SHARE))
    words = (indptr, indices, data.astype(real), word_share)
    arrays = (*words, prior_shape, rate, np.asarray(lengths).astype(real), *limits, out)
    run_ranges(kernels.predict_documents, counts.shape[0], _PREDICTED_RANGE, *arrays)


def word_share(state: GlobalState) -> FloatArray:
    """E[phi], [V, T]; columns sum to 1."""
    topics = state.topics.astype(np.float64)
    return np.asarray(topics / topics.sum(axis=0))


def group_share(state: GlobalState) -> FloatArray:
    """E[phi] of the groups' words, [V (G + 1), T]; without versions those of all, [V, T]."""
    share = word_share(state)
    if state.versions is None:
        return share
    return version_share(state.versions, state.topics, share)


def document_log_likelihood(
    state: GlobalState, counts: csr_array, design: Design, proportions: FloatArray
) -> FloatArray:
    """The log likelihood of each document's words by the versions of its group, [M]."""
    counts = expand_counts(counts, design, state.content)
    return word_log_likelihood(counts, proportions, group_share(state))


def word_log_likelihood(
    counts: csr_array, proportions: FloatArray, word_share: FloatArray
) -> FloatArray:
    """The log likelihood of each document's words, sum_i c_mi ln sum_k theta_mk phi_ki, [M].

    `proportions` [M, T] are theta, and `word_share` [V, T] is E[phi].
    """
    mixed = kernels.mix_words(counts, proportions.astype(np.float64), word_share.astype(np.float64))
    documents = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    with np.errstate(divide="ignore"):
        likelihood = counts.data * np.log(mixed)
    return np.bincount(documents, likelihood, minlength=counts.shape[0]).astype(np.float64)


def split_tokens(
    counts: csr_array, seed: int | np.random.Generator = 0
) -> tuple[csr_array, csr_array]:
    """Assign each token to one of two halves at random: (observed, held out).

    Whole counts are split by ``numpy.random.default_rng(seed).binomial(counts, 0.5)`` over the
    entries in order; a fractional remainder goes to either half with equal probability. With a
    generator, parts of a corpus of whole counts are split one after another as the whole would be.
    """
    rng = np.random.default_rng(seed)
    whole = np.floor(counts.data)
    half = rng.binomial(whole.astype(np.int64), 0.5).astype(np.float64)
    fraction = counts.data - whole
    if fraction.any():
        half += fraction * rng.integers(0, 2, size=len(fraction))
    return _with_data(counts, half), _with_data(counts, counts.data - half)


def _with_data(counts: csr_array, data: FloatArray) -> csr_array:
    # A copy, because dropping zeros rewrites all three arrays in place.
    matrix = csr_array((data, counts.indices, counts.indptr), shape=counts.shape, copy=True)
    matrix.eliminate_zeros()
    return matrix


def group_frequencies(problem: Problem) -> FloatArray:
    """The share of each word in the documents of each group, [V (G + 1)]: of a single topic."""
    tokens = np.asarray(problem.entries().sum(axis=0), dtype=np.float64)[:, None]
    prior = TopicPrior(problem.priors.topic_prior)
    versions = Versions.initial(word_spread(problem.counts), 1, problem.content, tokens.dtype)
    for _ in range(_GROUP_UPDATES):
        versions = learn_versions(versions, prior, tokens)
    topics = prior.add_to(versions.pooled())
    return version_share(versions, topics, topics / topics.sum(axis=0))[:, 0]


# Concentrations that are tried are powers of two times the first, within these limits.
_LEAST, _MOST = 2.0**-4, 2.0**10
# Scores differ by far more between numbers of topics than between these tolerances.
_HELD_OUT_TOL = 1e-2
# Updates of the words that groups use differently, whatever the topics.
_GROUP_UPDATES = 5


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
    fitted : Problem or None, default=None
        These documents, whose groups may have versions of topics.
    """

    def __init__(
        self,
        counts: csr_array,
        design: Design,
        frequency: FloatArray,
        fitted: Problem | None = None,
    ) -> None:
        counts = csr_array(counts.multiply(frequency > 0))
        counts.eliminate_zeros()
        self._halves = split_tokens(counts)
        self._design = design
        self.tokens: FloatArray = np.asarray(counts.sum(axis=1), dtype=np.float64)
        known = np.maximum(frequency, 1.0) / frequency.sum()
        if fitted is not None and len(fitted.content):
            # Words that groups use differently, whatever the topics, are not the topics' merit.
            counts = expand_counts(counts, design, fitted.content)
            known = group_frequencies(fitted)
        self.unigram: FloatArray = np.asarray(counts @ np.log(known))

    def score(self, state: GlobalState, scaling: ScalingFunction, near: float) -> "Score":
        """The log likelihood of documents at the concentration that predicts them best.

        `near` is where the search for that concentration starts.
        """
        view, share = PredictiveView(state, scaling), group_share(state)

        def likelihood(concentration: float) -> FloatArray:
            total = np.zeros(len(self.tokens))
            for seen, hidden in (self._halves, self._halves[::-1]):
                proportions = view.proportions(seen, self._design, concentration, _HELD_OUT_TOL)
                hidden = expand_counts(hidden, self._design, state.content)
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
