"""What a reader changes in a fitted model: names of topics, and topics merged by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hdsp.analysis.fitted import FittedModel
from hdsp.checks import check_merges, check_topic_names
from hdsp.fit import topics_in_use


def with_topic_names(fitted: FittedModel, names: Mapping[int, str | None]) -> FittedModel:
    """The model with other names of topics; see `HDSP.name_topics`."""
    check_topic_names(names, len(fitted.groups))
    found: dict[int, Any] = {**fitted.topic_names, **{int(k): n for k, n in names.items()}}
    kept = {topic: " ".join(found[topic].split()) for topic in sorted(found) if found[topic]}
    return replace(fitted, topic_names=kept)


def with_merged_topics(
    fitted: FittedModel, topics: Sequence[int] | Sequence[Sequence[int]]
) -> FittedModel:
    """The model in which some topics are one; see `HDSP.merged`."""
    groups = fitted.groups.joined(check_merges(topics, len(fitted.groups)))
    tokens = groups.sum(fitted.topic_tokens())
    order = np.argsort(-tokens, kind="stable")
    groups = groups.ordered(order.tolist())
    names = {}
    for topic, own in enumerate(groups.members):
        parts = [k for k, held in enumerate(fitted.groups.members) if set(held) <= set(own)]
        name = " + ".join(fitted.topic_names[k] for k in parts if k in fitted.topic_names)
        if name:
            names[topic] = name
    report = replace(fitted.report, n_topics=topics_in_use(tokens, fitted.n_documents))
    return replace(fitted, report=report, topic_names=names, merged_topics=groups)
