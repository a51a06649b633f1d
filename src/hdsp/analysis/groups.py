"""Topics that a reader has merged: sums of fitted topics.

A model keeps the topics of its fit, and computes with them. Merged topics are sums on top: the
proportions of documents, what labels lead one to expect, effects and every draw of them add up
exactly, and no prediction of words or labels changes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hdsp.numerics import FloatArray
from hdsp.storage.codec import require


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
