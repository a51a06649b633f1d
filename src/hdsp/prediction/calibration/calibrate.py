"""How topics depend on labels, learned once after inference."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from scipy.sparse import csr_array, vstack

from hdsp.execution import sum_tokens
from hdsp.fit import Run
from hdsp.model import Fit, Problem
from hdsp.numerics.sampling import sample_rows
from hdsp.numerics.types import BoolArray, FloatArray, IntArray
from hdsp.prediction.calibration.cross_fit import cross_fitted_tokens
from hdsp.prediction.calibration.regression import Regression, label_sets, regression_path
from hdsp.prediction.calibration.shrinkage import prior_deviations
from hdsp.prediction.calibration.variance import (
    TYPICAL_VARIANCE,
    feedback,
    information,
    mean_information,
    overdispersion,
    own_shares,
)
from hdsp.prediction.calibration.version_noise import version_inflation
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
        The expected tokens of topics by column, sum_m r_mj N_m theta_mk.
    """

    variance: FloatArray
    indicator: BoolArray
    label_tokens: FloatArray

    def draw(self, column: int, stream: np.random.Generator, n_draws: int) -> FloatArray:
        """Draw the coefficients of a column from their posterior, [n_draws, T].

        They are normal. For indicators exp(v) is gamma distributed, like a rate of counted tokens:
        a topic that does not occur with a label may be nearly ruled out, but is unlikely to be
        common.
        """
        size = (n_draws, len(self.intercept))
        if self.indicator[column]:
            shape = 1.0 / self.variance[column]
            ratio = stream.standard_gamma(shape, size=size) / shape
            noise = np.log(np.maximum(ratio, 1e-12))
        else:
            noise = np.sqrt(self.variance[column]) * stream.standard_normal(size)
        return np.asarray(self.coefficients[column] + noise)


@dataclass(frozen=True, eq=False)
class Documents:
    """What a regression is learned from: the topics of documents, and the design.

    Attributes
    ----------
    design : sparse array of shape [G, J]
        The design of documents, or of groups of documents with equal labels.
    tokens : float array of shape [G, K]
        Their tokens by topic, padded; overwritten.
    single_design : sparse array of shape [S, J]
        The design of single documents.
    single : float array of shape [S, T]
        Their tokens by topic.
    """

    design: Design
    tokens: FloatArray
    single_design: Design
    single: FloatArray


def calibrate(
    problem: Problem,
    fit: Fit,
    space: LabelSpace,
    run: Run,
    copies: IntArray | None = None,
    learned_from: int | None = None,
) -> Calibration:
    """Regress the topics of documents on their labels.

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
    """

    def read(member: csr_array) -> FloatArray:
        if (learned_from or problem.n_documents) > _MANY_DOCUMENTS:
            return sum_tokens(problem, fit, member, run.settings, run.here)
        return cross_fitted_tokens(problem, fit, member, run.settings, run.here, copies)

    n_topics = fit.state.n_topics
    sets = label_sets(problem.design, None if fit.documents is not None else _MOST_LABEL_SETS)
    chosen = sample_rows(problem.n_documents, _MOST_DOCUMENTS)
    n_sets = sets.member.shape[0]
    with run.stage("cross-fitting"):
        if n_sets == problem.n_documents:
            tokens = read(sets.member)
            single = tokens[chosen]
        else:
            member = csr_array(vstack([sets.member, _select_rows(chosen, problem.n_documents)]))
            tokens = read(member)
            tokens, single = tokens[:n_sets], tokens[n_sets:]

    def measured_feedback(found: Regression) -> FloatArray:
        some = sample_rows(problem.n_documents, _MOST_READ_AGAIN)
        measured = feedback(problem.take(some), fit.state, found)
        if fit.state.versions is None:
            return measured
        # The variance has the factor (1 - R)^-2.
        widening = version_inflation(problem, fit.state, run.settings, run.here)
        return np.asarray(1.0 - (1.0 - measured) / np.sqrt(widening)[:, None])

    documents = Documents(sets.design, tokens, problem.design[chosen], single[:, :n_topics])
    with run.stage("calibration"):
        return learn(documents, space, measured_feedback)


def learn(
    documents: Documents, space: LabelSpace, measured_feedback: Callable[[Regression], FloatArray]
) -> Calibration:
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
    """
    tokens, n_topics = documents.tokens, documents.single.shape[1]
    lengths = tokens.sum(axis=1, dtype=np.float64)
    # Columns that only pad the array have a penalty too, so that nothing is divided by zero.
    penalty = np.full((documents.design.shape[1], tokens.shape[1]), _FIRST_PENALTY)
    # A view, which every round changes; the next one reads the whole array again.
    own_penalty = penalty[:, :n_topics]
    sweeps = [_SWEEPS_PER_ROUND] * _ROUNDS + [_LAST_SWEEPS]
    # Estimates of C levels sum nearly to 0, as if C - 1 of them were free; two levels are to be
    # shrunk as much as one tag.
    n_levels = space.n_levels
    free = np.where(n_levels > 1, n_levels / np.maximum(n_levels - 1, 1), 1.0)[:, None]
    shares: tuple[FloatArray, FloatArray] | None = None
    amplified: FloatArray | None = None
    path = regression_path(
        documents.design, tokens, repeat(penalty, len(sweeps)), sweeps, overwrite=True
    )
    for found in path:
        found = Regression(found.intercept[:n_topics], found.coefficients[:, :n_topics].copy())
        about_all, label_tokens = information(found, documents.design, lengths)
        if amplified is None:
            amplified = (1.0 - measured_feedback(found)) ** -2
        dispersion = overdispersion(found, documents.single_design, documents.single)
        if shares is None:
            ridge = float(dispersion.mean()) / TYPICAL_VARIANCE / mean_information(found)
            shares = own_shares(documents.design, lengths, n_levels > 0, ridge)
        centred, alone = shares
        noise = amplified * dispersion
        about = np.maximum(centred[:, None] * about_all, _SMALLEST_INFORMATION)
        estimate = found.coefficients * (1.0 + own_penalty / about)
        deviation = prior_deviations(free * estimate**2, noise / about, space.groups)[:, None]
        own = np.maximum(alone[:, None] * about_all, _SMALLEST_INFORMATION)
        variance = 1.0 / (own / noise + 1.0 / deviation**2)
        own_penalty[:] = noise / deviation**2
    return Calibration(
        found.intercept,
        found.coefficients,
        variance=variance,
        indicator=space.indicator,
        label_tokens=label_tokens,
    )


def _select_rows(documents: IntArray, n_documents: int) -> csr_array:
    """A matrix [S, M] of ones that selects single documents."""
    n_chosen = len(documents)
    return csr_array(
        (np.ones(n_chosen, dtype=np.float32), documents, np.arange(n_chosen + 1)),
        shape=(n_chosen, n_documents),
    )
