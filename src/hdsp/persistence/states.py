"""The global state of a model as arrays."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hdsp.model import GlobalState, Versions
from hdsp.model.priors import NOT_SEEDED
from hdsp.numerics import IntArray
from hdsp.persistence.manifest import positive
from hdsp.scaling.functions import Product, ScalingFunction
from hdsp.storage import AnyArray, StoredArrays, put_all, require


def put_state(arrays: dict[str, AnyArray], state: GlobalState) -> dict[str, float]:
    """Add a state to `arrays`, and return its numbers for the manifest."""
    arrays["topics"] = state.topics
    arrays["sticks"] = state.sticks
    put_all(arrays, "scaling", state.scaling)
    if len(state.seeded):
        arrays["seeded"] = state.seeded
    numbers = {}
    if (versions := state.versions) is not None:
        names = ("tokens", "columns", "spread", "words", "topics", "shared", "common")
        put_all(arrays, "versions", {name: getattr(versions, name) for name in names})
        numbers["version_strength"] = versions.strength
    return numbers | {
        "corpus_concentration": state.corpus_concentration,
        "document_concentration": state.document_concentration,
    }


def take_state(
    manifest: Mapping[str, Any], arrays: StoredArrays, scaling: ScalingFunction, n_labels: int
) -> GlobalState:
    """The state that `put_state` wrote, for a model with this scaling function."""
    topics = arrays.numbers("topics", (None, None), positive=True)
    require(topics.size, "it has no topics")
    n_topics = topics.shape[1]
    # The initial parameters of one topic give the names and shapes.
    parameters = {
        name: arrays.numbers(
            f"scaling.{name}", (n_topics, *one.shape[1:]), positive=_is_positive(scaling, name)
        )
        for name, one in scaling.initial(1, n_labels).items()
    }
    return GlobalState(
        topics,
        arrays.numbers("sticks", (n_topics - 1,), most=1.0, positive=True),
        positive(manifest, "corpus_concentration"),
        positive(manifest, "document_concentration"),
        parameters,
        _take_seeded(arrays, n_topics),
        _take_versions(manifest, arrays, topics.shape, n_labels),
    )


def _take_versions(
    manifest: Mapping[str, Any], arrays: StoredArrays, shape: tuple[int, ...], n_labels: int
) -> Versions | None:
    """The versions of topics [V, T], if there are any."""
    if "versions.tokens" not in arrays:
        return None
    n_words, n_topics = shape
    columns = arrays.whole("versions.columns", (None,), n_labels)
    require(len(np.unique(columns)) == len(columns) > 0, "its versions share a label")
    words = arrays.whole("versions.words", (None,), n_words)
    topics = arrays.whole("versions.topics", (len(words),), n_topics)
    places = np.unique(words * n_topics + topics)
    require(len(places) == len(words), "a word differs twice in one of its topics")
    return Versions(
        arrays.numbers("versions.tokens", (n_words * (len(columns) + 1), n_topics), least=0.0),
        columns,
        arrays.numbers("versions.spread", (n_words,), least=1.0),
        words,
        topics,
        arrays.numbers("versions.shared", (len(words),), positive=True),
        arrays.numbers("versions.common", (n_topics,), positive=True),
        positive(manifest, "version_strength"),
    )


def _take_seeded(arrays: StoredArrays, n_topics: int) -> IntArray:
    """The seeded topics, if there are any."""
    if "seeded" not in arrays:
        return NOT_SEEDED
    seeded = arrays.whole("seeded", (None,), n_topics)
    require(len(np.unique(seeded)) == len(seeded), "its seeds share a topic")
    return seeded


def _is_positive(scaling: ScalingFunction, name: str) -> bool:
    """Whether a parameter must be positive, by the function that it belongs to."""
    if isinstance(scaling, Product):
        number, name = name.split(":")
        scaling = scaling.factors[int(number)]
    return name in scaling.positive
