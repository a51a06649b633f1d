"""What is measured of a fitted model, by the same code for all models."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from hdsp import Corpus
from hdsp.metrics import npmi, topic_diversity, topic_top_words
from hdsp.model.reading import split_tokens, word_log_likelihood
from hdsp_studies.peers import (
    FitSettings,
    Fitted,
    FittedHDSP,
    Peer,
    SampledByLabel,
    normalised,
    target_values,
)
from hdsp_studies.types import FloatArray

N_TOP_WORDS = 10


@dataclass(frozen=True)
class Measure:
    """How a measure is shown.

    Attributes
    ----------
    title : str
        Title of its column.
    digits : int
        Digits after the point.
    better : {"lower", "higher", ""}
        Which values are better, if either.
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


def fit_and_measure(
    peer: Peer, train: Corpus, test: Corpus, settings: FitSettings
) -> tuple[Fitted, dict[str, float | None]]:
    """Fit a model to training documents and measure it on test documents.

    Parameters
    ----------
    peer : Peer
        The model.
    train, test : Corpus
        Documents from `split_corpus`.
    settings : FitSettings
        Settings of the fit.

    Returns
    -------
    fitted : Fitted
        The fitted model.
    measures : dict of str to float or None
        The measures, as from `measure`.
    """
    start = time.perf_counter()
    fitted = peer.fit(train, settings)
    seconds = time.perf_counter() - start
    return fitted, measure(fitted, train, test, seconds, settings.target)


def measure(
    fitted: Fitted, train: Corpus, test: Corpus, seconds: float, target: str | None = None
) -> dict[str, float | None]:
    """Measure a fitted model.

    Parameters
    ----------
    fitted : Fitted
        The model.
    train, test : Corpus
        Documents from `split_corpus`.
    seconds : float
        Time that the fit took.
    target : str or None, default=None
        Label column to predict; without one, accuracy and F1 are left out.

    Returns
    -------
    dict of str to float or None
        Values by the names of `MEASURES`; None is what the model cannot do.
    """
    observed, held_out = split_tokens(test.counts)
    found: dict[str, float | None] = {
        "given_labels": _given_labels(fitted, test),
        "completion": perplexity(held_out, fitted, fitted.given_words(observed, test.labels)),
        **_topic_measures(fitted, train),
        "seconds": seconds,
    }
    if target is not None:
        found |= _target_measures(fitted, test, target)
    return found


def _given_labels(fitted: Fitted, test: Corpus) -> float | None:
    """Perplexity given labels: of HDSP with the words that labels have beyond their topics."""
    if isinstance(fitted, FittedHDSP) and test.counts.sum():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(fitted.model.perplexity(test.counts, labels=test.labels))
    return perplexity(test.counts, fitted, fitted.given_labels(test.labels))


def perplexities(fitted: Fitted, test: Corpus) -> dict[str, float | None]:
    """Perplexity given labels by each method that a model has to expect topics.

    Parameters
    ----------
    fitted : Fitted
        The model.
    test : Corpus
        Documents from `split_corpus`.

    Returns
    -------
    dict of str to float or None
        By method: ``"perplexity"`` takes expected proportions as the model does by default (of
        labelled LDA from its prior); ``"calibrated"``, where the model has it, from how training
        documents with such labels use topics; ``"exact"`` is HDSP's mean of the gamma variables.
    """
    proportions: dict[str, FloatArray | None]
    if isinstance(fitted, FittedHDSP):
        proportions = {
            "perplexity": fitted.given_labels(test.labels, None),
            "calibrated": fitted.given_labels(test.labels, "regression"),
            "exact": fitted.given_labels(test.labels, "exact"),
        }
    elif isinstance(fitted, SampledByLabel):
        prior = normalised(fitted.prior(test.labels))
        proportions = {"perplexity": prior, "calibrated": fitted.given_labels(test.labels)}
    else:
        proportions = {"perplexity": fitted.given_labels(test.labels)}
    return {name: perplexity(test.counts, fitted, shares) for name, shares in proportions.items()}


def perplexity(counts: csr_array, fitted: Fitted, proportions: FloatArray | None) -> float | None:
    """Perplexity of words by a model's topics in these proportions, [M, T]; None without any."""
    if fitted.topics is None or proportions is None or not counts.sum():
        return None
    found = word_likelihoods(counts, fitted, proportions)
    return float(np.exp(-found.sum() / counts.sum()))


def word_likelihoods(counts: csr_array, fitted: Fitted, proportions: FloatArray) -> FloatArray:
    """ln p of each document's words by a model's topics in these proportions, [M]."""
    topics = np.asarray(fitted.topics)
    for what, shares in (("topics", topics), ("proportions", proportions)):
        # Shares that sum to more would make a perplexity that no model could reach.
        if (shares < 0).any() or not np.allclose(shares.sum(axis=1), 1.0, atol=1e-5):
            raise ValueError(f"The {what} of a model must be shares: rows that sum to 1.")
    return word_log_likelihood(counts, proportions, topics.T)


def topics_used(fitted: Fitted, n_documents: int) -> FloatArray | None:
    """The topics with at least an average training document's worth of tokens, [T', V]."""
    if fitted.topics is None:
        return None
    if fitted.topic_tokens is None:
        return fitted.topics
    used = fitted.topic_tokens >= fitted.topic_tokens.sum() / n_documents
    return fitted.topics[used] if used.any() else fitted.topics


def confusion_matrix(
    true: Sequence[object], found: Sequence[object], values: Sequence[object]
) -> FloatArray:
    """How often each true value (rows) was predicted as each (columns), over these C values."""
    place = {value: i for i, value in enumerate(values)}
    matrix = np.zeros((len(values), len(values)))
    for a, b in zip(true, found, strict=True):
        matrix[place[a], place[b]] += 1.0
    return matrix


def f1_scores(confusion: FloatArray) -> FloatArray:
    """F1 of each of C values from a confusion matrix [C, C]; NaN of those that nothing has."""
    right, total = np.diag(confusion), confusion.sum(axis=0) + confusion.sum(axis=1)
    present = confusion.sum(axis=1) > 0
    return np.where(present, 2.0 * right / np.maximum(total, 1.0), np.nan)


def _topic_measures(fitted: Fitted, train: Corpus) -> dict[str, float | None]:
    """Measures of the topics in use: a truncation's empty topics are no topics."""
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
    """Measures on the test documents that have a value of the target."""
    true = target_values(test.labels, target)
    rows = np.array([m for m, value in enumerate(true) if value is not None], dtype=np.int64)
    found = None
    if len(rows):
        found = fitted.predict(csr_array(test.counts[rows]), test.labels[rows])
    if found is None:
        return {"accuracy": None, "macro_f1": None}
    values = [true[m] for m in rows]
    confusion = confusion_matrix(values, found, sorted({*map(str, values), *found}))
    return {
        "accuracy": float(np.trace(confusion) / confusion.sum()),
        "macro_f1": float(np.nanmean(f1_scores(confusion))),
    }
