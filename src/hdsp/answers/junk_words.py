"""Words of topics that are remains of pages or programs, and no language."""

import re

from hdsp.answers.topic_tables import Columns, name_column
from hdsp.metrics import topic_top_words
from hdsp.prediction import FittedModel

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
    first = topic_top_words(components, _WORDS)[: fitted.report.n_topics]
    found = sorted(
        (int(components[:, i].argmax()), words[i])
        for i in {i for row in first for i in row}
        if any(map(_JUNK.fullmatch, words[i].lower().split()))
    )
    topics = [topic for topic, _ in found]
    share = fitted.tokens / fitted.tokens.sum()
    return {
        "topic": topics,
        **name_column(fitted, topics),
        "token_share": share[topics].tolist(),
        "word": [word for _, word in found],
    }


def junk_sentence(fitted: FittedModel) -> str:
    """What to do about junk in the largest topics; empty where there is none."""
    table = junk_columns(fitted)
    pairs = list(zip(table["topic"], table["word"], strict=True))
    first = min(table["topic"], default=_LARGEST)
    if first >= _LARGEST:
        return ""
    words = [word for topic, word in pairs if topic == first]
    return (
        f"Topic {first} has words that look like remains of web pages "
        f"({', '.join(words[:_NAMED])}): hdsp topics --junk lists all such words, to leave out "
        "with --stop-words."
    )
