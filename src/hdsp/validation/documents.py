"""Checks of counts, words, labels and the selection of documents."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from types import EllipsisType
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from hdsp.numerics import FloatArray, IntArray, csr_entries, frozen_csr
from hdsp.validation.wording import count_of


def count_rows(labels: Any, owner: str) -> int:
    """Return the number of documents that labels of any form describe."""
    if hasattr(labels, "shape") and len(labels.shape) > 0:
        return int(labels.shape[0])
    if not hasattr(labels, "__len__") or isinstance(labels, (str, bytes)):
        raise TypeError(
            f"`labels` of {owner} must have one row for each document. Got {type(labels).__name__}."
        )
    return len(labels)


def check_length(got: int, expected: int, subject: str) -> None:
    """Raise unless labels have one row per document."""
    if got != expected:
        raise ValueError(
            f"{subject} must have one row for each of the {count_of(expected, 'document')}. "
            f"Got {count_of(got, 'row')}. Pass the labels of the same documents in the same order."
        )


def check_not_infinite(values: FloatArray, rows: IntArray, column: str, subject: str) -> None:
    """Raise if a column has an infinite value; `rows` are the rows of its values."""
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        first = infinite[np.argmin(rows[infinite])]
        raise ValueError(
            f"{subject} must be finite. Got {values[first]} at row {rows[first]}, "
            f"column {column!r}. Leave a value missing with None or NaN."
        )


def check_unique(names: Sequence[str], what: str, subject: str) -> None:
    """Raise if a name occurs twice."""
    if len(set(names)) < len(names):
        name = next(name for name, times in Counter(names).items() if times > 1)
        raise ValueError(
            f"{subject} must have unique {what}. Got {name!r} more than once. Rename or drop one."
        )


def check_indices(matrix: Any, subject: str) -> None:
    """Raise if a sparse matrix has an index out of range, which compiled code would follow.

    SciPy itself trusts the arrays that a matrix is made of. Anything but a sparse matrix passes.
    """
    if not issparse(matrix):
        return
    try:
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)
        elif matrix.format == "coo":
            for indices, length in zip(matrix.coords, matrix.shape, strict=True):
                if len(indices) and not 0 <= indices.min() <= indices.max() < length:
                    raise ValueError("row or column index out of range")
    except ValueError as error:
        raise ValueError(
            f"{subject} must be a sparse matrix whose indices lie within its shape "
            f"{tuple(matrix.shape)}. Got one that is damaged: {error}. Make it again."
        ) from error


def check_matrix(matrix: Any, subject: str) -> csr_array | FloatArray:
    """Return a sparse or dense matrix of real numbers as float64, or raise."""
    check_indices(matrix, subject)
    is_sparse = bool(issparse(matrix))
    if not is_sparse:
        try:
            matrix = np.asarray(matrix)
        except ValueError as error:
            raise ValueError(
                f"{subject} must have rows of equal length. Got ragged rows. Pad the shorter rows."
            ) from error
    if matrix.ndim != 2:
        raise ValueError(
            f"{subject} must be a matrix with two dimensions, documents by columns. "
            f"Got {matrix.ndim} dimension(s). Reshape one column with `values.reshape(-1, 1)`."
        )
    if matrix.dtype.kind not in "biufO":
        raise TypeError(
            f"{subject} must hold real numbers. Got a matrix of type {matrix.dtype}. "
            "Convert it to numbers first."
        )
    try:
        if is_sparse:
            return csr_array(matrix, dtype=np.float64)
        return np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{subject} must hold real numbers. Got a matrix of objects: {error}. "
            "Convert it to numbers first."
        ) from error


# Beyond it, sums of counts are not exact.
LARGEST_COUNT = 1e15


def check_counts(counts: Any, owner: str) -> csr_array:
    """Return counts [M, V] as a read-only CSR matrix without stored zeros, or raise."""
    subject = f"`counts` of {owner}"
    matrix = csr_array(check_matrix(counts, subject), copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    rows, columns, values = csr_entries(matrix)
    wrong = np.flatnonzero(~((values >= 0) & (values <= LARGEST_COUNT)))
    if wrong.size:
        first = wrong[0]
        rule = "non-negative" if values[first] < 0 else f"numbers up to {LARGEST_COUNT:g}"
        raise ValueError(
            f"{subject} must be {rule}. Got {values[first]} at row {rows[first]}, "
            f"column {columns[first]}. Count a word that does not occur as 0."
        )
    return frozen_csr(matrix)


def check_weights(weights: Any, n_documents: int, owner: str) -> FloatArray:
    """Return weights of documents [M], or raise unless they are numbers of at least zero."""
    found = np.asarray(weights, dtype=np.float64)
    if found.shape != (n_documents,) or not (np.isfinite(found) & (found >= 0)).all():
        raise ValueError(
            f"`sample_weight` of {owner} must be a number of at least zero for each of the "
            f"{count_of(n_documents, 'document')}. Got an array of shape {found.shape}. "
            "Leave it out to weigh all alike."
        )
    return found


def check_words(words: Any, n_words: int, owner: str) -> tuple[str, ...]:
    """Return the words of a vocabulary, one for each of V columns of counts, or raise."""
    if words is None:
        return tuple(f"w{i}" for i in range(n_words))
    subject = f"`words` of {owner}"
    if isinstance(words, str):
        raise TypeError(f"{subject} must be a sequence of words. Got one string. Pass a list.")
    words = list(words)
    if len(words) != n_words:
        raise ValueError(
            f"{subject} must name each of the {count_of(n_words, 'column')} of the counts. "
            f"Got {count_of(len(words), 'word')}. Pass one word per column."
        )
    for position, word in enumerate(words):
        if not isinstance(word, str):
            raise TypeError(
                f"{subject} must be strings. Got {word!r} at position {position}. "
                "Convert it with str."
            )
    names = tuple(str(word) for word in words)
    check_unique(names, "words", subject)
    return names


def check_not_dask(X: Any, owner: str) -> None:
    """Raise if documents are a Dask collection, which is not in memory."""
    if hasattr(X, "__dask_graph__"):
        raise TypeError(
            f"X of {owner} must be in memory or on disk. Got a Dask {type(X).__name__}: write it "
            "to disk with hdsp.prepare_dask, and fit what that returns."
        )


def check_not_texts(X: Any, owner: str) -> None:
    """Raise if texts were passed where counts are needed."""
    first = None
    if isinstance(X, (list, tuple)) and X:
        first = X[0]
    elif getattr(X, "ndim", 0) == 1 and len(X) and not issparse(X):
        first = np.asarray(X)[0]
    if isinstance(X, str) or isinstance(first, str):
        # For documents that are not those of a fit, the model's own words must be counted.
        like = "" if owner == "HDSP.fit" else ", like=model"
        raise TypeError(
            f"X of {owner} must be counts of words, or a Corpus. Got texts. "
            f"Count their words with hdsp.Corpus.from_texts(texts{like})."
        )


def check_texts(texts: Iterable[Any], owner: str) -> Iterator[Any]:
    """Yield texts one by one, or lists of words; raise at one that is neither, or at a mixture."""
    subject = f"`texts` of {owner}"
    if isinstance(texts, str):
        raise TypeError(f"{subject} must be a sequence of strings. Got one string. Pass a list.")
    first_is_list = None
    for position, text in enumerate(texts):
        if type(text) is str and first_is_list is False:
            yield text
            continue
        is_list = isinstance(text, (list, tuple)) and all(isinstance(word, str) for word in text)
        if not is_list and not isinstance(text, str):
            raise TypeError(
                f"{subject} must be strings. Got {text!r} at position {position}. "
                "Replace it by an empty string, or drop the document."
            )
        if first_is_list not in (None, is_list):
            raise TypeError(
                f"{subject} must be all strings, or all lists of words. Got both, up to position "
                f"{position}. Split the strings, or join the lists."
            )
        first_is_list = is_list
        yield text


def row_positions(key: object, n_documents: int, owner: str) -> IntArray:
    """Return the rows that an index selects, in its order, as positions from 0.

    An index is a slice, an integer, an integer array or a boolean mask; or one of them with an
    ellipsis, which is how scikit-learn indexes everything that has a shape.

    Parameters
    ----------
    key : slice, int, int array, bool array or tuple
        The index.
    n_documents : int
        Number of documents M.
    owner : str
        The class that is indexed, for messages.

    Returns
    -------
    int array of shape [N]
        Positions of the selected documents.
    """
    if isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], EllipsisType):
        key = key[0]
    if isinstance(key, tuple):
        raise IndexError(
            f"An index of {owner} must select documents only. Got {len(key)} dimensions. "
            "Index with a slice, an integer array or a mask."
        )
    everything: IntArray = np.arange(n_documents)
    if isinstance(key, (slice, EllipsisType)):
        return np.atleast_1d(everything[key])
    index = np.asarray(key)
    if index.dtype == np.bool_:
        if index.shape != (n_documents,):
            raise IndexError(
                f"A mask of {owner} must have one entry for each of the "
                f"{count_of(n_documents, 'document')}. Got shape {index.shape}. "
                "Build it from the same documents."
            )
        return np.flatnonzero(index)
    if index.size == 0 and index.ndim == 1:
        return everything[:0]
    if index.dtype.kind not in "iu" or index.ndim > 1:
        raise IndexError(
            f"An index of {owner} must be a slice, integers or a mask in one dimension. "
            f"Got {key!r}. Convert it to an integer array."
        )
    index = np.atleast_1d(index)
    outside = index[(index >= n_documents) | (index < -n_documents)]
    if outside.size:
        raise IndexError(
            f"An index of {owner} must lie within its {count_of(n_documents, 'document')}. "
            f"Got {outside[0]}. Index from 0 to {n_documents - 1}."
        )
    return np.asarray(everything[index])
