"""The topics of documents, and the documents that are typical of a topic or a label."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hdsp.answers.label_probabilities import joined_columns, probability_parts
from hdsp.answers.new_documents import document_parts, read_documents
from hdsp.answers.topic_tables import Columns, name_column, word_share
from hdsp.corpus import Corpus, Labels, as_labels
from hdsp.execution import make_executor
from hdsp.numerics.types import FloatArray
from hdsp.prediction import FittedModel
from hdsp.validation import check_known, check_whole, count_of

_TABLE_OWNER = "HDSP.document_topics"


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
    found = [proportions for _, proportions in transformed_parts(fitted, X, labels, n_jobs)]
    return found[0] if len(found) == 1 else np.concatenate(found)


def document_topic_columns(
    fitted: FittedModel, X: Any, labels: object, n_jobs: int | None
) -> Columns:
    """The columns of `HDSP.document_topics`."""
    found = transformed(fitted, X, labels, n_jobs)
    n_documents, n_topics = found.shape
    columns: Columns = {"document": [m for m in range(n_documents) for _ in range(n_topics)]}
    columns["topic"] = list(range(n_topics)) * n_documents
    columns |= name_column(fitted, columns["topic"])
    columns["proportion"] = found.ravel().tolist()
    about: Columns = {}
    known = X.labels if isinstance(X, Corpus) else as_labels(labels, n_documents, _TABLE_OWNER)
    if isinstance(X, Corpus):
        about |= {} if X.ids is None else {"id": list(X.ids)}
        about |= {} if X.groups is None else {"group": list(X.groups)}
    for name, values in label_values(known).items():
        about[f"{name}_label" if name in (*columns, *about) else name] = values
    return columns | {k: [v for v in own for _ in range(n_topics)] for k, own in about.items()}


def label_values(labels: Labels) -> Columns:
    """The values of labels by column: levels, lists of tags, numbers; None where missing."""
    columns: Columns = {}
    for block in labels.blocks:
        starts, names = block.values.indptr, np.array(block.columns, dtype=object)
        rows = np.split(block.values.indices, starts[1:-1])
        if block.kind == "number":
            numbers = np.full(block.values.shape, np.nan)
            documents = np.repeat(np.arange(len(labels)), np.diff(starts))
            numbers[documents, block.values.indices] = block.values.data
            columns |= dict(zip(block.columns, numbers.T.tolist(), strict=True))
        elif block.kind == "tags":
            columns[block.name] = [names[own].tolist() for own in rows]
        else:
            columns[block.name] = [names[own[0]] if len(own) else None for own in rows]
    return columns


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
        score = transformed(fitted, X, labels, n_jobs)
        of: list[Any] = list(range(score.shape[1]))
        names = ("topic", "proportion")
    else:
        score = _label_scores(fitted, X, labels, label, n_jobs)
        of, names = [label], ("label", "probability")
    # Of as many documents as there are, and none without the label.
    chosen = [
        [m for m in np.argsort(-column, kind="stable")[:n] if column[m] >= 0] for column in score.T
    ]
    columns: Columns = {names[0]: [one for one, rows in zip(of, chosen, strict=True) for _ in rows]}
    if label is None:
        columns |= name_column(fitted, columns["topic"])
    columns |= {
        "document": [int(m) for rows in chosen for m in rows],
        names[1]: [float(score[m, k]) for k, rows in enumerate(chosen) for m in rows],
    }
    if isinstance(X, Corpus) and X.ids is not None:
        columns["id"] = [X.ids[m] for m in columns["document"]]
    if texts is not None:
        columns["text"] = [texts[m] for m in columns["document"]]
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
    columns = ((block, column) for block in schema.blocks for column in block.columns)
    known = dict(zip(schema.names, columns, strict=True))
    indicators = {name: own for name, own in known.items() if own[0].kind != "number"}
    check_known(label, indicators, "label", owner, "a tag or a level of the model")
    block, column = indicators[label]
    found = joined_columns(probability_parts(fitted, X, block.name, labels, n_jobs=n_jobs))[column]
    _, design = read_documents(fitted, X, labels, owner)
    carried = design[:, [schema.names.index(label)]].toarray()[:, 0] > 0
    return np.where(carried, found, -1.0)[:, None]
