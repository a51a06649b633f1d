"""How labels use words, and the words of topics: the tables of `HDSP`."""

import numpy as np

from hdsp.answers.topic_tables import Columns, name_column
from hdsp.model.completion import group_share
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction import FittedModel
from hdsp.prediction.group_words import WordRatios, factor_ratios, word_ratios
from hdsp.validation import check_known, check_share, check_whole

_COLUMNS = ("topic", "label", "word", "ratio", "lower", "upper", "n")


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
    rows: Columns = {name: [] for name in _COLUMNS}
    for name, found in _ratios(fitted, levels, level).items():
        shown = (found.lower > 1.0) | (found.upper < 1.0)
        if topic is not None:
            shown &= found.owners == topic
        if label not in (None, category, name):
            continue
        chosen = np.flatnonzero(shown)
        chosen = chosen[np.lexsort((-found.ratio[chosen], found.owners[chosen]))]
        _add_rows(rows, fitted, [name] * len(chosen), found, chosen)
    order = np.argsort(rows["topic"], kind="stable").tolist()
    table: Columns = {column: [values[i] for i in order] for column, values in rows.items()}
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
    chosen = np.lexsort((-found.ratio, found.owners))
    if label is not None:
        chosen = chosen[np.isin(found.owners[chosen], known[label])]
    rows: Columns = {name: [] for name in _COLUMNS}
    _add_rows(rows, fitted, [schema.names[j] for j in found.owners[chosen]], found, chosen)
    del rows["topic"]
    return rows


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
    words = fitted.source.words
    columns: Columns = {
        name: [] for name in ("word", "label", "probability", "ratio", "lower", "upper", "n")
    }
    ratios = _ratios(fitted, levels, level)
    for word in top.tolist():
        for number, name in enumerate(levels):
            found = ratios[name]
            place = np.flatnonzero((found.words == word) & (found.owners == topic))
            values = [np.nan] * 3
            if len(place):
                values = [float(v[place[0]]) for v in (found.ratio, found.lower, found.upper)]
            held = float(tokens[word, number + 1, topic])
            row = [words[word], name, float(share[word, number + 1]), *values, held]
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
    return columns


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


def _add_rows(
    rows: Columns, fitted: FittedModel, labels: list[str], found: WordRatios, chosen: IntArray
) -> None:
    words = fitted.source.words
    rows["topic"] += found.owners[chosen].tolist()
    rows["label"] += labels
    rows["word"] += [words[i] for i in found.words[chosen]]
    for name, values in (
        ("ratio", found.ratio),
        ("lower", found.lower),
        ("upper", found.upper),
        ("n", found.tokens),
    ):
        rows[name] += values[chosen].tolist()
