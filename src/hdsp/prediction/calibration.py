"""Proportions from labels, calibrated once after inference.

The weights of a scaling function match moments of rho pi, not of the proportions themselves;
with several labels per document the two differ. A regression of documents' topic tokens on their
labels predicts held-out words much better, and has better calibrated intervals.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from scipy.sparse import csr_array, vstack

from hdsp.execution import InProcess, sum_new_tokens, sum_tokens
from hdsp.model import Fit, LocalSettings, Problem
from hdsp.numerics.softmax import normalised_exp
from hdsp.numerics.types import BoolArray, FloatArray, IntArray
from hdsp.prediction.label_sets import label_sets
from hdsp.prediction.regression import Regression, regression_path
from hdsp.prediction.response import response
from hdsp.prediction.shrinkage import likely_spreads
from hdsp.scaling import Design

# Penalties are learned in so many rounds of so many sweeps, from the first.
_ROUNDS, _SWEEPS_PER_ROUND, _LAST_SWEEPS = 4, 8, 16
_FIRST_PENALTY = 40.0
# The variance of coefficients beforehand, where labels overlap.
_TYPICAL_VARIANCE = 0.5
# Where documents are not kept, the regression uses at most this many label sets.
_MOST_LABEL_SETS = 20_000
# Of more documents than this, none brings topics noticeably nearer to itself.
_MANY_DOCUMENTS = 50_000
# The overdispersion is estimated from at most this many single documents.
_MOST_DOCUMENTS = 4_000
# And how much of an error returns, from at most this many, which are read several times.
_MOST_READ_AGAIN = 2_000
# Beyond this many labels, their correlations are ignored.
_MOST_LABELS = 2_000
_SMALLEST_INFORMATION = 1e-12
_CHUNK = 2_048


@dataclass(frozen=True, eq=False)
class Calibration(Regression):
    """The regression of topics on labels, with the uncertainty of its coefficients.

    Attributes
    ----------
    intercept : float array of shape [T]
        The intercepts u_k.
    coefficients : float array of shape [J, T]
        The coefficients v_jk.
    variance : float array of shape [J, T]
        The posterior variance of the coefficients, which includes overdispersion.
    indicator : bool array of shape [J]
        Whether a label is a tag or a level of a category, and not a number.
    label_tokens : float array of shape [J, T]
        The expected tokens of topics in the documents of each label, sum_m r_mj N_m theta_mk.
    """

    variance: FloatArray
    indicator: BoolArray
    label_tokens: FloatArray

    def draw(self, streams: list[np.random.Generator], n_draws: int) -> FloatArray:
        """Draw all coefficients from their posterior, [n_draws, J, T], float32.

        Each label has its own stream of random numbers. Coefficients of numbers are normal. For
        tags and levels exp(v) is gamma distributed, like a rate of counted tokens: a topic that
        does not occur with a label may be nearly ruled out, but is unlikely to be common.
        """
        size = (n_draws, len(self.intercept))
        drawn = np.empty((n_draws, *self.coefficients.shape), dtype=np.float32)
        for j, stream in enumerate(streams):
            if self.indicator[j]:
                shape = 1.0 / self.variance[j]
                ratio = stream.standard_gamma(shape, size=size) / shape
                noise = np.log(np.maximum(ratio, 1e-12))
            else:
                noise = np.sqrt(self.variance[j]) * stream.standard_normal(size)
            drawn[:, j] = self.coefficients[j] + noise
        return drawn


def calibrate(
    problem: Problem,
    fit: Fit,
    n_levels: IntArray,
    indicator: BoolArray,
    settings: LocalSettings,
    executor: InProcess,
    copies: IntArray | None = None,
    learned_from: int | None = None,
) -> Calibration:
    """Regress the topics of documents on their labels.

    Documents are read as new ones are, with topics that lack their own words: topics as they were
    learned are nearer to these documents, and labels would seem to change them more. Topics of
    very many documents are not nearer to any of them, and documents are taken as the fit left them.

    Coefficients are normal with a variance for each label that is learned from them: labels that
    change topics much are shrunk little, and labels without effect nearly to nothing. Overwrites
    the documents of `fit`, to save memory.

    Parameters
    ----------
    problem : Problem
        The training documents.
    fit : Fit
        The fitted state.
    n_levels : int array of shape [J]
        For a level of a category, of which a document has only one, how many levels it has; 0 for
        tags and numbers.
    indicator : bool array of shape [J]
        Whether a label is a level or a tag.
    settings : LocalSettings
        How documents are fitted if they were not kept.
    executor : InProcess
        Where blocks are processed.
    copies : int array of shape [M] or None, default=None
        How often each document was among those that topics were learned from; None is once.
    learned_from : int or None, default=None
        The number of documents that topics were learned from, if it is not M.
    """

    def read(member: csr_array) -> FloatArray:
        if (learned_from or problem.n_documents) > _MANY_DOCUMENTS:
            return sum_tokens(problem, fit, member, settings, executor)
        return sum_new_tokens(problem, fit, member, settings, executor, copies)

    n_topics = fit.state.n_topics
    sets = label_sets(problem.design, None if fit.documents is not None else _MOST_LABEL_SETS)
    chosen = _sample(problem.n_documents, _MOST_DOCUMENTS)
    n_sets = sets.member.shape[0]
    if n_sets == problem.n_documents:
        tokens = read(sets.member)
        single = tokens[chosen]
    else:
        member = csr_array(vstack([sets.member, _select_rows(chosen, problem.n_documents)]))
        tokens = read(member)
        tokens, single = tokens[:n_sets], tokens[n_sets:]
    lengths = tokens.sum(axis=1, dtype=np.float64)

    def respond(found: Regression) -> FloatArray:
        some = _sample(problem.n_documents, _MOST_READ_AGAIN)
        return response(problem.take(some), fit.state, found)

    found, variance, label_tokens = _learn(
        sets.design,
        tokens,
        lengths,
        problem.design[chosen],
        single[:, :n_topics],
        n_levels,
        respond,
    )
    return Calibration(
        found.intercept,
        found.coefficients,
        variance=variance,
        indicator=indicator,
        label_tokens=label_tokens,
    )


def _learn(
    design: Design,
    tokens: FloatArray,
    lengths: FloatArray,
    single_design: Design,
    single: FloatArray,
    n_levels: IntArray,
    respond: Callable[[Regression], FloatArray],
) -> tuple[Regression, FloatArray, FloatArray]:
    """The regression, the variance of its coefficients, and the labels' expected tokens, [J, T].

    With the information H_jk about a coefficient, its estimate without penalty would be
    v_jk (1 + penalty_jk / H_jk). The estimate varies as documents do, by overdispersion_k / H_jk,
    over (1 - R_jk)^2 for the R of `response`; the coefficients themselves vary by tau_j^2. The two
    variances decide the penalty, and it decides the regression.

    What other labels explain of a label is not known of its own coefficients. It widens their
    variance, but takes no part in tau_j: labels that go together share an effect, and each has the
    size of its part.

    Parameters
    ----------
    design : sparse array of shape [G, J]
        The labels of groups of documents.
    tokens : float array of shape [G, K]
        Their tokens by topic, padded; overwritten.
    lengths : float array of shape [G]
        Their tokens.
    single_design : sparse array of shape [S, J]
        The labels of single documents.
    single : float array of shape [S, T]
        Their tokens by topic.
    n_levels : int array of shape [J]
        The levels of a label's category; 0 if it has none.
    respond : callable
        Takes the regression, and returns the parts R [J, T] of errors that return.
    """
    n_labels, n_topics = design.shape[1], single.shape[1]
    # Columns that only pad the array have a penalty too, so that nothing is divided by zero.
    penalty = np.full((n_labels, tokens.shape[1]), _FIRST_PENALTY)
    # A view, which every round changes; the next one reads the whole array again.
    own_penalty = penalty[:, :n_topics]
    sweeps = [_SWEEPS_PER_ROUND] * _ROUNDS + [_LAST_SWEEPS]
    # Estimates of C levels sum nearly to 0, as if C - 1 of them were free; two levels are to be
    # shrunk as much as one tag.
    free = np.where(n_levels > 1, n_levels / np.maximum(n_levels - 1, 1), 1.0)[:, None]
    shares: tuple[FloatArray, FloatArray] | None = None
    amplified: FloatArray | None = None
    path = regression_path(design, tokens, repeat(penalty, len(sweeps)), sweeps, overwrite=True)
    for found in path:
        found = Regression(found.intercept[:n_topics], found.coefficients[:, :n_topics].copy())
        information, label_tokens = _label_sums(found, design, lengths)
        if amplified is None:
            amplified = (1.0 - respond(found)) ** -2
        dispersion = overdispersion(found, single_design, single)
        if shares is None:
            ridge = float(dispersion.mean()) / _TYPICAL_VARIANCE / _mean_information(found)
            shares = _own_shares(design, lengths, n_levels > 0, ridge)
        centred, alone = shares
        noise = amplified * dispersion
        about = np.maximum(centred[:, None] * information, _SMALLEST_INFORMATION)
        estimate = found.coefficients * (1.0 + own_penalty / about)
        spread = likely_spreads(free * estimate**2, noise / about)[:, None]
        own = np.maximum(alone[:, None] * information, _SMALLEST_INFORMATION)
        variance = 1.0 / (own / noise + 1.0 / spread**2)
        own_penalty[:] = noise / spread**2
    return found, variance, label_tokens


def overdispersion(regression: Regression, design: Design, tokens: FloatArray) -> FloatArray:
    """The ratio of residual to multinomial variance in single documents, [T], at least 1.

    `design` [M, J] and `tokens` [M, T] are the documents' labels and topic tokens.
    """
    lengths = tokens.sum(axis=1, dtype=np.float64)[:, None]
    share = regression.proportions(design)
    by_chance = (lengths * share * (1.0 - share)).sum(axis=0)
    found = ((tokens - lengths * share) ** 2).sum(axis=0)
    return np.asarray(np.maximum(found / np.maximum(by_chance, 1e-12), 1.0))


def _label_sums(
    regression: Regression, design: Design, lengths: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """sum_g r_gj^2 N_g theta_gk (1 - theta_gk), and sum_g r_gj N_g theta_gk, [J, T]."""
    shape = (design.shape[1], len(regression.intercept))
    information, expected = np.zeros(shape), np.zeros(shape)
    for first in range(0, design.shape[0], _CHUNK):
        rows = csr_array(design[first : first + _CHUNK], dtype=np.float64)
        share = regression.proportions(rows)
        tokens = lengths[first : first + _CHUNK, None] * share
        expected += rows.T @ tokens
        information += rows.power(2).T @ (tokens * (1.0 - share))
    return information, expected


def _mean_information(regression: Regression) -> float:
    """The mean over topics of theta (1 - theta), at the intercept."""
    share = normalised_exp(regression.intercept[None, :])[0]
    return float((share * (1.0 - share)).mean()) or 1.0


def _squares(design: Design, lengths: FloatArray) -> FloatArray:
    """sum_g N_g r_gj^2, [J]."""
    return np.asarray(csr_array(design, dtype=np.float64).power(2).T @ lengths)


def _own_shares(
    design: Design, lengths: FloatArray, exclusive: BoolArray, ridge: float
) -> tuple[FloatArray, FloatArray]:
    """The shares of labels' sums of squares that are their own, [J] each.

    The first is what the intercept does not explain, the second what the intercept and all other
    labels do not. For levels of a category, which are compared with each other, both are 1.
    The second has a ridge, what is known beforehand: tags of which each document has exactly one
    could otherwise not be told from the intercept.
    """
    centred, alone = np.ones((2, design.shape[1]))
    columns = np.flatnonzero(~exclusive)
    if len(columns) == 0 or lengths.sum() == 0:
        return centred, alone
    chosen = csr_array(design[:, columns], dtype=np.float64)
    square = np.maximum(_squares(chosen, lengths), 1e-300)
    mean = np.asarray(chosen.T @ lengths) / lengths.sum()
    left = np.maximum(square - lengths.sum() * mean**2, 0.0)
    centred[columns] = alone[columns] = left / square
    if len(columns) <= _MOST_LABELS:
        weighted = csr_array(chosen.multiply(lengths[:, None]))
        gram = (weighted.T @ chosen).toarray() - lengths.sum() * np.outer(mean, mean)
        np.fill_diagonal(gram, gram.diagonal() + ridge)
        alone[columns] = np.clip(1.0 / np.linalg.inv(gram).diagonal() / square, 0.0, 1.0)
    return centred, alone


def _sample(n_documents: int, most: int) -> IntArray:
    return np.sort(np.random.default_rng(0).permutation(n_documents)[:most])


def _select_rows(documents: IntArray, n_documents: int) -> csr_array:
    """A matrix [S, M] of ones that selects single documents."""
    n_chosen = len(documents)
    return csr_array(
        (np.ones(n_chosen, dtype=np.float32), documents, np.arange(n_chosen + 1)),
        shape=(n_chosen, n_documents),
    )
