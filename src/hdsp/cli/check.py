"""`hdsp check`: whether documents have the topics that their labels lead one to expect."""

import argparse
from typing import Any

from hdsp import progress
from hdsp.cli import common
from hdsp.cli.documents import read_documents
from hdsp.cli.tables import Table, head
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
        "--formula",
        metavar="FORMULA",
        help="check effects of other labels than those of the fit: columns of the documents",
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
    what = "documents with labels: those of the fit, or others"
    common.add_corpus(parser, what, "groups of documents that are not independent", required=True)
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
        name, sentence = "effects", word_check_sentence(table)
    else:
        name, sentence = "cells", check_sentence(table)
    if common.is_answered(options, table, name, summary=sentence):
        return
    shown = head(table, options.most)
    if options.words is not None:
        names = ["label", "topic", "points", "without its words"]
        shown |= {"points": _points(shown), "without its words": _points(shown, "_without")}
    else:
        names = ["label", "cell", "documents", "topic", "found", "expected", "z"]
        shown |= {name: common.percentages(shown[name]) for name in ("found", "expected")}
        shown["documents"] = [f"{n:,}" for n in shown["n_documents"]]
        shown["z"] = [f"{z:+.1f}" for z in shown["z"]]
    if len(shown["label"]):
        common.print_columns({name: shown[name] for name in (*names, "verdict", "words")})
        print()
    print(printable(sentence))


def _points(table: Table, suffix: str = "") -> list[str]:
    """Effects in points, with their intervals."""
    parts = (table[name + suffix] for name in ("effect", "lower", "upper"))
    return [
        f"{100 * effect:+.1f} ({100 * lower:+.1f} to {100 * upper:+.1f})"
        for effect, lower, upper in zip(*parts, strict=True)
    ]
