"""How labels use words, and the words of topics: the tables of `HDSP`."""

import numpy as np

from hdsp.analysis.fitted import FittedModel
from hdsp.analysis.label_words import WordRatios, factor_ratios, word_ratios
from hdsp.analysis.topics import Columns, name_column
from hdsp.checks import check_known, check_share, check_whole
from hdsp.model.reading import group_share
from hdsp.numerics import FloatArray, IntArray


def label_word_columns(
    fitted: FittedModel, label: str | None, topic: int | None, level: float
) -> Columns:
    """The columns of `HDSP.label_words`."""
    owner, by_topic = "HDSP.label_words", fitted.state.versions is not None
    check_share(level, "level", owner)
    if by_topic:
        category, names = _levels(fitted, owner)
        known: dict[str, IntArray] = {category: np.arange(len(names))}
        known |= {name: np.array([j]) for j, name in enumerate(names)}
        what = f"{category!r}, whose levels have their own words, or one of them"
        check_known(
            topic, (None, *range(len(fitted.groups))), "topic", owner, "the number of a topic"
        )
        found = _ratios(fitted, level)
    elif fitted.word_factors is None:
        raise ValueError(
            f"{owner} needs a model of tags or categories, whose words a fit learns: this one has "
            "none. Fit it with such labels."
        )
    elif topic is not None:
        raise ValueError(
            f"`topic` of {owner} must be None because labels have the same words in all topics. "
            f'Got {topic!r}. Fit with HDSP(content="party") for words by topic.'
        )
    else:
        names, known = list(fitted.schema.names), {}
        for name, columns in fitted.schema.slices().items():
            if fitted.schema.kind(name) != "number":
                own = np.arange(columns.start, columns.stop)
                known |= {name: own, **dict(zip(names[columns], own[:, None], strict=True))}
        what = "a tag or a level, or a column of them"
        found = factor_ratios(fitted.word_factors, level)
    check_known(label, (None, *known), "label", owner, what)
    shown = (found["lower"] > 1.0) | (found["upper"] < 1.0)
    if label is not None:
        shown &= np.isin(found["label"], known[label])
    if topic is not None:
        shown &= found["topic"] == topic
    order = np.lexsort((-found["ratio"], found["label"], found["topic"]))
    table: Columns = {name: own[order[shown[order]]].tolist() for name, own in found.items()}
    table["label"] = [names[j] for j in table["label"]]
    table["word"] = [fitted.source.words[i] for i in table["word"]]
    topics = table.pop("topic")
    return {"topic": topics, **name_column(fitted, topics), **table} if by_topic else table


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
    tokens, weight = _tokens(fitted)[..., topic], fitted.topic_tokens()
    share = group_share(fitted.state).reshape(len(tokens), len(levels) + 1, -1) * weight
    share = fitted.groups.sum(share)[:, 1:, topic] / fitted.groups.sum(weight)[topic]
    # The words that any of the levels uses most.
    top = np.argsort(-share.max(axis=1), kind="stable")[:n_words]
    names, found = ("ratio", "lower", "upper"), _ratios(fitted, level)
    rows = found["topic"] == topic
    limits = np.full((len(names), *share.shape), np.nan)
    limits[:, found["word"][rows], found["label"][rows]] = [found[name][rows] for name in names]
    return {
        "word": [fitted.source.words[word] for word in top for _ in levels],
        "label": levels * len(top),
        "probability": share[top].ravel().tolist(),
        **dict(zip(names, limits[:, top].reshape(len(names), -1).tolist(), strict=True)),
        "n": tokens[top].ravel().tolist(),
    }


def _levels(fitted: FittedModel, owner: str) -> tuple[str, list[str]]:
    """The category that has versions of topics, and its levels."""
    if fitted.state.versions is None:
        raise ValueError(
            f"{owner} needs a model whose groups have their own words: fit with "
            'HDSP(content="party"), where "party" is a category of the labels.'
        )
    # A level that has joined a stream may have no version yet.
    labels = fitted.state.versions.columns.tolist()
    for name, columns in fitted.schema.slices().items():
        if columns.start <= labels[0] < columns.stop:
            levels = fitted.schema.block(name).columns
            return name, [levels[label - columns.start] for label in labels]
    raise AssertionError("versions have a category")


def _tokens(fitted: FittedModel) -> FloatArray:
    """The expected tokens of words by level, [V, G, T]; merged topics are sums."""
    assert fitted.state.versions is not None
    return fitted.groups.sum(fitted.state.versions.by_group()[:, 1:].astype(np.float64))


def _ratios(fitted: FittedModel, level: float) -> WordRatios:
    assert fitted.state.versions is not None
    return word_ratios(_tokens(fitted), fitted.state.versions.spread, level)
