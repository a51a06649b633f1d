"""Labels from words: a regression on evidence of words, topics and other labels, or Bayes' rule.

A word's evidence for a label is the log ratio of how much more often the label's documents use it
than all documents do, and how much more often the others do. Words of one document repeat and
resemble each other, so their evidence does not add up as if they were independent: a word that
occurs c times counts ln(1 + c), and the sum is divided by the square root of its length. The
regression learns the weight of the sum.

A number is predicted through its values, which are alternatives like the levels of a category.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array, hstack, vstack
from scipy.special import expit, softmax

from hdsp.analysis.softmax import group_rows
from hdsp.checks import check_known
from hdsp.corpus import Kind, LabelSchema
from hdsp.corpus.columns import level_name, parse_number
from hdsp.numerics import FloatArray, IntArray, sample_rows
from hdsp.storage.codec import Limits

if TYPE_CHECKING:
    from hdsp.analysis.fitted import FittedModel

_OWNER = "HDSP.predict_labels"
# Standard deviations from the training mean beyond which the topics of a number are not predicted.
_MAX_DISTANCE = 1_000.0

# The prior's weight a, in tokens.
STRENGTH = 2.0
# Labels processed together, to save memory.
_CHUNK = 256
_SMALLEST = 1e-9
# The maximum of pairs of documents and labels that are regressed.
_MAX_PAIRS = 300_000
# With more labels than this, labels have no weights of their own, and other labels are no features.
MAX_LABELS = 200
# The evidence for all labels is scaled to vary about as much as square roots of proportions.
_EVIDENCE_UNIT = 0.3
# The penalties on squared weights, and on those of numbers, which have more of them.
_PENALTY, _NUMBER_PENALTY = 1.0, 3.0
# The optimiser stops at this relative change of the loss, which moves no probability visibly.
_MAX_ITER, _TOL = 100, 1e-4
# Keeps the scale finite of labels that words determine.
_MIN_CURVATURE = 1e-3

LabelMethod = Literal["calibrated", "generative"]
LABEL_METHODS: tuple[LabelMethod, ...] = ("calibrated", "generative")
# A table of many numbers, before it is a frame of some library.
Arrays: TypeAlias = dict[str, FloatArray]


class Candidates(NamedTuple):
    """The labels that a document may have.

    Their column and names; positions [C] among the column's labels, or among a number's values;
    values [C, n_labels]; and log prior probabilities of alternatives, or log odds of tags, [C].
    """

    target: str
    names: tuple[str, ...]
    positions: IntArray
    values: csr_array
    log_prior: FloatArray


def make_candidates(model: "FittedModel", target: Any, values: Any, prior: bool) -> Candidates:
    """The candidates for the labels `target`: levels, values or tags."""
    schema, missing = model.schema, model.missing()
    names = [
        block.name
        for block in schema.blocks
        if not missing[schema.slices()[block.name]].all()
        and (block.kind != "number" or len(block.columns) == 1)
    ]
    check_known(target, names, "target", _OWNER, "labels that documents had in training")
    own, block = schema.slices()[target], schema.block(target)
    given = [] if values is None or isinstance(values, str) else list(map(str, values))
    if values is not None and (not given or len(set(given)) < len(given)):
        raise ValueError(
            f"`values` of {_OWNER} must be a list of values, each named once. Got {values!r}."
        )
    if block.kind == "number":
        observed, middle, unit = model.number_values(target)[0], block.mean[0], block.scale[0]
        if values is None:
            # Values were standardised in single precision, which keeps six digits.
            numbers = np.unique([float(f"{number:.6g}") for number in middle + unit * observed])
        else:
            numbers = np.array([parse_number(value) for value in values], dtype=np.float64)
            spread = max(float(observed.std()), 1.0)
            if not (
                np.abs((numbers - middle) / unit - observed.mean()) <= _MAX_DISTANCE * spread
            ).all():
                raise ValueError(
                    f"`values` of {_OWNER} must be numbers near those of training. Got {values!r}."
                )
        shown, coded = tuple(f"{number:.10g}" for number in numbers), (numbers - middle) / unit
        positions = np.abs(coded[:, None] - observed).argmin(axis=1)
        columns = np.full(len(coded), own.start)
    else:
        wanted = block.columns if values is None else values
        shown = tuple(level_name(value) or repr(value) for value in wanted)
        for name in shown:
            what = f"among those of {target!r} in training"
            check_known(name, block.columns, "values", _OWNER, what)
        positions = np.array([block.columns.index(name) for name in shown])
        columns, coded = own.start + positions, np.ones(len(shown))
    entries = coded, columns, np.arange(len(shown) + 1)
    coded_values = csr_array(entries, shape=(len(shown), schema.n_labels))
    log_prior = model.label_prior(target)[positions] if prior else np.zeros(len(shown))
    return Candidates(target, shown, positions, coded_values, log_prior)


def label_chances(
    fitted: "FittedModel",
    regression: "LabelRegression | None",
    counts: csr_array,
    known: csr_array,
    candidates: Candidates,
) -> FloatArray:
    """Probabilities of candidates given words and other labels, [M, C]; without one by Bayes."""
    target, schema = candidates.target, fitted.schema
    if regression is None:
        scores = _generative_scores(fitted, counts, known, candidates)
    else:
        evidence = word_evidence(counts, fitted.label_counts(target))
        proportions = fitted.posterior_of_words(counts)
        features = label_features(schema, target, evidence, proportions, known)
        scores = regression.scores(evidence, features)[:, candidates.positions]
    return probabilities(schema.kind(target), scores + candidates.log_prior)


def _generative_scores(
    fitted: "FittedModel", counts: csr_array, known: csr_array, candidates: Candidates
) -> FloatArray:
    """ln p(words | known labels and a candidate) - ln p(words | known labels), [M, C].

    A word's probability is that of the expected topics times the candidate's factor, normalised;
    as the paper has it, that of the expected topics alone.
    """
    target, schema, share = candidates.target, fitted.schema, fitted.word_share()
    factors: FloatArray = np.ones((len(candidates.names) + 1, len(share)))
    if schema.kind(target) != "number" and fitted.method == "regression":
        observed = fitted.label_counts(target)[candidates.positions].toarray()
        expected: FloatArray = fitted.label_topics(target)[candidates.positions] @ share.T
        factors[:-1] = (observed + STRENGTH) / (expected + STRENGTH)
    others = np.ones(schema.n_labels)
    others[schema.slices()[target]] = 0.0
    known = csr_array(known.multiply(others))
    known.eliminate_zeros()
    values = csr_array(vstack([candidates.values, csr_array((1, schema.n_labels))]))
    # sum_i phi_ki f_ci, so that the normaliser is a sum over topics.
    inflation = factors @ share
    scores = np.zeros((counts.shape[0], len(factors)))
    first, group = group_rows(known)
    order = np.argsort(group, kind="stable")
    for row, rows in zip(first, np.split(order, np.cumsum(np.bincount(group))[:-1]), strict=True):
        both = csr_array(vstack([known[[row]]] * len(factors)) + values)
        topics = fitted.expected(fitted.space.design(both), fitted.method, "tokens")
        documents = counts[rows]
        words = np.unique(documents.indices)
        probability = (topics @ share[words].T) * factors[:, words]
        probability /= (topics * inflation).sum(axis=1, keepdims=True)
        scores[rows] = documents[:, words] @ np.log(probability).T
    return scores[:, :-1] - scores[:, -1:]


def indicators(kind: Kind, labels: csr_array, values: FloatArray) -> csr_array:
    """Which tags or alternatives documents have, and whether they are known, [M, C + 1].

    Of the values [C] of a number, a document has the nearest.
    """
    carried, known = csr_array(labels, dtype=np.float64), np.diff(labels.indptr) > 0
    if kind == "number":
        nearest = np.abs(carried.data[:, None] - values).argmin(axis=1)
        shape = (len(known), len(values))
        carried = csr_array((np.ones(len(nearest)), nearest, carried.indptr), shape=shape)
    last = csr_array((known | (kind == "tags")).astype(np.float64)[:, None])
    return csr_array(hstack([carried, last], format="csr"))


def word_evidence(counts: csr_array, words: csr_array) -> FloatArray:
    """The evidence of documents' words for each label, [M, C].

    `words` [C + 1, V] are the tokens of training documents with each label, and of all whose labels
    are known.
    """
    damped = csr_array(counts, dtype=np.float64, copy=True)
    damped.data = np.log1p(damped.data)
    evidence = np.zeros((counts.shape[0], words.shape[0] - 1))
    total = np.maximum(words[[-1]].toarray(), 0.0)
    share = total / max(float(total.sum()), _SMALLEST)
    for first in range(0, evidence.shape[1], _CHUNK):
        last = min(first + _CHUNK, evidence.shape[1])
        own = np.maximum(words[first:last].toarray(), 0.0)
        ratios = _excess(own, share)
        ratios /= _excess(np.maximum(total - own, 0.0), share)
        evidence[:, first:last] = damped @ np.log(ratios, out=ratios).T
    return np.asarray(evidence / np.sqrt(np.maximum(damped.sum(axis=1), 1.0))[:, None])


def _excess(words: FloatArray, share: FloatArray) -> FloatArray:
    """How many times more often words occur than by their share of all tokens, [C, V]."""
    expected = words.sum(axis=1, keepdims=True) * share
    return np.asarray((words + STRENGTH) / (expected + STRENGTH))


def probabilities(kind: Kind, scores: FloatArray) -> FloatArray:
    """The probabilities of tags, each by itself, or of alternatives, [M, C]."""
    return np.asarray(expit(scores) if kind == "tags" else softmax(scores, axis=1))


@dataclass(frozen=True, eq=False)
class LabelRegression:
    """The regression of one column of labels.

    A label's score is its prior log odds or log probability, and ``slope * evidence + intercept +
    features . weights``.

    Attributes
    ----------
    slope : float
        The weight of the words' evidence for a label itself.
    mean : float array of shape [F]
        The features' means in training. There are no features with too many labels.
    weights : float array of shape [1 + F, C]
        The intercepts, and the features' weights.
    """

    slope: float
    mean: Annotated[FloatArray, Limits("f")]
    weights: Annotated[FloatArray, Limits("f+1 C")]

    def scores(self, evidence: FloatArray, features: FloatArray) -> FloatArray:
        """The scores of labels, [M, C], without their prior; see `label_features`."""
        centred = np.nan_to_num(features[:, : len(self.mean)] - self.mean)
        return np.asarray(self.slope * evidence + self.weights[0] + centred @ self.weights[1:])


def label_features(
    schema: LabelSchema,
    target: str,
    evidence: FloatArray,
    proportions: FloatArray,
    labels: csr_array,
) -> FloatArray:
    """Square roots of proportions, evidence for all labels of the target, and other labels, [M, F].

    A document that has nothing of a column of labels has NaN. Too many other labels are left out.
    """
    found, slices = [np.sqrt(proportions), _EVIDENCE_UNIT * evidence], schema.slices()
    own = slices.pop(target)
    if schema.n_labels - (own.stop - own.start) <= MAX_LABELS:
        for columns in slices.values():
            part = csr_array(labels[:, columns], dtype=np.float64)
            known = np.diff(part.indptr) > 0
            found.append(np.where(known[:, None], part.toarray(), np.nan))
    return np.hstack(found)


class WeighedDocuments(NamedTuple):
    """Training documents that the evidence for labels is weighed on.

    Their rows [M] and words [M, V]; proportions given words alone [M, T]; folds [M]; E[phi] [V, T]
    for each fold, of topics that have not seen its documents; and smaller parts [M]: the words of a
    part's documents are no evidence for their own labels.
    """

    rows: IntArray
    counts: csr_array
    proportions: FloatArray
    fold: IntArray
    word_shares: Sequence[FloatArray]
    part: IntArray


def fit_label_regression(model: "FittedModel", target: str) -> LabelRegression | None:
    """The regression of a column of labels; None if too few documents have a value."""
    schema, documents, log_prior = model.schema, model.weighed, model.label_prior(target)
    kind, n_labels, words = schema.kind(target), len(log_prior), model.label_counts(target)
    carried = model.label_indicators(target)[documents.rows]
    rows = np.flatnonzero(carried[:, [-1]].toarray())
    rows = rows[sample_rows(len(rows), max(_MAX_PAIRS // max(n_labels, 1), 1_000), seed=2)]
    carried, counts = carried[rows], documents.counts[rows]
    if len(rows) < len(documents.word_shares) or carried.nnz == len(rows):
        return None
    evidence, part = np.zeros((len(rows), n_labels)), documents.part[rows]
    for number in np.unique(part):
        left = np.flatnonzero(part == number)
        others = csr_array(words - csr_array(carried[left].T) @ counts[left])
        evidence[left] = word_evidence(counts[left], others)
    labels = csr_array(model.reading.values[documents.rows[rows]])
    features = label_features(schema, target, evidence, documents.proportions[rows], labels)
    if n_labels > MAX_LABELS:
        features = features[:, :0]
    known = ~np.isnan(features)
    mean = np.nan_to_num(features).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    design = np.hstack([np.ones((len(rows), 1)), np.nan_to_num(features - mean)])
    slope, weights = _minimise(kind, carried[:, :-1].toarray(), evidence, design, log_prior)
    return LabelRegression(slope, mean, weights)


def _minimise(
    kind: Kind, target: FloatArray, evidence: FloatArray, design: FloatArray, log_prior: FloatArray
) -> tuple[float, FloatArray]:
    """The slope and the weights [1 + F, C] of the smallest penalised loss.

    Neither the slope is penalised, nor a part that all intercepts share. The optimiser takes few
    steps if the loss has one curvature in all directions. So the design is turned to its principal
    axes, and parameters are scaled by the second derivatives where it begins.
    """
    n_labels, penalty = target.shape[1], _NUMBER_PENALTY if kind == "number" else _PENALTY
    size, axes = np.linalg.eigh(design.T @ design)
    target, evidence, design, log_prior = (
        values.astype(np.float32) for values in (target, evidence, design @ axes, log_prior)
    )
    chance = probabilities(kind, evidence + log_prior)
    curvature = np.maximum((chance * (1.0 - chance)).sum(axis=0, dtype=np.float64), _MIN_CURVATURE)
    slope_curvature = max(float(curvature @ (evidence**2).mean(axis=0)), _MIN_CURVATURE)
    curvatures = np.maximum(size, 0.0)[:, None] / len(design) * curvature + penalty
    unit = np.concatenate([[slope_curvature, curvature.sum()], curvatures.ravel()]) ** -0.5

    def objective(scaled: FloatArray) -> tuple[float, FloatArray]:
        point = (unit * scaled).astype(np.float32)
        weights = point[2:].reshape(-1, n_labels)
        scores = design @ weights
        scores += point[0] * evidence
        scores += point[1] + log_prior
        if kind == "tags":
            # ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|).
            total = np.maximum(scores, 0.0) + np.log1p(np.exp(-np.abs(scores)))
            residual = expit(scores) - target
        else:
            most = scores.max(axis=1, keepdims=True)
            residual = np.exp(scores - most)
            sums = residual.sum(axis=1, keepdims=True)
            total, residual = most + np.log(sums), residual / sums - target
        value = float(total.sum(dtype=np.float64)) - float((target * scores).sum(dtype=np.float64))
        value += 0.5 * penalty * float((weights**2).sum(dtype=np.float64))
        by_weight = design.T @ residual + penalty * weights
        shared = [np.vdot(residual, evidence), residual.sum()]
        return value, unit * np.concatenate([shared, by_weight.ravel()])

    start = np.zeros(len(unit))
    start[0] = 1.0 / unit[0]
    options = {"maxiter": _MAX_ITER, "ftol": _TOL}
    point = unit * minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x
    weights = axes @ point[2:].reshape(-1, n_labels)
    weights[0] += point[1]
    return float(point[0]), weights
