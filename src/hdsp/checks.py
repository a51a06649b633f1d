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


def _check(valid: Any, rule: str, value: Any, name: str, owner: str) -> None:
    _require(valid, f"`{name}` of {owner}", rule, repr(value))


def _require(valid: Any, subject: str, rule: str, got: object, remedy: str = "") -> None:
    if not valid:
        raise ValueError(f"{subject} must {rule}. Got {got}.{f' {remedy}' if remedy else ''}")


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
    _check(value in names, f"be {what}: {quoted(names) or 'there is none'}", value, name, owner)


def check_seeds(value: Any, n_topics: int) -> None:
    """Raise unless `seeds` of HDSP is None or maps topic names to lists of words."""
    if value is None:
        return
    valid = isinstance(value, Mapping) and all(
        _is_name(name) and isinstance(words, (list, tuple)) and words and all(map(_is_text, words))
        for name, words in value.items()
    )
    rule = 'map topic names to lists of words, such as {"budget": ["tax", "deficit"]}'
    _check(valid, rule, value, "seeds", "HDSP")
    rule = f"not name more than the {count_of(n_topics, 'topic')}"
    _require(len(value) <= n_topics, "`seeds` of HDSP", rule, f"{len(value)}: raise n_components")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def make_generator(random_state: Any) -> np.random.Generator:
    """A generator from a seed, a NumPy generator, a `RandomState` or None."""
    if random_state is None or isinstance(random_state, (int, np.integer, np.random.Generator)):
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
    rule = f"have one row for each of the {count_of(expected, 'document')}"
    remedy = "Pass one for each document, in the same order."
    _require(got == expected, subject, rule, count_of(got, "row"), remedy)


def check_not_infinite(values: FloatArray, rows: IntArray, column: str, subject: str) -> None:
    """Raise if a column has an infinite value. `rows` are the rows of its values."""
    infinite = np.flatnonzero(np.isinf(values))
    for first in infinite[np.argsort(rows[infinite], kind="stable")][:1]:
        got = f"{values[first]} at row {rows[first]}, column {column!r}"
        _require(False, subject, "be finite", got, "Leave a value missing with None or NaN.")


def check_unique(names: Sequence[str], what: str, subject: str) -> None:
    """Raise if a name occurs twice."""
    for name, times in Counter(names).most_common(1):
        got = f"{name!r} more than once"
        _require(times == 1, subject, f"have unique {what}", got, "Rename or drop one.")


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
    from sklearn.utils import check_array

    check_indices(matrix, subject)
    settings = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": False}
    try:
        checked = check_array(matrix, **settings, ensure_min_samples=0, ensure_min_features=0)
    except (TypeError, ValueError) as error:
        detail = " ".join(str(error).split())
        raise ValueError(f"{subject} must be a matrix of real numbers: {detail}") from error
    return csr_array(checked) if issparse(checked) else checked


def check_counts(counts: Any, owner: str) -> csr_array:
    """Counts [M, V] as a read-only CSR matrix without stored zeros."""
    subject = f"`counts` of {owner}"
    matrix = csr_array(check_matrix(counts, subject), copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    rows, columns, values = csr_entries(matrix)
    for first in np.flatnonzero(~((values >= 0) & (values <= LARGEST_COUNT)))[:1]:
        rule = "non-negative" if values[first] < 0 else f"numbers up to {LARGEST_COUNT:g}"
        got = f"{values[first]} at row {rows[first]}, column {columns[first]}"
        _require(False, subject, f"be {rule}", got, "Count a word that does not occur as 0.")
    return frozen_csr(matrix)


def check_weights(weights: Any, n_documents: int, owner: str) -> FloatArray:
    """Document weights [M], non-negative numbers."""
    array = np.asarray(weights, dtype=np.float64)
    valid = array.shape == (n_documents,) and (np.isfinite(array) & (array >= 0)).all()
    rule = f"be a non-negative number for each of the {count_of(n_documents, 'document')}"
    _require(valid, f"`sample_weight` of {owner}", rule, f"an array of shape {array.shape}")
    return array


def check_words(words: Any, n_words: int, owner: str) -> tuple[str, ...]:
    """The words of a vocabulary, one for each of V columns of counts."""
    if words is None:
        return tuple(f"w{i}" for i in range(n_words))
    subject, names = f"`words` of {owner}", tuple(words)
    if isinstance(words, str) or not all(map(_is_text, names)):
        wrong = next((word for word in names if not _is_text(word)), words)
        raise TypeError(f"{subject} must be a list of strings. Got {wrong!r}.")
    rule, got = f"name each of the {count_of(n_words, 'column')} of the counts", len(names)
    _require(got == n_words, subject, rule, count_of(got, "word"), "Pass one word per column.")
    check_unique(names, "words", subject)
    return tuple(map(str, names))


def check_not_dask(X: Any, owner: str) -> None:
    """Raise if documents are a Dask collection."""
    if hasattr(X, "__dask_graph__"):
        raise TypeError(
            f"X of {owner} must be in memory or on disk. Got a Dask {type(X).__name__}: write it "
            "with its to_parquet, and fit what hdsp.prepare_corpus makes of these files."
        )


def check_not_texts(X: Any, owner: str) -> None:
    """Raise if texts were passed instead of counts."""
    is_sequence = isinstance(X, (list, tuple)) or getattr(X, "ndim", 0) == 1
    first = list(X[:1]) if is_sequence and not issparse(X) else [X]
    if any(isinstance(value, str) for value in first):
        like = "" if owner == "HDSP.fit" else ", like=model"
        raise TypeError(
            f"X of {owner} must be word counts or a Corpus. Got texts. "
            f"Count their words with hdsp.Corpus.from_texts(texts{like})."
        )


def check_texts(texts: Iterable[Any], owner: str) -> Iterator[Any]:
    """Yield texts, or lists of words, one by one."""
    subject, kind = f"`texts` of {owner}", None
    if isinstance(texts, str):
        raise TypeError(f"{subject} must be a sequence of strings. Got one string. Pass a list.")
    for position, text in enumerate(texts):
        is_list = isinstance(text, (list, tuple)) and all(map(_is_text, text))
        if not is_list and not isinstance(text, str):
            raise TypeError(
                f"{subject} must be strings. Got {text!r} at position {position}. "
                "Replace it by an empty string, or drop the document."
            )
        if kind not in (None, is_list):
            raise TypeError(
                f"{subject} must be all strings, or all lists of words. Got both, up to position "
                f"{position}. Split the strings, or join the lists."
            )
        kind = is_list
        yield text


def row_positions(key: Any, n_documents: int, owner: str) -> IntArray:
    """Positions of the rows that a slice, integers or a mask select, in their order.

    A second index may be an ellipsis: scikit-learn indexes everything with a shape in this way.
    """
    if isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], EllipsisType):
        key = key[0]
    if not isinstance(key, (slice, EllipsisType, tuple)):
        key = np.asarray(key)
        key = key.astype(np.int64) if key.size == 0 and key.dtype != np.bool_ else key
    if isinstance(key, tuple) or getattr(key, "ndim", 0) > 1:
        raise IndexError(f"An index of {owner} must select documents only. Got {key!r}.")
    try:
        return np.atleast_1d(np.arange(n_documents)[key])
    except IndexError as error:
        raise IndexError(f"{owner} has {count_of(n_documents, 'document')}: {error}.") from None


def check_topic_names(names: Any, n_topics: int) -> None:
    """Raise unless `names` of HDSP.name_topics maps topics to names or None."""
    owner, rule = "HDSP.name_topics", 'map topics to names, such as {3: "Budget"}'
    _check(isinstance(names, Mapping), rule, names, "names", owner)
    _check_topics(names, n_topics, "names", owner)
    for topic, name in names.items():
        rule, got = "be texts, or None for no name", f"{name!r} for topic {topic}"
        _require(name is None or _is_name(name), f"`names` of {owner}", rule, got)


def check_merges(topics: Any, n_topics: int) -> list[tuple[int, ...]]:
    """The sets of topics that HDSP.merge_topics combines."""
    asked = ("topics", "HDSP.merge_topics")
    try:
        items = list(topics)
        nested = any(not isinstance(item, (int, np.integer)) for item in items)
        sets = [tuple(members) for members in items] if nested else [tuple(items)]
    except TypeError:
        _check(False, "be a list of topics, such as [3, 17], or several", topics, *asked)
    every = [topic for members in sets for topic in members]
    _check_topics(every, n_topics, *asked)
    enough = bool(sets) and min(map(len, sets)) >= 2
    _check(enough, "name at least two topics to merge", topics, *asked)
    _check(len(set(every)) == len(every), "name each topic once", topics, *asked)
    return [tuple(map(int, members)) for members in sets]


def _check_topics(topics: Iterable[Any], n_topics: int, name: str, owner: str) -> None:
    for topic in topics:
        known = isinstance(topic, (int, np.integer)) and 0 <= topic < n_topics
        _check(known, f"name topics 0 to {n_topics - 1}", topic, name, owner)


def check_top_words(
    top_words: IntArray, owner: str, *, n_words: int | None = None, at_least: int = 2
) -> None:
    """Raise unless `top_words` is [T, n >= at_least], in range and without repeats."""
    subject, remedy = f"`top_words` of {owner}", "Make it with topic_top_words(components, n=10)."
    shaped = top_words.ndim == 2 and top_words.shape[1] >= at_least
    rule = f"have at least {count_of(at_least, 'word')} per topic, [T, n]"
    _require(shaped, subject, rule, f"shape {top_words.shape}", remedy)
    is_index = np.issubdtype(top_words.dtype, np.integer)
    _require(is_index, subject, "be word indices", top_words.dtype, remedy)
    for topic, place in np.argwhere((top_words < 0) | (top_words >= (n_words or np.inf)))[:1]:
        got = f"{top_words[topic, place]} in topic {topic}"
        _require(False, subject, "be columns of `counts`", got, remedy)
    for topic, _ in np.argwhere(np.diff(np.sort(top_words, axis=1), axis=1) == 0)[:1]:
        got = f"a repeated word in topic {topic}"
        _require(False, subject, "be distinct within a topic", got, remedy)


def normalised_components(components: FloatArray, name: str, owner: str) -> FloatArray:
    """Components [T, V] with rows that sum to 1."""
    subject, components = f"`{name}` of {owner}", np.asarray(components, dtype=np.float64)
    got, remedy = f"shape {components.shape}", "Pass one topic as `topic[None, :]`."
    _require(components.ndim == 2, subject, "be a matrix, topics x words", got, remedy)
    for row, column in np.argwhere(~np.isfinite(components) | (components < 0))[:1]:
        got = f"{components[row, column]} at topic {row}, word {column}"
        remedy = "Pass probabilities or weights, not their logarithms."
        _require(False, subject, "be finite and not negative", got, remedy)
    totals = components.sum(axis=1, keepdims=True)
    for topic in np.flatnonzero(totals == 0)[:1]:
        _require(False, subject, "give every topic some weight", f"zeros in topic {topic}")
    return np.asarray(components / totals)
