"""A model's topics with labels that its fit did not have.

Documents are read as a fit reads them: with labels' weights, which are learned anew while topics
and their corpus weights stay as they are. Read without, they would be drawn to the mean document
where words leave their topics open, and effects would come out too small.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array, eye_array

from hdsp.execution import fit_documents
from hdsp.fit import Run
from hdsp.model import DocumentState, Fit, GlobalState, Problem, expected_tokens, make_problem
from hdsp.model.updates import update_scaling
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction.calibration import Calibration, Calibrations, prepare_calibration
from hdsp.prediction.calibration.cross_fit import LeftOut, cross_fitted_tokens
from hdsp.prediction.fitted import FittedModel
from hdsp.prediction.training import TrainingLabels
from hdsp.scaling import LabelSpace

# Passes in which labels' weights settle.
_PASSES = 8
# Word counts that differ by less than this share are those of training: other documents differ by
# several hundredths, and those of stochastic inference are a running mean.
_SAME = 0.01


@dataclass(frozen=True, eq=False)
class ReadDocuments:
    """Documents, and what their words say of their topics.

    Attributes
    ----------
    values : sparse array of shape [M, n_labels]
        Values of their labels.
    tokens : float array of shape [M, T]
        Their tokens by fitted topic, read with topics that have not seen them.
    groups : int array of shape [M] or None
        Their groups; -1 is a document of its own.
    """

    values: csr_array
    tokens: FloatArray
    groups: IntArray | None

    @property
    def lengths(self) -> FloatArray:
        """Their numbers of tokens, [M]."""
        return np.asarray(self.tokens.sum(axis=1, dtype=np.float64))

    @property
    def proportions(self) -> FloatArray:
        """Their proportions of fitted topics, [M, T]; nothing where there are no words."""
        return np.asarray(self.tokens / np.maximum(self.lengths, 1e-300)[:, None])


def is_training(fitted: FittedModel, counts: csr_array) -> bool:
    """Whether a model's topics were learned from these documents: they hold the same words."""
    learned = expected_tokens(fitted.state, fitted.priors).sum(axis=1)
    given = np.asarray(counts.sum(axis=0), dtype=np.float64)
    same = np.abs(learned - given).sum() <= _SAME * given.sum()
    return bool(counts.shape[0] == fitted.training.n_documents and same)


def read_tokens(
    fitted: FittedModel,
    problem: Problem,
    state: GlobalState,
    run: Run,
    groups: IntArray | None = None,
) -> tuple[FloatArray, IntArray | None]:
    """Documents' tokens by topic [M, K], padded, and how often each was in training.

    Training documents are cross-fitted.
    """
    copies = None
    if not is_training(fitted, problem.counts):
        copies = np.zeros(problem.n_documents, dtype=np.int64)
    return _read(problem, state, run, copies, groups), copies


def _read(
    problem: Problem,
    state: GlobalState,
    run: Run,
    copies: IntArray | None,
    groups: IntArray | None = None,
) -> FloatArray:
    alone = csr_array(eye_array(problem.n_documents, dtype=np.float32, format="csr"))
    left_out = LeftOut(problem, state, run.settings, run.here, copies, groups)
    return cross_fitted_tokens(Fit(state, None), alone, left_out)


def with_other_labels(
    fitted: FittedModel,
    counts: csr_array,
    space: LabelSpace,
    values: csr_array,
    run: Run,
    groups: IntArray | None = None,
) -> tuple[FittedModel, ReadDocuments]:
    """The model with other labels, whose effects are learned from documents, and these.

    Parameters
    ----------
    fitted : FittedModel
        The model.
    counts : sparse array of shape [M, V]
        The documents' words: those of training, or others.
    space : LabelSpace
        The labels, and the form of their effects.
    values : sparse array of shape [M, n_labels]
        The documents' labels.
    run : Run
        Where documents are read.
    groups : int array of shape [M] or None, default=None
        Groups of documents that are not independent; -1 is a document of its own.
    """
    design = csr_array(space.design(values), dtype=np.float32)
    problem = make_problem(counts, design, space.scaling, fitted.priors)
    n_topics = fitted.state.n_topics
    state = replace(fitted.state, scaling=space.scaling.initial(n_topics, space.n_columns))
    documents: DocumentState | None = None
    with run.stage("labels"):
        for _ in range(_PASSES):
            documents, _ = fit_documents(
                problem, state, documents, run.settings, run.here, reuse=True
            )
            state = replace(state, scaling=update_scaling(problem, state, documents))
    del documents
    with run.stage("cross-fitting"):
        tokens, copies = read_tokens(fitted, problem, state, run, groups)
    regress = prepare_calibration(
        problem, Fit(state, None), space, run, copies, groups=groups, tokens=tokens
    )
    with run.stage("calibration"):
        calibrations = regress()
    own = ReadDocuments(values, tokens[:, :n_topics], groups)
    if copies is None:
        seen = _read(problem, state, run, np.zeros(problem.n_documents, dtype=np.int64))
        calibrations = _with_adaptation(calibrations, own, replace(own, tokens=seen[:, :n_topics]))
    other = replace(
        fitted,
        state=state,
        space=space,
        calibrations=calibrations,
        training=TrainingLabels.of(space.schema, values),
        label_words=csr_array((space.schema.n_labels, counts.shape[1])),
        label_regressions={},
        word_factors=None,
    )
    return other, own


def _with_adaptation(
    calibrations: Calibrations, unseen: ReadDocuments, seen: ReadDocuments
) -> Calibrations:
    """The regressions, with an error of mean proportions for topics' nearness to their documents.

    Topics that have seen documents hold more or less of them than topics that have not, most of all
    those of few documents. Leaving documents out shows how much, and takes about as much of it away
    as is left: this difference is taken for the standard error of what is left.
    """
    share = unseen.proportions.mean(axis=0)
    change = (seen.proportions.mean(axis=0) - share) / np.maximum(share * (1.0 - share), 1e-12)

    def wider(one: Calibration) -> Calibration:
        before = 0.0 if one.mean_variance is None else one.mean_variance
        return replace(one, mean_variance=before + change**2)

    return Calibrations(*map(wider, calibrations))
