"""`hdsp prepare`: from files of any size to a corpus on disk."""

import argparse
from pathlib import Path
from typing import Any

from hdsp.cli import common
from hdsp.cli.reading import add_reading, is_table, prepare, read_corpus
from hdsp.progress import printable


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = common.add_command(
        commands,
        "prepare",
        "write documents to a corpus on disk, which commands read part by part",
        (
            "hdsp prepare data/*.parquet --tags labels -o corpus/",
            "hdsp prepare new/*.parquet --tags labels --like model.hdsp -o new-corpus/",
            "zcat dump.jsonl.gz | hdsp prepare - --format jsonl -o corpus/",
        ),
        run,
    )
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="where to write")
    parser.add_argument("--like", metavar="MODEL", help="count the words of a model, in its order")
    add_reading(parser)
    common.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Read, count, write, and say what came of it."""
    from hdsp.corpus import open_corpus
    from hdsp.corpus.stored.writing import check_replaceable

    folder = Path(options.output)
    common.check_parent(options.output)
    check_replaceable(folder)
    common.check_writable(folder.absolute().parent)
    with common.printed_warnings():
        if all(is_table(options, file) for file in options.files) or len(options.files) > 1:
            prepare(options, options.output, _model(options))
        elif options.like is not None:
            raise ValueError("--like needs tables of texts, and this is none: leave it out.")
        else:
            read_corpus(options).write(folder)
    stored = open_corpus(folder)
    if options.json:
        common.print_json(
            {
                "corpus": options.output,
                "documents": len(stored),
                "words": stored.n_words,
                "tokens": stored.n_tokens,
                "labels": stored.schema.n_labels,
                "shards": len(stored.shards),
            }
        )
        return
    output = printable(options.output)
    print(
        f"{output}: {len(stored):,} documents, {stored.n_words:,} words, {stored.n_tokens:,.0f} "
        f"tokens, {stored.schema.n_labels:,} labels. Fit them: hdsp fit {output} -o model.hdsp"
    )


def _model(options: argparse.Namespace) -> object:
    if options.like is None:
        return None
    from hdsp.estimator import HDSP

    return HDSP.load(options.like)
