"""`hdsp transform`: proportions of topics in documents."""

import argparse
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
from hdsp.cli.tables import write_pieces


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = add_command(
        commands,
        "transform",
        "write the proportions of topics in documents, one row per document",
        (
            "hdsp transform model.hdsp new.jsonl -o proportions.parquet",
            "hdsp transform model.hdsp - --format jsonl < new.jsonl > proportions.csv",
        ),
    )
    add_documents(parser)
    add_output(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Read, transform, write."""
    check_table_output(options.output)
    with printed_warnings():
        model = load(options)
        corpus = read_documents(options, model)
        with progress.task(f"Finding topics of {len(corpus):,} documents"):
            from hdsp.answers.document_topics import transformed_parts

            names = model.topic_names_
            parts = transformed_parts(fitted_model(model), corpus, n_jobs=model.n_jobs)
            write_pieces(
                (
                    with_ids(
                        part,
                        {
                            f"topic{k} {names[k]}" if k in names else f"topic{k}": row.tolist()
                            for k, row in enumerate(found.T)
                        },
                    )
                    for part, found in parts
                ),
                options.output,
            )
