"""A fitted model: everything that prediction needs, without the training documents."""

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.special import expit, log_softmax

from hdsp.corpus import LabelSchema, TextSettings
from hdsp.fit import Run
from hdsp.model import (
    Fit,
    GlobalState,
    Priors,
    Problem,
    Truth,
    expected_tokens,
    make_predictive_view,
    word_share,
)
from hdsp.numerics.sampling import sample_rows
from hdsp.numerics.types import BoolArray, FloatArray, IntArray
from hdsp.numerics.versions import library_versions
from hdsp.prediction.calibration import (
    Calibration,
    Calibrations,
    Regression,
    Weight,
    prepare_calibration,
)
from hdsp.prediction.calibration.cross_fit import FOLDS, LeftOut
from hdsp.prediction.calibration.functions import fitted_weights
from hdsp.prediction.classify import Candidates, WordProbabilities, label_probabilities
from hdsp.prediction.concentration import choose_concentration
from hdsp.prediction.correlations import NO_CORRELATIONS, Correlations, topic_correlations
from hdsp.prediction.dependence import find_dependence, warn_of_dependence
from hdsp.prediction.effects import DRAWS, Effects, draws_of, label_effects
from hdsp.prediction.evidence import LabelCounts, count_label_words, label_word_ratios
from hdsp.prediction.groups import TopicGroups
from hdsp.prediction.label_regression import (
    MOST_DOCUMENTS,
    LabelRegression,
    WeighedDocuments,
    fit_label_regressions,
    known_features,
    label_evidence,
    level_log_prior,
    number_log_probabilities,
    tag_log_odds,
)
from hdsp.prediction.proportions import exact_proportions, ratio_proportions
from hdsp.prediction.sides import Contrast, expected_sides
from hdsp.prediction.training import TrainingLabels
from hdsp.prediction.word_factors import MOST_DOCUMENTS as MOST_WORDED
from hdsp.prediction.word_factors import WordFactors, learn_word_factors
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
        score = regression.scores(evidence, self._posterior_of_words(counts), features)
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

    def _posterior_of_words(self, counts: csr_array) -> FloatArray:
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
        proportions[left] = without._posterior_of_words(words[left])
        word_shares.append(without.word_share())
    return WeighedDocuments(
        words,
        labels,
        proportions,
        lengths[:, None] * model.calibrations.tokens.proportions(design),
        fold,
        word_shares,
    )


def topic_tokens(state: GlobalState, priors: Priors) -> FloatArray:
    """Expected training tokens of each topic, [T]."""
    return np.asarray(expected_tokens(state, priors).sum(axis=0))
