"""How labels use words, and the words of topics: the tables of `HDSP`."""

import numpy as np

from hdsp.answers.topic_tables import Columns, name_column
from hdsp.model.completion import group_share
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction import FittedModel
from hdsp.prediction.group_words import WordRatios, factor_ratios, word_ratios
from hdsp.validation import check_known, check_share, check_whole


def label_word_columns(
    fitted: FittedModel, label: str | None, topic: int | None, level: float
) -> Columns:
    """The columns of `HDSP.label_words`."""
    owner = "HDSP.label_words"
    check_share(level, "level", owner)
    if fitted.state.versions is None:
        return _whole_label_columns(fitted, label, topic, level)
    category, levels = _levels(fitted, owner)
    what = f"{category!r}, whose levels have their own words, or one of them"
    check_known(label, (None, category, *levels), "label", owner, what)
    check_known(topic, (None, *range(len(fitted.groups))), "topic", owner, "the number of a topic")
    table: Columns = {}
    for name, found in _ratios(fitted, levels, level).items():
        shown = (found.lower > 1.0) | (found.upper < 1.0)
        if topic is not None:
            shown &= found.owners == topic
        if label in (None, category, name):
            for column, values in _rows(fitted, found, np.flatnonzero(shown), name).items():
                table.setdefault(column, []).extend(values)
    order = np.argsort(table["topic"], kind="stable").tolist()
    table = {column: [values[i] for i in order] for column, values in table.items()}
    topics = table.pop("topic")
    return {"topic": topics, **name_column(fitted, topics), **table}


def _whole_label_columns(
    fitted: FittedModel, label: str | None, topic: int | None, level: float
) -> Columns:
    """The columns for labels whose words differ alike in all topics."""
    owner = "HDSP.label_words"
    if fitted.word_factors is None:
        raise ValueError(
            f"{owner} needs a model of tags or categories, whose words a fit learns: this one has "
            "none. Fit it with such labels."
        )
    if topic is not None:
        raise ValueError(
            f"`topic` of {owner} must be None where labels have the same words in all topics. Got "
            f'{topic!r}. Fit with HDSP(content="party") for words by topic.'
        )
    schema = fitted.schema
    known: dict[str, IntArray] = {}
    for name, columns in schema.slices().items():
        if schema.kind(name) != "number":
            own = np.arange(columns.start, columns.stop)
            known |= {name: own, **dict(zip(schema.names[columns], own[:, None], strict=True))}
    check_known(label, (None, *known), "label", owner, "a tag or a level, or a column of them")
    found = factor_ratios(fitted.word_factors, level)
    chosen = np.arange(len(found.owners))
    if label is not None:
        chosen = np.flatnonzero(np.isin(found.owners, known[label]))
    table = _rows(fitted, found, chosen)
    # Here a label has its words in all topics.
    table["label"] = [schema.names[j] for j in table.pop("topic")]
    return table


def topic_word_columns(
    fitted: FittedModel, topic: int, by: str, n_words: int, level: float
) -> Columns:
    """The columns of `HDSP.topic_words`."""
    owner = "HDSP.topic_words"
    check_share(level, "level", owner)
    check_whole(n_words, "n_words", 1)
    category, levels = _levels(fitted, owner)
    check_known(by, [category], "by", owner, "the `content` of the model")
    check_known(topic, range(len(fitted.groups)), "topic", owner, "the number of a topic")
    tokens = _tokens(fitted)
    state = fitted.state
    weight = fitted.topic_tokens()
    share = group_share(state).reshape(len(tokens), len(levels) + 1, -1) * weight
    share = fitted.groups.sum(share)[..., topic] / fitted.groups.sum(weight)[topic]
    # The words that any of the levels uses most.
    top = np.argsort(-share[:, 1:].max(axis=1), kind="stable")[:n_words]
    ratios = _ratios(fitted, levels, level)
    limits = []
    for word in top:
        for name in levels:
            found = ratios[name]
            place = np.flatnonzero((found.words == word) & (found.owners == topic))[:1]
            row = np.array([found.ratio[place], found.lower[place], found.upper[place]])
            limits.append(row[:, 0] if len(place) else np.full(3, np.nan))
    ratio, lower, upper = np.array(limits).T.tolist()
    return {
        "word": [fitted.source.words[word] for word in top for _ in levels],
        "label": levels * len(top),
        "probability": share[top, 1:].ravel().tolist(),
        "ratio": ratio,
        "lower": lower,
        "upper": upper,
        "n": tokens[top, 1:, topic].ravel().tolist(),
    }


def _levels(fitted: FittedModel, owner: str) -> tuple[str, list[str]]:
    """The category that has versions of topics, and its levels."""
    if fitted.state.versions is None:
        raise ValueError(
            f"{owner} needs a model whose groups have their own words: fit with "
            'HDSP(content="party"), where "party" is a category of the labels.'
        )
    # A level that has joined a stream may have no version yet.
    place = {int(column): label for label, column in enumerate(fitted.space.own)}
    labels = [place[int(column)] for column in fitted.state.versions.columns]
    for name, columns in fitted.schema.slices().items():
        if columns.start <= labels[0] < columns.stop:
            levels = fitted.schema.block(name).columns
            return name, [levels[label - columns.start] for label in labels]
    raise AssertionError("versions have a category")


def _tokens(fitted: FittedModel) -> FloatArray:
    """The expected tokens of words by group, [V, G + 1, T], in float64; merged topics are sums."""
    assert fitted.state.versions is not None
    return fitted.groups.sum(fitted.state.versions.by_group().astype(np.float64))


def _ratios(fitted: FittedModel, levels: list[str], level: float) -> dict[str, WordRatios]:
    versions = fitted.state.versions
    assert versions is not None
    tokens = _tokens(fitted)[:, 1:]
    total = tokens.sum(axis=1)
    return {
        name: word_ratios(tokens[:, g], total - tokens[:, g], versions.spread, level)
        for g, name in enumerate(levels)
    }


def _rows(fitted: FittedModel, found: WordRatios, chosen: IntArray, label: str = "") -> Columns:
    """Some of the ratios of a label's words, the largest first by topic."""
    chosen = chosen[np.lexsort((-found.ratio[chosen], found.owners[chosen]))]
    words = fitted.source.words
    return {
        "topic": found.owners[chosen].tolist(),
        "label": [label] * len(chosen),
        "word": [words[i] for i in found.words[chosen]],
        **{name: getattr(found, name)[chosen].tolist() for name in ("ratio", "lower", "upper")},
        "n": found.tokens[chosen].tolist(),
    }
