"""`hdsp topics`: the topics of a model."""

import argparse
import sys
from typing import Any

import numpy as np

from hdsp.cli.common import (
    Table,
    add_command,
    add_json,
    add_model,
    add_output,
    add_reading,
    check_output,
    frame_columns,
    load,
    print_json,
    print_rows,
    read_new,
    records,
    told_warnings,
    write_table,
)
from hdsp.estimator import HDSP
from hdsp.report import TopicNames
from hdsp.stability import Refits, refit, stability_columns


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = add_command(
        commands,
        "topics",
        "print the topics of a model",
        (
            "hdsp topics model.hdsp",
            "hdsp topics model.hdsp --words 20 -o topics.csv",
            "hdsp topics model.hdsp --stable reviews.parquet",
            "hdsp topics model.hdsp --names topic-names.json",
        ),
    )
    add_model(parser)
    parser.add_argument("--words", type=int, default=8, help="words of each topic (default 8)")
    parser.add_argument("--all", action="store_true", help="also topics that hold next to nothing")
    parser.add_argument(
        "--names", metavar="FILE", help="names and combined topics that a report's page has saved"
    )
    stable = parser.add_argument_group("stability")
    stable.add_argument(
        "--stable",
        dest="file",
        metavar="FILE",
        help="fit the model's documents again with other seeds: which topics come back?",
    )
    stable.add_argument("--fits", type=int, default=4, help="how often (default 4)")
    add_reading(stable)
    add_output(parser, None)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print or write the table."""
    check_output(options.output)
    if options.words < 1:
        raise ValueError(f"--words must be at least 1. Got {options.words}.")
    if options.fits < 1:
        raise ValueError(f"--fits must be at least 1. Got {options.fits}.")
    model = load(options)
    table = frame_columns(model.topics(options.words))
    if options.names is not None:
        with told_warnings():
            table |= TopicNames.read(options.names, model).columns(len(model.components_))
    refits = None
    if options.file is not None:
        with told_warnings():
            refits = _refit(options, model)
        table |= {name: stability_columns(refits)[name] for name in ("similarity", "found_in")}
    if not options.all:
        table = {name: values[: model.n_topics_] for name, values in table.items()}
    if options.json:
        numbers = {} if refits is None else {"topics_in_fits": refits.numbers.tolist()}
        print_json({"topics": records(table), **numbers})
    elif options.output is not None:
        write_table(table, options.output)
    elif refits is not None:
        _print_stable(model, table, refits)
    else:
        labels = table.get("raised_by", [[]] * len(table["topic"]))
        named = options.names is not None
        print_rows(
            ("topic", *(["name"] if named else []), "tokens", "coherence", "words", "raised by"),
            [
                (
                    str(topic),
                    *([table["name"][topic]] if named else []),
                    f"{share:.1%}",
                    f"{coherence:.2f}",
                    words,
                    ", ".join(raised),
                )
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


def _refit(options: argparse.Namespace, model: HDSP) -> Refits:
    corpus = read_new(options, model)
    progress = sys.stderr.isatty() and not options.json
    parts = []
    for number in range(options.fits):
        if progress:
            print(f"Fit {number + 1} of {options.fits} ...", file=sys.stderr)
        parts.append(refit(model, corpus, None, 1, after=number))
    return Refits(
        np.concatenate([part.numbers for part in parts]),
        np.concatenate([part.similarity for part in parts]),
    )


def _print_stable(model: HDSP, table: Table, refits: Refits) -> None:
    found = ", ".join(map(str, refits.numbers))
    print(f"{model.n_topics_} topics; with other seeds {found}. Topics that come back first:")
    order = sorted(range(len(table["topic"])), key=lambda k: -table["similarity"][k])
    print_rows(
        ("topic", "tokens", "in common", "found in", "words"),
        [
            (
                str(table["topic"][k]),
                f"{table['token_share'][k]:.1%}",
                f"{table['similarity'][k]:.2f}",
                f"{table['found_in'][k]} of {len(refits.numbers)}",
                table["top_words"][k],
            )
            for k in order
        ],
    )
