"""Expected topics given labels: softmax regressions, theta(r) = softmax(a + r B).

`regress_proportions` matches the mean proportions of documents, with bands by the delta method.
`learn_softmax` predicts words best: the words of a document with labels r are multinomial with
probabilities theta(r) phi, and EM steps follow. Held-out documents choose the ridge of both.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array, hstack, vstack
from scipy.special import softmax

from hdsp import kernels
from hdsp.analysis.regression import Estimates, intraclass_correlation
from hdsp.analysis.topics import TopicGroups
from hdsp.numerics import BoolArray, FloatArray, IntArray
from hdsp.storage.codec import SMALLEST, Limits

# Penalties that are tried, in squared coefficients per token, the strongest first.
RIDGES = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
# Relative changes of the objective at which a regression has converged, and while EM steps follow
# each other; and the smallest gain of held-out log likelihood per token that a step is worth.
_TOL, _LOOSE, _GAIN = 1e-6, 1e-5, 1e-4
_MOST_STEPS, _MOST_ITER, _ITER_OF_STEP = 8, 200, 40
# Vectors that L-BFGS keeps: more take longer than the steps that they save.
_MEMORY, _LARGE = 4, 300_000
# Rows at a time, and held-out documents that choose the ridge.
_ROWS, _MOST_HELD_OUT = 512, 4_000
# The weight of copies of documents with missing labels. On docstrings, expected topics given one
# label have a total variation of .31 from the mean reading; at half and twice of it .36 and .21.
_PARTIAL = 0.25
# A little of everything keeps a topic finite that no document has.
_LEAST = 1e-3
# Bands: columns of the design at most, and clusters that documents are put in.
MOST_COLUMNS = 1_000
_CLUSTERS = 400


@dataclass(frozen=True, eq=False)
class SoftmaxRegression:
    """Weights [1 + J, T], the intercept first, their ridge, and the EM steps that were made."""

    weights: Annotated[FloatArray, Limits("k T")]
    ridge: Annotated[float, Limits(least=SMALLEST)]
    n_steps: int

    def proportions(self, design: csr_array) -> FloatArray:
        """Expected proportions of rows of a design, [M, T]."""
        return predict(self.weights, design)


class LabelledWords(NamedTuple):
    """Documents, grouped by labels and fold: G different rows of labels after a column of ones.

    `counts` [G, V] are their words, and `tokens` [G, T] their tokens by topic, as they were read.
    """

    design: csr_array
    counts: csr_array
    tokens: FloatArray
    fold: IntArray

    def take(self, rows: IntArray) -> "LabelledWords":
        """Some of the groups."""
        return LabelledWords._make(own[rows] for own in self)


def predict(weights: FloatArray, design: csr_array) -> FloatArray:
    """softmax(a + r B), [M, T]."""
    scores = csr_array(design, dtype=np.float64) @ weights[1:] + weights[0]
    return np.asarray(softmax(scores, axis=1))


def with_ones(design: csr_array) -> csr_array:
    """A design with a column of ones before it."""
    ones = csr_array(np.ones((design.shape[0], 1), dtype=np.float32))
    return csr_array(hstack([ones, design], format="csr"), dtype=np.float32)


def group_rows(design: csr_array, fold: IntArray | None = None) -> tuple[IntArray, IntArray]:
    """The first of equal rows of a design and fold, and the group of each row."""
    directions = np.random.default_rng(1).normal(size=design.shape[1])
    key = np.asarray(csr_array(design, dtype=np.float64) @ directions)
    # A stored zero is a known value, a missing one is not.
    key = key + 1j * (np.diff(design.indptr) if fold is None else fold)
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    return first, group.reshape(-1)


def group_documents(
    design: csr_array,
    counts: csr_array,
    proportions: FloatArray,
    fold: IntArray,
    weights: FloatArray,
) -> LabelledWords:
    """Documents [M] with equal labels and fold together, each times its weight.

    Negative proportions count as 0.
    """
    first, group = group_rows(design, fold)
    member = csr_array(
        (weights.astype(np.float32), (group, np.arange(len(group)))), shape=(len(first), len(group))
    )
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
    shares = np.maximum(proportions, 0.0)
    shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-12)
    tokens = kernels.sparse_product(member, (lengths[:, None] * shares).astype(np.float32))
    words = csr_array(member @ csr_array(counts, dtype=np.float32))
    return LabelledWords(with_ones(csr_array(design[first])), words, tokens, fold[first])


def fit_softmax(
    design: csr_array,
    tokens: FloatArray,
    ridge: float,
    start: FloatArray | None = None,
    max_iter: int = _MOST_ITER,
    tol: float = _TOL,
) -> FloatArray:
    """The weights [1 + J, T] that minimise the penalised multinomial loss of tokens [G, T].

    By L-BFGS; coordinates are scaled by the diagonal of the Hessian. The design has a column of
    ones first, whose weights have no penalty.
    """
    lengths = tokens.sum(axis=1, dtype=np.float64)
    total = max(float(lengths.sum()), 1e-12)
    by_column = csr_array(csr_array(design, dtype=np.float32).T)
    observed = kernels.sparse_product(by_column, tokens.astype(np.float32)).astype(np.float64)
    # Unbiased tokens of a label may be negative in a topic that it hardly has.
    held = np.asarray(by_column @ lengths)[:, None]
    indicator = np.asarray(abs(by_column - by_column.sign()).sum(axis=1)) == 0.0
    positive = np.maximum(observed[indicator], 0.0)
    observed[indicator] = positive * (held[indicator] / np.maximum(positive.sum(1)[:, None], 1e-12))
    observed[0] += _LEAST
    penalty = np.full((design.shape[1], 1), float(ridge))
    penalty[0] = 1e-6
    if start is None:
        start = np.zeros(observed.shape)
        start[0] = np.log(observed[0] / observed[0].sum())
    # At the mean proportions: cheaper than at each row's own, and as good a scale.
    mean = np.asarray(softmax(start[0]))
    squares = np.asarray(by_column.power(2) @ lengths)
    scale = np.sqrt(squares[:, None] * (mean * (1.0 - mean)) + penalty + 1e-9 * total)
    arrays = (*kernels.csr_arrays(csr_array(design, dtype=np.float32)), lengths.astype(np.float32))

    def objective(point: FloatArray) -> tuple[float, FloatArray]:
        weights = point.reshape(observed.shape) / scale
        single = np.ascontiguousarray(weights, dtype=np.float32)

        def part(first: int, last: int) -> tuple[float, FloatArray]:
            gradient = np.zeros(single.shape, dtype=np.float32)
            return kernels.add_softmax_loss(first, last, *arrays, single, gradient), gradient

        # Each range has a gradient of its own: of many labels, few ranges.
        size = max(_ROWS, -(-design.shape[0] // (8 if single.size < _LARGE else 2)))
        values, gradients = zip(*kernels.run_ranges(part, design.shape[0], size), strict=True)
        gradient = np.sum(gradients, axis=0, dtype=np.float64)
        value = float(np.sum(values)) - (observed * weights).sum()
        value += 0.5 * (penalty * weights**2).sum()
        gradient = (gradient - observed + penalty * weights) / scale
        return value / total, gradient.ravel() / total

    options = {"maxiter": max_iter, "maxcor": _MEMORY, "ftol": tol, "gtol": 0.0}
    begin = (start * scale).ravel()
    solution = minimize(objective, begin, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(solution.x.reshape(observed.shape) / scale)


def regress_proportions(
    design: csr_array,
    proportions: FloatArray,
    weights: FloatArray,
    held_out: BoolArray,
    partial: Sequence[BoolArray] = (),
) -> SoftmaxRegression:
    """The regression of unbiased proportions [M, T], which may be negative, on a design [M, J].

    The objective is convex whatever the signs, and its ridge is the one that predicts proportions
    of `held_out` documents with the least squared error. Copies of the documents keep only the
    columns of each of `partial`, so that it also holds for documents with some labels missing.
    """
    share = _PARTIAL if len(partial) else 0.0

    def fit(
        rows: IntArray, ridge: float, start: FloatArray | None = None, tol: float = _TOL
    ) -> FloatArray:
        own, weight = csr_array(design[rows]), weights[rows].astype(np.float32)
        parts = [own, *(csr_array(own.multiply(kept)) for kept in partial)]
        for part in parts[1:]:
            part.eliminate_zeros()
        shares = [(1.0 - share) * weight, *(share / len(partial) * weight for _ in partial)]
        labels = csr_array(vstack(parts, format="csr"), dtype=np.float32)
        first, group = group_rows(labels)
        document = np.tile(np.arange(len(rows)), len(parts))
        member = csr_array((np.concatenate(shares), (group, document)), (len(first), len(rows)))
        tokens = kernels.sparse_product(member, proportions[rows])
        return fit_softmax(with_ones(csr_array(labels[first])), tokens, ridge, start, tol=tol)

    inside, others = np.flatnonzero(held_out), np.flatnonzero(~held_out)
    labels, wanted = csr_array(design[inside]), proportions[inside]

    def score(trial: FloatArray) -> float:
        return -float(weights[inside] @ ((wanted - predict(trial, labels)) ** 2).sum(axis=1))

    ridge = RIDGES[0]
    if weights[inside].sum() > 0 < weights[others].sum():
        ridge, _, _ = _choose_ridge(lambda own, start: fit(others, own, start, _LOOSE), score)
    return SoftmaxRegression(fit(np.arange(len(weights)), ridge), ridge, 0)


def _choose_ridge(
    fit: Callable[[float, FloatArray | None], FloatArray], score: Callable[[FloatArray], float]
) -> tuple[float, FloatArray | None, float]:
    """The ridge before the first that scores no better, its weights, and their score."""
    ridge, kept, best, weights = RIDGES[0], None, -np.inf, None
    for candidate in RIDGES:
        weights = fit(candidate, weights)
        if (value := score(weights)) <= best:
            break
        ridge, kept, best = candidate, weights, value
    return ridge, kept, best


def learn_softmax(documents: LabelledWords, word_shares: list[FloatArray]) -> SoftmaxRegression:
    """The regression whose ridge and EM steps predict the words of the first fold best.

    `word_shares` are E[phi], [V, T], without each fold.
    """
    shares = [share.astype(np.float32) for share in word_shares]
    inside = np.flatnonzero(documents.fold == 0)
    others = documents.take(np.flatnonzero(documents.fold != 0))
    held = documents.take(inside[:: -(-len(inside) // _MOST_HELD_OUT) or 1])

    def score(weights: FloatArray) -> float:
        expected = softmax(held.design @ weights, axis=1).astype(np.float32)
        mixed = _mix_words(held.counts, expected, shares[0]).astype(np.float64)
        return float(held.counts.data @ np.log(mixed)) / max(float(held.counts.sum()), 1e-12)

    ridge, kept, n_steps = RIDGES[0], None, 0
    if held.counts.nnz and others.tokens.sum() > 0:
        arguments = others.design, others.tokens
        ridge, kept, best = _choose_ridge(
            lambda own, start: fit_softmax(*arguments, own, start, tol=_LOOSE), score
        )
        assert kept is not None
        while n_steps < _MOST_STEPS:
            kept = _em_step(others, shares, kept, ridge)
            if (value := score(kept)) <= best + _GAIN:
                break
            best, n_steps = value, n_steps + 1
    tol = _LOOSE if n_steps else _TOL
    weights = fit_softmax(documents.design, documents.tokens, ridge, kept, tol=tol)
    for _ in range(n_steps):
        weights = _em_step(documents, shares, weights, ridge)
    return SoftmaxRegression(weights, ridge, n_steps)


def share_tokens(counts: csr_array, proportions: FloatArray, word_share: FloatArray) -> FloatArray:
    """Tokens of topics, [M, T]: theta_mk sum_i c_mi phi_ki / sum_l theta_ml phi_li, an E step.

    From counts [M, V], proportions theta [M, T] and E[phi] [V, T].
    """
    ratio = counts.astype(word_share.dtype)
    ratio.data /= _mix_words(counts, proportions, word_share)
    return np.asarray(proportions * kernels.sparse_product(ratio, word_share))


def _mix_words(counts: csr_array, proportions: FloatArray, word_share: FloatArray) -> FloatArray:
    """The probabilities of documents' words, none of which is zero, [nnz]."""
    return np.asarray(np.maximum(kernels.mix_words(counts, proportions, word_share), 1e-30))


def _em_step(
    documents: LabelledWords, shares: list[FloatArray], weights: FloatArray, ridge: float
) -> FloatArray:
    """Tokens shared out by expected topics of labels, and the regression of these tokens."""
    expected = softmax(documents.design @ weights, axis=1).astype(np.float32)
    tokens = np.zeros(expected.shape, dtype=np.float32)
    for number, share in enumerate(shares):
        rows = np.flatnonzero(documents.fold == number)
        tokens[rows] = share_tokens(csr_array(documents.counts[rows]), expected[rows], share)
    return fit_softmax(documents.design, tokens, ridge, weights, max_iter=_ITER_OF_STEP, tol=_LOOSE)


def mean_expected(
    regression: SoftmaxRegression,
    design: csr_array,
    proportions: FloatArray,
    weights: FloatArray,
    ridge: float,
    groups: IntArray | None,
    places: Sequence[tuple[csr_array, FloatArray]],
    topics: TopicGroups,
) -> Estimates:
    """Means [S, T] of expected proportions over rows of designs [U, J]: the delta method.

    With a sandwich and a quasi-likelihood error. The regression was fitted to documents [M] with
    these proportions and weights, with `ridge` as penalty per document; `places` are S designs with
    the shares [U] of their rows. Clusters of the sandwich are groups of documents, or random ones,
    which change no expectation of the variance and make it much cheaper.
    """
    first, group = group_rows(design)
    rows = csr_array(with_ones(csr_array(design[first])), dtype=np.float64)
    n_documents, n_columns = len(group), rows.shape[1]
    expected = predict(regression.weights, design)
    share = weights / weights.mean()
    residual, spread = proportions - expected, expected * (1.0 - expected)
    n_topics = expected.shape[1]
    cluster = np.random.default_rng(0).permutation(n_documents) % _CLUSTERS
    free = float(max(n_documents - n_columns, 1))
    dispersion = (share @ residual**2) / (share @ spread) * (n_documents / free)
    if groups is not None:
        _, cluster, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        effect = intraclass_correlation(residual, cluster) * ((sizes**2).sum() / n_documents - 1.0)
        dispersion, free = dispersion * (1.0 + effect), float(max(len(sizes) - 1, 1))
    penalty = np.append(1e-9, np.full(n_columns - 1, ridge))
    designs = [with_ones(matrix).astype(np.float32) for matrix, _ in places]
    at = [predict(regression.weights, matrix) for matrix, _ in places]
    means = [topics.sum(own @ matrix) for matrix, (_, own) in zip(at, places, strict=True)]
    at = [matrix.astype(np.float32) for matrix in at]
    # dp_k = p_k (ds_k - sum_l p_l ds_l), averaged over rows, topic by topic l.
    n_clusters = int(cluster.max()) + 1
    influence = np.zeros((len(places), n_clusters, n_topics), dtype=np.float32)
    classical = np.zeros((len(places), n_topics))
    for k in range(n_topics):
        # The information of Poisson counts: scores of all topics sum to 0.
        weighted = rows.copy()
        weighted.data *= np.repeat(
            np.bincount(group, share * expected[:, k], len(first)), np.diff(rows.indptr)
        )
        inverse = np.linalg.inv((rows.T @ weighted).toarray() + np.diag(penalty))
        sums = csr_array((share * residual[:, k], (cluster, group)), (n_clusters, len(first)))
        moves = ((sums @ rows).toarray() @ inverse).astype(np.float32)
        for number, (_, weight) in enumerate(places):
            own = (weight * at[number][:, k]).astype(np.float32)
            gradient = -(designs[number].T @ (own[:, None] * at[number]))
            gradient[:, k] += designs[number].T @ own
            influence[number] += moves @ gradient
            classical[number] += (gradient * (inverse @ gradient)).sum(axis=0)
    square = topics.sum(influence.astype(np.float64)) ** 2
    total = square.sum(axis=1)
    degrees = np.maximum(total**2 / np.maximum((square**2).sum(axis=1), 1e-300) - 1.0, 1.0)
    robust = np.sqrt(total * (degrees + 1.0) / degrees)
    quasi = np.sqrt(topics.sum(dispersion * classical))
    return Estimates(np.array(means), robust, quasi, degrees, classical_degrees=free)
