"""`hdsp predict`: labels from words."""

import argparse
from typing import Any

from hdsp import progress
from hdsp.cli.common import (
    add_command,
    add_documents,
    add_output,
    check_table_output,
    load,
    printed_warnings,
    read_documents,
    with_ids,
    write_table,
)

# A tag is predicted if it is more probable than not.
_CHOSEN = 0.5


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = add_command(
        commands,
        "predict",
        "write the probabilities of a label's values, one row per document",
        (
            "hdsp predict model.hdsp new.csv --target rating -o ratings.csv",
            "hdsp predict model.hdsp new.csv --target rating --uniform-prior",
        ),
    )
    add_documents(parser)
    parser.add_argument("--target", required=True, help="the column of labels to predict")
    parser.add_argument("--value", action="append", help="a value to choose from (default: all)")
    parser.add_argument(
        "--uniform-prior", action="store_true", help="do not favour values frequent in training"
    )
    add_output(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Read, predict, write; the most probable value, or the probable tags, come first."""
    check_table_output(options.output)
    with printed_warnings():
        model = load(options)
        corpus = read_documents(options, model, target=options.target)
        with progress.task(f"Predicting {options.target} of {len(corpus):,} documents"):
            from hdsp.queries import probability_columns

            found = probability_columns(
                model,
                corpus,
                options.target,
                values=options.value,
                prior=not options.uniform_prior,
            )
    names = list(found)
    rows = zip(*found.values(), strict=True)
    table: dict[str, list[Any]] = {}
    if model.label_schema_.kind(options.target) == "tags":
        table["predicted"] = [
            [name for name, p in zip(names, row, strict=True) if p >= _CHOSEN] for row in rows
        ]
    else:
        table["predicted"] = [names[max(range(len(row)), key=row.__getitem__)] for row in rows]
    table |= {f"p({name})": found[name] for name in names}
    write_table(with_ids(corpus, table), options.output)
