"""`hdsp check`: tests of the label effects for nonlinearity, interactions and change over time."""

import argparse
from typing import Any

from hdsp import progress
from hdsp.cli import common
from hdsp.cli.documents import read_documents
from hdsp.cli.tables import head
from hdsp.progress import printable

_ORDER = "order"


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = common.add_command(
        commands,
        "check",
        "test the label effects for nonlinearity, interactions and change over time",
        (
            "hdsp check model.hdsp --corpus reviews.parquet",
            "hdsp check model.hdsp --corpus posts.csv --formula '~ ideology + day' --group blog",
            "hdsp check model.hdsp --corpus posts.csv --time day -o cells.csv",
        ),
        run,
    )
    common.add_model(parser)
    parser.add_argument(
        "--formula",
        metavar="FORMULA",
        help="test the effects of other labels, columns of --corpus, such as '~ ideology + day'",
    )
    parser.add_argument(
        "--time",
        metavar="COLUMN",
        help="test for change over time: a column of numbers or dates, or 'order' for the order of "
        "documents",
    )
    parser.add_argument("--most", type=int, default=10, help="rows printed (default: 10)")
    what = "documents with labels: those of the fit, or others"
    group = "a column of groups whose documents are not independent"
    common.add_corpus(parser, what, group, required=True)
    common.add_output(parser, None)
    common.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the cells that differ most, or write all."""
    common.check_table_output(options.output)
    common.check_counts(options, "most")
    model = common.load(options)
    further = common.formula_columns(options.formula)
    if options.time not in (None, _ORDER):
        further.append(options.time)
    with common.printed_warnings():
        corpus = read_documents(options, model, further=further)
        with progress.task("Checking labels"):
            from hdsp.analysis.checks import cell_columns, check_columns, time_of
            from hdsp.learning import running

            if options.formula is None:
                with running(model._settings(), None) as own:
                    table = check_columns(model._model, corpus, None, options.time, own)
            else:
                formula = common.written_formula(options.formula)
                regression = model.estimate_effects(formula, corpus=corpus)
                time, name = time_of(corpus, options.time, "hdsp check")
                table = cell_columns(regression, time, name)
    from hdsp.analysis.checks import check_sentence

    sentence = check_sentence(table)
    if common.is_answered(options, table, "cells", summary=sentence):
        return
    shown = head(table, options.most)
    names = ["label", "cell", "documents", "topic", "found", "expected", "z"]
    shown |= {name: common.percentages(shown[name]) for name in ("found", "expected")}
    shown["documents"] = [f"{n:,}" for n in shown["n_documents"]]
    shown["z"] = [f"{z:+.1f}" for z in shown["z"]]
    if len(shown["label"]):
        common.print_columns({name: shown[name] for name in (*names, "verdict", "words")})
        print()
    print(printable(sentence))
