"""How well a model predicts the words of documents: perplexities and scores."""

from typing import Any, Literal

import numpy as np

from hdsp.answers.new_documents import document_parts
from hdsp.execution import make_executor
from hdsp.model import document_log_likelihood, split_tokens
from hdsp.numerics.types import FloatArray
from hdsp.prediction import METHODS, FittedModel, Method, bootstrap_interval
from hdsp.prediction.word_factors import with_any
from hdsp.validation import check_choice, check_share, check_weights

Given = Literal["labels", "completion"]


def mean_log_probability(
    fitted: FittedModel, X: Any, labels: object, sample_weight: Any, n_jobs: int | None
) -> float:
    """The mean log probability of a held-out token; see `HDSP.score`."""
    owner = "HDSP.score"
    log_likelihood, tokens = _predict_tokens(
        document_parts(fitted, X, labels, owner), fitted, "completion", "calibrated", n_jobs
    )
    if sample_weight is not None:
        weight = check_weights(sample_weight, len(tokens), owner)
        log_likelihood, tokens = weight * log_likelihood, weight * tokens
    return _mean(log_likelihood, tokens, owner)


def perplexity(
    fitted: FittedModel,
    X: Any,
    labels: object,
    given: Given,
    per_document: bool,
    method: Method,
    interval: float | None,
    n_jobs: int | None,
) -> Any:
    """The perplexity of documents; see `HDSP.perplexity`."""
    owner = "HDSP.perplexity"
    if interval is not None:
        check_share(interval, "interval", owner)
    check_choice(method, METHODS, "method", owner)
    check_choice(given, ("labels", "completion"), "given", owner)
    log_likelihood, tokens = _predict_tokens(
        document_parts(fitted, X, labels, owner), fitted, given, method, n_jobs
    )
    if per_document:
        with np.errstate(invalid="ignore"):
            return np.where(tokens > 0, np.exp(-log_likelihood / tokens), np.nan)
    found = float(np.exp(-_mean(log_likelihood, tokens, owner)))
    if interval is None:
        return found
    return found, *bootstrap_interval(log_likelihood, tokens, interval)


def _predict_tokens(
    parts: Any, fitted: FittedModel, given: Given, method: Method, n_jobs: int | None
) -> tuple[FloatArray, FloatArray]:
    """Log probabilities of the predicted tokens of each document, and their numbers, [M]."""
    log_likelihoods, numbers = [], []
    halves = np.random.default_rng(0)
    for _, counts, design in parts:
        with make_executor(None, n_jobs):
            if given == "labels":
                proportions, scored = fitted.expected(design, method, "tokens"), counts
            else:
                observed, scored = split_tokens(counts, halves)
                proportions = fitted.posterior(observed, design)
            found = document_log_likelihood(fitted.state, scored, design, proportions)
            if given == "labels" and method == "calibrated" and fitted.word_factors is not None:
                labels = with_any(fitted.space.values(design), fitted.worded)
                share = fitted.word_share()
                found += fitted.word_factors.log_likelihood_gain(scored, labels, proportions, share)
            log_likelihoods.append(found)
        numbers.append(np.asarray(scored.sum(axis=1)))
    return np.concatenate(log_likelihoods), np.concatenate(numbers)


def _mean(log_likelihood: FloatArray, tokens: FloatArray, owner: str) -> float:
    if tokens.sum() == 0:
        raise ValueError(f"{owner} found no token to predict. Pass documents with more words.")
    return float(log_likelihood.sum() / tokens.sum())
