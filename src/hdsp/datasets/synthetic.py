"""Corpora whose topics and label effects are known, drawn from models other than HDSP.

`hdsp.simulate` draws from HDSP itself. What a fit recovers from these says how it does where
its own assumptions do not hold.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array
from scipy.special import softmax

from hdsp.checks import check_choice
from hdsp.corpus import Corpus, Kind, LabelBlock, Labels
from hdsp.numerics import BoolArray, FloatArray, draw_counts, draw_proportions

# Tokens that the prior of a topic's words is worth, and draws behind an expected proportion.
_TOPIC_TOKENS = 100.0
_DRAWS = 400


@dataclass(frozen=True)
class LabelDesign:
    """Which labels the documents of a synthetic corpus carry.

    Tags are one block "tags", levels one block "category", every number a block of its own.

    Attributes
    ----------
    common_tags : int, default=3
        Tags "common_0" and so on, each on `frequency` of the documents.
    rare_tags : int, default=2
        Tags "rare_0" and so on, each on `rare_documents` documents.
    null_tags : int, default=2
        Tags "null_tag_0" and so on, as frequent as common ones and without effect.
    levels : int, default=3
        Levels "level_0" and so on of a category, all equally frequent; 0 for no category.
    numbers : int, default=1
        Standard normal numbers "number_0" and so on.
    null_numbers : int, default=1
        Numbers "null_number_0" and so on, without effect.
    frequency : float, default=0.3
        Share of the documents that carry a common tag.
    rare_documents : int, default=20
        Number of documents that carry a rare tag.
    correlation : float, default=0.0
        Correlation of the normal variables behind any two labels, those without effect included:
        a document carries a tag where its variable is among the largest.
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
        """Draw the labels of documents.

        Parameters
        ----------
        n_documents : int
            Number of documents.
        rng : numpy.random.Generator
            Source of the draws.

        Returns
        -------
        Labels
            One row for each document.
        """
        for name, most in (("correlation", 1), ("frequency", 1), ("rare_documents", n_documents)):
            value = getattr(self, name)
            if not 0 <= value <= most:
                raise ValueError(
                    f"`{name}` of LabelDesign must lie between 0 and {most}. Got {value}."
                )
        if self.levels == 1:
            raise ValueError("`levels` of LabelDesign must be 0, or at least 2. Got 1.")
        common = round(self.frequency * n_documents)
        tags = {
            **{f"common_{i}": common for i in range(self.common_tags)},
            **{f"rare_{i}": self.rare_documents for i in range(self.rare_tags)},
            **{f"null_tag_{i}": common for i in range(self.null_tags)},
        }
        numbers = [f"number_{i}" for i in range(self.numbers)]
        numbers += [f"null_number_{i}" for i in range(self.null_numbers)]
        shared = np.sqrt(self.correlation) * rng.normal(size=(1, n_documents))
        own = rng.normal(size=(len(tags) + 1 + len(numbers), n_documents))
        score = shared + np.sqrt(1.0 - self.correlation) * own
        # 0 for the largest score of a label.
        rank = (-score).argsort(axis=1).argsort(axis=1)
        blocks = []
        if tags:
            size = np.array(list(tags.values()))
            carried = (rank[: len(tags)] < size[:, None]).T
            blocks.append(_block("tags", "tags", tuple(tags), carried))
        if self.levels:
            level = rank[len(tags)] * self.levels // n_documents
            names = tuple(f"level_{i}" for i in range(self.levels))
            carried = level[:, None] == np.arange(self.levels)
            blocks.append(_block("category", "category", names, carried))
        every = np.arange(n_documents + 1)
        for name, values in zip(numbers, score[len(tags) + 1 :], strict=True):
            column = csr_array((values, np.zeros(n_documents, dtype=np.int64), every))
            blocks.append(LabelBlock(name, "number", (name,), column))
        return Labels(tuple(blocks), n_documents)


@dataclass(frozen=True, eq=False)
class SyntheticTruth:
    """What a synthetic corpus was drawn from.

    Attributes
    ----------
    word_share : float array of shape [K, V]
        Topics: probabilities of words; rows sum to 1.
    topic_weight : float array of shape [K]
        Expected proportions of a document without labels where the prior is a Dirichlet.
    proportions : float array of shape [M, K]
        Every document's own proportions.
    labels : Labels
        The labels of the documents.
    label_weights : float array of shape [J, K]
        Each label column's weight on the logarithm of each topic; zeros for labels without effect.
    prior : {"dirichlet", "logistic-normal"}
        The distribution of proportions.
    concentration : float
        Sum of the Dirichlet's parameters in a document without labels.
    spread : float
        Standard deviation of the logistic normal.
    """

    word_share: FloatArray
    topic_weight: FloatArray
    proportions: FloatArray
    labels: Labels
    label_weights: FloatArray
    prior: Literal["dirichlet", "logistic-normal"]
    concentration: float
    spread: float

    def expected_proportions(self, design: FloatArray) -> FloatArray:
        """Expected proportions of topics given labels.

        Parameters
        ----------
        design : float array of shape [M, J]
            Labels as numbers: 1 for a tag or level that a document carries.

        Returns
        -------
        float array of shape [M, K]
            Exact for a Dirichlet, by simulation with fixed draws for a logistic normal.
        """
        score = np.log(self.topic_weight) + design @ self.label_weights
        if self.prior == "dirichlet":
            return np.asarray(softmax(score, axis=1))
        noise = np.random.default_rng(0).normal(size=(_DRAWS // 2, len(self.topic_weight)))
        total = np.zeros(score.shape)
        for shift in self.spread * np.concatenate([noise, -noise]):
            total += softmax(score + shift, axis=1)
        return total / _DRAWS

    def effects(self) -> FloatArray:
        """True effects of labels on expected proportions, as `HDSP.label_effects` defines them.

        Returns
        -------
        float array of shape [J, K]
            Means over the documents: of a tag, with it less without it; of a level, against the
            other levels by their frequency; of a number, at one standard deviation more.
        """
        design = _design(self.labels)

        def mean_with(columns: int | slice, values: FloatArray | float) -> FloatArray:
            rows = design.copy()
            rows[:, columns] = values
            return np.asarray(self.expected_proportions(rows).mean(axis=0))

        found = []
        start = 0
        for block in self.labels.blocks:
            stop = start + len(block.columns)
            if block.kind == "category":
                levels = slice(start, stop)
                at = np.array([mean_with(levels, level) for level in np.eye(stop - start)])
                for j in range(stop - start):
                    others = design[:, levels].sum(axis=0)
                    others[j] = 0.0
                    found.append(at[j] - others @ at / others.sum())
            elif block.kind == "tags":
                found += [mean_with(j, 1.0) - mean_with(j, 0.0) for j in range(start, stop)]
            else:
                value = design[:, start]
                found.append(mean_with(start, value + value.std()) - mean_with(start, value))
            start = stop
        return np.array(found).reshape(start, len(self.topic_weight))


def make_corpus(
    n_documents: int = 2000,
    *,
    n_topics: int = 20,
    n_words: int = 2000,
    document_length: float = 100.0,
    overlap: float = 0.3,
    topic_weights: Literal["equal", "zipf"] = "equal",
    labels: LabelDesign | None = None,
    effect_size: float = 1.0,
    prior: Literal["dirichlet", "logistic-normal"] = "dirichlet",
    concentration: float | None = None,
    spread: float = 2.0,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Corpus, SyntheticTruth]:
    """Draw a corpus of overlapping topics over words with Zipf's frequencies.

    With a Dirichlet prior this is LDA, or with labels Dirichlet-multinomial regression; with a
    logistic-normal prior and labels it is the structural topic model. Word frequencies f fall as
    1 / rank; topics are drawn from Dirichlet(100 f) and then mixed with f. A document's prior is
    log-linear in its labels x, with weights from Normal(0, `effect_size`) for each label and topic:
    the Dirichlet's parameters are `concentration` w exp(x · weights), and the logistic normal has
    the mean ln w + x · weights.

    Parameters
    ----------
    n_documents : int, default=2000
        Documents M.
    n_topics : int, default=20
        Topics K.
    n_words : int, default=2000
        Words V of the vocabulary.
    document_length : float, default=100.0
        Mean of the Poisson distribution of lengths.
    overlap : float, default=0.3
        Share of every topic that is the corpus' word frequencies, from 0 to 1.
    topic_weights : {"equal", "zipf"}, default="equal"
        Topics' weights w: all alike, or falling as 1 / k.
    labels : LabelDesign or None, default=None
        Labels of the documents; None for no labels.
    effect_size : float, default=1.0
        Standard deviation of the labels' weights.
    prior : {"dirichlet", "logistic-normal"}, default="dirichlet"
        Distribution of the documents' proportions.
    concentration : float or None, default=None
        Sum of the Dirichlet's parameters; None is 0.1 per topic.
    spread : float, default=2.0
        Standard deviation of the logistic normal.
    random_state : int, numpy.random.Generator or None, default=None
        Seed or source of all draws.

    Returns
    -------
    corpus : Corpus
        The documents with their labels.
    truth : SyntheticTruth
        What they were drawn from.

    Examples
    --------
    >>> corpus, truth = make_corpus(
    ...     50, n_topics=4, n_words=30, labels=LabelDesign(), random_state=0
    ... )
    >>> corpus.shape, truth.word_share.shape, truth.proportions.shape, truth.label_weights.shape
    ((50, 30), (4, 30), (50, 4), (12, 4))
    """
    if concentration is None:
        concentration = 0.1 * n_topics
    for name, value in (
        ("n_documents", n_documents),
        ("n_topics", n_topics),
        ("n_words", n_words),
        ("document_length", document_length),
        ("concentration", concentration),
        ("spread", spread),
    ):
        if not 0 < value < np.inf:
            raise ValueError(f"`{name}` of make_corpus must be a positive number. Got {value}.")
    if not 0 <= overlap <= 1:
        raise ValueError(f"`overlap` of make_corpus must lie between 0 and 1. Got {overlap}.")
    check_choice(topic_weights, ("equal", "zipf"), "topic_weights", "make_corpus")
    check_choice(prior, ("dirichlet", "logistic-normal"), "prior", "make_corpus")
    rng = np.random.default_rng(random_state)
    frequency = rng.permutation(_zipf(n_words))
    own = rng.dirichlet(_TOPIC_TOKENS * frequency, size=n_topics)
    word_share = (1.0 - overlap) * own + overlap * frequency
    weight = _zipf(n_topics) if topic_weights == "zipf" else np.full(n_topics, 1.0 / n_topics)
    drawn = Labels.empty(n_documents) if labels is None else labels.draw(n_documents, rng)
    has_effect = np.array([not name.startswith("null_") for name in drawn.names], dtype=np.bool_)
    label_weights = rng.normal(0.0, effect_size, size=(len(has_effect), n_topics))
    label_weights *= has_effect[:, None]
    score = np.log(weight) + _design(drawn) @ label_weights
    if prior == "dirichlet":
        proportions = draw_proportions(concentration * np.exp(score), rng)
    else:
        proportions = softmax(score + rng.normal(0.0, spread, size=score.shape), axis=1)
    lengths = rng.poisson(document_length, size=n_documents)
    counts = draw_counts(proportions, word_share, lengths, rng)
    truth = SyntheticTruth(
        word_share, weight, proportions, drawn, label_weights, prior, concentration, spread
    )
    return Corpus(counts, labels=drawn), truth


def _zipf(n: int) -> FloatArray:
    share = 1.0 / np.arange(1, n + 1)
    return np.asarray(share / share.sum())


def _block(name: str, kind: Kind, columns: tuple[str, ...], carried: BoolArray) -> LabelBlock:
    return LabelBlock(name, kind, columns, csr_array(carried.astype(np.float64)))


def _design(labels: Labels) -> FloatArray:
    """Labels as numbers, [M, J]."""
    columns = [block.values.toarray() for block in labels.blocks]
    return np.hstack([np.zeros((len(labels), 0)), *columns])
