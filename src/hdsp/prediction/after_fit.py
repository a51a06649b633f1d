"""What follows inference: from a fit and its documents to a model that answers without them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.fit import Run
from hdsp.model import Fit, Problem
from hdsp.numerics.sampling import sample_rows
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction.calibration import LeftOut, prepare_calibration
from hdsp.prediction.calibration.cross_fit import FOLDS
from hdsp.prediction.concentration import choose_concentration
from hdsp.prediction.correlations import Correlations, topic_correlations
from hdsp.prediction.dependence import find_dependence, warn_of_dependence
from hdsp.prediction.evidence import count_label_words
from hdsp.prediction.fitted import FitReport, FittedModel, Source
from hdsp.prediction.label_regression import (
    MOST_DOCUMENTS,
    LabelRegression,
    WeighedDocuments,
    fit_label_regressions,
    level_log_prior,
    tag_log_odds,
)
from hdsp.prediction.training import TrainingLabels
from hdsp.prediction.word_factors import MOST_DOCUMENTS as MOST_WORDED
from hdsp.prediction.word_factors import WordFactors, learn_word_factors
from hdsp.scaling import LabelSpace


def make_fitted(
    problem: Problem,
    fit: Fit,
    space: LabelSpace,
    source: Source,
    report: FitReport,
    run: Run,
    predictive_concentration: float | None = None,
    groups: IntArray | None = None,
    left_out: LeftOut | None = None,
) -> FittedModel:
    """The fitted model, with the calibration and summaries that are computed after inference.

    Overwrites the documents of `fit`, to save memory. Without a `predictive_concentration`, the
    one that predicts training documents best is chosen. Documents of one of `groups` [M] are not
    independent. `left_out` are topics without folds of the documents, where they are read with them
    again.
    """
    left_out = left_out or LeftOut(
        problem, fit.state, run.settings, run.here, groups=groups, documents=fit.documents
    )
    stages: dict[str, Callable[[], Any]] = {
        "calibration": prepare_calibration(
            problem, fit, space, run, groups=groups, left_out=left_out
        )
    }
    if predictive_concentration is None:
        stages["concentration"] = partial(choose_concentration, left_out)
    found = {"concentration": predictive_concentration, **run.stages_together(stages)}
    labels = space.values(problem.design)
    return FittedModel(
        fit.state,
        space,
        problem.priors,
        found["concentration"],
        found["calibration"],
        TrainingLabels.of(space.schema, labels),
        count_label_words(problem.counts, labels, np.flatnonzero(space.used_labels)),
        source,
        report,
    )


def with_evidence(
    model: FittedModel,
    problem: Problem,
    run: Run,
    groups: IntArray | None = None,
    left_out: LeftOut | None = None,
) -> FittedModel:
    """The model with correlations of topics, words of labels, and regressions of labels on words.

    Words of labels are behind the perplexity given labels, regressions behind `predict_labels`.
    Documents of one of `groups` [M] are not independent. `left_out` are topics without folds of the
    documents, if they are known.
    """
    log_priors, values = _label_priors(model)

    def correlations() -> Correlations:
        in_use = min(model.report.n_topics, model.state.n_topics)
        return topic_correlations(problem, model.state, model.calibration, in_use, groups)

    if not log_priors:
        with run.stage("correlations"):
            return replace(model, correlations=correlations())
    left_out = left_out or LeftOut(
        problem, model.state, run.settings, run.here, learned_from=model.training.n_documents
    )
    first = run.stages_together(
        {
            "correlations": correlations,
            "label regressions": partial(_weigh_documents, model, left_out),
        }
    )
    documents: WeighedDocuments = first["label regressions"]
    if model.calibration.degrees is None:
        # Without groups.
        dependence = find_dependence(model.space, documents.labels, documents.proportions)
        if dependence is not None:
            warn_of_dependence(dependence)

    def regressions() -> dict[str, LabelRegression]:
        return fit_label_regressions(
            documents, model.schema, model.label_counts(), log_priors, values
        )

    def words() -> WordFactors:
        rows = sample_rows(problem.n_documents, MOST_WORDED)
        counts, design = problem.counts[rows], csr_array(problem.design[rows])
        lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
        return learn_word_factors(
            counts,
            model.space.values(design),
            lengths[:, None] * model.calibrations.tokens.proportions(design),
            documents,
            model.worded,
            model.word_share(),
        )

    stages: dict[str, Callable[[], Any]] = {"label regressions": regressions}
    if model.state.versions is None and model.worded:
        stages["label words"] = words
    found = run.stages_together(stages)
    return replace(
        model,
        correlations=first["correlations"],
        label_regressions=found["label regressions"],
        word_factors=found.get("label words", model.word_factors),
    )


def _label_priors(model: FittedModel) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """Log probabilities or log odds of labels, and values of numbers, by label column."""
    schema, training = model.schema, model.training
    log_priors: dict[str, FloatArray] = {}
    values: dict[str, FloatArray] = {}
    for name, columns in schema.slices().items():
        kind = schema.kind(name)
        carriers = training.carriers[columns]
        if not carriers.sum():
            continue
        if kind == "tags":
            log_priors[name] = tag_log_odds(carriers, training.n_documents)
        elif kind == "category":
            log_priors[name] = level_log_prior(carriers)
        elif len(carriers) == 1:
            values[name], counts = training.values[columns.start]
            log_priors[name] = level_log_prior(counts)
    return log_priors, values


def _weigh_documents(model: FittedModel, left_out: LeftOut) -> WeighedDocuments:
    """Training documents, or a sample of them, read with topics that have not seen them."""
    problem = left_out.problem
    rows = sample_rows(problem.n_documents, MOST_DOCUMENTS)
    words, design = problem.counts[rows], csr_array(problem.design[rows])
    lengths = np.asarray(words.sum(axis=1), dtype=np.float64)
    labels, proportions = model.space.values(design), np.empty((len(rows), model.state.n_topics))
    # New documents are read with topics that have not seen them: so are these, or labels of few
    # documents would seem to be surer than they are.
    fold = left_out.fold[rows]
    word_shares = []
    for number in range(FOLDS):
        left = np.flatnonzero(fold == number)
        without = replace(model, state=left_out.without(number) if len(left) else model.state)
        proportions[left] = without.posterior_of_words(words[left])
        word_shares.append(without.word_share())
    return WeighedDocuments(
        words,
        labels,
        proportions,
        lengths[:, None] * model.calibrations.tokens.proportions(design),
        fold,
        word_shares,
    )
