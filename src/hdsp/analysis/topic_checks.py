"""Topics that may be one subject in the words of two groups.

Where groups use other words for the same subject, a model without versions of topics gives each
group a topic of its own. The two share most of the words that set them apart from others, and a
label raises the one and lowers the other: effects that are about words, and not about subjects.
"""

import re
import warnings
from typing import NamedTuple

import numpy as np

from hdsp.analysis.effects import TopicRegression
from hdsp.analysis.fitted import FittedModel
from hdsp.analysis.topics import Columns, name_column, top_words
from hdsp.checks import quoted
from hdsp.exceptions import UnreliableTopicsWarning
from hdsp.metrics import topic_top_words
from hdsp.numerics import FloatArray

# Two topics are alike if they share this part of the words that set them apart from the corpus. In
# real corpora next to no pair shares a third; half of it warns of every corpus, and twice of it
# only where nearly all words are the same.
_SHARED = 1.0 / 3.0
# Labels that are looked at, those with the surest coefficients, and the level of their intervals.
_MOST_LABELS, _LEVEL = 10, 0.9
_SPLIT_WORDS = 3


class SplitTopics(NamedTuple):
    """A pair of topics that share words, and a label whose effects on them are opposite.

    Attributes
    ----------
    label, column : str
        The label, and the label column that it belongs to.
    topics : tuple of two int
        The topic that the label raises, and the one that it lowers.
    shared : float
        The share of the words that set the topics apart from others which they have in common.
    effects : tuple of two float
        The effects of the label.
    """

    label: str
    column: str
    topics: tuple[int, int]
    shared: float
    effects: tuple[float, float]


def shared_words(word_share: FloatArray, weight: FloatArray) -> FloatArray:
    """How much of the words that set topics apart from the corpus two of them share, [T, T].

    Parameters
    ----------
    word_share : float array of shape [V, T]
        The words of topics; columns sum to 1.
    weight : float array of shape [T]
        How much of the corpus is in each.
    """
    corpus = word_share @ (weight / max(weight.sum(), 1e-300))
    own = np.ascontiguousarray(np.maximum(word_share - corpus[:, None], 0.0).T)
    total = np.maximum(own.sum(axis=1), 1e-300)
    found, root, least = (
        np.zeros((len(own), len(own))),
        np.sqrt(own),
        np.minimum.outer(total, total),
    )
    # The affinity of two topics is no less than what they share, and one product for all pairs.
    for k, m in np.argwhere(np.triu(root @ root.T >= _SHARED * least, 1)):
        found[k, m] = found[m, k] = np.minimum(own[k], own[m]).sum() / least[k, m]
    return np.where(found >= _SHARED, found, 0.0)


def find_split_topics(regression: TopicRegression) -> list[SplitTopics]:
    """Pairs of topics that are alike and have opposite effects, each with its surest label.

    Of a model whose topics were not merged.
    """
    model = regression._model
    if model.state.versions is not None or model.merged_topics is not None or not model.used.any():
        return []
    alike = shared_words(model.word_share(), model.topic_tokens())
    first, second = np.nonzero(np.triu(alike))
    contrasts = regression._contrasts(None, None)
    if not len(first) or not contrasts:
        return []
    estimates = regression._estimate(contrasts)
    effect = np.nan_to_num(estimates.value)
    width = estimates.half_width(_LEVEL)
    ratio = np.divide(np.abs(effect), width, out=np.zeros_like(effect), where=width > 0.0)
    sign = np.sign(effect) * (ratio > 1.0)
    opposite = sign[:, first] * sign[:, second] < 0.0
    sure = np.minimum(ratio[:, first], ratio[:, second]) * opposite
    surest = np.argsort(-sure.max(axis=1), kind="stable")[:_MOST_LABELS]
    found = []
    for number in np.flatnonzero(opposite[surest].any(axis=0)):
        n, k, m = surest[opposite[surest, number].argmax()], first[number], second[number]
        pair = (int(k), int(m)) if sign[n, k] > 0 else (int(m), int(k))
        up, down = effect[n, pair].tolist()
        one = contrasts[n]
        found.append(SplitTopics(one.label, one.block, pair, float(alike[k, m]), (up, down)))
    return sorted(found, key=lambda one: -one.shared)


def warn_of_split_topics(regression: TopicRegression) -> None:
    """Name topics that may be one subject in the words of two groups."""
    found, model = find_split_topics(regression), regression._model
    if not found:
        return
    label, column, topics, shared, (up, down) = found[0]
    words = top_words(model, _SPLIT_WORDS)
    names = [f"{k} ({' '.join(words[k])})" for k in topics]
    others = "" if len(found) == 1 else f", and {len(found) - 1} more pairs like these,"
    remedy = ""
    if model.schema.kind(column) == "category":
        remedy = f" HDSP(content={column!r}) gives groups their own words of a topic."
    warnings.warn(
        f"Topics {names[0]} and {names[1]}{others} share {shared:.0%} of the words that "
        f"set them apart, and {quoted([label])} raises the one by {100 * up:.1f} points and lowers "
        f"the other by {-100 * down:.1f}: they may be one subject in the words of two groups."
        f"{remedy}",
        UnreliableTopicsWarning,
        stacklevel=4,
    )


# What is left of addresses and markup; three times the same letter; no vowel; words run together.
_JUNK = re.compile(
    r"https?|www|com|htm|href|nbsp|amp|quot|img|src|jpe?g|png|gif|utm"
    r"|[a-z]*([a-z])\1\1[a-z]*|[b-df-hj-np-tv-xz]{5,}|[a-z]{23,}"
)
# Words of a topic that are looked at, and topics whose junk is told without being asked for.
_WORDS, _LARGEST, _NAMED = 20, 5, 3


def junk_columns(fitted: FittedModel) -> Columns:
    """Words among the first of topics that look like junk, with the topic that has most of each."""
    words, components = fitted.source.words, fitted.components
    found = sorted(
        (int(components[:, i].argmax()), words[i])
        for i in np.unique(topic_top_words(components, _WORDS)[: fitted.report.n_topics])
        if any(map(_JUNK.fullmatch, words[i].lower().split()))
    )
    topics = [topic for topic, _ in found]
    share = fitted.tokens / fitted.tokens.sum()
    return {
        "topic": topics,
        **name_column(fitted, topics),
        "share": share[topics].tolist(),
        "word": [word for _, word in found],
    }


def junk_sentence(fitted: FittedModel) -> str:
    """What to do about junk in the largest topics; empty where there is none."""
    table = junk_columns(fitted)
    first = min(table["topic"], default=_LARGEST)
    if first >= _LARGEST:
        return ""
    words = table["word"][: table["topic"].count(first)]
    return (
        f"Topic {first} has words that look like remains of web pages "
        f"({', '.join(words[:_NAMED])}): hdsp topics --junk lists all such words, to leave out "
        "with --stop-words."
    )
