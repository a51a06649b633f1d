"""`hdsp predict`: labels from words."""

import argparse
from collections.abc import Sequence
from typing import Any

from hdsp import progress
from hdsp.cli.common import (
    add_command,
    add_documents,
    add_output,
    check_table_output,
    fitted_model,
    load,
    printed_warnings,
    read_documents,
    with_ids,
)
from hdsp.cli.tables import Table, write_pieces

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
            from hdsp.answers.label_probabilities import probability_parts

            found = probability_parts(
                fitted_model(model),
                corpus,
                options.target,
                values=options.value,
                prior=not options.uniform_prior,
                n_jobs=model.n_jobs,
            )
            write_pieces(
                (
                    with_ids(part, _predicted(table, model.label_schema_.kind(options.target)))
                    for part, table in found
                ),
                options.output,
            )


def _predicted(found: Table, kind: str) -> Table:
    """Probabilities, after what they predict: the probable tags, or the most probable value."""
    names = list(found)
    rows = list(zip(*found.values(), strict=True))
    table: dict[str, Sequence[Any]] = {
        "predicted": [
            [name for name, p in zip(names, row, strict=True) if p >= _CHOSEN] for row in rows
        ]
        if kind == "tags"
        else [names[max(range(len(row)), key=row.__getitem__)] for row in rows]
    }
    return table | {f"p({name})": found[name] for name in names}
