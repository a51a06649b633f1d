"""Reading values from a manifest, with a check of each."""

import math
from collections.abc import Mapping
from typing import Any

from hdsp.corpus import LabelSchema
from hdsp.corpus.labels import KINDS
from hdsp.corpus.schema import BlockSchema
from hdsp.model import Priors
from hdsp.prediction import TopicGroups
from hdsp.storage import LARGEST, SMALLEST, WrongContents

# The columns of a search.
_TRIAL = {"topics", "perplexity", "concentration", "seconds"}


def positive(manifest: Mapping[str, Any], name: str) -> float:
    """A positive number, neither huge nor tiny."""
    value = manifest[name]
    if not (_is_finite(value) and SMALLEST <= value <= LARGEST):
        raise WrongContents(f"its {name} is not a positive number")
    return float(value)


def flag(manifest: Mapping[str, Any], name: str) -> bool:
    """True or False."""
    value = manifest[name]
    if not isinstance(value, bool):
        raise WrongContents(f"its {name} is neither true nor false")
    return value


def whole(manifest: Mapping[str, Any], name: str, least: int, most: float = math.inf) -> int:
    """A whole number within limits."""
    value = manifest[name]
    if type(value) is not int or not least <= value <= most:
        raise WrongContents(f"its {name} is not a whole number in range")
    return value


def priors(manifest: Mapping[str, Any]) -> Priors:
    """The hyperparameters."""
    data = manifest["priors"]
    return Priors(
        positive(data, "topic_prior"),
        _gamma_prior(data["corpus_concentration"]),
        _gamma_prior(data["document_concentration"]),
    )


def history(manifest: Mapping[str, Any]) -> list[dict[str, float]]:
    """One row per pass."""
    rows = manifest["history"]
    if not isinstance(rows, list) or not rows:
        raise WrongContents("its history is missing")
    for row in rows:
        numbers = all(isinstance(value, (int, float)) for value in row.values())
        if not numbers or not {"bound", "seconds"} <= row.keys():
            raise WrongContents("its history has a row that is none")
    return rows


def search(manifest: Mapping[str, Any]) -> list[dict[str, float]]:
    """One row per number of topics that was tried; none where it was fixed."""
    rows = manifest["search"]
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and row.keys() == _TRIAL and all(map(_is_finite, row.values()))
        for row in rows
    ):
        raise WrongContents("its search has a row that is none")
    return rows


def stages(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row per stage of the fit; none in older files."""
    rows = manifest.get("stages", [])
    if not isinstance(rows, list) or not all(
        isinstance(row, dict)
        and row.keys() == {"stage", "seconds"}
        and isinstance(row["stage"], str)
        and _is_finite(row["seconds"])
        for row in rows
    ):
        raise WrongContents("its stages have a row that is none")
    return rows


def topics_range(manifest: Mapping[str, Any]) -> tuple[int, int] | None:
    """The numbers of topics that are about as good; None where none were tried."""
    value = manifest["n_topics_range"]
    if value is None:
        return None
    low, high = value
    if type(low) is not int or type(high) is not int or not 1 <= low <= high:
        raise WrongContents("its range of numbers of topics is none")
    return low, high


def topic_names(manifest: Mapping[str, Any], n_topics: int) -> dict[int, str]:
    """Names of topics."""
    found = manifest["topic_names"]
    if not isinstance(found, dict):
        raise WrongContents("its names of topics are none")
    names = {int(topic): name for topic, name in found.items()}
    if not all(isinstance(n, str) and n.strip() for n in names.values()) or not all(
        0 <= topic < n_topics for topic in names
    ):
        raise WrongContents("its names of topics are none")
    return names


def merged_topics(manifest: Mapping[str, Any], n_topics: int) -> TopicGroups | None:
    """Topics that were merged by hand; None where none were."""
    found = manifest["merged_topics"]
    if found is None:
        return None
    members = tuple(tuple(own) for own in found)
    inside = [topic for own in members for topic in own]
    whole = all(members) and all(type(topic) is int for topic in inside)
    if not whole or sorted(inside) != list(range(n_topics)):
        raise WrongContents("its merged topics are not each of the fitted ones once")
    return TopicGroups(members)


def schema(manifest: Mapping[str, Any]) -> LabelSchema:
    """The labels of training."""
    found = LabelSchema.from_dict(manifest["schema"])
    names = [block.name for block in found.blocks]
    if len(set(names)) < len(names) or not all(map(_is_block, found.blocks)):
        raise WrongContents("its labels are not described as they should be")
    return found


def _is_block(block: BlockSchema) -> bool:
    n_moments = len(block.columns) if block.kind == "number" else 0
    return (
        all(isinstance(text, str) for text in (block.name, *block.columns))
        and block.kind in KINDS
        and isinstance(block.centred, bool)
        and len(set(block.columns)) == len(block.columns)
        and len(block.mean) == len(block.scale) == n_moments
        and all(map(_is_finite, (*block.mean, *block.scale)))
        and all(abs(mean) <= LARGEST for mean in block.mean)
        and all(SMALLEST <= scale <= LARGEST for scale in block.scale)
    )


def _gamma_prior(value: Any) -> tuple[float, float] | None:
    if value is None:
        return None
    shape, rate = value
    return positive({"prior": shape}, "prior"), positive({"prior": rate}, "prior")


def _is_finite(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value)
