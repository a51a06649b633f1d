"""`hdsp compare`: models beside one another on the same documents."""

import argparse
import json
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hdsp import progress
from hdsp.cli import options as opt
from hdsp.cli.output import print_json
from hdsp.cli.reading import is_stored, read_file, text_settings
from hdsp.progress import printable

if TYPE_CHECKING:
    from hdsp_studies.comparison import Progress

# The names of `hdsp_studies.peers.PEERS`, which takes seconds to import.
MODELS = (
    *("hdsp", "whdsp", "hdp", "hdp-tomotopy", "lda", "lda-sklearn", "llda", "plda", "plda-2"),
    *(
        "plda-5",
        "dmr",
        "dmr-topica",
        "slda",
        "stm",
        "gsdmm",
        "btm",
        "pt",
        "atm",
        "atm-gensim",
        "lda-svm",
        "svm",
    ),
    *("logistic", "nb", "tree"),
)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


@opt.command(
    opt.FILES,
    opt.LABELS,
    opt.FILE,
    opt.TEXT,
    opt.output("FOLDER", "of the results; goes on from them", opt.output_folder, required=True),
    opt.Group(
        "comparison",
        opt.option(
            "--models",
            "A,B",
            f"of {', '.join(MODELS)}, or your own as module:name",
            _names,
            required=True,
        ),
        opt.option("--n-seeds", "N", "splits and starts", opt.count, 3),
        opt.option("--n-components", "N", "topics of every model", opt.count, 50),
        opt.option("--test-size", "X", "share of the documents", float, 0.2),
        opt.option("--target", "COLUMN", "a label column to predict from words"),
        opt.option("--quick", None, "fewer sweeps, for a first look only"),
        opt.option("--n-jobs", "N", "threads of each model", opt.count, 1),
        opt.option("--minutes", "M", "most that a fit may take (default: no limit)", float),
    ),
)
def compare(options: argparse.Namespace) -> None:
    """Compare models on held-out documents of one or more corpora.

    hdsp compare reviews.parquet --tags labels --models hdsp,hdp --n-seeds 2 -o results
    hdsp compare reviews.parquet --categories department --target department --models nb -o nb
    hdsp compare reviews.parquet questions.parquet --models hdp,lda --minutes 30 -o two
    """
    from hdsp_studies import comparison

    _check(options)
    folder = Path(options.output)
    # Test documents must not choose words, so that all are counted until each split chooses.
    settings = text_settings(options)
    corpora = {
        name: read_file(file, options, text_settings=settings.all_words)
        for name, file in _by_name(options.files).items()
    }
    # Of counts without texts there are no words to choose.
    counted = all(corpus.text_settings is None for corpus in corpora.values())
    with progress.task("Comparing models") as task:
        cells = comparison.compare(
            corpora,
            options.models,
            folder / "cells",
            seeds=options.n_seeds,
            n_topics=options.n_components,
            test_size=options.test_size,
            text_settings=None if counted else settings,
            quick=options.quick,
            n_jobs=options.n_jobs,
            target=options.target,
            most_seconds=None if options.minutes is None else 60 * options.minutes,
            report=partial(_show, task),
        )
    shown = comparison.with_others(cells, folder / "cells")
    text, data = comparison.as_text(shown), comparison.as_data(shown)
    comparison.write_whole(folder / "table.txt", text)
    comparison.write_whole(folder / "table.csv", comparison.as_csv(shown))
    comparison.write_whole(folder / "table.json", json.dumps(data, indent=1) + "\n")
    if any(cell.error is None for cell in shown):
        comparison.draw(shown, folder / "figure")
    if options.json:
        print_json(data)
    else:
        for line in text.splitlines():
            print(printable(line))
    failed = [cell for cell in cells if cell.error is not None]
    if failed:
        raise ChildProcessError(
            f"{len(failed)} of {len(cells)} cells failed, and the same command tries them again: "
            f"{comparison.failure_text(failed[0]).removeprefix('failed: ')}"
        )


add_parser = compare.add_parser


def _check(options: argparse.Namespace) -> None:
    for file in filter(is_stored, options.files):
        raise ValueError(
            f"{file} is a stored corpus, whose words are chosen: name the files it was prepared "
            "from."
        )
    if options.n_components < 2:
        raise ValueError(f"--n-components must be at least 2. Got {options.n_components}.")
    if not 0 < options.test_size < 1:
        raise ValueError(f"--test-size must lie between 0 and 1. Got {options.test_size}.")
    if options.minutes is not None and not options.minutes > 0:
        raise ValueError(f"--minutes must be positive. Got {options.minutes:g}.")
    if Path(options.output).exists() and not Path(options.output).is_dir():
        raise ValueError(f"{options.output!r} is a file, and the results need a folder.")


def _by_name(files: Sequence[str]) -> dict[str, str]:
    """The files by the names that their corpora have in the results."""
    found: dict[str, str] = {}
    for file in files:
        name = "input" if file == "-" else Path(os.path.abspath(file)).stem
        if name in found:
            raise ValueError(
                f"{found[name]!r} and {file!r} would both be called {name!r} in the results: "
                "rename one of them."
            )
        found[name] = file
    return found


def _show(task: progress.Task, now: "Progress") -> None:
    """Show which cell is being done, or what came of it."""
    cell = f"{now.model} on {now.corpus}, seed {now.seed}"
    if now.cell is None:
        task.update(now.number - 1, now.total, now=cell)
        return
    result = "failed" if now.cell.error is not None else f"{now.cell.measures['seconds']:.1f} s"
    task.update(now.number, now.total, now=None, last=f"{cell}: {result}")
