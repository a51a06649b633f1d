"""Corpora with known topics, simulated from LDA or Dirichlet-multinomial regression, and placebos.

`hdsp.simulate` simulates from HDSP itself. These corpora show how a fit does if its assumptions do
not hold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.special import softmax

from hdsp import Corpus, Labels
from hdsp.corpus import Kind, LabelBlock
from hdsp_studies.types import FloatArray, IntArray

# Precision of the Dirichlet distribution of a topic's words.
_TOPIC_TOKENS = 100.0


@dataclass(frozen=True)
class LabelDesign:
    """Labels of a synthetic corpus: block "tags", block "category", and a block for every number.

    `frequency` is the share of documents with a common tag, `correlation` the correlation of the
    normal variables behind any two labels. Labels called "null_..." have no effect.
    """

    common_tags: int = 3
    rare_tags: int = 2
    null_tags: int = 2
    levels: int = 3
    numbers: int = 1
    null_numbers: int = 1
    frequency: float = 0.3
    rare_documents: int = 20
    correlation: float = 0.0

    def draw(self, n_documents: int, rng: np.random.Generator) -> Labels:
        """Simulate the labels of documents."""
        common = round(self.frequency * n_documents)
        tags = {
            **{f"common_{i}": common for i in range(self.common_tags)},
            **{f"rare_{i}": self.rare_documents for i in range(self.rare_tags)},
            **{f"null_tag_{i}": common for i in range(self.null_tags)},
        }
        numbers = [f"number_{i}" for i in range(self.numbers)]
        numbers += [f"null_number_{i}" for i in range(self.null_numbers)]
        shared = np.sqrt(self.correlation) * rng.normal(size=(1, n_documents))
        noise = rng.normal(size=(len(tags) + 1 + len(numbers), n_documents))
        score = shared + np.sqrt(1.0 - self.correlation) * noise
        # 0 for the largest score of a label.
        rank = (-score).argsort(axis=1).argsort(axis=1)
        blocks = []
        if tags:
            has_tag = (rank[: len(tags)] < np.array(list(tags.values()))[:, None]).T
            blocks.append(_block("tags", "tags", tuple(tags), has_tag))
        if self.levels:
            level = rank[len(tags)] * self.levels // n_documents
            names = tuple(f"level_{i}" for i in range(self.levels))
            blocks.append(
                _block("category", "category", names, level[:, None] == np.arange(self.levels))
            )
        ends = np.arange(n_documents + 1)
        for name, values in zip(numbers, score[len(tags) + 1 :], strict=True):
            column = csr_array((values, np.zeros(n_documents, dtype=np.int64), ends))
            blocks.append(LabelBlock(name, "number", (name,), column))
        return Labels(tuple(blocks), n_documents)


class SyntheticTruth(NamedTuple):
    """Topics [K, V], their weights [K], proportions of documents [M, K], label weights [J, K]."""

    word_share: FloatArray
    topic_weight: FloatArray
    proportions: FloatArray
    label_weights: FloatArray


def make_corpus(
    n_documents: int = 2000,
    *,
    n_topics: int = 20,
    n_words: int = 2000,
    document_length: float = 100.0,
    overlap: float = 0.3,
    topic_weights: Literal["equal", "zipf"] = "equal",
    labels: LabelDesign | None = None,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Corpus, SyntheticTruth]:
    """Simulate a corpus of overlapping topics over words with Zipf's frequencies.

    Word frequencies f fall as 1 / rank; topics are Dirichlet(100 f), mixed with f by `overlap`. A
    document with labels x has proportions from Dirichlet(0.1 K w exp(x · weights)), with standard
    normal weights for each label and topic and topic weights w.

    Examples
    --------
    >>> design = LabelDesign()
    >>> corpus, truth = make_corpus(50, n_topics=4, n_words=30, labels=design, random_state=0)
    >>> corpus.shape, truth.word_share.shape, truth.proportions.shape, truth.label_weights.shape
    ((50, 30), (4, 30), (50, 4), (12, 4))
    """
    rng = np.random.default_rng(random_state)
    frequency = rng.permutation(_zipf(n_words))
    distinct = rng.dirichlet(_TOPIC_TOKENS * frequency, size=n_topics)
    word_share = (1.0 - overlap) * distinct + overlap * frequency
    weight = _zipf(n_topics) if topic_weights == "zipf" else np.full(n_topics, 1.0 / n_topics)
    drawn = Labels.empty(n_documents) if labels is None else labels.draw(n_documents, rng)
    has_effect = np.array([not name.startswith("null_") for name in drawn.names], dtype=np.bool_)
    label_weights = rng.normal(size=(len(has_effect), n_topics)) * has_effect[:, None]
    columns = [block.values.toarray() for block in drawn.blocks]
    design = np.hstack([np.zeros((n_documents, 0)), *columns])
    score = np.log(weight) + design @ label_weights
    proportions = draw_proportions(0.1 * n_topics * np.exp(score), rng)
    lengths = rng.poisson(document_length, size=n_documents)
    counts = draw_counts(proportions, word_share, lengths, rng)
    truth = SyntheticTruth(word_share, weight, proportions, label_weights)
    return Corpus(counts, labels=drawn), truth


def add_placebo_tags(
    corpus: Corpus, sizes: Sequence[int], random_state: int | np.random.Generator | None = None
) -> Corpus:
    """Add tags "placebo_0" ... on documents chosen at random: any effect of theirs is false.

    Examples
    --------
    >>> add_placebo_tags(Corpus(np.ones((50, 2))), [5, 20], random_state=0).labels
    Labels(50 documents: tags 'placebo' 2)
    """
    rng = np.random.default_rng(random_state)
    has_tag = np.zeros((len(corpus), len(sizes)), dtype=np.bool_)
    for j, size in enumerate(sizes):
        has_tag[rng.choice(len(corpus), size, replace=False), j] = True
    block = _block("placebo", "tags", tuple(f"placebo_{i}" for i in range(len(sizes))), has_tag)
    labels = Labels((*corpus.labels.blocks, block), len(corpus))
    return corpus.replaced(labels=labels)


def draw_proportions(shape: FloatArray, rng: np.random.Generator) -> FloatArray:
    """One Dirichlet vector per row of parameters [M, K], however small they are."""
    # Gamma(a) is Gamma(a + 1) U^(1/a), on the log scale: tiny shapes would all become zero.
    log_draw = np.log(rng.gamma(shape + 1.0)) + np.log1p(-rng.random(shape.shape)) / shape
    return np.asarray(softmax(log_draw, axis=1))


def draw_counts(
    proportions: FloatArray, word_share: FloatArray, lengths: IntArray, rng: np.random.Generator
) -> csr_array:
    """Simulated counts [M, V]: for each token a topic by `proportions` [M, K], then a word.

    `word_share` [K, V] are the topics, `lengths` [M] the tokens of documents. The time grows with
    the number of tokens and with M K, not with M V.

    >>> share = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> draw_counts(share, share, np.array([2, 3]), np.random.default_rng(0)).toarray().tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    shape = (len(proportions), word_share.shape[1])
    tokens = rng.multinomial(lengths, proportions)
    rows, columns = [], []
    for number, share in zip(tokens.T, word_share, strict=True):
        rows.append(np.repeat(np.arange(shape[0]), number))
        # Rounding may leave the sum short of 1; dividing by it keeps all draws below V.
        cumulated = np.cumsum(share)
        cumulated /= cumulated[-1]
        columns.append(np.searchsorted(cumulated, rng.random(len(rows[-1])), side="right"))
    places = (np.concatenate(rows), np.concatenate(columns))
    return csr_array(coo_array((np.ones(len(places[0])), places), shape=shape))


def _zipf(n: int) -> FloatArray:
    share = 1.0 / np.arange(1, n + 1)
    return np.asarray(share / share.sum())


def _block(
    name: str, kind: Kind, columns: tuple[str, ...], present: NDArray[np.bool_]
) -> LabelBlock:
    return LabelBlock(name, kind, columns, csr_array(present.astype(np.float64)))
