"""`hdsp check`: whether documents have the topics that their labels lead one to expect."""

import argparse
from typing import Any

from hdsp import progress
from hdsp.cli import common
from hdsp.cli.documents import read_documents
from hdsp.cli.tables import records
from hdsp.progress import printable

_ORDER = "order"


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = common.add_command(
        commands,
        "check",
        "check whether labels' effects bend, depend on each other or drift",
        (
            "hdsp check model.hdsp --corpus reviews.parquet",
            "hdsp check model.hdsp --corpus posts.csv --formula '~ ideology + day' --group blog",
            "hdsp check model.hdsp --corpus posts.csv --time day -o cells.csv",
            "hdsp check model.hdsp --corpus reviews.parquet --words department",
        ),
        run,
    )
    common.add_model(parser)
    parser.add_argument(
        "--corpus",
        dest="file",
        metavar="FILE",
        required=True,
        help="documents with labels: those of the fit, or others",
    )
    parser.add_argument(
        "--formula",
        metavar="FORMULA",
        help="check effects of other labels than those of the fit: columns of the documents",
    )
    parser.add_argument(
        "--group", metavar="COLUMN", help="groups of documents that are not independent"
    )
    parser.add_argument(
        "--time",
        metavar="COLUMN",
        help="a column of numbers or dates, or 'order' for that of documents: do effects drift?",
    )
    parser.add_argument(
        "--words",
        metavar="LABEL",
        help="show effects of a label beside those of a fit without the words that it predicts",
    )
    parser.add_argument("--most", type=int, default=10, help="cells printed (default 10)")
    common.add_table_options(parser)
    common.add_output(parser, None)
    common.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the cells that differ most, or write all."""
    common.check_table_output(options.output)
    common.check_counts(options, "most")
    model = common.load(options)
    if options.words is not None and (options.formula, options.time) != (None, None):
        raise ValueError("`--words` of hdsp check goes without `--formula` and `--time`.")
    further = common.formula_columns(options.formula)
    if options.time not in (None, _ORDER):
        further.append(options.time)
    with common.printed_warnings():
        corpus = read_documents(options, model, further=further)
        with progress.task("Checking labels"):
            if options.formula is None:
                table = model._check_columns(corpus, time=options.time, words=options.words)
            else:
                formula = common.written_formula(options.formula)
                table = model.estimate_effects(corpus, formula)._check_columns(options.time)
    from hdsp.answers.label_checks import check_sentence
    from hdsp.answers.word_checks import word_check_sentence

    if options.words is not None:
        sentence = word_check_sentence(table)
        if not common.is_answered(options, table, "effects", summary=sentence):
            _print_effects(records(table)[: options.most])
            print(printable(sentence))
        return
    sentence = check_sentence(table)
    if common.is_answered(options, table, "cells", summary=sentence):
        return
    rows = records(table)[: options.most]
    if rows:
        common.print_columns(
            {
                "label": [row["label"] for row in rows],
                "cell": [row["cell"] for row in rows],
                "documents": [f"{row['n_documents']:,}" for row in rows],
                "topic": [row["topic"] for row in rows],
                "found": common.percentages(row["found"] for row in rows),
                "expected": common.percentages(row["expected"] for row in rows),
                "z": [f"{row['z']:+.1f}" for row in rows],
                "verdict": [row["verdict"] for row in rows],
                "words": [row["words"] for row in rows],
            }
        )
        print()
    print(printable(sentence))


def _print_effects(rows: list[dict[str, Any]]) -> None:
    def points(suffix: str = "") -> list[str]:
        return [
            f"{100 * row['effect' + suffix]:+.1f} ({100 * row['lower' + suffix]:+.1f} to "
            f"{100 * row['upper' + suffix]:+.1f})"
            for row in rows
        ]

    common.print_columns(
        {
            "label": [row["label"] for row in rows],
            "topic": [row["topic"] for row in rows],
            "points": points(),
            "without its words": points("_without"),
            "verdict": [row["verdict"] for row in rows],
            "words": [row["words"] for row in rows],
        }
    )
    print()
