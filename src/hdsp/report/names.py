"""Names that a reader gave to topics, and topics that they put together."""

import json
import os
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from hdsp.exceptions import NotSavedWarning

FORMAT = "hdsp-names-1"


@dataclass(frozen=True)
class TopicNames:
    """Names of topics, and sets of topics whose proportions are added up.

    Attributes
    ----------
    names : mapping of int to str
        The name of a topic by its number.
    combined : sequence of tuple
        Sets of topics, each with its name, which may be empty.
    """

    names: Mapping[int, str] = field(default_factory=dict)
    combined: Sequence[tuple[str, tuple[int, ...]]] = ()

    @classmethod
    def read(cls, path: str | os.PathLike[str], model: Any) -> Self:
        """Read the file that a report's page has saved; warns where it was of another model.

        Parameters
        ----------
        path : str or path
            The file.
        model : HDSP
            The fitted model that the names are for.

        Returns
        -------
        TopicNames
            What the file holds.
        """
        file = Path(path)
        try:
            data = json.loads(file.read_text(encoding="utf-8-sig"))
        except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
            raise ValueError(
                f"{file} is no file of topic names: {error}. Save one from a report's page."
            ) from error
        names = cls.from_dict(data, len(model.components_), str(file))
        if data.get("model") not in (None, model_key(model)):
            warnings.warn(
                f"{file} was saved from the report of another model, whose topics may be others: "
                "check the names.",
                NotSavedWarning,
                stacklevel=2,
            )
        return names

    @classmethod
    def from_dict(cls, data: Any, n_topics: int, owner: str) -> Self:
        """Build from the file's content, and refuse what it should not hold."""
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ValueError(
                f'{owner} is no file of topic names: it lacks "format": "{FORMAT}". Save one '
                "from a report's page."
            )
        names, combined = data.get("names", {}), data.get("combined", [])
        try:
            found = {int(topic): _text(name) for topic, name in names.items()}
            groups = [
                (_text(group["name"]), tuple(map(int, group["topics"]))) for group in combined
            ]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{owner} must hold `names` by topic and `combined` lists of topics with their "
                "names. Save it again from a report's page."
            ) from error
        found = {topic: name for topic, name in found.items() if name.strip()}
        members = [topic for _, topics in groups for topic in topics]
        for topic in (*found, *members):
            if not 0 <= topic < n_topics:
                raise ValueError(
                    f"{owner} names topic {topic}, but the model's topics are 0 to "
                    f"{n_topics - 1}. Take the file that was saved from this model's report."
                )
        if len(set(members)) < len(members):
            raise ValueError(f"{owner} combines a topic twice: put it in one set only.")
        return cls(found, tuple(groups))

    def kept(self, model: Any, merges: Sequence[Sequence[int]] = ()) -> Any:
        """The model with these names, and with combined topics and `merges` merged.

        Parameters
        ----------
        model : HDSP
            The fitted model, which is named.
        merges : sequence of sequences of int, default=()
            More topics to merge.

        Returns
        -------
        HDSP
            The model itself, or a new one if topics are merged.
        """
        model.name_topics(self.names)
        sets = [*(topics for _, topics in self.combined if len(topics) > 1), *map(tuple, merges)]
        if not sets:
            return model
        wanted = {
            frozenset(m for topic in topics for m in model.fitted_topics_[topic]): name
            for name, topics in self.combined
            if name.strip()
        }
        merged = model.merge_topics(sets)
        return merged.name_topics(
            {
                topic: wanted[frozenset(own)]
                for topic, own in enumerate(merged.fitted_topics_)
                if frozenset(own) in wanted
            }
        )

    def columns(self, n_topics: int) -> dict[str, list[str]]:
        """The columns of a table of topics: `name`, and `combined`, such as ``"3+17"``."""
        names = [self.names.get(topic, "") for topic in range(n_topics)]
        combined = [""] * n_topics
        for name, topics in self.combined:
            for topic in topics:
                combined[topic] = "+".join(map(str, topics))
                names[topic] = name or names[topic]
        return {"name": names, "combined": combined}

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "format": FORMAT,
            "names": {str(topic): name for topic, name in self.names.items()},
            "combined": [{"name": name, "topics": list(topics)} for name, topics in self.combined],
        }


def model_key(model: Any) -> str:
    """A short text that differs between models, for names that readers give to its topics."""
    topics = np.ascontiguousarray(model.components_, dtype=np.float32)
    return f"{zlib.crc32(topics.tobytes()):08x}"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a name is a text")
    return value
