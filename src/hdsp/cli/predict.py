"""`hdsp predict`: labels from words."""

import argparse
from typing import Any

from hdsp import progress
from hdsp.cli import common
from hdsp.cli.documents import read_documents
from hdsp.cli.tables import Table

# A tag is predicted if it is more probable than not.
_CHOSEN = 0.5


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = common.add_command(
        commands,
        "predict",
        "write the probabilities of a label's values, one row per document",
        (
            "hdsp predict model.hdsp new.csv --target rating -o ratings.csv",
            "hdsp predict model.hdsp new.csv --target rating --uniform-prior",
        ),
        run,
    )
    common.add_documents(parser)
    parser.add_argument("--target", required=True, help="the column of labels to predict")
    parser.add_argument("--value", action="append", help="a value to choose from (default: all)")
    parser.add_argument(
        "--uniform-prior", action="store_true", help="do not favour values frequent in training"
    )
    common.add_output(parser)


def run(options: argparse.Namespace) -> None:
    """Read, predict, write; the most probable value, or the probable tags, come first."""
    common.check_table_output(options.output)
    with common.printed_warnings():
        model = common.load(options)
        corpus = read_documents(options, model, target=options.target)
        with progress.task(f"Predicting {options.target} of {len(corpus):,} documents"):
            from hdsp.analysis.label_probabilities import probability_parts

            found = probability_parts(
                common.fitted_model(model),
                corpus,
                options.target,
                values=options.value,
                prior=not options.uniform_prior,
                n_jobs=model.n_jobs,
            )
            kind = model.label_schema_.kind(options.target)
            pieces = (common.with_ids(part, _predicted(table, kind)) for part, table in found)
            n_rows = common.write_answer(pieces, options)
    common.say_written(options, n_rows)


def _predicted(found: Table, kind: str) -> Table:
    """Probabilities, after what they predict: the probable tags, or the most probable value."""
    import numpy as np

    names, values = list(found), np.stack(list(found.values()), axis=1)
    predicted: list[Any] = [
        [names[j] for j in np.flatnonzero(row >= _CHOSEN)]
        if kind == "tags"
        else names[int(row.argmax())]
        for row in values
    ]
    return {"predicted": predicted} | {f"p({name})": own for name, own in found.items()}
