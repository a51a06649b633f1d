"""The topics of documents, and the documents that are typical of a topic or a label."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from hdsp.answers.label_probabilities import joined_columns, probability_parts
from hdsp.answers.new_documents import document_parts, read_documents
from hdsp.answers.topic_tables import Columns, name_column
from hdsp.corpus import Corpus
from hdsp.execution import make_executor
from hdsp.numerics.types import FloatArray
from hdsp.prediction import FittedModel
from hdsp.validation import check_whole, quoted


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


def typical_columns(
    fitted: FittedModel, X: Any, labels: object, label: str | None, n: int, n_jobs: int | None
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
    return columns


def _label_scores(
    fitted: FittedModel, X: Any, labels: object, label: str, n_jobs: int | None
) -> FloatArray:
    """The probability of a label for documents that have it, -1 for others, [M, 1]."""
    schema = fitted.schema
    columns = ((block, column) for block in schema.blocks for column in block.columns)
    known = dict(zip(schema.names, columns, strict=True))
    indicators = {name: own for name, own in known.items() if own[0].kind != "number"}
    if label not in indicators:
        raise ValueError(
            "`label` of HDSP.typical_documents must be a tag or a level that the model knows. "
            f"Got {label!r}. It knows {quoted(indicators) or 'none'}."
        )
    block, column = indicators[label]
    found = joined_columns(probability_parts(fitted, X, block.name, labels, n_jobs=n_jobs))[column]
    _, design = read_documents(fitted, X, labels, "HDSP.typical_documents")
    carried = design[:, [schema.names.index(label)]].toarray()[:, 0] > 0
    return np.where(carried, found, -1.0)[:, None]
