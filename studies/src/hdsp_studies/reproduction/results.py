"""Settings of studies, and their results on disk: a CSV of rows, written as units finish."""

import csv
import hashlib
import io
import json
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import Any

from hdsp_studies.comparison import write_whole
from hdsp_studies.reproduction.provenance import check_known
from hdsp_studies.reproduction.study import Row, Settings, Study, distinct

CONFIG, RESULTS, SHARED = "config.toml", "results.csv", "shared"
# Columns that say how a row was made: with the full or the quick settings, a hash of those, and
# the commit of the code.
RUN, SETTINGS_HASH, COMMIT = "run", "settings", "commit"
_SEEDS, _MOST_SEEDS = "seeds", "most_seeds"


def read_settings(study: Study, quick: bool, folder: Path | None = None) -> Settings:
    """Read the settings of a study.

    Parameters
    ----------
    study : Study
        The study.
    quick : bool
        Whether the settings of a quick run replace those of a full one.
    folder : Path or None, default=None
        Folder of its results. A ``config.toml`` there is used in place of the study's own.

    Returns
    -------
    Settings
        The settings by name.
    """
    configs: Any = files("hdsp_studies.reproduction") / "configs"
    config = configs / f"{study.name}.toml"
    if folder is not None and (folder / CONFIG).is_file():
        config = folder / CONFIG
    parsed = [
        tomllib.loads(path.read_text(encoding="utf-8"))
        for path in (configs / f"{SHARED}.toml", config)
    ]
    parts = [own.get("full", {}) for own in parsed]
    parts += [own.get("quick", {}) for own in parsed if quick]
    chosen = {name: value for part in parts for name, value in part.items()}
    return Settings({**chosen, "quick": quick, "study": study.name})


def with_seeds(settings: Settings, n_seeds: int, rows: Sequence[Row] = ()) -> Settings:
    """The same settings with at least so many seeds, and with those that rows have."""
    if _SEEDS not in settings:
        return settings
    seen = distinct([row for row in rows if "seed" in row], "seed")
    seeds = list(dict.fromkeys([*settings[_SEEDS], *seen]))
    further = (seed for seed in count() if seed not in seeds)
    seeds += [next(further) for _ in range(n_seeds - len(seeds))]
    return Settings({**settings, _SEEDS: seeds})


def units_of(study: Study, settings: Settings) -> list[dict[str, Any]]:
    """The units of a study; slow models and fits have the first seeds alone (`most_seeds`)."""
    most, seeds = settings.get(_MOST_SEEDS, {}), settings.get(_SEEDS, [])

    def limit(unit: Row) -> int:
        own = [most[unit[key]] for key in ("model", "fit") if unit.get(key) in most]
        return min(own, default=len(seeds))

    units = study.units(settings)
    return [u for u in units if "seed" not in u or u["seed"] in seeds[: limit(u)]]


def hash_settings(study: Study, settings: Settings) -> str:
    """Eight letters that change with any setting that changes what a unit gives.

    So a model or seed can be added, and what was measured before stays valid.
    """
    ignored = {*study.spans, "study", "fits", _SEEDS, _MOST_SEEDS}
    decisive = {name: value for name, value in settings.items() if name not in ignored}
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:8]


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a CSV, with numbers as numbers; none if there is no file.

    Full runs must be of a commit that git knows.
    """
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if rows and (SETTINGS_HASH not in rows[0] or any(None in row.values() for row in rows)):
        raise ValueError(f"{str(path)!r} is not whole: restore it, or remove it and measure again.")
    for commit in dict.fromkeys(row.get(COMMIT, "") for row in rows if row.get(RUN) != "quick"):
        check_known(commit, path)
    return [
        {n: value if n in (SETTINGS_HASH, COMMIT) else _value(value) for n, value in row.items()}
        for row in rows
    ]


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Write all rows, in place of an earlier file."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    file = io.StringIO()
    writer = csv.DictWriter(file, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _text(value) for name, value in row.items()} for row in rows)
    write_whole(path, file.getvalue())


def rows_of(rows: Sequence[Row], unit: Mapping[str, Any], settings_hash: str) -> list[Row]:
    """The rows of a unit that were measured with these settings."""
    return [
        row
        for row in rows
        if row[SETTINGS_HASH] == settings_hash and all(row.get(name) == unit[name] for name in unit)
    ]


def wanted_rows(study: Study, settings: Settings, rows: Sequence[Row]) -> list[Row]:
    """The rows of all units of these settings, in the order of the units."""
    own = hash_settings(study, settings)
    return [row for unit in units_of(study, settings) for row in rows_of(rows, unit, own)]


def missing_units(study: Study, settings: Settings, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The units that have no rows from these settings."""
    own = hash_settings(study, settings)
    return [unit for unit in units_of(study, settings) if not rows_of(rows, unit, own)]


def finished_rows(study: Study, settings: Settings, rows: Sequence[Row]) -> list[Row]:
    """The rows to draw and to test claims by: those of seeds of which a corpus is all measured.

    With some of a corpus' models or settings still missing, others would be compared with nothing.
    """
    missing = missing_units(study, settings, rows)
    unfinished = {(unit.get("corpus"), unit.get("seed")) for unit in missing}
    return [
        row
        for row in rows
        if ("corpus" not in row and "seed" not in row)
        or (row.get("corpus"), row.get("seed")) not in unfinished
    ]


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
    # Six digits, more than agree between machines. NaN and infinities stay what they are.
    rounded = float(f"{value:.6g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e6 else rounded
