"""Running studies: unit by unit, written as they are done."""

import math
import time
import warnings
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from hdsp.peers import check_libraries
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
    wanted_rows,
    write_rows,
)
from hdsp.reproduction.study import Row, Settings, Study

# How many units are done and how many there are, with the keys of the last.
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
    complete one is only drawn again. Results of other settings are an error, unless `again`.

    Parameters
    ----------
    folder : of this study
    source : where corpora come from, and how many processes measure side by side
    quick : the small settings
    again : measure everything afresh
    most_seconds : after which no other unit is begun; figure and page show the corpora that are
        done by then
    progress : called after every unit

    Returns
    -------
    How many units were measured.
    """
    # Before any work: what is missing would be found out only in the midst of it.
    check_libraries(study.libraries, f"{study.name} of hdsp reproduce")
    config = folder / CONFIG
    text = config.read_text("utf-8") if config.is_file() else default_config(study)
    settings = read_settings(study, text, quick)
    mark = fingerprint(study, settings)
    before = [] if again else read_rows(folder / RESULTS)
    if any(row[FINGERPRINT] != mark for row in before):
        raise FileExistsError(
            f"{str(folder)!r} holds results of other settings: name another folder with --output, "
            "or replace them with --again."
        )
    waiting = missing_units(study, settings, before)
    for corpus in dict.fromkeys(unit["corpus"] for unit in waiting if "corpus" in unit):
        source.path(corpus)
    folder.mkdir(parents=True, exist_ok=True)
    if not config.is_file():
        config.write_text(text, encoding="utf-8")
    rows: list[Row] = list(before)
    done = 0
    made = {RUN: "quick" if quick else "full", FINGERPRINT: mark}
    # Closed: whatever ends the loop ends the processes, too.
    with closing(_measured(study, waiting, settings, source, most_seconds)) as units_done:
        for last, measured in units_done:
            rows += [{**last, **row, **made} for row in measured]
            write_rows(folder / RESULTS, rows)
            done += 1
            if progress:
                progress(done, len(waiting), last)
    # As from the file: in the order of the units, and with the figures that it holds. Units that
    # the config has no longer come last.
    stored = read_rows(folder / RESULTS)
    rows = wanted_rows(study, settings, stored)
    wanted = {id(row) for row in rows}
    write_rows(folder / RESULTS, [*rows, *(row for row in stored if id(row) not in wanted)])
    _show(study, settings, rows, folder)
    return done


def _show(study: Study, settings: Settings, rows: Sequence[Row], folder: Path) -> None:
    """Figure and page of the corpora that are done; of none, nothing."""
    finished = finished_rows(study, settings, rows)
    if not finished:
        return
    with drawing.style():
        drawing.save(study.draw(finished), folder)
    missing = missing_units(study, settings, rows)
    page = readme(study, finished, study.units(settings), missing)
    (folder / "README.md").write_text(page, encoding="utf-8")


def _measured(
    study: Study,
    units: Sequence[Row],
    settings: Settings,
    source: Source,
    most_seconds: float | None,
) -> Generator[tuple[Row, list[dict[str, Any]]], None, None]:
    """Units and their rows, as they are done: of several groups at once, in as many processes."""
    # By the clock that all processes share.
    until = math.inf if most_seconds is None else time.time() + most_seconds
    groups: dict[Hashable, list[Row]] = {}
    for unit in units:
        groups.setdefault(study.together(unit), []).append(unit)
    jobs = [(study, group, settings, Source(source.folder), until) for group in groups.values()]
    if source.n_jobs == 1:
        for job in jobs:
            yield from _measure_group(*job)
        return
    from joblib import Parallel, delayed

    # Processes, not the threads of one fit: most models have none, and what they give must not
    # depend on how many there are.
    pool = Parallel(source.n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs")
    groups_done = pool(delayed(_listed)(*job) for job in jobs)
    try:
        for group in groups_done:
            yield from group
    finally:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*by the workers have been cancelled")
            groups_done.close()


def _listed(*job: Any) -> list[tuple[Row, list[dict[str, Any]]]]:
    return list(_measure_group(*job))


def _measure_group(
    study: Study, units: Sequence[Row], settings: Settings, source: Source, until: float
) -> Iterator[tuple[Row, list[dict[str, Any]]]]:
    """Units and their rows, one after another; none is begun after `until`."""
    for unit in units:
        if time.time() >= until:
            return
        start = time.perf_counter()
        rows = study.measure(unit, settings, source)
        seconds = round(time.perf_counter() - start, 2)
        yield unit, [{**row, "seconds": seconds} for row in rows]
