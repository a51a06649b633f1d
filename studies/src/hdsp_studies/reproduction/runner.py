"""Running studies: unit by unit, written as they are done."""

import math
import time
import warnings
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from hdsp.fit.run import interrupting_at_once
from hdsp_studies.comparison import CorpusFolder
from hdsp_studies.reproduction import drawing
from hdsp_studies.reproduction.page import readme
from hdsp_studies.reproduction.provenance import UNCOMMITTED, code_commit
from hdsp_studies.reproduction.results import (
    COMMIT,
    RESULTS,
    RUN,
    SETTINGS_HASH,
    finished_rows,
    hash_settings,
    missing_units,
    read_rows,
    read_settings,
    units_of,
    wanted_rows,
    with_seeds,
    write_rows,
)
from hdsp_studies.reproduction.study import Row, Settings, Study

# How many units are done and how many there are, with the keys of the last.
Progress = Callable[[int, int, Row], None]


def run_study(
    study: Study,
    folder: Path,
    corpora: CorpusFolder,
    *,
    quick: bool = False,
    again: bool = False,
    n_seeds: int = 1,
    n_jobs: int = 1,
    most_seconds: float | None = None,
    progress: Progress | None = None,
) -> int:
    """Measure what is not yet measured, draw the figure, and write the page.

    Results in the folder that were made with the same settings are kept: an interrupted run goes
    on, and a complete one is only drawn again. Results of other settings are an error, unless
    `again`.

    Parameters
    ----------
    study : Study
        The study.
    folder : Path
        Folder of its results; a ``config.toml`` there replaces the settings of the package.
    corpora : CorpusFolder
        Where corpora are read from.
    quick : bool, default=False
        Whether to use the small settings.
    again : bool, default=False
        Whether to measure everything afresh.
    n_seeds : int, default=1
        Measure with at least so many seeds, if the settings have fewer.
    n_jobs : int, default=1
        Number of processes that measure side by side; each fit has one thread.
    most_seconds : float or None, default=None
        Time after which no other unit is begun. Figure and page then show the corpora that are
        finished.
    progress : callable or None, default=None
        Called after every unit.

    Returns
    -------
    int
        Number of units that were measured.
    """
    settings = with_seeds(read_settings(study, quick, folder), n_seeds)
    own = hash_settings(study, settings)
    before = [] if again else read_rows(folder / RESULTS)
    if any(row[SETTINGS_HASH] != own for row in before):
        raise FileExistsError(
            f"{str(folder)!r} holds results of other settings: name another folder with --output, "
            "or replace them with --again."
        )
    waiting = missing_units(study, settings, before)
    for corpus in dict.fromkeys(unit["corpus"] for unit in waiting if "corpus" in unit):
        corpora.file(corpus)
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = list(before)
    done = 0
    made = {RUN: "quick" if quick else "full", SETTINGS_HASH: own, COMMIT: code_commit()}
    if waiting and not quick and made[COMMIT] == UNCOMMITTED:
        raise ValueError(
            "The code has uncommitted changes, so that no commit describes it: commit."
        )
    # Closing it ends the processes, whatever ends the loop.
    with closing(_measured(study, waiting, settings, corpora, n_jobs, most_seconds)) as units_done:
        for last, measured in units_done:
            rows += [{**last, **row, **made} for row in measured]
            write_rows(folder / RESULTS, rows)
            done += 1
            if progress:
                progress(done, len(waiting), last)
    # From the file, which has fewer digits, and in the order of the units. Units that are no longer
    # in the config come last.
    stored = read_rows(folder / RESULTS)
    settings = with_seeds(settings, n_seeds, stored)
    rows = wanted_rows(study, settings, stored)
    wanted = {id(row) for row in rows}
    write_rows(folder / RESULTS, [*rows, *(row for row in stored if id(row) not in wanted)])
    _show(study, settings, rows, folder)
    return done


def _show(study: Study, settings: Settings, rows: Sequence[Row], folder: Path) -> None:
    """Write figure and page of the corpora that are finished, if there are any."""
    finished = finished_rows(study, settings, rows)
    if not finished:
        return
    with drawing.style():
        figure = study.draw(finished)
        if figure is not None:
            drawing.save(figure, folder)
    missing = missing_units(study, settings, rows)
    page = readme(study, finished, units_of(study, settings), missing, folder)
    (folder / "README.md").write_text(page, encoding="utf-8")


def _measured(
    study: Study,
    units: Sequence[Row],
    settings: Settings,
    corpora: CorpusFolder,
    n_jobs: int,
    most_seconds: float | None,
) -> Generator[tuple[Row, list[dict[str, Any]]], None, None]:
    """Units and their rows as they are done, with several groups at once in as many processes."""
    # By a clock that all processes share.
    until = math.inf if most_seconds is None else time.time() + most_seconds
    groups: dict[Hashable, list[Row]] = {}
    for unit in units:
        groups.setdefault(study.group(unit), []).append(unit)
    jobs = [(study, group, settings, corpora, until) for group in groups.values()]
    if n_jobs == 1:
        for job in jobs:
            yield from _measure_group(*job)
        return
    from joblib import Parallel, delayed

    # Processes rather than threads of a fit: most models have none, and results must not depend on
    # their number.
    pool = Parallel(n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs")
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
    study: Study, units: Sequence[Row], settings: Settings, corpora: CorpusFolder, until: float
) -> Iterator[tuple[Row, list[dict[str, Any]]]]:
    """Units and their rows, one after another; none is begun after `until`."""
    for unit in units:
        if time.time() >= until:
            return
        start = time.perf_counter()
        with interrupting_at_once(), warnings.catch_warnings():
            # Notices of single fits; rows say whether they converged.
            warnings.simplefilter("ignore")
            rows = study.measure(unit, settings, corpora)
        seconds = round(time.perf_counter() - start, 2)
        yield unit, [{**row, "seconds": seconds} for row in rows]
