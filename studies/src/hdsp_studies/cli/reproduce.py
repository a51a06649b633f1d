"""`hdsp reproduce`: the paper's figures, made again."""

import argparse
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hdsp import progress
from hdsp.cli import options as opt
from hdsp.cli.output import one_line

if TYPE_CHECKING:
    from hdsp_studies.comparison import CorpusFolder
    from hdsp_studies.reproduction.study import Row

# Quick results never take the place of full ones by themselves.
_OUTPUT, _QUICK = Path("reproduction"), Path("reproduction") / "quick"


@opt.command(
    opt.option("names", "NAME", "of a figure or table; none is all", nargs="*"),
    opt.option("--list", None, "print the names and what they show"),
    opt.option("--quick", None, "small settings, to see that it works"),
    opt.option("--again", None, "measure afresh what is already there"),
    opt.option("--n-seeds", "N", "measure with at least N seeds", opt.count, 1),
    opt.option("--minutes", "M", "begin nothing more of a figure after this time", float),
    opt.option(
        "--data", "FOLDER", "corpora, Parquet files (default: the variable HDSP_DATA)", Path
    ),
    opt.option(
        "--output",
        "FOLDER",
        f"config, results, figure and page of each (default: {_OUTPUT}; with --quick {_QUICK})",
        opt.output_folder,
    ),
    opt.option("--n-jobs", "N", "processes side by side (default: all cores)", opt.count),
)
def reproduce(options: argparse.Namespace) -> None:
    """Make the paper's figures and tables again, and say which of its claims hold.

    hdsp reproduce figure-2 --quick
    hdsp reproduce figure-4 figure-9 --data corpora
    hdsp reproduce figure-2 --n-seeds 20
    hdsp reproduce --list
    """
    from joblib import cpu_count

    from hdsp_studies.reproduction import STUDIES, run_study
    from hdsp_studies.reproduction.page import all_findings

    if options.list:
        for name, study in STUDIES.items():
            corpora = ", needs corpora" if study.needs_corpora else ""
            print(f"{name:<12} {study.title.partition(': ')[2]}{corpora}")
        return
    names = list(dict.fromkeys(options.names or STUDIES))
    unknown = [name for name in names if name not in STUDIES]
    if unknown:
        raise ValueError(
            f"There is no {unknown[0]!r} to reproduce. Choose from {', '.join(STUDIES)}."
        )
    data = _corpora(options)
    output = Path(options.output or (_QUICK if options.quick else _OUTPUT))
    errors: list[Exception] = []
    without_corpora = [name for name in names if data.path is None and STUDIES[name].needs_corpora]
    if without_corpora:
        studies = ", ".join(without_corpora)
        needs = f"{studies} needs corpora: name their folder with --data or HDSP_DATA."
        errors.append(ValueError(needs))
    done = 0
    for name in names:
        if name in without_corpora:
            continue
        try:
            with progress.task(f"Reproducing {name}") as task:
                run_study(
                    STUDIES[name],
                    output / name,
                    data,
                    quick=options.quick,
                    again=options.again,
                    n_seeds=options.n_seeds,
                    n_jobs=options.n_jobs or cpu_count(),
                    most_seconds=None if options.minutes is None else 60.0 * options.minutes,
                    progress=partial(_show, task),
                )
        except (ImportError, FileNotFoundError, FileExistsError) as error:
            errors.append(error)
            continue
        done += 1
        print(f"{name}: {progress.printable(str(output / name))}")
        for note, found in all_findings(STUDIES[name], output):
            line = f"  {note}: {found.conclusion}: {found.claim}: {found.measured}"
            print(progress.printable(line))
        sys.stdout.flush()
    # It is an error if a study that was named did not run; without names, all that can run do.
    if errors and (options.names or not done):
        raise errors[0]
    for reason in errors:
        print(f"hdsp: {one_line(reason)}", file=sys.stderr)


add_parser = reproduce.add_parser


def _corpora(options: argparse.Namespace) -> "CorpusFolder":
    """The folder of the corpora, after a check of the options."""
    from hdsp_studies.comparison import CorpusFolder

    data = options.data or os.environ.get("HDSP_DATA") or None
    if data is not None and not Path(data).is_dir():
        raise ValueError(f"There is no folder {str(data)!r} to read corpora from.")
    return CorpusFolder(None if data is None else Path(data))


def _show(task: progress.Task, number: int, total: int, unit: "Row") -> None:
    """Show how many measurements are done, and which was the last."""
    task.update(number, total, last=", ".join(f"{key} {value}" for key, value in unit.items()))
