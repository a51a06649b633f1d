"""The topics of documents, observed, expected and simulated, and typical documents."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array, eye_array

from hdsp.analysis.fitted import METHODS, FittedModel, Method
from hdsp.analysis.label_prediction import joined_columns, probability_parts
from hdsp.analysis.new_documents import document_parts, label_values, read_documents, read_labels
from hdsp.analysis.reading import WEIGHTS, Weight
from hdsp.analysis.topics import Columns, name_column, word_share
from hdsp.analysis.words import with_any
from hdsp.checks import (
    check_choice,
    check_known,
    check_share,
    check_weights,
    check_whole,
    count_of,
    make_generator,
)
from hdsp.corpus import Corpus, as_labels, make_frame
from hdsp.execution.executor import make_executor
from hdsp.model.reading import document_log_likelihood, split_tokens
from hdsp.model.simulate import Truth, draw_documents
from hdsp.numerics import FloatArray


def transformed_parts(
    fitted: FittedModel, X: Any, labels: object = None, n_jobs: int | None = None
) -> Iterator[tuple[Any, FloatArray]]:
    """Yield documents with their `HDSP.transform`: all, or part by part if they are on disk."""
    dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
    for part, counts, design in document_parts(fitted, X, labels, "HDSP.transform"):
        with make_executor(None, n_jobs):
            found = fitted.groups.sum(fitted.posterior(counts, design))
        yield part, found.astype(dtype)


def transformed(
    fitted: FittedModel, X: Any, labels: object = None, n_jobs: int | None = None
) -> FloatArray:
    """Topic proportions of all documents [M, T], as `HDSP.transform` returns them."""
    return np.concatenate([part for _, part in transformed_parts(fitted, X, labels, n_jobs)])


def document_topic_columns(
    fitted: FittedModel, X: Any, labels: object, n_jobs: int | None
) -> Columns:
    """The columns of `HDSP.document_topics`."""
    found = transformed(fitted, X, labels, n_jobs)
    document, topic = (index.ravel().tolist() for index in np.indices(found.shape))
    columns: Columns = {"document": document, "topic": topic, **name_column(fitted, topic)}
    columns["proportion"] = found.ravel().tolist()
    about: Columns = {}
    if isinstance(X, Corpus):
        known, fields = X.labels, {"id": X.ids, "group": X.groups}
        about = {name: list(own) for name, own in fields.items() if own is not None}
    else:
        known = as_labels(labels, len(found), "HDSP.document_topics")
    for name, values in label_values(known).items():
        about[f"{name}_label" if name in (*columns, *about) else name] = values
    return columns | {name: [values[m] for m in document] for name, values in about.items()}


def ldavis_arrays(
    fitted: FittedModel, X: Any, labels: object, n_jobs: int | None
) -> dict[str, Any]:
    """What `HDSP.ldavis` returns."""
    proportions = transformed(fitted, X, labels, n_jobs)
    counts, _ = read_documents(fitted, X, labels, "HDSP.ldavis", warn=False)
    return {
        "topic_term_dists": word_share(fitted),
        "doc_topic_dists": proportions,
        "doc_lengths": np.asarray(counts.sum(axis=1)),
        "vocab": list(fitted.source.words),
        "term_frequency": np.asarray(counts.sum(axis=0)),
    }


def typical_columns(
    fitted: FittedModel,
    X: Any,
    labels: object,
    label: str | None,
    n: int,
    n_jobs: int | None,
    texts: Sequence[str] | None = None,
) -> Columns:
    """The columns of `HDSP.typical_documents`."""
    check_whole(n, "n", 1)
    if label is None:
        score, value = transformed(fitted, X, labels, n_jobs), "proportion"
    else:
        score, value = _label_scores(fitted, X, labels, label, n_jobs), "probability"
    order = np.argsort(-score, axis=0, kind="stable")[:n].T
    # Of as many documents as there are, and none without the label.
    place, rank = np.nonzero(np.take_along_axis(score.T, order, axis=1) >= 0)
    chosen = order[place, rank].tolist()
    columns: Columns = {"topic": place.tolist(), **name_column(fitted, place)}
    if label is not None:
        columns = {"label": [label] * len(chosen)}
    columns |= {"document": chosen, value: score[chosen, place].tolist()}
    if isinstance(X, Corpus) and X.ids is not None:
        columns["id"] = [X.ids[m] for m in chosen]
    if texts is not None:
        columns["text"] = [texts[m] for m in chosen]
    return columns


def check_text_of_each(texts: Sequence[str] | None, X: Any, owner: str) -> None:
    """Raise unless there are no texts, or one for each document."""
    n_documents = len(X) if isinstance(X, Corpus) else X.shape[0]
    if texts is not None and len(texts) != n_documents:
        raise ValueError(
            f"`texts` of {owner} must be one text for each of the "
            f"{count_of(n_documents, 'document')}. Got {len(texts)}."
        )


def _label_scores(
    fitted: FittedModel, X: Any, labels: object, label: str, n_jobs: int | None
) -> FloatArray:
    """The probability of a label for documents that have it, -1 for others, [M, 1]."""
    schema, owner = fitted.schema, "HDSP.typical_documents"
    own = [(block, column) for block in schema.blocks for column in block.columns]
    named = zip(schema.names, own, strict=True)
    indicators = {name: place for name, place in named if place[0].kind != "number"}
    check_known(label, indicators, "label", owner, "a tag or a level of the model")
    block, column = indicators[label]
    found = joined_columns(probability_parts(fitted, X, block.name, labels, n_jobs=n_jobs))[column]
    _, design = read_documents(fitted, X, labels, owner)
    carried = design[:, [schema.names.index(label)]].toarray()[:, 0] > 0
    return np.where(carried, found, -1.0)[:, None]


Given = Literal["labels", "completion"]


def mean_log_probability(
    fitted: FittedModel, X: Any, labels: object, sample_weight: Any, n_jobs: int | None
) -> float:
    """The mean log probability of a held-out token; see `HDSP.score`."""
    owner = "HDSP.score"
    log_likelihood, tokens = _predict_tokens(
        fitted, X, labels, owner, "completion", "regression", n_jobs
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
    log_likelihood, tokens = _predict_tokens(fitted, X, labels, owner, given, method, n_jobs)
    if per_document:
        with np.errstate(invalid="ignore"):
            return np.where(tokens > 0, np.exp(-log_likelihood / tokens), np.nan)
    found = float(np.exp(-_mean(log_likelihood, tokens, owner)))
    if interval is None:
        return found
    return found, *bootstrap_interval(log_likelihood, tokens, interval)


def _predict_tokens(
    fitted: FittedModel,
    X: Any,
    labels: object,
    owner: str,
    given: Given,
    method: Method,
    n_jobs: int | None,
) -> tuple[FloatArray, FloatArray]:
    """Log probabilities of the predicted tokens of each document, and their numbers, [M]."""
    log_likelihoods, numbers = [], []
    halves = np.random.default_rng(0)
    for _, counts, design in document_parts(fitted, X, labels, owner):
        with make_executor(None, n_jobs):
            if given == "labels":
                proportions, scored = fitted.expected(design, method, "tokens"), counts
            else:
                observed, scored = split_tokens(counts, halves)
                proportions = fitted.posterior(observed, design)
            found = document_log_likelihood(fitted.state, scored, design, proportions)
            if given == "labels" and method == "regression" and fitted.word_factors is not None:
                values, share = fitted.space.values(design), fitted.word_share()
                known = with_any(values, fitted.worded)
                found += fitted.word_factors.log_likelihood_gain(scored, known, proportions, share)
            log_likelihoods.append(found)
        numbers.append(np.asarray(scored.sum(axis=1)))
    return np.concatenate(log_likelihoods), np.concatenate(numbers)


def _mean(log_likelihood: FloatArray, tokens: FloatArray, owner: str) -> float:
    if tokens.sum() == 0:
        raise ValueError(f"{owner} found no token to predict. Pass documents with more words.")
    return float(log_likelihood.sum() / tokens.sum())


def bootstrap_interval(
    log_likelihood: FloatArray, tokens: FloatArray, level: float, n_draws: int = 1_000
) -> tuple[float, float]:
    """Limits (lower, upper) of the perplexity, by a bootstrap over documents.

    `log_likelihood` [M] and `tokens` [M] are those of each document.
    """
    rng, n_documents, found = np.random.default_rng(0), len(tokens), []
    with np.errstate(invalid="ignore"):
        for _ in range(n_draws):
            times = np.bincount(rng.integers(n_documents, size=n_documents), minlength=n_documents)
            found.append(np.exp(-(times @ log_likelihood) / (times @ tokens)))
    lower, upper = np.nanquantile(found, [(1.0 - level) / 2.0, (1.0 + level) / 2.0]).tolist()
    return lower, upper


def expected_topics(
    fitted: FittedModel, labels: object, method: Method, weight: Weight
) -> FloatArray:
    """Expected proportions given labels alone, [M, T]; see `HDSP.expected_topics`."""
    owner = "HDSP.expected_topics"
    check_choice(method, METHODS, "method", owner)
    check_choice(weight, WEIGHTS, "weight", owner)
    if isinstance(labels, Mapping):
        # The labels of one document, which may have none.
        known = labels or dict.fromkeys(block.name for block in fitted.schema.blocks)
        labels = make_frame({name: [value] for name, value in known.items()})
    _, design = read_labels(fitted, labels, None, owner)
    return fitted.groups.sum(fitted.expected(design, method, weight))


def label_scale(fitted: FittedModel) -> FloatArray:
    """Expected scale of topics under each label alone, [T, J]."""
    alone = csr_array(eye_array(fitted.schema.n_labels, format="csr", dtype=np.float64))
    design = fitted.space.design(alone)
    scale = fitted.scaling.expected_scale(fitted.state.scaling, design)
    if fitted.merged_topics is not None:
        # By as much as the sum of its topics, each by its weight.
        weight, add = np.maximum(fitted.state.topic_weight, 1e-300), fitted.groups.sum
        scale = add(scale * weight) / add(weight)
    return np.asarray(scale).T


def simulate(
    fitted: FittedModel,
    labels: object,
    n_documents: int | None,
    document_length: float,
    random_state: Any,
) -> Corpus:
    """Documents with labels; see `HDSP.simulate`."""
    parsed, design = read_labels(fitted, labels, n_documents, "HDSP.simulate")
    rng = make_generator(random_state)
    lengths = rng.poisson(document_length, size=len(parsed)).astype(np.float64)
    state, weights = fitted.state, fitted.scaling.draw_posterior(fitted.state.scaling, rng)
    share, concentration = fitted.word_share().T, state.document_concentration
    truth = Truth(state.topic_weight, share, weights, concentration)
    counts = draw_documents(truth, fitted.scaling, design, lengths, rng)
    return Corpus(counts, words=fitted.source.words, labels=parsed)
