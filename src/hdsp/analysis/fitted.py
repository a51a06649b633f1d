"""A fitted model: everything that answers need; what nobody has asked for yet is computed then."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, wraps
from typing import Annotated, Any, Literal, TypeVar, cast

import numpy as np
from scipy.sparse import csr_array
from scipy.special import logit, softmax
from threadpoolctl import threadpool_limits

from hdsp import numerics, progress
from hdsp.analysis import label_prediction
from hdsp.analysis import reading as readings
from hdsp.analysis import softmax as regressions
from hdsp.analysis.correlations import Correlations, correlate_topics
from hdsp.analysis.design import partial_columns, regression_space
from hdsp.analysis.reading import FOLDS, WEIGHTS, LeftOut, Reading, Weight
from hdsp.analysis.softmax import SoftmaxRegression
from hdsp.analysis.topics import TopicGroups
from hdsp.analysis.words import WordFactors, learn_word_factors
from hdsp.corpus import LabelSchema, ReadingSettings, TextSettings
from hdsp.execution.executor import make_executor
from hdsp.fit.stream import Stream
from hdsp.metrics import npmi, topic_top_words
from hdsp.model.priors import Priors
from hdsp.model.reading import PredictiveView, word_share
from hdsp.model.state import GlobalState
from hdsp.model.updates import expected_tokens
from hdsp.numerics import BoolArray, FloatArray, library_versions, sample_rows
from hdsp.scaling.design import LabelDesign
from hdsp.scaling.functions import Design, ScalingFunction
from hdsp.storage.codec import SMALLEST, Limits

# As many training documents are weighed for the regressions of labels on words.
_MOST_WEIGHED = 10_000
# The words of a document's part are no evidence for its own labels.
_PARTS = 10
_COHERENCE_WORDS = 10
# The integral needs positive shapes; a topic whose prior shape underflows has no share.
_SMALLEST_SHAPE = 1e-12
# A numeric label with more values than this is summarised by as many groups.
_MOST_VALUES = 50

Method = Literal["regression", "exact", "ratio"]
METHODS: tuple[Method, ...] = ("regression", "exact", "ratio")

_Method = TypeVar("_Method", bound=Callable[..., Any])


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
    reading : ReadingSettings or None, default=None
        How the table of the documents was read, if there was one.
    """

    words: Annotated[tuple[str, ...], Limits("V")]
    named: bool
    frames: str | None
    fingerprint: str
    text_settings: TextSettings | None = None
    reading: ReadingSettings | None = None


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
    init : str
        The start of the fit; ``"array"`` where topics were given.
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
    init: str
    stages: list[dict[str, Any]] = field(default_factory=list)
    versions: Mapping[str, str] = field(default_factory=library_versions)


def _on_demand(name: str, doing: str) -> Callable[[_Method], _Method]:
    """A method that is called once and then answered from `answers`, under a name.

    Both the name and the line on progress may contain the method's first argument.
    """

    def decorate(compute: _Method) -> _Method:
        @wraps(compute)
        def method(self: "FittedModel", *args: Any) -> Any:
            found, key = self.answers, name.format(*args)
            if key not in found:
                # One BLAS thread: kernels have threads of their own, and bits are the same.
                limits = threadpool_limits(1, "blas")
                with progress.task(doing.format(*args)), limits, make_executor(None, None):
                    found[key] = compute(self, *args)
            return found[key]

        return cast(_Method, method)

    return decorate


@dataclass(frozen=True, eq=False)
class FittedModel:
    """The result of a fit, and what follows from it.

    Attributes
    ----------
    state : GlobalState
        Topics, sticks, concentrations and the scaling function's parameters.
    space : LabelDesign
        The labels of training, and how they scale topics.
    priors : Priors
        The hyperparameters.
    reading : Reading
        Proportions of the training documents, or of a sample, with their labels.
    carriers : float array of shape [n_labels]
        How many of all training documents have each label.
    n_documents : int
        The number of training documents.
    source : Source
        Where the model comes from.
    report : FitReport
        How the fit went.
    topic_names : mapping of int to str
        Names that topics were given; most have none.
    merged_topics : TopicGroups or None
        Topics that were merged by hand; None where each fitted topic is one of its own.
    answers : dict
        What was computed on demand from the training documents, by name.
    fixed_concentration : float or None
        The beta that new documents are predicted with, if it was given.
    method : str
        How topics are expected from labels unless a call says otherwise.
    left_out : LeftOut or None
        The training documents or a sample, and topics without each fold; None once the model is
        saved or pickled. All answers are computed before.
    count_returning : callable or None
        Counts the topics that two halves of the training documents share, likewise.
    stream : Stream or None
        Where `partial_fit` goes on; None after batch inference.

    Notes
    -----
    Methods return fitted topics; `groups.sum` turns them into merged ones. Cached properties have
    merged topics. They belong to this value, which never changes.
    """

    state: GlobalState
    space: LabelDesign
    priors: Priors
    reading: Reading
    carriers: Annotated[FloatArray, Limits("L", 0.0)]
    n_documents: Annotated[int, Limits(least=1)]
    source: Source
    report: FitReport
    topic_names: Mapping[int, str] = field(default_factory=dict)
    merged_topics: TopicGroups | None = None
    answers: dict[str, Any] = field(default_factory=dict)
    fixed_concentration: Annotated[float, Limits(least=SMALLEST)] | None = None
    method: Method = "regression"
    left_out: LeftOut | None = None
    count_returning: Callable[[], int] | None = None
    stream: Stream | None = None

    def __getstate__(self) -> dict[str, Any]:
        # A pickle answers everything, as a file does, and contains no documents either.
        self.complete()
        kept = {own.name: getattr(self, own.name) for own in fields(self)}
        return kept | {"left_out": None, "count_returning": None}

    @property
    def documents(self) -> LeftOut:
        """The training documents; raises if they are gone."""
        if self.left_out is None:
            raise ValueError(
                "This answer needs the training documents, which a saved or pickled model does not "
                "contain: ask for it before saving, or fit again."
            )
        return self.left_out

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
    def regression_space(self) -> LabelDesign:
        """The labels as regressions take them."""
        return regression_space(self.space, self.reading.values)

    @cached_property
    def worded(self) -> list[slice]:
        """The labels of each column whose labels may have words of their own."""
        return [
            columns
            for name, columns in self.schema.slices().items()
            if self.schema.kind(name) != "number" and self.used[columns].any()
        ]

    @property
    def proportions(self) -> FloatArray:
        """Proportions of the documents that were read, [M, T]: of merged topics the sums."""
        return self.groups.sum(self.reading.proportions.astype(np.float64))

    def number_values(self, target: str) -> FloatArray:
        """The different values of a numeric label, in standard units, and their documents, [2, C].

        More than fifty are grouped by equal quantiles, each group with its mean. Of other labels
        there are none.
        """
        if self.schema.kind(target) != "number":
            return np.zeros((2, 0))
        own = self.reading.values.tocsc()[:, [self.schema.slices()[target].start]]
        weight = np.ones(len(own.indices))
        if self.reading.weights is not None:
            weight = self.reading.weights[own.indices]
        values, group = np.unique(own.data, return_inverse=True)
        if len(values) > _MOST_VALUES:
            edges = np.quantile(own.data, np.arange(1, _MOST_VALUES) / _MOST_VALUES)
            _, group = np.unique(np.searchsorted(edges, own.data), return_inverse=True)
            values = np.bincount(group, weight * own.data) / np.bincount(group, weight)
        return np.array([values, np.bincount(group, weight)], dtype=np.float64)

    @property
    def predictive_concentration(self) -> float:
        """The beta that new documents are predicted with."""
        return self.fixed_concentration or self._concentration()

    @_on_demand("concentration", "Choosing the concentration")
    def _concentration(self) -> float:
        return readings.choose_concentration(self.documents)

    @property
    def coherence(self) -> FloatArray:
        """NPMI of each topic in the training documents, [T]; NaN if merged, or with one word."""
        npmi_of = self._coherence()
        return np.array([npmi_of[k] if not more else np.nan for k, *more in self.groups.members])

    @_on_demand("coherence", "Measuring coherence")
    def _coherence(self) -> FloatArray:
        counts = self.documents.problem.counts
        if counts.shape[1] < 2:
            return np.full(self.state.n_topics, np.nan)
        return npmi(topic_top_words(self.state.topics.T, _COHERENCE_WORDS), counts)

    @property
    @_on_demand("correlations", "Finding correlations of topics")
    def correlations(self) -> Correlations:
        """Correlations of the topics in use over documents."""
        left_out, expected = self.documents, self.expected_of_documents("documents")
        in_use = self.reading.n_topics
        return correlate_topics(left_out.problem, self.state, expected, in_use, left_out.groups)

    def expected_of_documents(self, weight: Weight) -> FloatArray:
        """Expected proportions of the documents that were read, given their labels, [M, T]."""
        design = csr_array(self.regression_space.regressors(self.reading.values))
        return self.expected_regression(weight).proportions(design)

    @_on_demand("expected.{}", "Regressing topics on labels")
    def expected_regression(self, weight: Weight) -> SoftmaxRegression:
        """The softmax regression on the fit's own labels.

        By documents it matches their mean proportions, by tokens it predicts words best.
        """
        reading = self.reading
        if weight == "documents":
            return self.regress(self.regression_space, reading, weight, missing=True)
        left_out = self.documents
        documents = regressions.group_documents(
            csr_array(self.regression_space.regressors(reading.values)),
            left_out.problem.counts,
            np.nan_to_num(reading.proportions.astype(np.float64)),
            reading.fold.astype(np.int64),
            reading.document_weights("documents"),
        )
        shares = [word_share(left_out.without(number)) for number in range(FOLDS)]
        return regressions.learn_softmax(documents, shares)

    def regress(
        self, space: LabelDesign, reading: Reading, weight: Weight, missing: bool = False
    ) -> SoftmaxRegression:
        """The softmax regression of documents' proportions on labels, some of them `missing`."""
        weights = np.where(reading.read, reading.document_weights(weight), 0.0)
        weights *= reading.lengths.sum() / max(float(weights.sum()), 1e-300)
        design = csr_array(space.regressors(reading.values), dtype=np.float32)
        proportions = np.nan_to_num(reading.proportions.astype(np.float32))
        with threadpool_limits(1, "blas"), make_executor(None, None):
            given = design, proportions, weights, reading.fold == 0
            partial = partial_columns(space) if missing else ()
            return regressions.regress_proportions(*given, partial)

    def expected(self, design: Design, method: Method, weight: Weight = "documents") -> FloatArray:
        """Expected proportions given labels alone, [M, T]: means over documents, or over tokens."""
        state, scaling = self.state, self.scaling
        if method != "regression":
            shape = np.maximum(state.prior_shape, _SMALLEST_SHAPE)
            rate = scaling.expected_rate(state.scaling, design)
            if method == "exact":
                # The mean of the normalised gamma variables at the expected rates (equation 21).
                return numerics.normalised_gamma_mean(shape, rate)
            # Of a document without words, E[pi_k] is beta p_k / E[rho_k(r)] (equation 20).
            return np.asarray(softmax(np.log(shape) - np.log(rate), axis=1))
        if self.regression_space is not self.space:
            design = self.regression_space.regressors(self.space.values(design))
        return self.expected_regression(weight).proportions(csr_array(design))

    def posterior(self, counts: csr_array, design: Design) -> FloatArray:
        """Proportions of documents given their words and labels, [M, T]."""
        view = PredictiveView(self.state, self.scaling)
        shares = view.proportions(counts, design, self.predictive_concentration)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True, dtype=np.float64))

    def posterior_of_words(self, counts: csr_array) -> FloatArray:
        """Proportions of documents given their words alone, [M, T]."""
        nothing = csr_array((counts.shape[0], self.space.n_columns), dtype=np.float64)
        return self.posterior(counts, nothing)

    def word_share(self) -> FloatArray:
        """E[phi], [V, T]; columns sum to 1."""
        return word_share(self.state)

    def topic_tokens(self) -> FloatArray:
        """Expected training tokens of each topic, [T]."""
        return topic_tokens(self.state, self.priors)

    def missing(self) -> BoolArray:
        """Which labels the scaling function takes, but no training document has, [n_labels]."""
        return np.asarray(self.used & (self.carriers == 0))

    def label_indicators(self, target: str) -> csr_array:
        """Which labels of a column documents have, and whether they are known, [M, C + 1]."""
        kind, values = self.schema.kind(target), self.number_values(target)[0]
        labels = csr_array(self.reading.values[:, self.schema.slices()[target]])
        return label_prediction.indicators(kind, labels, values)

    @_on_demand("counts.{}", "Counting words of {}")
    def label_counts(self, target: str) -> csr_array:
        """Tokens of documents with each label, and of all whose labels are known, [C + 1, V]."""
        carried = csr_array(self.label_indicators(target).T)
        found = csr_array(carried @ self.documents.problem.counts)
        found.sort_indices()
        return found

    def label_topics(self, target: str) -> FloatArray:
        """Tokens of each topic in the same documents, by their words alone, [C + 1, T]."""
        shares = np.maximum(np.nan_to_num(self.reading.proportions.astype(np.float64)), 0.0)
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-12)
        tokens = self.reading.lengths[:, None] * shares
        return np.asarray(csr_array(self.label_indicators(target).T) @ tokens)

    def label_prior(self, target: str) -> FloatArray:
        """Prior log odds of a column's tags, or log probabilities of alternatives, [C]."""
        kind, carriers = self.schema.kind(target), self.carriers[self.schema.slices()[target]]
        if kind == "tags":
            return np.asarray(logit((carriers + 0.5) / (self.n_documents + 1.0)))
        if kind == "number":
            carriers = self.number_values(target)[1]
        return np.asarray(np.log((carriers + 1.0) / (carriers + 1.0).sum()))

    @_on_demand("labels.{}", "Regressing {} on words")
    def label_regression(self, target: str) -> label_prediction.LabelRegression | None:
        """The regression that predicts a column of labels from words; None with too few documents.

        Of labels that are not in the formula it is made when they are first asked for.
        """
        own = self.reading.values[:, self.schema.slices()[target]]
        if not own.nnz or (self.schema.kind(target) == "number" and own.shape[1] > 1):
            return None
        return label_prediction.fit_label_regression(self, target)

    @cached_property
    def weighed(self) -> label_prediction.WeighedDocuments:
        """Training documents, or a sample, read with topics that have not seen them."""
        left_out = self.documents
        problem = left_out.problem
        rows = sample_rows(problem.n_documents, _MOST_WEIGHED)
        words, fold = problem.counts[rows], left_out.fold[rows]
        proportions = np.empty((len(rows), self.state.n_topics))
        shares = []
        for number in range(FOLDS):
            left, without = fold == number, replace(self, state=left_out.without(number))
            proportions[left] = without.posterior_of_words(words[left])
            shares.append(without.word_share())
        part = readings.folds(problem, left_out.groups, _PARTS)[rows]
        return label_prediction.WeighedDocuments(rows, words, proportions, fold, shares, part)

    @property
    @_on_demand("word_factors", "Finding words of labels")
    def word_factors(self) -> WordFactors | None:
        """Words that labels use beyond their topics; None with versions of topics, or no labels."""
        if self.state.versions is not None or not self.worded:
            return None
        return learn_word_factors(self)

    @property
    @_on_demand("returning", "Comparing topics of two halves")
    def n_returning(self) -> int | None:
        """Topics that two halves of the documents share; None if it does not apply."""
        return None if self.count_returning is None else self.count_returning()

    def complete(self) -> None:
        """Compute everything that needs the training documents: a file contains none."""
        if self.left_out is None:
            return
        _ = self.predictive_concentration, self._coherence(), self.correlations, self.word_factors
        _ = self.n_returning
        for weight in WEIGHTS:
            self.expected_regression(weight)
        for name, columns in self.schema.slices().items():
            if self.used[columns].any():
                _ = self.label_counts(name), self.label_regression(name)


def topic_tokens(state: GlobalState, priors: Priors) -> FloatArray:
    """Expected training tokens of each topic, [T]."""
    return np.asarray(expected_tokens(state, priors).sum(axis=0))
