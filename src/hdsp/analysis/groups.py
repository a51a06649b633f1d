"""Topics that a reader has merged: sums of fitted topics.

A model keeps the topics of its fit, and computes with them. Merged topics are sums on top: the
proportions of documents, what labels lead one to expect, effects and every draw of them add up
exactly, and no prediction of words or labels changes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hdsp.checks import check_merges, check_topic_names
from hdsp.fit.run import topics_in_use
from hdsp.numerics import FloatArray
from hdsp.storage.codec import require

if TYPE_CHECKING:
    from hdsp.analysis.fitted import FittedModel


@dataclass(frozen=True)
class TopicGroups:
    """The fitted topics that each topic holds.

    Attributes
    ----------
    members : tuple of tuple of int
        Every fitted topic is in one of them.
    """

    members: tuple[tuple[int, ...], ...]

    def check_stored(self) -> None:
        """Raise if a file holds groups that nobody makes."""
        topics = sorted(topic for group in self.members for topic in group)
        once = all(self.members) and topics == list(range(len(topics)))
        require(once, "its merged topics are not each of the fitted ones once")

    @classmethod
    def single(cls, n_topics: int) -> "TopicGroups":
        """Every topic on its own, as it was fitted."""
        return cls(tuple((k,) for k in range(n_topics)))

    def __len__(self) -> int:
        return len(self.members)

    def sum(self, values: FloatArray) -> FloatArray:
        """Add up the last axis, over fitted topics, within each topic."""
        if self == TopicGroups.single(len(self)):
            return values
        starts = np.cumsum([0, *map(len, self.members[:-1])])
        return np.asarray(np.add.reduceat(values[..., np.concatenate(self.members)], starts, -1))

    def joined(self, sets: Iterable[Sequence[int]]) -> "TopicGroups":
        """The groups where each of `sets` is one topic, in the place of its first; others stay."""
        members = list(self.members)
        gone: set[int] = set()
        for topics in sets:
            first, *others = topics
            members[first] = tuple(sorted(m for k in topics for m in self.members[k]))
            gone.update(others)
        return TopicGroups(tuple(own for k, own in enumerate(members) if k not in gone))

    def grown(self, n_topics: int) -> "TopicGroups":
        """With further fitted topics, each on its own, up to so many."""
        known = sum(len(own) for own in self.members)
        return TopicGroups((*self.members, *((k,) for k in range(known, n_topics))))

    def ordered(self, order: Iterable[int]) -> "TopicGroups":
        """The same topics in another order."""
        return TopicGroups(tuple(self.members[k] for k in order))


def with_topic_names(fitted: "FittedModel", names: Mapping[int, str | None]) -> "FittedModel":
    """The model with other names of topics; see `HDSP.name_topics`."""
    check_topic_names(names, len(fitted.groups))
    changed = {**fitted.topic_names, **{int(topic): name for topic, name in names.items()}}
    kept = {topic: " ".join(name.split()) for topic, name in sorted(changed.items()) if name}
    return replace(fitted, topic_names=kept)


def with_merged_topics(
    fitted: "FittedModel", topics: Sequence[int] | Sequence[Sequence[int]]
) -> "FittedModel":
    """The model in which some topics are one; see `HDSP.merge_topics`."""
    groups = fitted.groups.joined(check_merges(topics, len(fitted.groups)))
    tokens = groups.sum(fitted.topic_tokens())
    groups = groups.ordered(np.argsort(-tokens, kind="stable").tolist())
    names = {}
    for topic, members in enumerate(groups.members):
        parts = [k for k, own in enumerate(fitted.groups.members) if set(own) <= set(members)]
        named = [fitted.topic_names[k] for k in parts if k in fitted.topic_names]
        if named:
            names[topic] = " + ".join(named)
    report = replace(fitted.report, n_topics=topics_in_use(tokens, fitted.n_documents))
    return replace(fitted, report=report, topic_names=names, merged_topics=groups)
