"""The generative process forwards (equations 1 to 5), for tests and for power studies."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack
from scipy.special import softmax

from hdsp.checks import check_positive, check_whole, count_rows
from hdsp.corpus import Corpus, LabelSchema, as_labels
from hdsp.numerics import FloatArray, IntArray, weights_from_sticks
from hdsp.scaling.design import LabelDesign, Scaling
from hdsp.scaling.functions import Design, ScalingFunction

# Documents whose proportions and tokens are in memory at once.
_DOCUMENTS_AT_ONCE = 4096
# Beyond as many tokens for each word there is, a multinomial draw over words is quicker.
_TOKENS_PER_WORD = 4


@dataclass(frozen=True, eq=False)
class Truth:
    """The parameters a corpus was drawn from.

    Attributes
    ----------
    topic_weight : float array of shape [T]
        The topic weights p.
    word_share : float array of shape [T, V]
        The topics phi; rows sum to 1.
    weights : float array of shape [T, J]
        The scaling function's weights; NaN for labels it does not take.
    document_concentration : float
        The concentration beta.
    """

    topic_weight: FloatArray
    word_share: FloatArray
    weights: FloatArray
    document_concentration: float


def draw_documents(
    truth: Truth,
    scaling: ScalingFunction,
    design: Design,
    lengths: FloatArray,
    rng: np.random.Generator,
) -> csr_array:
    """Equations 4 and 5: counts [M, V], some documents at a time."""
    tokens = np.asarray(lengths).astype(np.int64)
    parts = [csr_array((0, truth.word_share.shape[1]))]
    for first in range(0, len(tokens), _DOCUMENTS_AT_ONCE):
        rows = slice(first, first + _DOCUMENTS_AT_ONCE)
        proportions = draw_proportions(truth, scaling, design[rows], rng)
        parts.append(_draw_words(truth.word_share, proportions, tokens[rows], rng))
    return csr_array(vstack(parts, format="csr"))


def draw_proportions(
    truth: Truth, scaling: ScalingFunction, design: Design, rng: np.random.Generator
) -> FloatArray:
    """Equation 4: proportions [M, T], the normalised pi."""
    shape = np.maximum(truth.document_concentration * truth.topic_weight, 1e-300)
    rate = np.maximum(scaling.rate(truth.weights, design), 1e-300)
    # Gamma(a) is Gamma(a + 1) U^(1/a), in logarithms: tiny shapes would all come out zero.
    log_draw = np.log(rng.gamma(shape + 1.0, size=rate.shape))
    log_draw += np.log1p(-rng.random(rate.shape)) / shape - np.log(rate)
    return np.asarray(softmax(log_draw, axis=1))


def _draw_words(
    word_share: FloatArray, proportions: FloatArray, tokens: IntArray, rng: np.random.Generator
) -> csr_array:
    """Equation 5: counts [M, V] of documents with so many tokens.

    Tokens go to topics, and those of a topic to words all at once. Of documents with many more
    tokens than there are words, the counts themselves are drawn.
    """
    n_documents, n_topics = proportions.shape
    n_words = word_share.shape[1]
    cumulative = np.cumsum(word_share, axis=1)
    cumulative /= cumulative[:, -1:]
    long = tokens > _TOKENS_PER_WORD * n_words
    by_topic = rng.multinomial(np.where(long, 0, tokens), proportions).T
    held = by_topic.sum(axis=1)
    documents = np.repeat(np.tile(np.arange(n_documents), n_topics), by_topic.ravel())
    level, ends = rng.random(len(documents)), np.cumsum(held)
    words = np.empty(len(documents), dtype=np.int64)
    for topic in np.flatnonzero(held):
        own = slice(ends[topic] - held[topic], ends[topic])
        words[own] = np.searchsorted(cumulative[topic], level[own], side="right")
    number = np.ones(len(words))
    if long.any():
        share = proportions[long] @ word_share
        drawn = rng.multinomial(tokens[long], share / share.sum(axis=1, keepdims=True))
        row, column = np.nonzero(drawn)
        documents = np.concatenate([documents, np.flatnonzero(long)[row]])
        words = np.concatenate([words, column])
        number = np.concatenate([number, drawn[row, column]])
    # Tokens of the same word of the same document are added.
    return csr_array((number, (documents, words)), shape=(n_documents, n_words))


def simulate(
    labels: object = None,
    *,
    n_documents: int | None = None,
    n_topics: int = 10,
    n_words: int = 100,
    document_length: float = 100.0,
    scaling: Scaling = "auto",
    topic_prior: float = 0.1,
    corpus_concentration: float = 1.0,
    document_concentration: float = 1.0,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Corpus, Truth]:
    """Draw a corpus, and the parameters behind it, from the model's own priors.

    For studies of power: how many documents does it take to see an effect of this size?

    Parameters
    ----------
    labels : Labels, table, matrix, list or None, default=None
        The documents' labels, in any form that `HDSP.fit` takes; None draws from the HDP.
    n_documents : int, default=None
        The number of documents M, required where `labels` is None.
    n_topics : int, default=10
        The number of topics T.
    n_words : int, default=100
        The number of words V.
    document_length : float, default=100.0
        The mean number of tokens per document; lengths are Poisson distributed.
    scaling : str, ScalingFunction or Term, default="auto"
        How labels scale topics, as in `HDSP`.
    topic_prior : float, default=0.1
        The Dirichlet parameter eta of topics over words.
    corpus_concentration : float, default=1.0
        The concentration alpha.
    document_concentration : float, default=1.0
        The concentration beta.
    random_state : int, Generator or None, default=None
        A seed, or a NumPy generator.

    Returns
    -------
    corpus : Corpus
        The documents with their labels.
    truth : Truth
        The parameters: `topic_weight` [T], `word_share` [T, V], `weights` [T, J] and
        `document_concentration`.

    Examples
    --------
    >>> corpus, truth = simulate([["red"], ["blue"], []], n_topics=3, n_words=8, random_state=0)
    >>> corpus.shape, truth.word_share.shape, truth.weights.shape
    ((3, 8), (3, 8), (3, 2))
    """
    check_whole(n_topics, "n_topics", 1, "simulate")
    check_whole(n_words, "n_words", 1, "simulate")
    check_positive(document_length, "document_length", "simulate")
    check_positive(topic_prior, "topic_prior", "simulate")
    check_positive(corpus_concentration, "corpus_concentration", "simulate")
    check_positive(document_concentration, "document_concentration", "simulate")
    if labels is None and n_documents is None:
        raise ValueError("`n_documents` of simulate is needed if there are no labels.")
    rng = np.random.default_rng(random_state)
    length = count_rows(labels, "simulate") if n_documents is None else n_documents
    parsed = as_labels(labels, length, "simulate")
    schema = LabelSchema.of(parsed)
    space = LabelDesign.fit(scaling, schema, schema.encode(parsed))
    values = space.schema.encode(parsed)
    # Equations 1 to 3: topics, their weights and the labels' weights from their priors.
    truth = Truth(
        topic_weight=weights_from_sticks(rng.beta(1.0, corpus_concentration, size=n_topics - 1)),
        word_share=rng.dirichlet(np.full(n_words, topic_prior), size=n_topics),
        weights=space.scaling.draw_prior(n_topics, space.n_columns, rng),
        document_concentration=document_concentration,
    )
    lengths = rng.poisson(document_length, size=len(parsed)).astype(np.float64)
    counts = draw_documents(truth, space.scaling, space.design(values), lengths, rng)
    return Corpus(counts, labels=parsed), truth
