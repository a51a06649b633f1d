"""Tables of topics, and of the topics that a word is in."""

import difflib
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from hdsp.metrics import frex, topic_top_words
from hdsp.numerics.types import FloatArray
from hdsp.prediction import FittedModel, associated_labels, distinctive_words, make_contrasts
from hdsp.validation import check_share, quoted

# A table before it is a frame of some library.
Columns: TypeAlias = dict[str, list[Any]]
# Words of a topic in tables of something else.
_WORDS = 5
# Labels in each of the columns `raised_by` and `lowered_by` of the table of topics.
_ASSOCIATED = 3
# They are those whose interval of this level excludes 0; of very many labels, the commonest.
_LEVEL, _MOST_LABELS = 0.9, 500


def name_column(fitted: FittedModel, topics: Iterable[int]) -> Columns:
    """The column `name` of a table with a row for each of `topics`, if topics have names."""
    names = fitted.topic_names
    return {"name": [names.get(int(k), "") for k in topics]} if names else {}


def topic_part(fitted: FittedModel, topics: Iterable[int]) -> Columns:
    """The columns `topic`, `name` if topics have names, and `words`, of a row for each topic."""
    numbers = [int(k) for k in topics]
    words = [" ".join(own) for own in top_words(fitted, _WORDS)]
    named = name_column(fitted, numbers)
    return {"topic": numbers, **named, "words": [words[k] for k in numbers]}


def top_words(fitted: FittedModel, n: int = 10) -> list[list[str]]:
    """The most probable words of each topic, as `HDSP.top_words` returns them."""
    words = fitted.source.words
    return [[words[i] for i in row] for row in topic_top_words(fitted.components, n)]


def frex_words(fitted: FittedModel, n: int) -> list[list[str]]:
    """The words of each topic that are frequent in it and exclusive to it."""
    words = fitted.source.words
    return [[words[i] for i in row] for row in topic_top_words(frex(fitted.components), n)]


def topic_columns(fitted: FittedModel, n_words: int = 10) -> Columns:
    """The columns of `HDSP.topics`."""
    words, tokens = fitted.source.words, fitted.tokens
    distinctive = distinctive_words(word_share(fitted), fitted.topic_weight, n_words)
    columns: Columns = {"topic": list(range(len(tokens)))}
    columns |= name_column(fitted, columns["topic"])
    if fitted.merged_topics is not None:
        columns["fitted_topics"] = ["+".join(map(str, own)) for own in fitted.groups.members]
    columns |= {
        "weight": fitted.topic_weight.tolist(),
        "token_share": (tokens / tokens.sum()).tolist(),
        "top_words": [" ".join(own) for own in top_words(fitted, n_words)],
        "distinctive_words": [" ".join(words[i] for i in row) for row in distinctive],
        "frex_words": [" ".join(own) for own in frex_words(fitted, n_words)],
        "coherence": fitted.report.coherence.tolist(),
    }
    contrasts = make_contrasts(fitted.schema, fitted.used, None, None, fitted.missing())
    if contrasts:
        carriers = fitted.training.carriers
        commonest = sorted(range(len(contrasts)), key=lambda n: -carriers[contrasts[n].second])
        contrasts = [contrasts[n] for n in sorted(commonest[:_MOST_LABELS])]
        found = fitted.effects(contrasts, _LEVEL, "calibrated", seed=0)
        sure = (found.lower > 0) | (found.upper < 0)
        names = [contrast.label for contrast in contrasts]
        raised, lowered = associated_labels(np.where(sure, found.effect, 0.0), _ASSOCIATED)
        columns["raised_by"] = [[names[j] for j in row] for row in raised]
        columns["lowered_by"] = [[names[j] for j in row] for row in lowered]
    return columns


def word_columns(fitted: FittedModel, word: str) -> Columns:
    """The columns of `HDSP.topics_of_word`."""
    words = fitted.source.words
    if word not in words:
        near = difflib.get_close_matches(str(word), words, n=3)
        raise ValueError(
            f"`word` of HDSP.topics_of_word must be one of the model's {len(words)} words. "
            f"Got {word!r}. {f'Did you mean {quoted(near)}?' if near else 'It counts others.'}"
        )
    probability = word_share(fitted)[:, words.index(word)]
    share = probability * fitted.tokens
    share = share / share.sum()
    order = np.argsort(-share, kind="stable")
    top = top_words(fitted)
    return {
        "topic": order.tolist(),
        **name_column(fitted, order),
        "share": share[order].tolist(),
        "probability": probability[order].tolist(),
        "top_words": [" ".join(top[k]) for k in order],
    }


def correlation_columns(fitted: FittedModel, level: float) -> Columns:
    """The columns of `HDSP.topic_correlations`."""
    check_share(level, "level", "HDSP.topic_correlations")
    found = fitted.correlations
    # Of a merged topic nothing is known.
    place = {own[0]: k for k, own in enumerate(fitted.groups.members) if len(own) == 1}
    first, second = np.triu_indices(found.n_topics, 1)
    topics = np.array([[place.get(int(k), -1) for k in side] for side in (first, second)])
    topics = np.sort(topics.reshape(2, -1), axis=0)
    rows = np.flatnonzero(topics[0] >= 0)
    rows = rows[np.lexsort(topics[::-1, rows])]
    columns: Columns = {}
    for name, own in zip(("topic", "other"), topics[:, rows].tolist(), strict=True):
        columns[name] = own
        given = name_column(fitted, own)
        columns |= {"name" if name == "topic" else "other_name": v for v in given.values()}
    limits = np.stack(found.intervals(level), axis=1)[:, :, rows].reshape(6, -1)
    names = ("correlation", "lower", "upper", "raw", "raw_lower", "raw_upper")
    return columns | dict(zip(names, limits.tolist(), strict=True))


def word_share(fitted: FittedModel) -> FloatArray:
    """E[phi], [T, V]; rows sum to 1."""
    return np.asarray(fitted.components / fitted.components.sum(axis=1, keepdims=True))
