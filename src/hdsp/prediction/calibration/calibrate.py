"""How topics depend on labels, learned once after inference."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat
from typing import Literal, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from hdsp.execution import sum_tokens
from hdsp.fit import Run
from hdsp.model import Fit, Problem
from hdsp.numerics.sampling import sample_rows
from hdsp.numerics.types import BoolArray, FloatArray, IntArray
from hdsp.prediction.calibration.clusters import Clusters, clustered_dispersion, measure_leverage
from hdsp.prediction.calibration.cross_fit import cross_fitted_tokens
from hdsp.prediction.calibration.regression import (
    Observed,
    Regression,
    label_sets,
    observe,
    regression_path,
)
from hdsp.prediction.calibration.shrinkage import prior_deviations
from hdsp.prediction.calibration.variance import (
    TYPICAL_VARIANCE,
    OwnColumns,
    information,
    mean_information,
    overdispersion,
    own_shares,
    read_again,
    returned_parts,
)
from hdsp.scaling import Design, LabelSpace

# Penalties are learned in so many rounds of so many sweeps, from the first.
_ROUNDS, _SWEEPS_PER_ROUND, _LAST_SWEEPS = 4, 8, 16
_FIRST_PENALTY = 40.0
# Where documents are not kept, the regression uses at most this many label sets.
_MOST_LABEL_SETS = 20_000
# Of more documents than this, none brings topics noticeably nearer to itself.
_MANY_DOCUMENTS = 50_000
# The overdispersion is estimated from at most this many single documents.
_MOST_DOCUMENTS = 4_000
# And the feedback from at most this many, which are read several times.
_MOST_READ_AGAIN = 2_000
_SMALLEST_INFORMATION = 1e-12

# Whether each document weighs the same, or each token.
Weight = Literal["documents", "tokens"]
WEIGHTS: tuple[Weight, ...] = ("documents", "tokens")


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
        Whether a column of the design holds only 0 and 1.
    label_tokens : float array of shape [J, T]
        The expected tokens of topics by column, sum_m r_mj N_m theta_mk; where documents weigh the
        same, N_m is their mean length.
    degrees : float array of shape [J] or None, default=None
        Where documents come in groups, the degrees of freedom of each column's variance: how many
        groups tell, less 1.
    """

    variance: FloatArray
    indicator: BoolArray
    label_tokens: FloatArray
    degrees: FloatArray | None = None

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
            shape = 1.0 / variance
            ratio = stream.standard_gamma(shape, size=size) / shape
            noise = np.log(np.maximum(ratio, 1e-12))
        else:
            noise = np.sqrt(variance) * stream.standard_normal(size)
        return np.asarray(self.coefficients[column] + noise)


class Calibrations(NamedTuple):
    """The regression in which documents weigh the same, and the one in which tokens do."""

    documents: Calibration
    tokens: Calibration


@dataclass(frozen=True, eq=False)
class Documents:
    """What a regression is learned from: the topics of documents, and the design.

    Attributes
    ----------
    design : sparse array of shape [G, J]
        The design of documents, or of groups of documents with equal labels.
    observed : Observed
        Sums of their tokens by topic, padded.
    room : float array of shape [G, K]
        Working space, overwritten.
    single_design : sparse array of shape [S, J]
        The design of single documents.
    single : float array of shape [S, T]
        Their tokens by topic.
    clusters : Clusters or None, default=None
        The documents in groups, if they are not independent.
    """

    design: Design
    observed: Observed
    room: FloatArray
    single_design: Design
    single: FloatArray
    clusters: Clusters | None = None


def calibrate(
    problem: Problem,
    fit: Fit,
    space: LabelSpace,
    run: Run,
    copies: IntArray | None = None,
    learned_from: int | None = None,
    groups: IntArray | None = None,
) -> Calibrations:
    """Regress the topics of documents on their labels.

    Twice, of documents that are read once: each with the tokens that it has, which predicts words
    best; and each with as many as documents have on average, shared out in its own proportions,
    which describes the mean proportions of documents. The latter are what effects are about.

    Documents are cross-fitted: read as new ones are, with topics that lack their own words. Topics
    as they were learned are nearer to these documents, and labels would seem to change them more.
    Topics of very many documents are not nearer to any of them, and documents are taken as the fit
    left them.

    Coefficients are normal with a variance for each group of columns that is learned from them
    (empirical Bayes): labels that change topics much are shrunk little, and labels without effect
    nearly to nothing. Overwrites the documents of `fit`, to save memory.

    Parameters
    ----------
    problem : Problem
        The training documents.
    fit : Fit
        The fitted state.
    space : LabelSpace
        What the columns of the documents' design are.
    run : Run
        How the fit proceeds, whose stages are cross-fitting and calibration.
    copies : int array of shape [M] or None, default=None
        How often each document was among those that topics were learned from; None is once.
    learned_from : int or None, default=None
        The number of documents that topics were learned from, if it is not M.
    groups : int array of shape [M] or None, default=None
        The group of each document, where documents of a group are not independent; -1 is a
        document of its own.
    """

    def read(member: csr_array) -> FloatArray:
        if (learned_from or problem.n_documents) > _MANY_DOCUMENTS:
            return sum_tokens(problem, fit, member, run.settings, run.here)
        return cross_fitted_tokens(problem, fit, member, run.settings, run.here, copies, groups)

    n_documents, n_topics = problem.n_documents, fit.state.n_topics
    most = None if fit.documents is not None else _MOST_LABEL_SETS
    sets = label_sets(problem.design, most, together=groups is None)
    chosen = sample_rows(n_documents, _MOST_DOCUMENTS)
    n_sets = sets.member.shape[0]
    equal = equal_weights(problem.lengths)
    with run.stage("cross-fitting"):
        if n_sets == n_documents:
            room = read(sets.member)
            by_token = observe(sets.design, room)
            by_document = observe(sets.design, room, equal)
            single = room[chosen]
        else:
            weighted = csr_array(sets.member.multiply(equal[None, :].astype(np.float32)))
            parts = [sets.member, weighted, _select_rows(chosen, n_documents)]
            tokens = read(csr_array(vstack(parts)))
            room, single = tokens[:n_sets], tokens[2 * n_sets :]
            by_token = observe(sets.design, room)
            by_document = observe(sets.design, tokens[n_sets : 2 * n_sets])
    single = single[:, :n_topics]
    apart = room[:, :n_topics].copy() if groups is not None else single
    some = sample_rows(n_documents, _MOST_READ_AGAIN)
    again: list[tuple[FloatArray, FloatArray]] = []

    def measured_feedback(found: Regression, weight: FloatArray) -> FloatArray:
        # Documents are read again once, for both regressions.
        again.extend([] if again else [read_again(problem.take(some), fit.state, found)])
        returned, whole = again[0]
        own = weight[some, None]
        return returned_parts(problem.design[some], own * returned, own * whole)

    def learned(observed: Observed, weight: FloatArray, start: Start | None = None) -> Learned:
        clusters = None
        if groups is not None:
            # Each row of the design is one document then.
            rows = sets.member.indices
            clusters = Clusters.of(sets.design, weight[rows, None] * apart, groups[rows])
        documents = Documents(
            sets.design,
            observed,
            room,
            problem.design[chosen],
            weight[chosen, None] * single,
            clusters,
        )
        return learn(documents, space, lambda found: measured_feedback(found, weight), start)

    with run.stage("calibration"):
        first = learned(by_token, np.ones(n_documents))
        second = learned(by_document, equal, first.end)
    return Calibrations(second.calibration, first.calibration)


def equal_weights(lengths: FloatArray) -> FloatArray:
    """What the tokens of documents are multiplied by for all to have as many, [M].

    They then have the mean number of tokens; documents without words have none.
    """
    lengths = np.asarray(lengths, dtype=np.float64)
    mean = lengths.sum() / max(np.count_nonzero(lengths), 1)
    return np.where(lengths > 0, mean / np.maximum(lengths, 1e-300), 0.0)


class Start(NamedTuple):
    """Where a regression begins: coefficients, padded, and their penalties [J, K]."""

    regression: Regression
    penalty: FloatArray


class Learned(NamedTuple):
    """What was learned, and where a similar regression may begin."""

    calibration: Calibration
    end: Start


def learn(
    documents: Documents,
    space: LabelSpace,
    measured_feedback: Callable[[Regression], FloatArray],
    start: Start | None = None,
) -> Learned:
    """The regression of topics on a design, and the variance of its coefficients.

    With the information H_jk about a coefficient, its estimate without penalty would be
    v_jk (1 + penalty_jk / H_jk). The estimate has the variance of equation 23; the coefficients of
    a group themselves vary by tau^2. The two variances decide the penalty, and it decides the
    regression.

    What other columns explain of a column is not known of its own coefficients. It widens their
    variance, but takes no part in tau: labels that go together share an effect, and each has the
    size of its part.

    Parameters
    ----------
    documents : Documents
        The documents' topics and design.
    space : LabelSpace
        What the columns of the design are.
    measured_feedback : callable
        Takes the regression, and returns the feedback R [J, T].
    start : Start or None, default=None
        The end of a similar regression, from which fewer sweeps are needed.
    """
    lengths, n_topics = documents.observed.lengths, documents.single.shape[1]
    # Columns that only pad the array have a penalty too, so that nothing is divided by zero.
    penalty = np.full(documents.observed.by_column.shape, _FIRST_PENALTY)
    if start is not None:
        penalty[:] = start.penalty
    # A view, which every round changes; the next one reads the whole array again.
    own_penalty = penalty[:, :n_topics]
    sweeps = [_SWEEPS_PER_ROUND] * (_ROUNDS if start is None else 1) + [_LAST_SWEEPS]
    # Estimates of C levels sum nearly to 0, as if C - 1 of them were free; two levels are to be
    # shrunk as much as one tag.
    n_levels = space.n_levels
    free = np.where(n_levels > 1, n_levels / np.maximum(n_levels - 1, 1), 1.0)[:, None]
    shares: tuple[FloatArray, FloatArray, OwnColumns] | None = None
    clusters, leverage = documents.clusters, None
    amplified: FloatArray | None = None
    path = regression_path(
        documents.design,
        documents.observed,
        repeat(penalty, len(sweeps)),
        sweeps,
        documents.room,
        start and start.regression,
    )
    for padded in path:
        found = Regression(padded.intercept[:n_topics], padded.coefficients[:, :n_topics].copy())
        about_all, label_tokens = information(found, documents.design, lengths)
        if amplified is None:
            amplified = (1.0 - measured_feedback(found)) ** -2
        dispersion = overdispersion(found, documents.single_design, documents.single)
        if shares is None:
            ridge = float(dispersion.mean()) / TYPICAL_VARIANCE / mean_information(found)
            shares = own_shares(documents.design, lengths, n_levels > 0, ridge)
        centred, alone, own_columns = shares
        noise = amplified * dispersion
        if clusters is not None:
            if leverage is None:
                leverage = measure_leverage(clusters, own_columns)
            noise = amplified * clustered_dispersion(
                found, clusters, own_columns, leverage, dispersion
            )
        about = np.maximum(centred[:, None] * about_all, _SMALLEST_INFORMATION)
        estimate = found.coefficients * (1.0 + own_penalty / about)
        deviation = prior_deviations(free * estimate**2, noise / about, space.groups)[:, None]
        own = np.maximum(alone[:, None] * about_all, _SMALLEST_INFORMATION)
        variance = 1.0 / (own / noise + 1.0 / deviation**2)
        own_penalty[:] = noise / deviation**2
    calibration = Calibration(
        found.intercept,
        found.coefficients,
        variance=variance,
        indicator=space.indicator,
        label_tokens=label_tokens,
        degrees=None if leverage is None else leverage.degrees,
    )
    return Learned(calibration, Start(padded, penalty))


def _select_rows(documents: IntArray, n_documents: int) -> csr_array:
    """A matrix [S, M] of ones that selects single documents."""
    n_chosen = len(documents)
    return csr_array(
        (np.ones(n_chosen, dtype=np.float32), documents, np.arange(n_chosen + 1)),
        shape=(n_chosen, n_documents),
    )
