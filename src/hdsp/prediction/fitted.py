"""A fitted model: everything that prediction needs, without the training documents."""

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.special import expit, log_softmax

from hdsp.corpus import LabelSchema, TextSettings
from hdsp.model import GlobalState, Priors, Truth, expected_tokens, make_predictive_view, word_share
from hdsp.numerics.types import BoolArray, FloatArray, IntArray
from hdsp.numerics.versions import library_versions
from hdsp.prediction.calibration import Calibration, Calibrations, Regression, Weight
from hdsp.prediction.calibration.functions import fitted_weights
from hdsp.prediction.classify import Candidates, WordProbabilities, label_probabilities
from hdsp.prediction.correlations import NO_CORRELATIONS, Correlations
from hdsp.prediction.effects import DRAWS, Effects, draws_of, label_effects
from hdsp.prediction.evidence import LabelCounts, label_word_ratios
from hdsp.prediction.groups import TopicGroups
from hdsp.prediction.label_regression import (
    LabelRegression,
    known_features,
    label_evidence,
    number_log_probabilities,
)
from hdsp.prediction.proportions import exact_proportions, ratio_proportions
from hdsp.prediction.sides import Contrast, expected_sides
from hdsp.prediction.training import TrainingLabels
from hdsp.prediction.word_factors import WordFactors
from hdsp.scaling import Design, LabelSpace, ScalingFunction

Method = Literal["calibrated", "exact", "ratio"]
METHODS: tuple[Method, ...] = ("calibrated", "exact", "ratio")
LabelMethod = Literal["calibrated", "generative"]
LABEL_METHODS: tuple[LabelMethod, ...] = ("calibrated", "generative")


@dataclass(frozen=True, eq=False)
class Source:
    """Where a model comes from.

    Attributes
    ----------
    words : tuple of str
        The V words.
    named : bool
        Whether the words are scikit-learn's feature names.
    frames : str or None
        The library of the tables that are returned; None is the default.
    fingerprint : str
        A hash of the training data.
    text_settings : TextSettings or None, default=None
        How texts were counted, if known.
    """

    words: tuple[str, ...]
    named: bool
    frames: str | None
    fingerprint: str
    text_settings: TextSettings | None = None


@dataclass(frozen=True, eq=False)
class FitReport:
    """How a fit went.

    Attributes
    ----------
    history : list of dict
        One row per pass.
    search : list of dict
        One row per number of topics that the search tried.
    converged : bool
        Whether the bound settled.
    n_topics : int
        Topics in use.
    n_topics_range : tuple of two int, or None
        Numbers of topics that are about as good; None where nothing was searched.
    coherence : float array of shape [T]
        NPMI of each topic in the training documents.
    init : str
        The start of the fit; ``"array"`` where topics were given.
    returning : int or None, default=None
        Topics that came back from the other half of the documents; None where it was not asked.
    stages : list of dict
        The seconds of each stage of the fit, and of what follows it.
    versions : mapping of str to str
        The versions of hdsp, of Python and of libraries at the fit; older files have none.
    """

    history: list[dict[str, float]]
    search: list[dict[str, Any]]
    converged: bool
    n_topics: int
    n_topics_range: tuple[int, int] | None
    coherence: FloatArray
    init: str
    returning: int | None = None
    stages: list[dict[str, Any]] = field(default_factory=list)
    versions: Mapping[str, str] = field(default_factory=library_versions)


@dataclass(frozen=True, eq=False)
class FittedModel:
    """The result of a fit: what predictions need, and how the fit went.

    Attributes
    ----------
    state : GlobalState
        Topics, sticks, concentrations and the scaling function's parameters.
    space : LabelSpace
        The labels of training, and how they scale topics.
    priors : Priors
        The hyperparameters.
    predictive_concentration : float
        The beta that new documents are predicted with.
    calibrations : Calibrations
        The regressions of topics on labels, by documents and by tokens.
    training : TrainingLabels
        A summary of the training documents' labels.
    label_words : sparse array of shape [n_labels, V]
        Tokens of each word in the documents of each label, weighted by the value of a number.
    source : Source
        Where the model comes from.
    report : FitReport
        How the fit went.
    label_regressions : mapping of str to LabelRegression
        For each block of labels the regression that predicts it from words.
    topic_names : mapping of int to str
        Names that topics were given; most have none.
    merged_topics : TopicGroups or None
        Topics that were merged by hand; None where each fitted topic is one of its own.
    sampled : float
        The share of the training tokens that calibration and label words were counted on: less
        than 1 where a sample of the documents stood for all.
    word_factors : WordFactors or None
        Words that labels use beyond their topics; None where they were not learned.
    correlations : Correlations
        Correlations of topics over documents.

    Notes
    -----
    Methods return fitted topics, except `effects`; `groups.sum` turns them into merged ones.
    Cached properties have merged topics. They belong to this value, which never changes.
    """

    state: GlobalState
    space: LabelSpace
    priors: Priors
    predictive_concentration: float
    calibrations: Calibrations
    training: TrainingLabels
    label_words: csr_array
    source: Source
    report: FitReport
    label_regressions: Mapping[str, LabelRegression] = field(default_factory=dict)
    topic_names: Mapping[int, str] = field(default_factory=dict)
    merged_topics: TopicGroups | None = None
    sampled: float = 1.0
    word_factors: WordFactors | None = None
    correlations: Correlations = NO_CORRELATIONS

    @property
    def schema(self) -> LabelSchema:
        """The label columns of training."""
        return self.space.schema

    @property
    def scaling(self) -> ScalingFunction:
        """The scaling function, bound to the columns of the design."""
        return self.space.scaling

    @property
    def groups(self) -> TopicGroups:
        """The fitted topics of each topic."""
        return self.merged_topics or TopicGroups.single(self.state.n_topics)

    @cached_property
    def components(self) -> FloatArray:
        """Dirichlet parameters of topics, [T, V]: of a merged one, eta and what its topics hold."""
        topics = self.groups.sum(self.state.topics.astype(np.float64))
        topics -= self.priors.topic_prior * (np.array([*map(len, self.groups.members)]) - 1)
        return np.ascontiguousarray(topics.T)

    @cached_property
    def topic_weight(self) -> FloatArray:
        """The corpus weights p of topics, [T]: of a merged one the sum."""
        return self.groups.sum(self.state.topic_weight)

    @cached_property
    def tokens(self) -> FloatArray:
        """Expected training tokens of each topic, [T]: of a merged one the sum."""
        return self.groups.sum(self.topic_tokens())

    @cached_property
    def used(self) -> BoolArray:
        """Which labels the scaling function takes, [n_labels]."""
        return self.space.used_labels

    @cached_property
    def worded(self) -> list[slice]:
        """The labels of each column whose labels may have words of their own."""
        return [
            columns
            for name, columns in self.schema.slices().items()
            if self.schema.kind(name) != "number" and self.used[columns].any()
        ]

    @property
    def calibration(self) -> Calibration:
        """The regression of topics on labels in which documents weigh the same."""
        return self.calibrations.documents

    def expected(self, design: Design, method: Method, weight: Weight = "documents") -> FloatArray:
        """Expected proportions given labels alone, [M, T]: means over documents, or over tokens."""
        if method == "calibrated":
            found: Calibration = getattr(self.calibrations, weight)
            return found.proportions(design)
        if method == "exact":
            return exact_proportions(self.state, self.scaling, design)
        return ratio_proportions(self.state, self.scaling, design)

    def posterior(self, counts: csr_array, design: Design) -> FloatArray:
        """Proportions of documents given their words and labels, [M, T]."""
        view = make_predictive_view(self.state, self.scaling)
        found = view.proportions(counts, design, self.predictive_concentration)
        found = found.astype(np.float64)
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def word_share(self) -> FloatArray:
        """E[phi], [V, T]; columns sum to 1."""
        return word_share(self.state)

    def topic_tokens(self) -> FloatArray:
        """Expected training tokens of each topic, [T]."""
        return topic_tokens(self.state, self.priors)

    def missing(self) -> BoolArray:
        """Which labels the scaling function takes, but no training document has, [n_labels]."""
        return np.asarray(self.used & (self.training.carriers == 0))

    def effects(
        self,
        contrasts: list[Contrast],
        level: float,
        method: Method,
        seed: int,
        weight: Weight = "documents",
    ) -> Effects:
        """Effects of contrasts on topics, with intervals.

        The method ``"calibrated"`` uses the regression by `weight` and its variance, ``"ratio"``
        the scaling function's own posterior. The last answer is kept: a report asks twice.
        """
        asked = (tuple(contrasts), level, method, seed, weight)
        found = self._effects.get(asked)
        if found is None:
            found = self._draw_effects(contrasts, level, method, seed, weight)
            self._effects.clear()
            self._effects[asked] = found
        return found

    @cached_property
    def _effects(self) -> dict[tuple[Any, ...], Effects]:
        return {}

    def _draw_effects(
        self, contrasts: list[Contrast], level: float, method: Method, seed: int, weight: Weight
    ) -> Effects:
        calibration: Calibration = getattr(self.calibrations, weight)
        mean: Regression = calibration
        draw = draws_of(calibration, self.space, seed)
        if method != "calibrated":
            prior = np.log(np.maximum(self.state.prior_shape, 1e-300))
            alone = eye_array(self.space.n_columns, format="csr")
            scale = np.log(self.scaling.expected_scale(self.state.scaling, alone))
            functions = self.space.functions
            for _, own in functions:
                scale[own] = fitted_weights(self.space, self.state.scaling, len(prior))[own]
            mean = Regression(prior, scale, functions=functions)

            def draw(columns: IntArray) -> Iterator[FloatArray]:
                # One stream for all labels, whose weights are drawn together.
                stream = np.random.default_rng([seed, zlib.crc32(self.space.names[0].encode())])
                for _ in range(DRAWS):
                    weights = self.scaling.draw_uncertain(self.state.scaling, stream)
                    # A drawn rate may be too small for a float.
                    rate = np.maximum(self.scaling.rate(weights, alone[columns]), 1e-300)
                    drawn = -np.log(rate)
                    for _, own in functions:
                        mine = np.isin(columns, own)
                        drawn[mine] = weights[:, columns[mine]].T
                    yield drawn.astype(np.float32)[None]

        return label_effects(
            mean, draw, self.space, self.training.sample, contrasts, level, self.groups
        )

    def typical_effects(self, contrasts: list[Contrast]) -> FloatArray:
        """The effects of contrasts on fitted topics [C, T], without their intervals."""
        first, second = expected_sides(
            self.calibration, self.space, self.training.sample, contrasts
        )
        return np.asarray(second - first)

    def label_probabilities(
        self, counts: csr_array, known: csr_array, candidates: Candidates, method: LabelMethod
    ) -> FloatArray:
        """The probabilities of candidate labels for documents, [M, C].

        `known` [M, n_labels] are the values of the documents' other labels.
        """
        target = candidates.target
        kind, columns = self.schema.kind(target), self.schema.slices()[target]
        if method == "generative":
            ratios: FloatArray = np.ones((len(candidates.names), len(self.state.topics)))
            if kind != "number":
                own = columns.start + candidates.positions
                expected = self.space.of_labels(self.calibrations.tokens.label_tokens)[own]
                ratios = label_word_ratios(self.label_words[own], expected, self.word_share())
            tokens = self.calibrations.tokens
            words = WordProbabilities(self.space, tokens, self.word_share(), ratios)
            return label_probabilities(counts, known, candidates, words)
        regression = self.label_regressions[target]
        evidence = label_evidence(
            counts, self.label_counts().block(columns), kind, self.word_share()
        )
        n_own = self.state.n_topics + evidence.shape[1]
        features, _ = known_features(self.schema, target, known, regression.mean[n_own:])
        score = regression.scores(evidence, self.posterior_of_words(counts), features)
        if kind == "number":
            values = candidates.values.data
            found = number_log_probabilities(
                score[:, 0], regression.curvature, values, candidates.log_prior
            )
            return np.asarray(np.exp(found))
        if not np.array_equal(candidates.positions, np.arange(score.shape[1])):
            score = score[:, candidates.positions]
        # In place, since documents and labels may be many.
        score += candidates.log_prior
        if kind == "tags":
            return np.asarray(expit(score, out=score))
        return np.asarray(np.exp(log_softmax(score, axis=1)))

    def posterior_of_words(self, counts: csr_array) -> FloatArray:
        """Proportions of documents given their words alone, [M, T]."""
        nothing = csr_array((counts.shape[0], self.space.n_columns), dtype=np.float64)
        return self.posterior(counts, nothing)

    def label_counts(self) -> LabelCounts:
        """Words and topics of the training documents, or of the sample of them, by label."""
        tokens = self.sampled * expected_tokens(self.state, self.priors)
        return LabelCounts(
            self.label_words,
            self.space.of_labels(self.calibrations.tokens.label_tokens),
            np.maximum(tokens.sum(axis=1), 0.0),
            np.maximum(tokens.sum(axis=0), 0.0),
            self.training.carriers / max(self.training.n_documents, 1),
        )

    def draw(self, rng: np.random.Generator) -> Truth:
        """Parameters to draw documents from: posterior means, and a draw of the labels' weights."""
        return Truth(
            topic_weight=self.state.topic_weight,
            word_share=self.word_share().T,
            weights=self.scaling.draw_posterior(self.state.scaling, rng),
            document_concentration=self.state.document_concentration,
        )


def topic_tokens(state: GlobalState, priors: Priors) -> FloatArray:
    """Expected training tokens of each topic, [T]."""
    return np.asarray(expected_tokens(state, priors).sum(axis=0))
