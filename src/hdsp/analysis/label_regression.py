"""Labels from words: a regression on evidence of words, topics and other labels.

A word's evidence for a label is the log ratio of how much more often the label's documents use it
than all documents do, and how much more often the others do. Words of one document repeat and
resemble each other, so their evidence does not add up as if they were independent: a word that
occurs c times counts ln(1 + c), and the sum is divided by the square root of its length. The
regression learns how much the sum weighs.

A number is predicted through its values, which are alternatives like the levels of a category.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.sparse import csr_array, hstack
from scipy.special import expit, logit, softmax

from hdsp.corpus import Kind, LabelSchema
from hdsp.numerics import FloatArray, IntArray, sample_rows
from hdsp.storage.codec import Limits

# The prior's weight a, in tokens; benchmarks/labels.py shows others.
STRENGTH = 2.0
# So many labels at once, to save memory.
_CHUNK = 256
_SMALLEST = 1e-9
# At most so many pairs of documents and labels are regressed.
_MOST_PAIRS = 300_000
# Beyond this many, labels have no weights of their own, and other labels are no features.
MOST_LABELS = 200
# The evidence for all labels is scaled so that it varies about as much as square roots of
# proportions.
_EVIDENCE_UNIT = 0.3
# The penalties on squared weights, and on those of numbers, which have more of them.
_PENALTY, _NUMBER_PENALTY = 1.0, 3.0
# The optimiser stops at this relative change of the loss, which moves no probability visibly.
_MAX_ITER, _TOL = 100, 1e-4
# Keeps the scale finite of labels that words tell for sure.
_LEAST_BEND = 1e-3


def indicators(kind: Kind, labels: csr_array, values: FloatArray) -> csr_array:
    """Which tags or alternatives documents have, and whether they are known, [M, C + 1].

    Parameters
    ----------
    kind : str
        The kind of the labels.
    labels : sparse array of shape [M, J]
        A column of labels.
    values : float array of shape [C]
        The values of a number, of which a document has the nearest.
    """
    found, known = csr_array(labels, dtype=np.float64), np.diff(labels.indptr) > 0
    if kind == "number":
        nearest = np.abs(found.data[:, None] - values).argmin(axis=1)
        shape = (len(known), len(values))
        found = csr_array((np.ones(len(nearest)), nearest, found.indptr), shape=shape)
    last = csr_array((known | (kind == "tags")).astype(np.float64)[:, None])
    return csr_array(hstack([found, last], format="csr"))


def word_evidence(counts: csr_array, words: csr_array) -> FloatArray:
    """The evidence of documents' words for each label, [M, C].

    Parameters
    ----------
    counts : sparse array of shape [M, V]
        The documents.
    words : sparse array of shape [C + 1, V]
        The tokens of training documents with each label, and of all whose labels are known.
    """
    damped = csr_array(counts, dtype=np.float64, copy=True)
    damped.data = np.log1p(damped.data)
    found = np.zeros((counts.shape[0], words.shape[0] - 1))
    total = np.maximum(words[[-1]].toarray(), 0.0)
    share = total / max(float(total.sum()), _SMALLEST)
    for first in range(0, found.shape[1], _CHUNK):
        last = min(first + _CHUNK, found.shape[1])
        own = np.maximum(words[first:last].toarray(), 0.0)
        ratios = _excess(own, share)
        ratios /= _excess(np.maximum(total - own, 0.0), share)
        found[:, first:last] = damped @ np.log(ratios, out=ratios).T
    return np.asarray(found / np.sqrt(np.maximum(damped.sum(axis=1), 1.0))[:, None])


def _excess(words: FloatArray, share: FloatArray) -> FloatArray:
    """How many times more often words occur than by their share of all tokens, [C, V]."""
    expected = words.sum(axis=1, keepdims=True) * share
    return np.asarray((words + STRENGTH) / (expected + STRENGTH))


def label_prior(kind: Kind, carriers: FloatArray, n_documents: int) -> FloatArray:
    """Prior log odds of tags, or log probabilities of alternatives, [C]."""
    if kind == "tags":
        return np.asarray(logit((carriers + 0.5) / (n_documents + 1.0)))
    return np.asarray(np.log((carriers + 1.0) / (carriers + 1.0).sum()))


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
    if schema.n_labels - (own.stop - own.start) <= MOST_LABELS:
        for columns in slices.values():
            part = csr_array(labels[:, columns], dtype=np.float64)
            known = np.diff(part.indptr) > 0
            found.append(np.where(known[:, None], part.toarray(), np.nan))
    return np.hstack(found)


@dataclass(frozen=True, eq=False)
class WeighedDocuments:
    """Training documents that labels' evidence is weighed on.

    Attributes
    ----------
    counts : sparse array of shape [M, V]
        Their words.
    labels : sparse array of shape [M, n_labels]
        The values of their labels.
    proportions : float array of shape [M, T]
        Their proportions, given words alone.
    expected : float array of shape [M, T]
        The tokens of topics that their labels lead one to expect.
    fold : int array of shape [M]
        Their folds.
    word_shares : sequence of float array of shape [V, T]
        E[phi] for each fold, of topics that have not seen its documents.
    part : int array of shape [M]
        Smaller parts: the words of a part's documents are no evidence for their own labels.
    """

    counts: csr_array
    labels: csr_array
    proportions: FloatArray
    expected: FloatArray
    fold: IntArray
    word_shares: Sequence[FloatArray]
    part: IntArray


def fit_label_regression(
    documents: WeighedDocuments,
    schema: LabelSchema,
    target: str,
    words: csr_array,
    log_prior: FloatArray,
    values: FloatArray,
) -> LabelRegression | None:
    """The regression of a column of labels; None if too few documents have a value.

    Parameters
    ----------
    documents : WeighedDocuments
        Training documents.
    schema : LabelSchema
        The labels of training.
    target : str
        The column.
    words : sparse array of shape [C + 1, V]
        The tokens of each label, as `word_evidence` takes them.
    log_prior : float array of shape [C]
        Prior log odds or log probabilities.
    values : float array of shape [C]
        The values of a number.
    """
    kind, n_labels = schema.kind(target), len(log_prior)
    found = indicators(kind, documents.labels[:, schema.slices()[target]], values)
    rows = np.flatnonzero(found[:, [-1]].toarray())
    rows = rows[sample_rows(len(rows), max(_MOST_PAIRS // max(n_labels, 1), 1_000), seed=2)]
    found, counts, labels = found[rows], documents.counts[rows], documents.labels[rows]
    if len(rows) < len(documents.word_shares) or found.nnz == len(rows):
        return None
    evidence, part = np.zeros((len(rows), n_labels)), documents.part[rows]
    for number in np.unique(part):
        left = np.flatnonzero(part == number)
        others = csr_array(words - csr_array(found[left].T) @ counts[left])
        evidence[left] = word_evidence(counts[left], others)
    features = label_features(schema, target, evidence, documents.proportions[rows], labels)
    if n_labels > MOST_LABELS:
        features = features[:, :0]
    known = ~np.isnan(features)
    mean = np.nan_to_num(features).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    design = np.hstack([np.ones((len(rows), 1)), np.nan_to_num(features - mean)])
    slope, weights = _minimise(kind, found[:, :-1].toarray(), evidence, design, log_prior)
    return LabelRegression(slope, mean, weights)


def _minimise(
    kind: Kind, target: FloatArray, evidence: FloatArray, design: FloatArray, log_prior: FloatArray
) -> tuple[float, FloatArray]:
    """The slope and the weights [1 + F, C] of the smallest penalised loss.

    Neither the slope is penalised, nor a part that all intercepts share. The optimiser takes few
    steps where the loss bends alike in all directions. So the design is turned to its principal
    axes, and parameters are scaled by the second derivatives where it begins.
    """
    from scipy.optimize import minimize

    n_labels, penalty = target.shape[1], _NUMBER_PENALTY if kind == "number" else _PENALTY
    size, axes = np.linalg.eigh(design.T @ design)
    target, evidence, design, log_prior = (
        values.astype(np.float32) for values in (target, evidence, design @ axes, log_prior)
    )
    chance = probabilities(kind, evidence + log_prior)
    bend = np.maximum((chance * (1.0 - chance)).sum(axis=0, dtype=np.float64), _LEAST_BEND)
    about_slope = max(float(bend @ (evidence**2).mean(axis=0)), _LEAST_BEND)
    bends = np.maximum(size, 0.0)[:, None] / len(design) * bend + penalty
    unit = np.concatenate([[about_slope, bend.sum()], bends.ravel()]) ** -0.5

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
    found = unit * minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x
    weights = axes @ found[2:].reshape(-1, n_labels)
    weights[0] += found[1]
    return float(found[0]), weights
