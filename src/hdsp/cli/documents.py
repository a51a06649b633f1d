"""`hdsp transform`, `hdsp predict` and `hdsp evaluate`: new documents of a model."""

import argparse
from typing import Any

from hdsp import progress
from hdsp.cli.options import LEVEL, STANDARD, add_command, add_model, add_output
from hdsp.cli.output import Table, answer, check_output, print_columns, print_json, printed_warnings
from hdsp.cli.reading import fitted_model, load, read_documents

# A tag is predicted if it is more probable than not.
_CHOSEN = 0.5


def add_parsers(commands: Any) -> None:
    """Add the commands."""
    parser = add_command(
        commands,
        "transform",
        "write the topic proportions of documents, one row per document",
        (
            "hdsp transform model.hdsp new.jsonl -o proportions.parquet",
            "hdsp transform model.hdsp - --format jsonl < new.jsonl > proportions.csv",
        ),
        transform,
    )
    add_model(parser, "new documents")
    add_output(parser, STANDARD)
    parser = add_command(
        commands,
        "predict",
        "write the probabilities of a label's values, one row per document",
        (
            "hdsp predict model.hdsp new.csv --target rating -o ratings.csv",
            "hdsp predict model.hdsp new.csv --target rating --no-prior",
        ),
        predict,
    )
    add_model(parser, "new documents")
    parser.add_argument("--target", required=True, metavar="COLUMN", help="label to predict")
    parser.add_argument(
        "--values", nargs="+", metavar="VALUE", help="values to choose from (default: all)"
    )
    parser.add_argument(
        "--prior",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="favour values that are frequent in training (default)",
    )
    add_output(parser, STANDARD)
    parser = add_command(
        commands,
        "evaluate",
        "print how well a model predicts held-out documents",
        ("hdsp evaluate model.hdsp test.parquet", "hdsp evaluate model.hdsp test.parquet --json"),
        evaluate,
    )
    add_model(parser, "held-out documents")
    LEVEL.add(parser)
    add_output(parser)


def _with_ids(corpus: Any, table: Table) -> Table:
    """A table of documents, with their IDs in front if they have any."""
    return table if corpus.ids is None else {"id": list(corpus.ids), **table}


def transform(options: argparse.Namespace) -> None:
    """Write the topic proportions."""
    check_output(options.output, table=True)
    with printed_warnings(options):
        model = load(options)
        corpus = read_documents(options, model)
        with progress.task(f"Finding topics of {len(corpus):,} documents"):
            from hdsp.analysis.documents import transformed_parts

            names = model.topic_names_
            parts = transformed_parts(fitted_model(model), corpus, n_jobs=model.n_jobs)
            columns = [
                f"topic{k} {names[k]}" if k in names else f"topic{k}"
                for k in range(len(model.components_))
            ]
            pieces = (
                _with_ids(part, dict(zip(columns, proportions.T, strict=True)))
                for part, proportions in parts
            )
            answer(options, "documents", pieces)


def predict(options: argparse.Namespace) -> None:
    """Write the probabilities; the most probable value, or the probable tags, come first."""
    check_output(options.output, table=True)
    with printed_warnings(options):
        model = load(options)
        corpus = read_documents(options, model, target=options.target)
        with progress.task(f"Predicting {options.target} of {len(corpus):,} documents"):
            from hdsp.analysis.label_prediction import probability_parts

            parts = probability_parts(
                fitted_model(model),
                corpus,
                options.target,
                values=options.values,
                prior=options.prior,
                n_jobs=model.n_jobs,
            )
            kind = model.label_schema_.kind(options.target)
            pieces = (_with_ids(part, _predicted(table, kind)) for part, table in parts)
            answer(options, "documents", pieces)


def _predicted(probabilities: Table, kind: str) -> Table:
    """Probabilities, after the probable tags or the most probable value."""
    import numpy as np

    names, values = list(probabilities), np.stack(list(probabilities.values()), axis=1)
    predicted: list[Any] = [
        [names[j] for j in np.flatnonzero(row >= _CHOSEN)]
        if kind == "tags"
        else names[int(row.argmax())]
        for row in values
    ]
    return {"predicted": predicted} | {f"p({name})": p for name, p in probabilities.items()}


def evaluate(options: argparse.Namespace) -> None:
    """Print perplexities with their intervals."""
    check_output(options.output, table=True)
    with printed_warnings(options):
        model = load(options)
        corpus = read_documents(options, model)
        with progress.task(f"Evaluating {len(corpus):,} documents"):
            rows = [
                (given, *model.perplexity(corpus, given=given, interval=options.level))
                for given in ("labels", "completion")
            ]
    facts = {"documents": len(corpus), "tokens": corpus.n_tokens, "level": options.level}
    if options.json:
        parts = ("value", "lower", "upper")
        intervals = {given: dict(zip(parts, limits, strict=True)) for given, *limits in rows}
        print_json({**facts, "perplexity": intervals})
        return
    names = ("given", "perplexity", "lower", "upper")
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))

    def show(table: Table) -> None:
        print(f"{len(corpus)} documents, {corpus.n_tokens:,.0f} tokens of words in the model")
        bounds = zip(table["lower"], table["upper"], strict=True)
        print_columns(
            {
                "perplexity": [f"{value:,.1f}" for value in table["perplexity"]],
                f"{options.level:.0%} interval": [f"{a:,.1f} to {b:,.1f}" for a, b in bounds],
                "of": [
                    "all words, from the labels alone",
                    "half of the words, from the other half and the labels",
                ],
            }
        )

    answer(options, "perplexity", table, show)
