"""A fitted model: all that prediction needs, without the documents it was fitted to."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array, eye_array

from hdsp.corpus import Labels, LabelSchema
from hdsp.inference import Fit, fit_documents
from hdsp.kernels import Threads
from hdsp.model import (
    GlobalState,
    LocalSettings,
    Priors,
    Problem,
    Truth,
    expected_proportions,
    make_problem,
)
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction.calibration import Calibration, calibrate
from hdsp.prediction.classify import Candidates, label_probabilities
from hdsp.prediction.effects import Contrast, Effects, expected_sides, label_effects
from hdsp.prediction.label_words import count_label_words
from hdsp.prediction.proportions import exact_proportions, ratio_proportions
from hdsp.prediction.regression import Regression
from hdsp.prediction.training import TrainingLabels
from hdsp.scaling import Design, ScalingFunction, used_columns

Method = Literal["calibrated", "exact", "ratio"]
METHODS: tuple[Method, ...] = ("calibrated", "exact", "ratio")

# New documents start cold and get one visit, so they go on until they have settled.
_SETTINGS = LocalSettings(max_iter=100, tol=1e-3)


@dataclass(frozen=True, eq=False)
class FittedModel:
    """The global state with the label space and scaling function it belongs to.

    Attributes
    ----------
    state : topics, sticks, concentrations, the scaling function's parameters
    scaling : the scaling function, bound to the schema's columns
    schema : the labels of training
    priors : hyperparameters
    calibration : the regression behind the default `expected`
    training : what is remembered of the training documents' labels
    label_words : [J, V] tokens of words in the documents of tags and levels
    """

    state: GlobalState
    scaling: ScalingFunction
    schema: LabelSchema
    priors: Priors
    calibration: Calibration
    training: TrainingLabels
    label_words: csr_array

    def expected(self, design: Design, method: Method) -> FloatArray:
        """Expected proportions given labels alone, [M, T]."""
        if method == "calibrated":
            return self.calibration.proportions(design)
        if method == "exact":
            return exact_proportions(self.state, self.scaling, design)
        return ratio_proportions(self.state, self.scaling, design)

    def posterior(self, counts: csr_array, design: Design, threads: Threads) -> FloatArray:
        """Proportions of documents given their words and labels, [M, T]."""
        n_topics = self.state.n_topics
        problem = make_problem(counts, design, n_topics, self.scaling, self.priors)
        documents, _ = fit_documents(problem, self.state, None, _SETTINGS, threads)
        mean = expected_proportions(problem, self.state, documents, slice(0, n_topics))
        mean = mean.astype(np.float64)
        return np.asarray(mean / mean.sum(axis=1, keepdims=True))

    def word_share(self) -> FloatArray:
        """E[phi], [V, T]; columns sum to 1."""
        return word_share(self.state)

    def topic_tokens(self) -> FloatArray:
        """Expected training tokens of each topic, [T]."""
        topics = self.state.topics.astype(np.float64)
        return np.asarray((topics - self.priors.topic_prior).sum(axis=0))

    def effects(
        self, contrasts: list[Contrast], level: float, method: Method, seed: int
    ) -> Effects:
        """What contrasts of labels do to topics, with intervals.

        By ``"calibrated"`` from the regression and its variance; by ``"ratio"`` from the scaling
        function's own posterior.
        """
        if method == "calibrated":
            mean: Regression = self.calibration
            draw = self.calibration.draw
        else:
            prior = np.log(np.maximum(self.state.prior_shape, 1e-300))
            alone = eye_array(self.schema.n_labels, format="csr")
            scale = self.scaling.expected_scale(self.state.scaling, alone)
            mean = Regression(prior, np.log(scale))

            def draw(
                columns: IntArray, streams: list[np.random.Generator], n_draws: int
            ) -> FloatArray:
                own = alone[columns]
                weights = (
                    self.scaling.draw_uncertain(self.state.scaling, streams[0])
                    for _ in range(n_draws)
                )
                return np.array([-np.log(self.scaling.rate(drawn, own)) for drawn in weights])

        return label_effects(mean, draw, self.schema, self.training.sample, contrasts, level, seed)

    def typical_effects(self, contrasts: list[Contrast]) -> FloatArray:
        """The effects of contrasts [C, T] without their intervals."""
        first, second = expected_sides(
            self.calibration, self.schema, self.training.sample, contrasts
        )
        return np.asarray(second - first)

    def label_probabilities(
        self, counts: csr_array, known: Design, candidates: Candidates
    ) -> FloatArray:
        """The probabilities of candidate labels for documents, [M, C]."""
        return label_probabilities(counts, known, candidates, self.calibration, self.word_share())

    def draw(self, rng: np.random.Generator) -> Truth:
        """Parameters to draw documents from: posterior means, and a draw of the labels' weights."""
        return Truth(
            topic_weight=self.state.topic_weight,
            word_share=self.word_share().T,
            weights=self.scaling.draw_posterior(self.state.scaling, rng),
            document_concentration=self.state.document_concentration,
        )


def finish(
    problem: Problem,
    fit: Fit,
    counts: csr_array,
    schema: LabelSchema,
    settings: LocalSettings,
    threads: Threads,
) -> FittedModel:
    """All that is learned once after inference; overwrites the documents of `fit`."""
    exclusive = np.zeros(schema.n_labels, dtype=np.bool_)
    indicator = np.zeros(schema.n_labels, dtype=np.bool_)
    for name, columns in schema.slices().items():
        exclusive[columns] = schema.kind(name) == "category"
        indicator[columns] = schema.kind(name) != "number"
    calibration = calibrate(problem, fit, exclusive, indicator, settings, threads)
    indicators = np.flatnonzero(indicator & used_columns(problem.scaling, schema.n_labels))
    return FittedModel(
        fit.state,
        problem.scaling,
        schema,
        problem.priors,
        calibration,
        TrainingLabels.of(schema, problem.design),
        count_label_words(counts, problem.design, indicators),
    )


def word_share(state: GlobalState) -> FloatArray:
    """E[phi], [V, T]; columns sum to 1."""
    topics = state.topics.astype(np.float64)
    return np.asarray(topics / topics.sum(axis=0))


def encode_labels(schema: LabelSchema, scaling: ScalingFunction, labels: Labels) -> Design:
    """The design [M, J] of labels, without the columns that the scaling function leaves out."""
    design = schema.encode(labels)
    used = used_columns(scaling, design.shape[1])
    return design if used.all() else csr_array(design.multiply(used))
