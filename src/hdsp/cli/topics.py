"""`hdsp topics`: the topics of a model."""

import argparse
from typing import Any

from hdsp.cli.common import (
    add_command,
    add_json,
    add_model,
    add_output,
    check_output,
    frame_columns,
    load,
    print_json,
    print_rows,
    records,
    write_table,
)


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = add_command(
        commands,
        "topics",
        "print the topics of a model",
        ("hdsp topics model.hdsp", "hdsp topics model.hdsp --words 20 -o topics.csv"),
    )
    add_model(parser)
    parser.add_argument("--words", type=int, default=8, help="words of each topic (default 8)")
    parser.add_argument("--all", action="store_true", help="also topics that hold next to nothing")
    add_output(parser, None)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print or write the table."""
    check_output(options.output)
    if options.words < 1:
        raise ValueError(f"--words must be at least 1. Got {options.words}.")
    model = load(options)
    table = frame_columns(model.topics(options.words))
    if not options.all:
        table = {name: values[: model.n_topics_] for name, values in table.items()}
    if options.json:
        print_json({"topics": records(table)})
    elif options.output is not None:
        write_table(table, options.output)
    else:
        labels = table.get("raised_by", [[]] * len(table["topic"]))
        print_rows(
            ("topic", "tokens", "coherence", "words", "raised by"),
            [
                (str(topic), f"{share:.1%}", f"{coherence:.2f}", words, ", ".join(raised))
                for topic, share, coherence, words, raised in zip(
                    table["topic"],
                    table["token_share"],
                    table["coherence"],
                    table["top_words"],
                    labels,
                    strict=True,
                )
            ],
        )
