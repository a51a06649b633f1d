"""Reading values from a manifest, with a check of each."""

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from hdsp.analysis.groups import TopicGroups
from hdsp.corpus import LabelSchema
from hdsp.corpus.labels import KINDS
from hdsp.corpus.schema import BlockSchema
from hdsp.fit import STARTS, TrialRecord
from hdsp.model import Priors
from hdsp.storage import LARGEST, SMALLEST, require

# The columns of a search.
_TRIAL = {field.name for field in fields(TrialRecord)} - {"likelihood"}


def positive(manifest: Mapping[str, Any], name: str) -> float:
    """A positive number, neither huge nor tiny."""
    value = manifest[name]
    fits = _is_finite(value) and SMALLEST <= value <= LARGEST
    require(fits, f"its {name} is not a positive number")
    return float(value)


def flag(manifest: Mapping[str, Any], name: str) -> bool:
    """True or False."""
    value = manifest[name]
    require(isinstance(value, bool), f"its {name} is neither true nor false")
    return bool(value)


def whole(manifest: Mapping[str, Any], name: str, least: int, most: float = 2**62) -> int:
    """A whole number within limits."""
    value = manifest[name]
    fits = type(value) is int and least <= value <= most
    require(fits, f"its {name} is not a whole number in range")
    return int(value)


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
    rows: list[dict[str, float]] = manifest["history"]
    require(isinstance(rows, list) and rows, "its history is missing")
    for row in rows:
        numbers = all(isinstance(value, (int, float)) for value in row.values())
        fits = numbers and {"bound", "seconds"} <= row.keys()
        require(fits, "its history has a row that is none")
    return rows


def rows(
    manifest: Mapping[str, Any], name: str, columns: Mapping[str, Callable[[Any], bool]]
) -> list[dict[str, Any]]:
    """The rows of a table, with a check for each of its columns."""
    found: list[dict[str, Any]] = manifest[name]
    fits = isinstance(found, list) and all(
        isinstance(row, dict)
        and row.keys() == columns.keys()
        and all(check(row[column]) for column, check in columns.items())
        for row in found
    )
    require(fits, f"its {name} has a row that is none")
    return found


def search(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row per start and number of topics that was tried; none where both were given."""
    checks = dict.fromkeys(_TRIAL, _is_finite)
    return rows(manifest, "search", {**checks, "init": lambda value: value in STARTS})


def returning(manifest: Mapping[str, Any]) -> int | None:
    """How many topics came back from the other half of the documents; None if not asked."""
    return None if manifest["returning"] is None else whole(manifest, "returning", 0)


def start(manifest: Mapping[str, Any]) -> str:
    """The start of the fit."""
    require(manifest["init"] in (*STARTS, "array"), "its start is none")
    return str(manifest["init"])


def stages(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row per stage of the fit."""
    return rows(manifest, "stages", {"stage": _is_text, "seconds": _is_finite})


def versions(manifest: Mapping[str, Any]) -> dict[str, str]:
    """The versions of what the fit depends on; files of older versions have none."""
    found: dict[str, str] = manifest.get("versions", {})
    texts = isinstance(found, dict) and all(isinstance(value, str) for value in found.values())
    require(texts, "its versions are none")
    return found


def topics_range(manifest: Mapping[str, Any]) -> tuple[int, int] | None:
    """The numbers of topics that are about as good; None where none were tried."""
    value = manifest["n_topics_range"]
    if value is None:
        return None
    low, high = value
    fits = type(low) is type(high) is int and 1 <= low <= high
    require(fits, "its range of numbers of topics is none")
    return low, high


def topic_names(manifest: Mapping[str, Any], n_topics: int) -> dict[int, str]:
    """Names of topics."""
    found = manifest["topic_names"]
    require(isinstance(found, dict), "its names of topics are none")
    names = {int(topic): name for topic, name in found.items()}
    fits = all(
        0 <= topic < n_topics and isinstance(name, str) and name.strip()
        for topic, name in names.items()
    )
    require(fits, "its names of topics are none")
    return names


def merged_topics(manifest: Mapping[str, Any], n_topics: int) -> TopicGroups | None:
    """Topics that were merged by hand; None where none were."""
    found = manifest["merged_topics"]
    if found is None:
        return None
    members = tuple(tuple(own) for own in found)
    inside = [topic for own in members for topic in own]
    whole = all(members) and all(type(topic) is int for topic in inside)
    once = whole and sorted(inside) == list(range(n_topics))
    require(once, "its merged topics are not each of the fitted ones once")
    return TopicGroups(members)


def schema(manifest: Mapping[str, Any]) -> LabelSchema:
    """The labels of training."""
    found = LabelSchema.from_dict(manifest["schema"])
    unique = len({block.name for block in found.blocks}) == len(found.blocks)
    fits = unique and all(map(_is_block, found.blocks))
    require(fits, "its labels are not described as they should be")
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


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_finite(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value)
