"""How documents and labels that a model is asked about are read."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.analysis.contrasts import column_numbers
from hdsp.checks import check_counts, check_indices, check_known, check_not_texts, count_rows
from hdsp.corpus import Corpus, Labels, StoredCorpus, group_numbers, warn_unknown
from hdsp.corpus.corpus import fingerprint
from hdsp.model.data import Problem, make_problem
from hdsp.numerics import IntArray
from hdsp.scaling.functions import Design

if TYPE_CHECKING:
    from hdsp.analysis.fitted import FittedModel, Source


def read_counts(
    X: Any, owner: str, source: "Source | None" = None
) -> tuple[csr_array, tuple[str, ...] | None]:
    """Word counts as scikit-learn takes them, and the names of the columns, if they have any.

    They must have the columns of a fitted model's `source`.
    """
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import validate_data

    check_not_texts(X, owner)
    check_indices(X, f"X of {owner}")
    # Columns as scikit-learn's validation reads and sets them; the name is for its messages.
    features = type("HDSP", (BaseEstimator,), {})()
    if source is not None:
        features.n_features_in_ = len(source.words)
        if source.named:
            features.feature_names_in_ = np.array(source.words, dtype=object)
    X = validate_data(
        features,
        X,
        reset=source is None,
        accept_sparse="csr",
        dtype=(np.float64, np.float32),
        ensure_non_negative=True,
    )
    names = getattr(features, "feature_names_in_", None)
    return check_counts(X, owner), None if names is None else tuple(names)


def check_own_labels(labels: object, owner: str) -> None:
    """Raise if labels are given beside a corpus."""
    if labels is not None:
        raise ValueError(
            f"`labels` of {owner} must be None where X is a Corpus, which carries its own."
        )


def read_documents(
    fitted: "FittedModel", X: Any, labels: object, owner: str, warn: bool = True
) -> tuple[csr_array, Design]:
    """Counts [M, V] and design [M, J] of new documents."""
    if isinstance(X, Corpus):
        check_own_labels(labels, owner)
        check_words(fitted, X, owner)
        counts, labels = X.counts, X.labels
    else:
        counts, _ = read_counts(X, owner, fitted.source)
    if counts.shape[0] == 0:
        raise ValueError(f"X of {owner} has no documents.")
    return counts, read_labels(fitted, labels, counts.shape[0], owner, warn)[1]


def check_corpus(corpus: Any, owner: str) -> None:
    """Raise unless documents come as a corpus."""
    if not isinstance(corpus, Corpus):
        raise TypeError(
            f"`corpus` of {owner} must be a Corpus. Got {type(corpus).__name__}: of counts make "
            "Corpus(X, words=model.words_, labels=labels)."
        )


def check_words(fitted: "FittedModel", corpus: Corpus, owner: str, name: str = "X") -> None:
    """Raise unless a corpus has the model's words."""
    words = fitted.source.words
    if corpus.words != words:
        raise ValueError(
            f"{name} of {owner} has other words than the model: {len(corpus.words)} against "
            f"{len(words)}, or in another order. Count it with the vectoriser the "
            "model was trained with."
        )


def document_parts(
    fitted: "FittedModel", X: Any, labels: object, owner: str
) -> Iterator[tuple[Any, csr_array, Design]]:
    """Yield documents with counts and design: all, or part by part if they are on disk."""
    if labels is not None or not isinstance(X, StoredCorpus):
        yield X, *read_documents(fitted, X, labels, owner)
        return
    unknown = []
    for part in X.parts():
        yield part, *read_documents(fitted, part, None, owner, warn=False)
        unknown.append(fitted.schema.unknown(part.labels))
    warn_unknown(unknown)


def read_labels(
    fitted: "FittedModel", labels: Any, n_documents: int | None, owner: str, warn: bool = True
) -> tuple[Labels, Design]:
    """Labels of new documents and their design [M, J]."""
    if n_documents is None:
        if labels is None:
            remedy = ", or `n_documents`" if owner == "HDSP.simulate" else ""
            raise ValueError(f"{owner} needs labels{remedy}: one row for each document.")
        n_documents = count_rows(labels, owner)
    parsed = fitted.schema.read(labels, n_documents, owner)
    return parsed, fitted.space.encode(parsed, warn)


def label_values(labels: Labels) -> dict[str, list[Any]]:
    """The values of labels by column: levels, lists of tags, numbers; None where missing."""
    columns: dict[str, list[Any]] = {}
    for block in labels.blocks:
        names = np.array(block.columns, dtype=object)
        rows = np.split(block.values.indices, block.values.indptr[1:-1])
        if block.kind == "number":
            for place, name in enumerate(block.columns):
                columns[name] = column_numbers(block.values, place).tolist()
        elif block.kind == "tags":
            columns[block.name] = [names[own].tolist() for own in rows]
        else:
            columns[block.name] = [names[own[0]] if len(own) else None for own in rows]
    return columns


def in_memory(corpus: Any, owner: str) -> Corpus:
    """A corpus whose documents are in memory."""
    check_corpus(corpus, owner)
    return corpus[:] if isinstance(corpus, StoredCorpus) else corpus


def column_values(corpus: Corpus, name: str, parameter: str, owner: str) -> list[Any]:
    """The values of a category or number of a corpus, one per document; None where missing."""
    known = [
        block.name
        for block in corpus.labels.blocks
        if block.kind == "category" or (block.kind == "number" and len(block.columns) == 1)
    ]
    what = "one value per document, or name a category or a number of the corpus"
    check_known(name, known, parameter, owner, what)
    (found,) = label_values(corpus.labels.select([name])).values()
    return [None if value != value else value for value in found]


def training_problem(
    fitted: "FittedModel", corpus: Any, owner: str
) -> tuple[Problem, IntArray | None]:
    """The documents of a corpus and their groups; raise unless the model was fitted to them."""
    check_corpus(corpus, owner)
    counts, design = read_documents(fitted, corpus, None, owner)
    content = fitted.state.content
    problem = make_problem(counts, design, fitted.scaling, fitted.priors, content=content)
    if getattr(corpus, "fingerprint", None) == fitted.source.fingerprint:
        return problem, None
    groups = None if corpus.groups is None else group_numbers(corpus.groups)
    if fingerprint(corpus.counts, problem.design, groups) != fitted.source.fingerprint:
        had, got = (
            f"{number} documents, {'without' if own is None else 'with'} groups"
            for number, own in ((fitted.n_documents, fitted.reading.groups), (len(corpus), groups))
        )
        raise ValueError(
            f"`corpus` of {owner} must be the documents that the model was fitted to, with the "
            f"same labels and in the same order: {had}. Got {got}."
        )
    return problem, groups
