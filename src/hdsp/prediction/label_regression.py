"""Probabilities of labels: regressions of labels on a model's evidence, fitted after inference.

The generative model takes words for independent draws, and is far too sure of the labels that they
suggest. So its evidence is weighed once more, by penalised logistic regressions on training
documents: the words' evidence for each label (`evidence.py`), counted without the documents that
are weighed; the square roots of their proportions, inferred without labels; and their other
labels. Alternatives share one distribution, tags have one each, and a number has the distribution
of training values, tilted: p(v) proportional to prior(v) exp(eta v - kappa v^2 / 2).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import log_softmax, logit

from hdsp.corpus import Kind, LabelSchema
from hdsp.kernels import run_ranges
from hdsp.numerics.sampling import sample_rows
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction.evidence import LabelCounts, word_evidence

# As many training documents are weighed, and as many pairs of documents and labels.
MOST_DOCUMENTS = 10_000
_MOST_PAIRS = 300_000
# Beyond this many, labels have no weights of their own, and other labels are no features.
_MOST_LABELS = 200
# The penalty on squared weights. The evidence for other labels, in standard deviations, is scaled
# so that it varies about as much as square roots of proportions.
_PENALTY = 1.0
_EVIDENCE_UNIT = 0.3
# The optimiser stops at this relative change of the loss, which moves no probability visibly.
_MAX_ITER, _TOL = 100, 4e-5
# Keeps the scale finite of labels that words tell for sure.
_LEAST_BEND = 1e-3
# Documents at a time: few enough to stay in the processor's cache.
_ROWS = 1_024


@dataclass(frozen=True, eq=False)
class LabelRegression:
    """The regression of one block of labels on evidence.

    A label's score is ``slope * evidence + intercept + features . weights``. A number has one
    score, eta; a tag's or a level's score is added to its prior log odds or log probability.

    Attributes
    ----------
    slope : float
        The weight of the words' evidence for a label itself, in standard deviations.
    curvature : float
        The kappa of a number; 0 for other labels.
    scale : float
        The standard deviation of the evidence.
    intercept : float array of shape [C]
        The intercepts.
    mean : float array of shape [F]
        The features' means in training. There are none with too many labels; otherwise they are
        T square roots of proportions, C times evidence, and other labels if they are not too many.
    weights : float array of shape [F, C]
        The features' weights.
    """

    slope: float
    curvature: float
    scale: float
    intercept: FloatArray
    mean: FloatArray
    weights: FloatArray

    def scores(
        self, evidence: FloatArray, proportions: FloatArray, known: FloatArray
    ) -> FloatArray:
        """The scores of labels, [M, C], without their prior.

        Parameters
        ----------
        evidence : float array of shape [M, C]
            The words' evidence.
        proportions : float array of shape [M, T]
            Proportions given words alone.
        known : float array of shape [M, K]
            The features of the other labels, as `known_features` returns them.
        """
        found = self.slope * evidence / self.scale + self.intercept
        if len(self.mean):
            features = _raw_features(evidence / self.scale, proportions)
            n_own = features.shape[1]
            found += (features - self.mean[:n_own]) @ self.weights[:n_own]
            found += known @ self.weights[n_own:]
        return np.asarray(found)


def level_log_prior(carriers: FloatArray) -> FloatArray:
    """Log frequencies of alternatives, with one added to each count."""
    return np.asarray(np.log((carriers + 1.0) / (carriers + 1.0).sum()))


def tag_log_odds(carriers: FloatArray, n_documents: int) -> FloatArray:
    """The log odds that a document carries each tag."""
    return np.asarray(logit((carriers + 0.5) / (n_documents + 1.0)))


def number_log_probabilities(
    score: FloatArray, curvature: float, values: FloatArray, log_prior: FloatArray
) -> FloatArray:
    """The tilted distribution of a number with scores eta [M] over `values` [n], [M, n]."""
    tilt = score[:, None] * values - 0.5 * curvature * values**2
    return np.asarray(log_softmax(tilt + log_prior, axis=1))


def count_known_features(schema: LabelSchema, target: str) -> int:
    """How many features K labels other than the target's make; 0 if there are too many."""
    n_known = schema.n_labels - len(schema.block(target).columns)
    return n_known if n_known <= _MOST_LABELS else 0


def known_features(
    schema: LabelSchema, target: str, labels: csr_array, mean: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Labels other than the target's as features [M, K], and their means [K].

    A document that has nothing of a block of labels does not tell, and has the mean. `mean` are
    the means of training; None computes them from `labels` [M, n_labels].
    """
    n_known = count_known_features(schema, target)
    features, means = np.zeros((labels.shape[0], n_known)), np.zeros(n_known)
    if not n_known:
        return features, means
    last = 0
    for name, columns in schema.slices().items():
        if name == target:
            continue
        part = csr_array(labels[:, columns], dtype=np.float64)
        place = slice(last, last + part.shape[1])
        last = place.stop
        tells = np.diff(part.indptr) > 0
        if mean is None:
            means[place] = np.asarray(part.sum(axis=0)) / max(int(tells.sum()), 1)
        else:
            means[place] = mean[place]
        features[:, place] = (part.toarray() - means[place]) * tells[:, None]
    return features, means


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
    """

    counts: csr_array
    labels: csr_array
    proportions: FloatArray
    expected: FloatArray
    fold: IntArray
    word_shares: Sequence[FloatArray]


def fit_label_regressions(
    documents: WeighedDocuments,
    schema: LabelSchema,
    labels: LabelCounts,
    log_priors: dict[str, FloatArray],
    values: dict[str, FloatArray],
) -> dict[str, LabelRegression]:
    """The regressions of all blocks of labels that enough documents tell of.

    Parameters
    ----------
    documents : WeighedDocuments
        Training documents.
    schema : LabelSchema
        The labels of training.
    labels : LabelCounts
        Training counts of the labels.
    log_priors : dict of str to float array of shape [C] or [n]
        Each block's prior log odds, log probabilities, or those of a number's values.
    values : dict of str to float array of shape [n]
        Each number's values in training.
    """
    found = {}
    for name, log_prior in log_priors.items():
        kind, columns = schema.kind(name), schema.slices()[name]
        target = csr_array(documents.labels[:, columns], dtype=np.float64)
        rows = np.arange(target.shape[0])
        if kind != "tags":
            rows = rows[np.diff(target.indptr) > 0]
        rows = _fewer(rows, target.shape[1])
        target = target[rows]
        if len(rows) < len(documents.word_shares) or not target.nnz:
            continue
        counts, expected = documents.counts[rows], documents.expected[rows]
        own = labels.block(columns)
        evidence = np.zeros(target.shape)
        fold = documents.fold[rows]
        for number, word_share in enumerate(documents.word_shares):
            left = np.flatnonzero(fold == number)
            others = own.without(counts[left], target[left], expected[left])
            evidence[left] = label_evidence(counts[left], others, kind, word_share)
        found[name] = _fit(
            kind,
            target.toarray(),
            evidence,
            documents.proportions[rows],
            known_features(schema, name, documents.labels[rows]),
            log_prior,
            values.get(name, np.zeros(0)),
        )
    return found


def label_evidence(
    counts: csr_array, labels: LabelCounts, kind: Kind, word_share: FloatArray
) -> FloatArray:
    """The words' evidence for the labels of one block, [M, C]."""
    if kind == "category":
        labels = labels.among_levels()
    return word_evidence(counts, labels, word_share, kind == "number")


def _fewer(rows: IntArray, n_labels: int) -> IntArray:
    most = max(_MOST_PAIRS // max(n_labels, 1), 1_000)
    return rows[sample_rows(len(rows), most, seed=2)]


def _raw_features(evidence: FloatArray, proportions: FloatArray) -> FloatArray:
    """Square roots of proportions, and evidence for all labels of the block, [M, T + C]."""
    return np.hstack([np.sqrt(proportions), _EVIDENCE_UNIT * evidence])


def _fit(
    kind: Kind,
    target: FloatArray,
    evidence: FloatArray,
    proportions: FloatArray,
    known: tuple[FloatArray, FloatArray],
    log_prior: FloatArray,
    values: FloatArray,
) -> LabelRegression:
    """The regression of labels [M, C] on evidence [M, C] and other features."""
    scale = float(evidence.std()) or 1.0
    evidence = evidence / scale
    if target.shape[1] <= _MOST_LABELS:
        own = _raw_features(evidence, proportions)
        mean = own.mean(axis=0)
        features = np.hstack([own - mean, known[0]])
        mean = np.concatenate([mean, known[1]])
    else:
        mean, features = np.zeros(0), np.zeros((len(target), 0))
    if kind == "number":
        nearest = np.abs(target - values).argmin(axis=1)
        loss: _LevelLoss = _NumberLoss(values, nearest, log_prior)
    elif kind == "tags":
        loss = _TagLoss(target, log_prior)
    else:
        loss = _LevelLoss(target, log_prior)
    slope, curvature, intercept, weights = _minimise(loss, evidence, features)
    return LabelRegression(slope, curvature, scale, intercept, mean, weights)


class _LevelLoss:
    """Minus the log likelihood of alternatives, and its gradients in scores and curvature.

    Called with some documents' rows and their scores.
    """

    # Whether intercepts share a part that is not penalised, and whether there is a curvature.
    free_offset = False
    curved = False

    def __init__(self, target: FloatArray, log_prior: FloatArray) -> None:
        self.target, self.log_prior = target.astype(np.float32), log_prior.astype(np.float32)

    def __call__(
        self, rows: slice, score: FloatArray, curvature: float
    ) -> tuple[float, FloatArray, float]:
        target = self.target[rows]
        log_share = log_softmax(score + self.log_prior, axis=1)
        return (-float((target * log_share).sum(dtype=np.float64)), np.exp(log_share) - target, 0.0)

    def bend(self, residual: FloatArray) -> FloatArray:
        """Second derivatives in scores, summed over documents, [C], given the gradient [M, C]."""
        chance = residual + self.target
        return np.asarray((chance * (1.0 - chance)).sum(axis=0, dtype=np.float64))


class _TagLoss(_LevelLoss):
    """The same for tags, each of which is there or not."""

    free_offset = True

    def __call__(
        self, rows: slice, score: FloatArray, curvature: float
    ) -> tuple[float, FloatArray, float]:
        target, odds = self.target[rows], score + self.log_prior
        # One exponential for both: ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|).
        small = np.exp(-np.abs(odds))
        loss = np.maximum(odds, 0.0) - target * odds + np.log1p(small)
        chance = np.where(odds >= 0.0, 1.0, small) / (1.0 + small)
        return float(loss.sum(dtype=np.float64)), chance - target, 0.0


class _NumberLoss(_LevelLoss):
    """The same for a number, whose documents have the values at `nearest` [M]."""

    free_offset = True
    curved = True

    def __init__(self, values: FloatArray, nearest: IntArray, log_prior: FloatArray) -> None:
        super().__init__(values[nearest][:, None], log_prior)
        self.values, self.nearest = values.astype(np.float32), nearest

    def __call__(
        self, rows: slice, score: FloatArray, curvature: float
    ) -> tuple[float, FloatArray, float]:
        target = self.target[rows]
        found = number_log_probabilities(score[:, 0], curvature, self.values, self.log_prior)
        share = np.exp(found)
        loss = -float(found[np.arange(len(found)), self.nearest[rows]].sum(dtype=np.float64))
        gain = target[:, 0] ** 2 - share @ self.values**2
        return (
            loss,
            (share @ self.values)[:, None] - target,
            0.5 * float(gain.sum(dtype=np.float64)),
        )

    def bend(self, residual: FloatArray) -> FloatArray:
        """The variance of values, of which residuals are a sample."""
        return np.asarray((residual**2).sum(axis=0, dtype=np.float64))


def _minimise(
    loss: _LevelLoss, evidence: FloatArray, features: FloatArray
) -> tuple[float, float, FloatArray, FloatArray]:
    """Slope, curvature, intercepts [C] and weights [F, C] of the smallest penalised loss.

    Weights are penalised, and what intercepts add to the prior; the slope, the part that tags'
    intercepts share and a number's own are not.

    The optimiser takes few steps where the loss bends alike in all directions. So features are
    turned to their principal axes, and parameters are scaled by the second derivatives at the best
    slope and intercepts without weights, where it begins.
    """
    from scipy.optimize import Bounds, minimize

    n_labels, n_features = evidence.shape[1], features.shape[1]
    evidence = evidence.astype(np.float32)
    slope, curvature = 1.0, 0.0
    intercept: FloatArray = np.zeros(n_labels)
    if n_features:
        slope, curvature, intercept, _ = _minimise(loss, evidence, features[:, :0])
    size, axes = np.linalg.eigh(features.T @ features)
    features = (features @ axes).astype(np.float32)
    by_feature = np.ascontiguousarray(features.T)
    score = (slope * evidence + intercept).astype(np.float32)
    bend = np.maximum(loss.bend(loss(slice(None), score, curvature)[1]), _LEAST_BEND)
    about_slope = max(float((bend * (evidence**2).mean(axis=0)).sum()), _LEAST_BEND)
    # Of slope, curvature, the part that intercepts share, intercepts and weights.
    unit = np.concatenate(
        [
            [about_slope**-0.5, 1.0, bend.sum() ** -0.5],
            (bend + _PENALTY) ** -0.5,
            ((np.maximum(size, 0.0) / len(evidence))[:, None] * bend + _PENALTY).ravel() ** -0.5,
        ]
    )
    penalised_intercept = not loss.curved

    def objective(scaled: FloatArray) -> tuple[float, FloatArray]:
        point = unit * scaled
        slope, curvature, offset = map(float, point[:3])
        intercept = point[3 : 3 + n_labels].astype(np.float32)
        weights = point[3 + n_labels :].reshape(n_features, n_labels).astype(np.float32)

        def terms(first: int, last: int) -> tuple[float, float, float, FloatArray, FloatArray]:
            rows = slice(first, last)
            score = features[rows] @ weights
            score += np.float32(slope) * evidence[rows]
            score += intercept + np.float32(offset)
            value, residual, by_curvature = loss(rows, score, curvature)
            return (
                value,
                float((residual * evidence[rows]).sum(dtype=np.float64)),
                by_curvature,
                residual.sum(axis=0, dtype=np.float64),
                by_feature[:, rows] @ residual,
            )

        parts = run_ranges(terms, len(evidence), _ROWS)
        value, by_slope, by_curvature = (float(sum(part[i] for part in parts)) for i in range(3))
        by_intercept, by_weight = (np.asarray(sum(part[i] for part in parts)) for i in (3, 4))
        value += 0.5 * _PENALTY * float((weights**2).sum())
        total = float(by_intercept.sum()) if loss.free_offset else 0.0
        if penalised_intercept:
            value += 0.5 * _PENALTY * float((intercept**2).sum())
            by_intercept = by_intercept + _PENALTY * intercept
        else:
            by_intercept = np.zeros(n_labels)
        gradient = [
            np.array([by_slope, by_curvature if loss.curved else 0.0, total]),
            by_intercept,
            (by_weight + _PENALTY * weights).ravel(),
        ]
        return value, unit * np.concatenate(gradient)

    start = np.zeros(len(unit))
    start[:3] = slope, curvature, float(intercept.mean()) if loss.free_offset else 0.0
    start[3 : 3 + n_labels] = intercept - start[2]
    # A distribution that its curvature makes wider than the prior would not fall off.
    lowest = np.full(len(start), -np.inf)
    lowest[1] = 0.0
    found = unit * np.asarray(
        minimize(
            objective,
            start / unit,
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(lowest, np.inf),
            options={"maxiter": _MAX_ITER, "ftol": _TOL},
        ).x
    )
    slope, curvature, offset = map(float, found[:3])
    intercept = found[3 : 3 + n_labels] + offset
    return slope, curvature, intercept, axes @ found[3 + n_labels :].reshape(n_features, n_labels)
