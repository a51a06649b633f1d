"""Results on disk: a CSV of rows for every study, written as units finish."""

import csv
import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from hdsp.reproduction.study import Row, Settings, Study

CONFIG, RESULTS = "config.toml", "results.csv"
# How a row was made: with the full or the quick settings, and a fingerprint of those.
RUN, FINGERPRINT = "run", "settings"


def default_config(study: Study) -> str:
    """The text of a study's own config."""
    return (files("hdsp.reproduction") / "configs" / f"{study.name}.toml").read_text("utf-8")


class Config(dict[str, Any]):
    """Settings by name, as the config of a study has them."""

    def __missing__(self, name: str) -> Any:
        raise ValueError(
            f"The config of {self['study']} lacks {name!r}: add it, or remove the file for a new "
            "one."
        )


def read_settings(study: Study, text: str, quick: bool) -> Config:
    """The settings of a full run, with those of a quick one over them where it is one."""
    parsed = tomllib.loads(text)
    chosen = {**parsed["full"], **(parsed.get("quick", {}) if quick else {})}
    return Config({**chosen, "quick": quick, "study": study.name})


def fingerprint(study: Study, settings: Settings) -> str:
    """Eight letters that change with any setting but the ones that name the study and its units.

    So a model or seed that joins is measured, and what was measured before stays.
    """
    passing = {*study.spans, "study"}
    lasting = {name: value for name, value in settings.items() if name not in passing}
    return hashlib.sha256(json.dumps(lasting, sort_keys=True).encode()).hexdigest()[:8]


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a CSV, with numbers as numbers; none where there is no file."""
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if rows and (FINGERPRINT not in rows[0] or any(None in row.values() for row in rows)):
        raise ValueError(f"{str(path)!r} is not whole: restore it, or remove it and measure again.")
    return [
        {name: value if name == FINGERPRINT else _value(value) for name, value in row.items()}
        for row in rows
    ]


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Write all rows; a file of that name is replaced once the new one is whole."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    part = path.with_suffix(".part")
    with part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({name: _text(value) for name, value in row.items()})
    part.replace(path)


def rows_of(rows: Sequence[Row], unit: Mapping[str, Any], mark: str) -> list[Row]:
    """The rows of a unit that were measured with these settings."""
    return [
        row
        for row in rows
        if row[FINGERPRINT] == mark and all(row.get(name) == unit[name] for name in unit)
    ]


def wanted_rows(study: Study, settings: Settings, rows: Sequence[Row]) -> list[Row]:
    """The rows of all units of these settings, in the order of the units."""
    mark = fingerprint(study, settings)
    return [row for unit in study.units(settings) for row in rows_of(rows, unit, mark)]


def missing_units(study: Study, settings: Settings, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The units of which there are no rows from these settings."""
    mark = fingerprint(study, settings)
    return [unit for unit in study.units(settings) if not rows_of(rows, unit, mark)]


def finished_rows(study: Study, settings: Settings, rows: Sequence[Row]) -> list[Row]:
    """The rows to draw and to judge: those of corpora that are measured whole.

    Of half a corpus some models or settings are still to come, and would go uncompared.
    """
    unfinished = {unit.get("corpus") for unit in missing_units(study, settings, rows)}
    return [row for row in rows if "corpus" not in row or row["corpus"] not in unfinished]


def is_quick(rows: Sequence[Row]) -> bool:
    """Whether any of the rows comes from a quick run."""
    return any(row[RUN] == "quick" for row in rows)


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _text(value: Any) -> Any:
    if hasattr(value, "item"):
        value = value.item()
    if not isinstance(value, float):
        return value
    # Six figures: what is left of a number when seeds and machines are allowed for, and more.
    # NaN and infinities stay what they are.
    rounded = float(f"{value:.6g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e6 else rounded
