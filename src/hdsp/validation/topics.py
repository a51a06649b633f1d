"""Checks of topics, by their top words or by their weights over all words."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hdsp.numerics import FloatArray, IntArray


def check_topic_names(names: Any, n_topics: int) -> None:
    """Raise unless `names` of HDSP.name_topics maps topics to names, or to None."""
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
    """Return the sets of topics that HDSP.merged is to make one; raises where they are none."""
    owner = "`topics` of HDSP.merged"
    try:
        listed = list(topics)
        nested = any(not isinstance(one, (int, np.integer)) for one in listed)
        sets = [tuple(own) for own in listed] if nested else [tuple(listed)]
    except TypeError:
        raise TypeError(
            f"{owner} must be a list of topics, such as [3, 17], or several. Got {topics!r}."
        ) from None
    _check_topics((topic for own in sets for topic in own), n_topics, owner)
    if not sets or min(map(len, sets)) < 2:
        raise ValueError(f"{owner} must name at least two topics to merge. Got {topics!r}.")
    every = [int(topic) for own in sets for topic in own]
    if len(set(every)) < len(every):
        raise ValueError(f"{owner} must name each topic once. Got {topics!r}.")
    return [tuple(map(int, own)) for own in sets]


def _check_topics(topics: Iterable[Any], n_topics: int, owner: str) -> None:
    for topic in topics:
        if not isinstance(topic, (int, np.integer)) or not 0 <= topic < n_topics:
            raise ValueError(f"{owner} must name topics 0 to {n_topics - 1}. Got {topic!r}.")


def check_top_words(
    top_words: IntArray, owner: str, *, n_words: int | None = None, at_least: int = 2
) -> None:
    """Raise unless `top_words` is [T, n >= at_least], in range and without repeats."""
    if top_words.ndim != 2 or top_words.shape[1] < at_least:
        words = "one word" if at_least == 1 else "two words"
        raise ValueError(
            f"`top_words` of {owner} must have at least {words} per topic, [T, n]. "
            f"Got shape {top_words.shape}. Make it with topic_top_words(components, n=10)."
        )
    if not np.issubdtype(top_words.dtype, np.integer):
        raise TypeError(
            f"`top_words` of {owner} must hold word indices. Got {top_words.dtype} values. "
            "Make it with topic_top_words(components, n=10)."
        )
    rule, remedy = "not be negative", "Make it with topic_top_words(components, n=10)."
    if n_words is not None:
        rule = f"lie in 0 ... {n_words - 1}, the columns of `counts`"
        remedy = "Use counts over the topics' own vocabulary."
    for topic, place in np.argwhere((top_words < 0) | (top_words >= (n_words or np.inf)))[:1]:
        raise ValueError(
            f"`top_words` of {owner} must {rule}. Got {top_words[topic, place]} in topic {topic}. "
            f"{remedy}"
        )
    repeated = (np.diff(np.sort(top_words, axis=1), axis=1) == 0).any(axis=1)
    if repeated.any():
        raise ValueError(
            f"`top_words` of {owner} must be distinct within a topic. "
            f"Got a repeated word in topic {int(np.argmax(repeated))}. Name each word once."
        )


def normalised_components(components: FloatArray, name: str, owner: str) -> FloatArray:
    """Return components [T, V] with rows that sum to 1, or raise where that is impossible."""
    components = np.asarray(components, dtype=np.float64)
    if components.ndim != 2:
        raise ValueError(
            f"`{name}` of {owner} must be a matrix, topics x words. "
            f"Got shape {components.shape}. Pass one topic as `topic[None, :]`."
        )
    improper = ~np.isfinite(components) | (components < 0)
    if improper.any():
        row, column = np.argwhere(improper)[0]
        raise ValueError(
            f"`{name}` of {owner} must be finite and not negative. "
            f"Got {components[row, column]} at topic {row}, word {column}. "
            "Pass probabilities or weights, not their logarithms."
        )
    totals = components.sum(axis=1, keepdims=True)
    if (totals == 0).any():
        raise ValueError(
            f"`{name}` of {owner} must give every topic some weight. "
            f"Got only zeros in topic {int(np.argmin(totals))}. Drop empty topics."
        )
    return np.asarray(components / totals)
