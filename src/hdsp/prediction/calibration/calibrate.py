"""How topics depend on labels, learned once after inference."""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from hdsp.execution import is_alone, sum_tokens
from hdsp.fit import Run
from hdsp.kernels import sparse_product
from hdsp.model import Fit, Problem
from hdsp.numerics.sampling import sample_rows
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction.calibration.clusters import Clusters
from hdsp.prediction.calibration.coefficients import Calibration
from hdsp.prediction.calibration.cross_fit import LeftOut, cross_fitted_tokens
from hdsp.prediction.calibration.functions import Forms, fitted_weights
from hdsp.prediction.calibration.learn import Documents, Learned, Start, learn
from hdsp.prediction.calibration.regression import Observed, Regression, label_sets, observe
from hdsp.prediction.calibration.variance import read_again, returned_parts
from hdsp.prediction.calibration.version_noise import version_inflation
from hdsp.scaling import LabelSpace

# Where documents are not kept, the regression uses at most this many label sets.
_MOST_LABEL_SETS = 20_000
# The overdispersion is estimated from at most this many single documents.
_MOST_DOCUMENTS = 4_000
# And the feedback from at most this many, which are read several times.
_MOST_READ_AGAIN = 2_000

# Whether each document weighs the same, or each token.
Weight = Literal["documents", "tokens"]
WEIGHTS: tuple[Weight, ...] = ("documents", "tokens")


class Calibrations(NamedTuple):
    """The regression in which documents weigh the same, and the one in which tokens do."""

    documents: Calibration
    tokens: Calibration


def prepare_calibration(
    problem: Problem,
    fit: Fit,
    space: LabelSpace,
    run: Run,
    copies: IntArray | None = None,
    groups: IntArray | None = None,
    tokens: FloatArray | None = None,
    left_out: LeftOut | None = None,
) -> Callable[[], Calibrations]:
    """Read documents, and return what regresses their topics on their labels.

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
        How the fit proceeds; documents are read in its stage of cross-fitting.
    copies : int array of shape [M] or None, default=None
        How often each document was among those that topics were learned from; None is once.
    groups : int array of shape [M] or None, default=None
        The group of each document, where documents of a group are not independent; -1 is a
        document of its own.
    tokens : float array of shape [M, K] or None, default=None
        The documents' tokens by topic, padded, where they have been read already.
    left_out : LeftOut or None, default=None
        Topics without each fold of the documents, where others read them, too.
    """

    def read(member: csr_array) -> FloatArray:
        if tokens is not None:
            return tokens.copy() if is_alone(member) else sparse_product(member, tokens)
        found = left_out or LeftOut(problem, fit.state, run.settings, run.here, copies, groups)
        if found.negligible:
            return sum_tokens(problem, fit, member, run.settings, run.here)
        return cross_fitted_tokens(fit, member, found)

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
            kept = np.array([room, equal[:, None] * room]) if space.functions else None
        else:
            weighted = csr_array(sets.member.multiply(equal[None, :].astype(np.float32)))
            parts = [sets.member, weighted, _select_rows(chosen, n_documents)]
            sums = read(csr_array(vstack(parts)))
            room, single = sums[:n_sets], sums[2 * n_sets :]
            by_token = observe(sets.design, room)
            by_document = observe(sets.design, sums[n_sets : 2 * n_sets])
            kept = sums[: 2 * n_sets].reshape(2, n_sets, -1).copy() if space.functions else None
        widening = None
        if fit.state.versions is not None:
            widening = version_inflation(problem, fit.state, run.settings, run.here)
    single = single[:, :n_topics]
    apart = room[:, :n_topics].copy() if groups is not None else single
    some = sample_rows(n_documents, _MOST_READ_AGAIN)
    again: list[tuple[FloatArray, FloatArray]] = []

    def measured_feedback(found: Regression, weight: FloatArray) -> FloatArray:
        # Documents are read again once, for both regressions.
        again.extend([] if again else [read_again(problem.take(some), fit.state, found)])
        returned, whole = again[0]
        own = weight[some, None]
        measured = returned_parts(problem.design[some], own * returned, own * whole)
        if widening is None:
            return measured
        # The variance has the factor (1 - R)^-2.
        return np.asarray(1.0 - (1.0 - measured) / np.sqrt(widening)[:, None])

    def learned(observed: Observed, weight: FloatArray, start: Start | None = None) -> Learned:
        clusters = forms = None
        if kept is not None:
            weights = fitted_weights(space, fit.state.scaling, kept.shape[2])
            forms = Forms(space.functions, weights, kept[0 if start is None else 1])
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
            forms,
        )
        return learn(documents, space, lambda found: measured_feedback(found, weight), start)

    def regress() -> Calibrations:
        first = learned(by_token, np.ones(n_documents))
        second = learned(by_document, equal, first.end)
        return Calibrations(second.calibration, first.calibration)

    return regress


def equal_weights(lengths: FloatArray) -> FloatArray:
    """What the tokens of documents are multiplied by for all to have as many, [M].

    They then have the mean number of tokens; documents without words have none.
    """
    lengths = np.asarray(lengths, dtype=np.float64)
    mean = lengths.sum() / max(np.count_nonzero(lengths), 1)
    return np.where(lengths > 0, mean / np.maximum(lengths, 1e-300), 0.0)


def _select_rows(documents: IntArray, n_documents: int) -> csr_array:
    """A matrix [S, M] of ones that selects single documents."""
    n_chosen = len(documents)
    return csr_array(
        (np.ones(n_chosen, dtype=np.float32), documents, np.arange(n_chosen + 1)),
        shape=(n_chosen, n_documents),
    )
