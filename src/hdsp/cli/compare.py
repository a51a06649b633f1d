"""`hdsp compare`: models beside one another on the same documents."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from hdsp.cli.common import add_command, add_json, print_json, told_warnings
from hdsp.cli.reading import add_reading, read_corpus
from hdsp.comparison import (
    Cell,
    Progress,
    as_csv,
    as_data,
    as_text,
    compare,
    draw,
    failure_text,
    write_whole,
)
from hdsp.peers import PEERS


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = add_command(
        commands,
        "compare",
        "compare models on held-out documents of a corpus",
        (
            "hdsp compare reviews.parquet --tags labels --models hdsp,hdp --seeds 2 -o results",
            "hdsp compare reviews.parquet --category department --target department "
            "--models nb,svm -o departments",
        ),
    )
    add_reading(parser)
    parser.add_argument(
        "-o", "--output", required=True, metavar="FOLDER", help="of the results; goes on from them"
    )
    group = parser.add_argument_group("comparison")
    group.add_argument(
        "--models",
        required=True,
        type=_names,
        metavar="A,B",
        help=f"of {', '.join(PEERS)}, or your own as module:name",
    )
    group.add_argument("--seeds", type=int, default=3, help="splits and starts (default 3)")
    group.add_argument("--topics", type=int, default=50, help="of every model (default 50)")
    group.add_argument("--test-size", type=float, default=0.2, help="share (default 0.2)")
    group.add_argument("--target", metavar="COLUMN", help="a label column to predict from words")
    group.add_argument("--quick", action="store_true", help="fewer sweeps, for a first look only")
    group.add_argument("--jobs", type=int, default=1, help="threads of each model (default 1)")
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Read, compare, and write a table and a figure."""
    _check(options)
    folder = Path(options.output)
    with told_warnings():
        corpus = read_corpus(options)
    progress = sys.stderr.isatty() and not options.json
    cells = compare(
        {_corpus_name(options.file): corpus},
        options.models,
        folder / "cells",
        seeds=options.seeds,
        n_topics=options.topics,
        test_size=options.test_size,
        quick=options.quick,
        n_jobs=options.jobs,
        target=options.target,
        report=_report if progress else None,
    )
    write_whole(folder / "table.txt", as_text(cells))
    write_whole(folder / "table.csv", as_csv(cells))
    write_whole(folder / "table.json", json.dumps(as_data(cells), indent=1) + "\n")
    _draw(cells, folder)
    if options.json:
        print_json(as_data(cells))
    else:
        print(as_text(cells), end="")
    failed = [cell for cell in cells if cell.error is not None]
    if failed:
        raise ChildProcessError(
            f"{len(failed)} of {len(cells)} cells failed, and the same command tries them again: "
            f"{failure_text(failed[0]).removeprefix('failed: ')}"
        )


def _check(options: argparse.Namespace) -> None:
    for name, least in (("seeds", 1), ("topics", 2), ("jobs", 1)):
        if getattr(options, name) < least:
            raise ValueError(f"--{name} must be at least {least}. Got {getattr(options, name)}.")
    if not 0 < options.test_size < 1:
        raise ValueError(f"--test-size must lie between 0 and 1. Got {options.test_size}.")
    if Path(options.output).exists() and not Path(options.output).is_dir():
        raise ValueError(f"{options.output!r} is a file, and the results need a folder.")


def _corpus_name(file: str) -> str:
    return "input" if file == "-" else Path(file).stem


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _draw(cells: list[Cell], folder: Path) -> None:
    if all(cell.error is not None for cell in cells):
        return
    try:
        draw(cells, folder / "figure")
    except ImportError as error:
        print(f"hdsp: warning: no figure was drawn. {error}", file=sys.stderr)


def _report(now: Progress) -> None:
    """A line a cell, on a terminal."""
    if now.cell is None:
        place = f"[{now.number}/{now.total}] {now.model}, seed {now.seed} ..."
        print(place, end="", file=sys.stderr, flush=True)
    elif now.cell.error is not None:
        print(f" failed: {now.cell.error}", file=sys.stderr)
    else:
        print(f" {now.cell.measures['seconds']:.1f} s", file=sys.stderr)
