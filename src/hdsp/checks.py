"""Checks of arguments: each raises one sentence that names the argument, the rule and the value."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import EllipsisType
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from hdsp.numerics import FloatArray, IntArray, csr_entries, frozen_csr

# Sums and logarithms lose precision beyond these, and sums of larger counts are not exact.
SMALLEST, LARGEST = 1e-12, 1e12
LARGEST_COUNT = 1e15
_TOP_WORDS = "Make it with topic_top_words(components, n=10)."


def quoted(names: Iterable[str], limit: int = 10) -> str:
    """Names in quotes for a message, and how many more there are beyond `limit`."""
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def count_of(number: int, noun: str) -> str:
    """A number with its noun, such as "2 rows"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(parts: Sequence[object]) -> str:
    """Parts with commas between them, and "and" before the last."""
    *most, last = map(str, parts)
    return f"{', '.join(most)} and {last}" if most else last


def _check(valid: bool, rule: str, value: Any, name: str, owner: str) -> None:
    if not valid:
        raise ValueError(f"`{name}` of {owner} must {rule}. Got {value!r}.")


def _is_real(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def check_whole(value: Any, name: str, smallest: int, owner: str = "HDSP") -> None:
    """Raise unless `value` is an integer of at least `smallest`."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    _check(whole and value >= smallest, f"be an integer >= {smallest}", value, name, owner)


def check_positive(value: Any, name: str, owner: str = "HDSP") -> None:
    """Raise unless `value` is a positive number within the range of computation."""
    valid = _is_real(value) and SMALLEST <= value <= LARGEST
    _check(valid, f"be a number between {SMALLEST:g} and {LARGEST:g}", value, name, owner)


def check_tolerance(value: Any, name: str, owner: str = "HDSP") -> None:
    """Raise unless `value` is a non-negative number."""
    valid = _is_real(value) and 0 <= value <= LARGEST
    _check(valid, f"be a number between 0 and {LARGEST:g}", value, name, owner)


def check_flag(value: Any, name: str, owner: str = "HDSP") -> None:
    """Raise unless `value` is True or False."""
    _check(isinstance(value, (bool, np.bool_)), "be True or False", value, name, owner)


def check_share(value: Any, name: str, owner: str) -> None:
    """Raise unless `value` is between 0 and 1."""
    _check(_is_real(value) and 0 < value < 1, "be between 0 and 1", value, name, owner)


def check_choice(value: Any, choices: tuple[str, ...], name: str, owner: str) -> None:
    """Raise unless `value` is one of `choices`."""
    valid = isinstance(value, str) and value in choices
    _check(valid, f"be one of {', '.join(map(repr, choices))}", value, name, owner)


def check_known(value: Any, known: Iterable[Any], name: str, owner: str, what: str) -> None:
    """Raise unless `value` is among known names, and list these."""
    names = list(known)
    rule = f"be {what}: {quoted(names) or 'there is none'}"
    _check(value in names, rule, value, name, owner)


def check_seeds(value: Any, n_topics: int) -> None:
    """Raise unless `seeds` of HDSP is None or maps topic names to lists of words."""
    if value is None:
        return
    if not isinstance(value, Mapping) or not all(
        isinstance(name, str)
        and name.strip()
        and isinstance(words, (list, tuple))
        and words
        and all(isinstance(word, str) for word in words)
        for name, words in value.items()
    ):
        raise ValueError(
            "`seeds` of HDSP must map topic names to lists of words, such as "
            f'{{"budget": ["tax", "deficit"]}}. Got {value!r}.'
        )
    if len(value) > n_topics:
        raise ValueError(
            f"`seeds` of HDSP must not name more than the {count_of(n_topics, 'topic')}. "
            f"Got {len(value)}: raise n_components."
        )


def make_generator(random_state: Any) -> np.random.Generator:
    """A generator from a seed, a NumPy generator, a `RandomState` or None."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None or isinstance(random_state, (int, np.integer)):
        if random_state is not None and random_state < 0:
            raise ValueError(f"`random_state` of HDSP must be at least 0. Got {random_state}.")
        return np.random.default_rng(random_state)
    from sklearn.utils import check_random_state

    return np.random.default_rng(check_random_state(random_state).randint(2**31))


def count_rows(labels: Any, owner: str) -> int:
    """The number of documents that labels of any form describe."""
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
            f"Got {count_of(got, 'row')}. Pass one for each document, in the same order."
        )


def check_not_infinite(values: FloatArray, rows: IntArray, column: str, subject: str) -> None:
    """Raise if a column has an infinite value. `rows` are the rows of its values."""
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
        ((name, _),) = Counter(names).most_common(1)
        raise ValueError(
            f"{subject} must have unique {what}. Got {name!r} more than once. Rename or drop one."
        )


def check_indices(matrix: Any, subject: str) -> None:
    """Raise if a sparse matrix has an index out of range, which compiled code would follow."""
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
            f"{subject} must be a sparse matrix with indices within its shape "
            f"{tuple(matrix.shape)}. Got a damaged matrix: {error}. Build it again."
        ) from error


def check_matrix(matrix: Any, subject: str) -> csr_array | FloatArray:
    """A sparse or dense matrix of real numbers as float64."""
    check_indices(matrix, subject)
    try:
        matrix = matrix if issparse(matrix) else np.asarray(matrix)
    except ValueError as error:
        raise ValueError(f"{subject} must have rows of equal length. Got ragged rows.") from error
    if matrix.ndim != 2:
        raise ValueError(
            f"{subject} must be a matrix with two dimensions, documents by columns. "
            f"Got {matrix.ndim} dimension(s). Reshape one column with `values.reshape(-1, 1)`."
        )
    try:
        if matrix.dtype.kind not in "biufO":
            raise TypeError(f"its type is {matrix.dtype}")
        if issparse(matrix):
            return csr_array(matrix, dtype=np.float64)
        return np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{subject} must contain real numbers. Got a matrix: {error}.") from error


def check_counts(counts: Any, owner: str) -> csr_array:
    """Counts [M, V] as a read-only CSR matrix without stored zeros."""
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
    """Document weights [M], non-negative numbers."""
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (n_documents,) or not (np.isfinite(array) & (array >= 0)).all():
        raise ValueError(
            f"`sample_weight` of {owner} must be a non-negative number for each of the "
            f"{count_of(n_documents, 'document')}. Got an array of shape {array.shape}."
        )
    return array


def check_words(words: Any, n_words: int, owner: str) -> tuple[str, ...]:
    """The words of a vocabulary, one for each of V columns of counts."""
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
            raise TypeError(f"{subject} must be strings. Got {word!r} at position {position}.")
    names = tuple(str(word) for word in words)
    check_unique(names, "words", subject)
    return names


def check_not_dask(X: Any, owner: str) -> None:
    """Raise if documents are a Dask collection."""
    if hasattr(X, "__dask_graph__"):
        raise TypeError(
            f"X of {owner} must be in memory or on disk. Got a Dask {type(X).__name__}: write it "
            "with its to_parquet, and fit what hdsp.prepare_corpus makes of these files."
        )


def check_not_texts(X: Any, owner: str) -> None:
    """Raise if texts were passed instead of counts."""
    first = None
    if isinstance(X, (list, tuple)) and X:
        first = X[0]
    elif getattr(X, "ndim", 0) == 1 and len(X) and not issparse(X):
        first = np.asarray(X)[0]
    if isinstance(X, str) or isinstance(first, str):
        like = "" if owner == "HDSP.fit" else ", like=model"
        raise TypeError(
            f"X of {owner} must be word counts or a Corpus. Got texts. "
            f"Count their words with hdsp.Corpus.from_texts(texts{like})."
        )


def check_texts(texts: Iterable[Any], owner: str) -> Iterator[Any]:
    """Yield texts, or lists of words, one by one."""
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


def row_positions(key: Any, n_documents: int, owner: str) -> IntArray:
    """Positions of the rows that a slice, integers or a mask select, in their order.

    A second index may be an ellipsis: scikit-learn indexes everything with a shape in this way.
    """
    if isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], EllipsisType):
        key = key[0]
    if isinstance(key, tuple):
        raise IndexError(f"An index of {owner} must select documents only. Got {key!r}.")
    if not isinstance(key, (slice, EllipsisType)):
        key = np.asarray(key)
        key = key.astype(np.int64) if key.size == 0 and key.dtype != np.bool_ else key
        if key.ndim > 1:
            raise IndexError(f"An index of {owner} must have one dimension. Got {key.ndim}.")
    try:
        return np.atleast_1d(np.arange(n_documents)[key])
    except IndexError as error:
        raise IndexError(f"{owner} has {count_of(n_documents, 'document')}: {error}.") from None


def check_topic_names(names: Any, n_topics: int) -> None:
    """Raise unless `names` of HDSP.name_topics maps topics to names or None."""
    owner = "`names` of HDSP.name_topics"
    if not isinstance(names, Mapping):
        raise TypeError(
            f'{owner} must map topics to names, such as {{3: "Budget"}}. Got a '
            f"{type(names).__name__}."
        )
    _check_topics(names, n_topics, owner)
    for topic, name in names.items():
        if name is not None and (not isinstance(name, str) or not name.strip()):
            raise ValueError(
                f"{owner} must be texts, or None for no name. Got {name!r} for topic {topic}."
            )


def check_merges(topics: Any, n_topics: int) -> list[tuple[int, ...]]:
    """The sets of topics that HDSP.merge_topics combines."""
    owner = "`topics` of HDSP.merge_topics"
    try:
        items = list(topics)
        nested = any(not isinstance(item, (int, np.integer)) for item in items)
        sets = [tuple(members) for members in items] if nested else [tuple(items)]
    except TypeError:
        raise TypeError(
            f"{owner} must be a list of topics, such as [3, 17], or several. Got {topics!r}."
        ) from None
    every = [topic for members in sets for topic in members]
    _check_topics(every, n_topics, owner)
    if not sets or min(map(len, sets)) < 2:
        raise ValueError(f"{owner} must name at least two topics to merge. Got {topics!r}.")
    if len(set(every)) < len(every):
        raise ValueError(f"{owner} must name each topic once. Got {topics!r}.")
    return [tuple(map(int, members)) for members in sets]


def _check_topics(topics: Iterable[Any], n_topics: int, owner: str) -> None:
    for topic in topics:
        if not isinstance(topic, (int, np.integer)) or not 0 <= topic < n_topics:
            raise ValueError(f"{owner} must name topics 0 to {n_topics - 1}. Got {topic!r}.")


def check_top_words(
    top_words: IntArray, owner: str, *, n_words: int | None = None, at_least: int = 2
) -> None:
    """Raise unless `top_words` is [T, n >= at_least], in range and without repeats."""
    subject = f"`top_words` of {owner}"
    if top_words.ndim != 2 or top_words.shape[1] < at_least:
        raise ValueError(
            f"{subject} must have at least {count_of(at_least, 'word')} per topic, [T, n]. "
            f"Got shape {top_words.shape}. {_TOP_WORDS}"
        )
    if not np.issubdtype(top_words.dtype, np.integer):
        raise TypeError(f"{subject} must be word indices. Got {top_words.dtype}. {_TOP_WORDS}")
    for topic, place in np.argwhere((top_words < 0) | (top_words >= (n_words or np.inf)))[:1]:
        raise ValueError(
            f"{subject} must be columns of `counts`. Got {top_words[topic, place]} in topic "
            f"{topic}. {_TOP_WORDS}"
        )
    repeated = (np.diff(np.sort(top_words, axis=1), axis=1) == 0).any(axis=1)
    if repeated.any():
        raise ValueError(
            f"{subject} must be distinct within a topic. "
            f"Got a repeated word in topic {int(np.argmax(repeated))}. Name each word once."
        )


def normalised_components(components: FloatArray, name: str, owner: str) -> FloatArray:
    """Components [T, V] with rows that sum to 1."""
    subject, components = f"`{name}` of {owner}", np.asarray(components, dtype=np.float64)
    if components.ndim != 2:
        raise ValueError(
            f"{subject} must be a matrix, topics x words. "
            f"Got shape {components.shape}. Pass one topic as `topic[None, :]`."
        )
    for row, column in np.argwhere(~np.isfinite(components) | (components < 0))[:1]:
        raise ValueError(
            f"{subject} must be finite and not negative. Got {components[row, column]} at topic "
            f"{row}, word {column}. Pass probabilities or weights, not their logarithms."
        )
    totals = components.sum(axis=1, keepdims=True)
    if (totals == 0).any():
        raise ValueError(
            f"{subject} must give every topic some weight. "
            f"Got only zeros in topic {int(np.argmin(totals))}. Drop empty topics."
        )
    return np.asarray(components / totals)
