"""`hdsp transform`: proportions of topics in documents."""

import argparse
from typing import Any

from hdsp import progress
from hdsp.cli import common
from hdsp.cli.documents import read_documents


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = common.add_command(
        commands,
        "transform",
        "write the proportions of topics in documents, one row per document",
        (
            "hdsp transform model.hdsp new.jsonl -o proportions.parquet",
            "hdsp transform model.hdsp - --format jsonl < new.jsonl > proportions.csv",
        ),
        run,
    )
    common.add_documents(parser)
    common.add_output(parser)


def run(options: argparse.Namespace) -> None:
    """Read, transform, write."""
    common.check_table_output(options.output)
    with common.printed_warnings():
        model = common.load(options)
        corpus = read_documents(options, model)
        with progress.task(f"Finding topics of {len(corpus):,} documents"):
            from hdsp.analysis.documents import transformed_parts

            names = model.topic_names_
            parts = transformed_parts(common.fitted_model(model), corpus, n_jobs=model.n_jobs)
            columns = [
                f"topic{k} {names[k]}" if k in names else f"topic{k}"
                for k in range(len(model.components_))
            ]
            pieces = (
                common.with_ids(part, dict(zip(columns, found.T, strict=True)))
                for part, found in parts
            )
            n_rows = common.write_answer(pieces, options)
    common.say_written(options, n_rows)
