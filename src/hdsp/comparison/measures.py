"""What is measured: the same code for every model."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from hdsp.corpus import Corpus
from hdsp.metrics import npmi, topic_diversity, topic_top_words
from hdsp.model import split_tokens, word_log_likelihood
from hdsp.numerics.types import FloatArray
from hdsp.peers import Fitted, target_values

N_TOP_WORDS = 10


@dataclass(frozen=True)
class Measure:
    """How a measure is shown.

    Parameters
    ----------
    title : of its column
    digits : after the point
    better : ``"lower"``, ``"higher"``, or ``""`` where neither is
    """

    title: str
    digits: int
    better: str


MEASURES = {
    "given_labels": Measure("perplexity given labels", 1, "lower"),
    "completion": Measure("perplexity of completion", 1, "lower"),
    "npmi": Measure("NPMI", 3, "higher"),
    "diversity": Measure("diversity", 3, "higher"),
    "n_topics": Measure("topics", 1, ""),
    "seconds": Measure("seconds", 2, "lower"),
    "accuracy": Measure("accuracy", 3, "higher"),
    "macro_f1": Measure("macro F1", 3, "higher"),
}


def measure(
    fitted: Fitted, train: Corpus, test: Corpus, seconds: float, target: str | None = None
) -> dict[str, float | None]:
    """All measures of one fitted model; None is what the model cannot do.

    Parameters
    ----------
    train, test : as of `split_corpus`
    seconds : that the fit took
    target : the label column to predict; without one there is no accuracy
    """
    observed, held_out = split_tokens(test.counts)
    found: dict[str, float | None] = {
        "given_labels": perplexity(test.counts, fitted, fitted.given_labels(test.labels)),
        "completion": perplexity(held_out, fitted, fitted.given_words(observed, test.labels)),
        **_topic_measures(fitted, train),
        "seconds": seconds,
    }
    if target is not None:
        found |= _target_measures(fitted, test, target)
    return found


def topics_used(fitted: Fitted, n_documents: int) -> FloatArray | None:
    """The topics with at least an average training document's worth of tokens, [T', V]."""
    if fitted.topics is None:
        return None
    if fitted.topic_tokens is None:
        return fitted.topics
    used = fitted.topic_tokens >= fitted.topic_tokens.sum() / n_documents
    return fitted.topics[used] if used.any() else fitted.topics


def perplexity(counts: csr_array, fitted: Fitted, proportions: FloatArray | None) -> float | None:
    """Of words by a model's topics in these proportions, [M, T]; None where it has none."""
    if fitted.topics is None or proportions is None or not counts.sum():
        return None
    found = word_likelihoods(counts, fitted, proportions)
    return float(np.exp(-found.sum() / counts.sum()))


def word_likelihoods(counts: csr_array, fitted: Fitted, proportions: FloatArray) -> FloatArray:
    """ln p of each document's words by a model's topics in these proportions, [M]."""
    topics = np.asarray(fitted.topics)
    for what, shares in (("topics", topics), ("proportions", proportions)):
        # Shares that add up to more would make a perplexity that nobody could reach.
        if (shares < 0).any() or not np.allclose(shares.sum(axis=1), 1.0, atol=1e-5):
            raise ValueError(f"The {what} of a model must be shares: rows that sum to 1.")
    return word_log_likelihood(counts, proportions, topics.T)


def _topic_measures(fitted: Fitted, train: Corpus) -> dict[str, float | None]:
    """Of the topics in use alone: a truncation's empty topics are no topics."""
    topics = topics_used(fitted, len(train))
    if topics is None:
        return {"npmi": None, "diversity": None, "n_topics": None}
    words = topic_top_words(topics, N_TOP_WORDS)
    return {
        "npmi": float(npmi(words, train.counts).mean()) if words.shape[1] > 1 else None,
        "diversity": topic_diversity(words),
        "n_topics": float(len(topics)),
    }


def _target_measures(fitted: Fitted, test: Corpus, target: str) -> dict[str, float | None]:
    """Of the test documents that have a value of the target."""
    from sklearn.metrics import f1_score

    nothing: dict[str, float | None] = {"accuracy": None, "macro_f1": None}
    true = target_values(test.labels, target)
    rows = np.array([m for m, value in enumerate(true) if value is not None], dtype=np.int64)
    if not len(rows):
        return nothing
    found = fitted.predict(csr_array(test.counts[rows]), test.labels[rows])
    if found is None:
        return nothing
    values = [str(true[m]) for m in rows]
    hits = [a == b for a, b in zip(values, found, strict=True)]
    return {
        "accuracy": float(np.mean(hits)),
        "macro_f1": float(
            f1_score(values, found, labels=sorted(set(values)), average="macro", zero_division=0)
        ),
    }
