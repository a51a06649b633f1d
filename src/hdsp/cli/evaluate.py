"""`hdsp evaluate`: how well a model predicts documents it has not seen."""

import argparse
from typing import Any

from hdsp import progress
from hdsp.cli.common import (
    add_command,
    add_documents,
    add_json,
    load,
    print_json,
    print_rows,
    printed_warnings,
    read_documents,
)


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = add_command(
        commands,
        "evaluate",
        "print how well a model predicts held-out documents",
        ("hdsp evaluate model.hdsp test.parquet", "hdsp evaluate model.hdsp test.parquet --json"),
    )
    add_documents(parser)
    parser.add_argument("--level", type=float, default=0.9, help="of the intervals (default 0.9)")
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Perplexities with their intervals."""
    with printed_warnings():
        model = load(options)
        corpus = read_documents(options, model)
        with progress.task(f"Evaluating {len(corpus):,} documents"):
            found = {
                given: model.perplexity(corpus, given=given, interval=options.level)
                for given in ("labels", "completion")
            }
    if options.json:
        print_json(
            {
                "documents": len(corpus),
                "tokens": corpus.n_tokens,
                "level": options.level,
                "perplexity": {
                    given: dict(zip(("value", "lower", "upper"), values, strict=True))
                    for given, values in found.items()
                },
            }
        )
        return
    print(f"{len(corpus)} documents, {corpus.n_tokens:,.0f} tokens of words the model knows")
    described = {
        "labels": "every word from the labels alone",
        "completion": "half of the words from the other half and the labels",
    }
    print_rows(
        ("perplexity", f"{options.level:.0%} interval", "of"),
        [
            (f"{value:,.1f}", f"{lower:,.1f} to {upper:,.1f}", described[given])
            for given, (value, lower, upper) in found.items()
        ],
    )
