"""`hdsp evaluate`: how well a model predicts documents it has not seen."""

import argparse
from typing import Any

from hdsp import progress
from hdsp.cli import common
from hdsp.cli.documents import read_documents


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = common.add_command(
        commands,
        "evaluate",
        "print how well a model predicts held-out documents",
        ("hdsp evaluate model.hdsp test.parquet", "hdsp evaluate model.hdsp test.parquet --json"),
        run,
    )
    common.add_documents(parser)
    parser.add_argument("--level", type=float, default=0.9, help="of the intervals (default 0.9)")
    common.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Perplexities with their intervals."""
    with common.printed_warnings():
        model = common.load(options)
        corpus = read_documents(options, model)
        with progress.task(f"Evaluating {len(corpus):,} documents"):
            found = {
                given: model.perplexity(corpus, given=given, interval=options.level)
                for given in ("labels", "completion")
            }
    if options.json:
        common.print_json(
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
    interval = [f"{lower:,.1f} to {upper:,.1f}" for _, lower, upper in found.values()]
    common.print_columns(
        {
            "perplexity": [f"{value:,.1f}" for value, _, _ in found.values()],
            f"{options.level:.0%} interval": interval,
            "of": [
                "every word from the labels alone",
                "half of the words from the other half and the labels",
            ],
        }
    )
