"""Words of labels, of groups, and of their topics.

Words that labels use beyond their topics are factors of p(word | labels), learned after inference.

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
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack
from scipy.special import expit, logit, psi, xlogy
from threadpoolctl import threadpool_limits

from hdsp import kernels
from hdsp.analysis.label_prediction import WeighedDocuments
from hdsp.analysis.softmax import group_rows
from hdsp.analysis.topics import Columns, name_column, word_share
from hdsp.checks import check_known, check_share, check_whole
from hdsp.kernels import run_ranges
from hdsp.model.reading import group_share
from hdsp.model.versions import Versions
from hdsp.numerics import FloatArray, IntArray, sample_rows
from hdsp.storage.codec import SMALLEST, Limits, require

if TYPE_CHECKING:
    from hdsp.analysis.fitted import FittedModel

# Factors are learned from at most this many documents.
_MOST_DOCUMENTS = 50_000
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

    observed: Annotated[csr_array, Limits("L+1 V", 0.0)]
    expected: Annotated[FloatArray, Limits("q", SMALLEST)]
    strength: Annotated[FloatArray, Limits("L+1", SMALLEST)]
    spread: Annotated[FloatArray, Limits("V", SMALLEST)]

    def check_stored(self) -> None:
        """Raise if a file holds factors that no fit makes."""
        require(self.observed.nnz == len(self.expected), "its words of labels are of other pairs")

    @cached_property
    def logarithms(self) -> csr_array:
        """Logarithms of the factors, [n_labels + 1, V]."""
        found = self.observed.astype(np.float64)
        prior = np.repeat(self.strength, np.diff(found.indptr))
        found.data = np.log((prior + found.data) / (prior + self.expected))
        return found

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


def learn_word_factors(model: "FittedModel") -> WordFactors:
    """The factors of labels' words."""
    problem, weighed, columns = model.documents.problem, model.weighed, model.worded
    all_labels = with_any(model.reading.values, columns)
    tokens = model.reading.lengths[:, None] * model.expected_of_documents("tokens")
    strength = _choose_strengths(
        weighed, csr_array(all_labels[weighed.rows]), tokens[weighed.rows], columns
    )
    rows = sample_rows(problem.n_documents, _MOST_DOCUMENTS)
    counts, labels = problem.counts[rows], csr_array(all_labels[rows])
    columns = [own for own in columns if strength[own.start] < _STRENGTHS[-1]]
    observed = csc_array(csr_array(labels.T) @ counts)
    # Documents with the same labels have the same factors: together they are one.
    first, group = group_rows(labels)
    member = csr_array((np.ones(len(group), dtype=np.float32), (group, np.arange(len(group)))))
    labels = csc_array(labels[first])
    expected = kernels.sparse_product(member, tokens[rows].astype(np.float32))
    share = model.word_share().astype(np.float32)

    def learn(first: int, last: int) -> tuple[Any, ...]:
        found = observed[:, first:last].toarray()
        rest = _sweep(labels, expected @ share[first:last].T, found, columns, strength)
        factors = (strength[:, None] + found) / (strength[:, None] + rest)
        kept = found * np.log(factors) - rest * (factors - 1.0) > _LEAST_GAIN
        rows, words = np.nonzero(kept)
        return rows, words + first, found[kept], rest[kept]

    parts = zip(*run_ranges(learn, len(share), _WORDS), strict=True)
    rows, words, found, rest = (np.concatenate(part) for part in parts)
    # Equal places are in equal order.
    tokens, rest = (
        csr_array((own.astype(np.float32), (rows, words)), observed.shape) for own in (found, rest)
    )
    squares = np.asarray(counts.power(2).sum(axis=0), dtype=np.float64)
    spread = np.maximum(squares / np.maximum(counts.sum(axis=0), 1.0), 1.0)
    return WordFactors(tokens, rest.data, strength, spread)


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
        arrays = indptr[own.start : own.stop + 1], documents, load, shape[own]
        kernels.sweep_gamma_weights(*arrays, float(strength[own.start]), rate[own])
    return np.asarray(rate - strength[:, None])


def _choose_strengths(
    documents: WeighedDocuments, labels: csr_array, expected: FloatArray, columns: Sequence[slice]
) -> FloatArray:
    """The strength of each label, [n_labels + 1]: the largest where factors do not help.

    All labels of a column have the same. Factors of some words are learned from the documents
    outside a fold, with topics that have not seen it either, and predict those inside: as Poisson
    counts, label by label, given the factors of the others.
    """
    n_labels, n_words = labels.shape[1], documents.counts.shape[1]
    size = min(_TRIED_WORK // max(labels.nnz, 1), _TRIED_PAIRS // n_labels, n_words)
    # Rare and frequent words alike.
    ranked = np.argsort(-np.asarray(documents.counts.sum(axis=0)), kind="stable")
    words = ranked[:: -(-n_words // max(size, 1))]
    share = documents.word_shares[0][words].astype(np.float32)
    sides = [np.flatnonzero((documents.fold == 0) == held_out) for held_out in (False, True)]
    load, tilted = (expected[rows].astype(np.float32) @ share.T for rows in sides)
    labels, held = (csr_array(labels[rows]) for rows in sides)
    counts = [csr_array(documents.counts[rows][:, words], dtype=np.float64) for rows in sides]
    found, new = (labels.T @ counts[0]).toarray(), (held.T @ counts[1]).toarray()
    strength = np.full(n_labels, _FIRST_STRENGTH)
    rest = _sweep(csc_array(labels), load, found, columns, strength)
    logarithms = np.log((found + _FIRST_STRENGTH) / (rest + _FIRST_STRENGTH))
    coming = held.T @ (tilted * np.exp(held @ logarithms)) / np.exp(logarithms)
    tried = [(own + found) / (own + rest) for own in _STRENGTHS]
    gain = np.array([(new * np.log(own) - coming * (own - 1.0)).sum(axis=1) for own in tried])
    for own in [*columns, slice(n_labels - 1, n_labels)]:
        total = gain[:, own].sum(axis=1)
        strength[own] = _STRENGTHS[int(total.argmax()) if total.max() > 0.0 else -1]
    return strength


# Words with fewer tokens in a topic have no ratio, nor those of which a label has and is expected
# to have fewer.
FEWEST_TOKENS = 5.0
# A word differs one time in twenty, before anything is known of it.
_LOG_ODDS = float(np.log(19.0))
# Tokens that a word is taken to have beside those counted, in proportion to the levels' tokens.
_PRIOR_TOKENS = 1.0
# The largest logarithm of a ratio.
_MOST = 30.0


# A table of words: each with the topic that it is used in, 0 if that is all, and the level or label
# that uses it; `ratio`, `lower` and `upper`, how much more it does so; and `n`, its tokens there.
WordRatios: TypeAlias = dict[str, Any]


def word_ratios(tokens: FloatArray, spread: FloatArray, level: float) -> WordRatios:
    """Ratios of shares of topics in each level and in the others, which have a beta distribution.

    Parameters
    ----------
    tokens : float array of shape [V, G, T]
        Expected tokens of words by level and topic.
    spread : float array of shape [V]
        By how much tokens of a word vary more than by chance.
    level : float
        The probability of intervals.
    """
    total = tokens.sum(axis=1, keepdims=True)
    words, labels, topics = np.nonzero(np.broadcast_to(total >= FEWEST_TOKENS, tokens.shape))
    # A topic that one of the sides does not have says nothing of it, but divides by no zero.
    share = tokens.sum(axis=0) / np.maximum(total.sum(axis=0), 1e-300)
    share = np.clip(share, 1e-9, 1.0 - 1e-9)[labels, topics]
    n, total, spread = tokens[words, labels, topics], total[words, 0, topics], spread[words]
    rest = total - n
    evidence = xlogy(n, n / total / share) + xlogy(rest, rest / total / (1.0 - share))
    own, other = n / spread + _PRIOR_TOKENS * share, rest / spread + _PRIOR_TOKENS * (1.0 - share)
    from scipy.stats import betaprime

    found = betaprime(own, other, scale=1.0 / share - 1.0)
    probability = _probability(evidence, total, spread)
    ratios = _shrink(found, psi(own) - psi(other) - logit(share), probability, level)
    return {"topic": topics, "label": labels, "word": words, **ratios, "n": n}


def factor_ratios(factors: WordFactors, level: float) -> WordRatios:
    """Ratios of words' tokens to those that topics and other labels lead one to expect.

    They have a gamma distribution.

    Parameters
    ----------
    factors : WordFactors
        The tokens that were counted, and those that are expected.
    level : float
        The probability of intervals.
    """
    stored = factors.observed.tocoo()
    n, expected = stored.data.astype(np.float64), factors.expected.astype(np.float64)
    # The last are no label's.
    kept = (n + expected >= FEWEST_TOKENS) & (stored.row < stored.shape[0] - 1)
    labels, words, n, expected = (own[kept] for own in (stored.row, stored.col, n, expected))
    spread, strength = factors.spread[words], factors.strength[labels]
    evidence = xlogy(n, n / expected) - (n - expected)
    shape, rate = (strength + n) / spread, (strength + expected) / spread
    from scipy.stats import gamma

    probability = _probability(evidence, n + expected, spread)
    ratios = _shrink(gamma(shape, scale=1.0 / rate), psi(shape) - np.log(rate), probability, level)
    return {"topic": np.zeros_like(words), "label": labels, "word": words, **ratios, "n": n}


def _probability(evidence: FloatArray, tokens: FloatArray, spread: FloatArray) -> FloatArray:
    """The probability that ratios are not 1, as most are.

    It is that of the likelihood ratio, less half a logarithm of the tokens, with odds of 1 to 19.
    """
    odds = evidence / spread - 0.5 * np.log1p(tokens / spread) - _LOG_ODDS
    return np.asarray(expit(odds))


def _shrink(
    found: Any, mean: FloatArray, probability: FloatArray, level: float
) -> dict[str, FloatArray]:
    """Ratios with their limits: 1, or with a probability distributed as `found`.

    The `mean` is that of the ratio's logarithm, if it is not 1.
    """
    ratios = {"ratio": np.exp(probability * np.clip(mean, -_MOST, _MOST))}
    # The distribution function at 1, without and with the probability that the ratio is 1.
    low = probability * found.cdf(1.0)
    high = low + 1.0 - probability
    for name, tail in (("lower", (1.0 - level) / 2.0), ("upper", (1.0 + level) / 2.0)):
        jumped = np.where(tail < low, tail, tail - (1.0 - probability))
        jumped = np.clip(jumped / np.maximum(probability, 1e-300), 0.0, 1.0)
        is_one = (low <= tail) & (tail <= high)
        limit = found.ppf(np.where(is_one, np.nan, jumped))
        ratios[name] = np.where(is_one, 1.0, np.clip(limit, np.exp(-_MOST), np.exp(_MOST)))
    return ratios


def label_word_columns(
    fitted: "FittedModel", label: str | None, topic: int | None, level: float
) -> Columns:
    """The columns of `HDSP.label_words`."""
    owner, by_topic = "HDSP.label_words", fitted.state.versions is not None
    check_share(level, "level", owner)
    if by_topic:
        versions, category, names = _levels(fitted, owner)
        columns = {category: range(len(names))}
        what = f"{category!r}, whose levels have their own words, or one of them"
        numbers = (None, *range(len(fitted.groups)))
        check_known(topic, numbers, "topic", owner, "the number of a topic")
        found = word_ratios(_tokens(fitted, versions), versions.spread, level)
    elif fitted.word_factors is None:
        raise ValueError(
            f"{owner} needs a model of tags or categories, whose words a fit learns: this one has "
            "none. Fit it with such labels."
        )
    elif topic is not None:
        raise ValueError(
            f"`topic` of {owner} must be None because labels have the same words in all topics. "
            f'Got {topic!r}. Fit with HDSP(content="party") for words by topic.'
        )
    else:
        names, what = list(fitted.schema.names), "a tag or a level, or a column of them"
        columns = {
            name: range(own.start, own.stop)
            for name, own in fitted.schema.slices().items()
            if fitted.schema.kind(name) != "number"
        }
        found = factor_ratios(fitted.word_factors, level)
    known = columns | {names[j]: range(j, j + 1) for own in columns.values() for j in own}
    check_known(label, (None, *known), "label", owner, what)
    shown = (found["lower"] > 1.0) | (found["upper"] < 1.0)
    if label is not None:
        shown &= np.isin(found["label"], known[label])
    if topic is not None:
        shown &= found["topic"] == topic
    order = np.lexsort((-found["ratio"], found["label"], found["topic"]))
    table: Columns = {name: own[order[shown[order]]].tolist() for name, own in found.items()}
    table["label"] = [names[j] for j in table["label"]]
    table["word"] = [fitted.source.words[i] for i in table["word"]]
    topics = table.pop("topic")
    return {"topic": topics, **name_column(fitted, topics), **table} if by_topic else table


def topic_word_columns(
    fitted: "FittedModel", topic: int | None, by: str | None, n_words: int, level: float
) -> Columns:
    """The columns of `HDSP.topic_words`."""
    owner, numbers = "HDSP.topic_words", range(len(fitted.groups))
    check_share(level, "level", owner)
    check_whole(n_words, "n_words", 1)
    check_known(topic, (None, *numbers), "topic", owner, "the number of a topic")
    chosen = np.arange(len(numbers)) if topic is None else np.array([topic])
    if by is None:
        share = word_share(fitted)
        top = np.argsort(-share[chosen], axis=1, kind="stable")[:, :n_words]
        topics, words = np.repeat(chosen, top.shape[1]), top.ravel()
        found: dict[str, Any] = {"word": words, "probability": share[topics, words]}
    else:
        found = _words_by_level(fitted, chosen, by, n_words, level)
        topics = found.pop("topic")
    table: Columns = {name: np.asarray(values).tolist() for name, values in found.items()}
    table["word"] = [fitted.source.words[i] for i in table["word"]]
    return {"topic": topics.tolist(), **name_column(fitted, topics), **table}


def _words_by_level(
    fitted: "FittedModel", chosen: IntArray, by: str, n_words: int, level: float
) -> dict[str, Any]:
    """Of each topic, the words that any level uses most, with the probability in every level."""
    import pandas as pd

    owner = "HDSP.topic_words"
    versions, category, levels = _levels(fitted, owner)
    check_known(by, [category], "by", owner, "the `content` of the model")
    tokens, weight = _tokens(fitted, versions), fitted.topic_tokens()
    share = group_share(fitted.state).reshape(len(tokens), len(levels) + 1, -1) * weight
    share = fitted.groups.sum(share)[:, 1:] / fitted.groups.sum(weight)
    top = np.argsort(-share.max(axis=1)[:, chosen], axis=0, kind="stable")[:n_words].T
    place = np.broadcast_arrays(chosen[:, None, None], top[:, :, None], np.arange(len(levels)))
    topics, words, labels = (own.ravel() for own in place)
    asked = pd.DataFrame({"topic": topics, "word": words, "label": labels})
    asked["probability"] = share[words, labels, topics]
    ratios = pd.DataFrame(word_ratios(tokens, versions.spread, level)).drop(columns="n")
    found = asked.merge(ratios, how="left").assign(n=tokens[words, labels, topics])
    found["label"] = np.array(levels, dtype=object)[labels]
    return {str(name): found[name].to_numpy() for name in found}


def _levels(fitted: "FittedModel", owner: str) -> tuple[Versions, str, list[str]]:
    """Versions of topics, the category that has them, and its levels."""
    versions, schema = fitted.state.versions, fitted.schema
    if versions is None:
        raise ValueError(
            f"{owner} needs a model whose groups have their own words: fit with "
            'HDSP(content="party"), where "party" is a category of the labels.'
        )
    # A level that has joined a stream may have no version yet.
    labels = versions.columns.tolist()
    ((name, start),) = [
        (name, columns.start)
        for name, columns in schema.slices().items()
        if columns.start <= labels[0] < columns.stop
    ]
    return versions, name, [schema.block(name).columns[label - start] for label in labels]


def _tokens(fitted: "FittedModel", versions: Versions) -> FloatArray:
    """The expected tokens of words by level, [V, G, T]; merged topics are sums."""
    return fitted.groups.sum(versions.by_group()[:, 1:].astype(np.float64))
