"""Documents as a fitted model sees them: their topics, their probability, typical ones."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hdsp.corpus import Corpus
from hdsp.model import split_tokens, word_log_likelihood
from hdsp.numerics.types import FloatArray
from hdsp.prediction import Method
from hdsp.queries.attributes import Columns, FittedAttributes
from hdsp.queries.labels import probability_columns
from hdsp.validation import check_whole, quoted


def transformed_parts(
    model: FittedAttributes, X: Any, labels: object = None
) -> Iterator[tuple[Any, FloatArray]]:
    """Yield documents with their `HDSP.transform`: all, or part by part if they are on disk."""
    check_is_fitted(model)
    dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
    for part, counts, design in model._new_parts(X, labels, "transform"):
        with model._executor():
            found = model._model.groups.sum(model._model.posterior(counts, design))
        yield part, found.astype(dtype)


def transformed(model: FittedAttributes, X: Any, labels: object = None) -> FloatArray:
    """Topic proportions of all documents, as `HDSP.transform` returns them."""
    found = [proportions for _, proportions in transformed_parts(model, X, labels)]
    return found[0] if len(found) == 1 else np.concatenate(found)


def predicted_tokens(
    model: FittedAttributes, X: Any, labels: object, given: str, method: Method, name: str
) -> tuple[FloatArray, FloatArray]:
    """Log probabilities of the predicted tokens of each document, and their numbers, [M]."""
    log_likelihoods, tokens = [], []
    halves = np.random.default_rng(0)
    word_share = model._model.word_share()
    for _, counts, design in model._new_parts(X, labels, name):
        with model._executor():
            if given == "labels":
                proportions, scored = model._model.expected(design, method), counts
            else:
                observed, scored = split_tokens(counts, halves)
                proportions = model._model.posterior(observed, design)
            log_likelihoods.append(word_log_likelihood(scored, proportions, word_share))
        tokens.append(np.asarray(scored.sum(axis=1)))
    return np.concatenate(log_likelihoods), np.concatenate(tokens)


def typical_columns(
    model: FittedAttributes, X: Any, labels: object, label: str | None, n: int
) -> Columns:
    """The columns of `HDSP.typical_documents`."""
    check_is_fitted(model)
    check_whole(n, "n", 1)
    if label is None:
        score = transformed(model, X, labels)
        of: list[Any] = list(range(score.shape[1]))
        names = ("topic", "proportion")
    else:
        score = _label_scores(model, X, labels, label)
        of, names = [label], ("label", "probability")
    # Of as many documents as there are, and none without the label.
    chosen = [
        [m for m in np.argsort(-column, kind="stable")[:n] if column[m] >= 0] for column in score.T
    ]
    columns: Columns = {names[0]: [one for one, rows in zip(of, chosen, strict=True) for _ in rows]}
    if label is None and model._model.topic_names:
        columns["name"] = [model._model.topic_names.get(k, "") for k in columns["topic"]]
    columns |= {
        "document": [int(m) for rows in chosen for m in rows],
        names[1]: [float(score[m, k]) for k, rows in enumerate(chosen) for m in rows],
    }
    if isinstance(X, Corpus) and X.ids is not None:
        columns["id"] = [X.ids[m] for m in columns["document"]]
    return columns


def _label_scores(model: FittedAttributes, X: Any, labels: object, label: str) -> FloatArray:
    """The probability of a label for documents that have it, -1 for others, [M, 1]."""
    schema = model._model.schema
    indicators = {
        name: (block, column)
        for name, (block, column) in zip(
            schema.names,
            ((block, column) for block in schema.blocks for column in block.columns),
            strict=True,
        )
        if block.kind != "number"
    }
    if label not in indicators:
        raise ValueError(
            "`label` of HDSP.typical_documents must be a tag or a level that the model knows. "
            f"Got {label!r}. It knows {quoted(indicators) or 'none'}."
        )
    block, column = indicators[label]
    found = probability_columns(model, X, block.name, labels)[column]
    _, design = model._read_new(X, labels, "typical_documents")
    carried = design[:, [schema.names.index(label)]].toarray()[:, 0] > 0
    return np.where(carried, found, -1.0)[:, None]
