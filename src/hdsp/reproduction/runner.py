"""Running studies: unit by unit, each written when it is done."""

import time
from collections.abc import Callable
from pathlib import Path

from hdsp.reproduction import drawing
from hdsp.reproduction.corpora import Source
from hdsp.reproduction.page import readme
from hdsp.reproduction.results import (
    CONFIG,
    FINGERPRINT,
    RESULTS,
    RUN,
    default_config,
    fingerprint,
    finished_rows,
    missing_units,
    read_rows,
    read_settings,
    rows_of,
    write_rows,
)
from hdsp.reproduction.study import Row, Study

# The number of a unit and how many there are, with its keys.
Progress = Callable[[int, int, Row], None]


def run_study(
    study: Study,
    folder: Path,
    source: Source,
    *,
    quick: bool = False,
    again: bool = False,
    most_seconds: float | None = None,
    progress: Progress | None = None,
) -> int:
    """Measure what is not yet measured, draw the figure, and write the page.

    A config that the folder holds is used; else the study's own is put there. Results that the
    folder holds from the same settings are kept, so that an interrupted run goes on, and a
    complete one is only drawn again.

    Parameters
    ----------
    folder : of this study
    source : where corpora come from
    quick : the small settings
    again : measure everything afresh
    most_seconds : after which no other unit is begun; figure and page show the corpora that are
        done by then

    Returns
    -------
    How many units were measured.
    """
    # Before any work: a figure that cannot be drawn would be found out only at the end.
    drawing.require_matplotlib()
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / CONFIG
    if not config.is_file():
        config.write_text(default_config(study), encoding="utf-8")
    settings = read_settings(config.read_text("utf-8"), quick)
    mark = fingerprint(study, settings)
    before = [] if again else read_rows(folder / RESULTS)
    units = study.units(settings)
    rows: list[Row] = []
    waiting = []
    for unit in units:
        known = rows_of(before, unit, mark)
        rows += known
        if not known:
            waiting.append(unit)
    begun, done = time.perf_counter(), 0
    for number, unit in enumerate(waiting, 1):
        if most_seconds is not None and time.perf_counter() - begun > most_seconds:
            break
        if progress:
            progress(number, len(waiting), unit)
        start = time.perf_counter()
        measured = study.measure(unit, settings, source)
        seconds = round(time.perf_counter() - start, 2)
        made = {"seconds": seconds, RUN: "quick" if quick else "full", FINGERPRINT: mark}
        rows += [{**unit, **row, **made} for row in measured]
        write_rows(folder / RESULTS, rows)
        done += 1
    # As from the file: in the order of the units, and with the figures that it holds.
    stored = read_rows(folder / RESULTS)
    rows = [row for unit in units for row in rows_of(stored, unit, mark)]
    write_rows(folder / RESULTS, rows)
    missing = missing_units(study, settings, rows)
    finished = finished_rows(study, settings, rows)
    if not finished:
        return done
    drawing.save(study.draw(finished), folder)
    page = readme(study, finished, units, missing)
    (folder / "README.md").write_text(page, encoding="utf-8")
    return done
