"""Words that labels use beyond their topics: factors of p(word | labels), learned after inference.

The probability of word i in a document with labels j is proportional to sum_k theta_k phi_ki times
the product of f_ji over its tags and levels. The factors have Gamma(a, a) priors. Each is
f_ji = (a + n_ji) / (a + e_ji), where n_ji tokens of the word were counted in the label's documents
and topics and the other labels' factors lead one to expect e_ji. Labels take turns, as they do in
`Categorical`, whose kernel this is: there labels scale topics, here words. A further factor belongs
to all documents that have a label: without it, every other label would seem to avoid the words of
one, of which topics expect as much everywhere.

A label column's strength a is the one that predicts training documents best that neither topics nor
factors have seen. Columns whose words predict nothing have no factors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack
from threadpoolctl import threadpool_limits

from hdsp import kernels
from hdsp.kernels import run_ranges, sparse_product
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction.calibration import label_sets
from hdsp.prediction.label_regression import WeighedDocuments

# Factors are learned from at most this many documents.
MOST_DOCUMENTS = 50_000
# Rounds over all labels: a further one changes the perplexity by less than a thousandth.
_SWEEPS = 3
# Strengths that are tried, and where the rounds begin that try them. The last stands for factors
# of 1.
_STRENGTHS = 2.0 ** np.arange(-2, 10)
_FIRST_STRENGTH = 8.0
# They are tried on fewer words, so that the documents' labels times words are at most so many, and
# labels times words.
_TRIED_WORK, _TRIED_PAIRS = 6_000_000, 200_000
# Words at a time.
_WORDS = 128
# Factors that add less than this to the log likelihood are taken for 1, which saves memory.
_LEAST_GAIN = 0.03
# Pairs of documents and words at a time.
_CELLS = 2**20


@dataclass(frozen=True, eq=False)
class WordFactors:
    """The factors of labels' words.

    Attributes
    ----------
    observed : sparse array of shape [n_labels + 1, V]
        The tokens n of words in the documents of labels, and at last of all that have any. Pairs
        that are not stored have a factor of 1; stored ones may be zero.
    expected : float array of shape [Q]
        The tokens e that are expected of the stored pairs.
    strength : float array of shape [n_labels + 1]
        The strength a of each label's prior, in tokens.
    spread : float array of shape [V]
        By how much tokens of a word vary more than by chance, as documents differ and repeat it.
    """

    observed: csr_array
    expected: FloatArray
    strength: FloatArray
    spread: FloatArray

    @classmethod
    def none(cls, n_labels: int, n_words: int) -> "WordFactors":
        """All factors are 1."""
        return cls(
            csr_array((n_labels + 1, n_words), dtype=np.float32),
            np.zeros(0, dtype=np.float32),
            np.ones(n_labels + 1),
            np.ones(n_words),
        )

    @cached_property
    def logarithms(self) -> csr_array:
        """Logarithms of the factors, [n_labels + 1, V]."""
        prior = np.repeat(self.strength, np.diff(self.observed.indptr))
        found = np.log((prior + self.observed.data) / (prior + self.expected))
        return csr_array(
            (found, self.observed.indices, self.observed.indptr), shape=self.observed.shape
        )

    def log_likelihood_gain(
        self, counts: csr_array, labels: csr_array, proportions: FloatArray, word_share: FloatArray
    ) -> FloatArray:
        """What factors add to the log likelihood of documents' words, [M].

        Parameters
        ----------
        counts : sparse array of shape [M, V]
            The words.
        labels : sparse array of shape [M, n_labels + 1]
            The documents' labels, as from `with_any`.
        proportions : float array of shape [M, T]
            Expected proportions.
        word_share : float array of shape [V, T]
            E[phi].
        """
        lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
        out = np.zeros(len(lengths))
        if self.observed.nnz == 0:
            return out

        def gain(first: int, last: int) -> None:
            rows = slice(first, last)
            own = csr_array(labels[rows])
            used = np.unique(own.indices)
            tilt = own[:, used] @ self.logarithms[used].toarray()
            out[rows] = np.asarray(counts[rows].multiply(tilt).sum(axis=1))
            inflation = (proportions[rows] @ word_share.T * np.expm1(tilt)).sum(axis=1)
            out[rows] -= lengths[rows] * np.log1p(inflation)

        with threadpool_limits(1, "blas"):
            run_ranges(gain, len(lengths), max(_CELLS // len(word_share), 1))
        return out


def learn_word_factors(
    counts: csr_array,
    labels: csr_array,
    expected: FloatArray,
    weighed: WeighedDocuments,
    columns: Sequence[slice],
    word_share: FloatArray,
) -> WordFactors:
    """The factors of labels' words.

    Parameters
    ----------
    counts : sparse array of shape [M, V]
        Training documents, `MOST_DOCUMENTS` of them at most.
    labels : sparse array of shape [M, n_labels]
        The values of their labels.
    expected : float array of shape [M, T]
        The tokens of topics that their labels lead one to expect.
    weighed : WeighedDocuments
        Documents that strengths are chosen on.
    columns : sequence of slice
        The labels of each tag or category column.
    word_share : float array of shape [V, T]
        E[phi].
    """
    n_labels, n_words = labels.shape[1] + 1, len(word_share)
    weighed = replace(weighed, labels=with_any(weighed.labels, columns))
    labels = with_any(labels, columns)
    strength = _choose_strengths(weighed, columns)
    columns = [own for own in columns if strength[own.start] < _STRENGTHS[-1]]
    if not columns:
        return WordFactors.none(n_labels - 1, n_words)
    observed = csc_array(csr_array(labels.T) @ counts)
    # Documents with the same labels have the same factors: together they are one.
    sets = label_sets(labels)
    labels = csc_array(sets.design)
    expected = sparse_product(sets.member, np.ascontiguousarray(expected, dtype=np.float32))
    share = word_share.astype(np.float32)

    def learn(first: int, last: int) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        found = observed[:, first:last].toarray()
        load = expected @ share[first:last].T
        rest = _sweep(labels, load, found, columns, strength)
        factors = (strength[:, None] + found) / (strength[:, None] + rest)
        gain = found * np.log(factors) - rest * (factors - 1.0)
        kept = np.nonzero(gain > _LEAST_GAIN)
        return kept[0], kept[1] + first, found[kept], rest[kept]

    parts = zip(*run_ranges(learn, n_words, _WORDS), strict=True)
    rows, words, found, rest = (np.concatenate(part) for part in parts)
    order = np.lexsort((words, rows))
    ends = np.cumsum(np.bincount(rows, minlength=n_labels))
    squares = np.bincount(counts.indices, counts.data.astype(np.float64) ** 2, n_words)
    tokens = np.bincount(counts.indices, counts.data, n_words)
    return WordFactors(
        csr_array(
            (
                found[order].astype(np.float32),
                words[order].astype(np.int32),
                np.concatenate([[0], ends]).astype(np.int32),
            ),
            shape=(n_labels, n_words),
        ),
        rest[order].astype(np.float32),
        strength,
        np.maximum(squares / np.maximum(tokens, 1.0), 1.0),
    )


def with_any(labels: csr_array, columns: Sequence[slice]) -> csr_array:
    """The labels of some columns, and a further one of all documents that have any, [M, J + 1]."""
    chosen = np.zeros(labels.shape[1])
    for own in columns:
        chosen[own] = 1.0
    found = csr_array(labels.multiply(chosen), dtype=np.float64)
    found.eliminate_zeros()
    any_of_them = (np.diff(found.indptr) > 0).astype(np.float64)
    return csr_array(hstack([found, csr_array(any_of_them[:, None])], format="csr"))


def _sweep(
    labels: csc_array,
    load: FloatArray,
    observed: FloatArray,
    columns: Sequence[slice],
    strength: FloatArray,
) -> FloatArray:
    """The tokens [n_labels, W] that topics and the other labels' factors lead one to expect.

    `load` [M, W] are the tokens that topics alone do, and is overwritten: then with all factors.
    Of labels that are in none of the `columns`, the observed tokens are expected.
    """
    shape = np.ascontiguousarray(observed + strength[:, None])
    rate = shape.copy()
    indptr, documents, _ = kernels.csr_arrays(labels)
    # The levels of a category are all documents together: what these have in common comes first.
    common = slice(len(rate) - 1, len(rate))
    for own in [part for column in columns for part in (common, column)] * _SWEEPS:
        kernels.sweep_gamma_weights(
            indptr[own.start : own.stop + 1],
            documents,
            load,
            shape[own],
            float(strength[own.start]),
            rate[own],
        )
    return np.asarray(rate - strength[:, None])


def _choose_strengths(documents: WeighedDocuments, columns: Sequence[slice]) -> FloatArray:
    """The strength of each label, [n_labels + 1]: the largest where factors do not help.

    All labels of a column have the same. Factors of some words are learned from the documents
    outside a fold, with topics that have not seen it either, and predict those inside: as Poisson
    counts, label by label, given the factors of the others.
    """
    n_labels, n_words = documents.labels.shape[1], documents.counts.shape[1]
    start = np.full(n_labels, _FIRST_STRENGTH)
    size = min(_TRIED_WORK // max(documents.labels.nnz, 1), _TRIED_PAIRS // n_labels, n_words)
    # Rare and frequent words alike, and others in every fold.
    step = -(-n_words // max(size, 1))
    ranked = np.argsort(-np.bincount(documents.counts.indices, minlength=n_words), kind="stable")
    gain = np.zeros((n_labels, len(_STRENGTHS)))
    for number, share in enumerate(documents.word_shares):
        words = ranked[number * step // len(documents.word_shares) :: step]
        load = documents.expected.astype(np.float32) @ share[words].T.astype(np.float32)
        counts = csr_array(documents.counts[:, words], dtype=np.float64)
        inside = documents.fold == number
        sides = [csr_array(documents.labels[part], dtype=np.float64) for part in (~inside, inside)]
        found, new = (
            np.asarray((side.T @ counts[part]).toarray())
            for side, part in zip(sides, (~inside, inside), strict=True)
        )
        rest = _sweep(csc_array(sides[0]), load[~inside], found, columns, start)
        logarithms = np.log((found + _FIRST_STRENGTH) / (rest + _FIRST_STRENGTH))
        tilted = load[inside] * np.exp(sides[1] @ logarithms)
        coming = np.asarray(sides[1].T @ tilted) / np.exp(logarithms)
        for place, strength in enumerate(_STRENGTHS):
            factors = (strength + found) / (strength + rest)
            gain[:, place] += (new * np.log(factors) - coming * (factors - 1.0)).sum(axis=1)
    for own in [*columns, slice(n_labels - 1, n_labels)]:
        total = gain[own].sum(axis=0)
        start[own] = _STRENGTHS[int(total.argmax()) if total.max() > 0.0 else -1]
    return start
