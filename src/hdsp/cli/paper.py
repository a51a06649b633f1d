"""`hdsp paper`: what papers print of a model."""

import argparse
import os
from pathlib import Path
from typing import Any

from hdsp.cli import common
from hdsp.cli.documents import read_documents, texts_of
from hdsp.cli.tables import STANDARD
from hdsp.progress import printable


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = common.add_command(
        commands,
        "paper",
        "write methods, tables, figures and references for a paper",
        ("hdsp paper model.hdsp --corpus reviews.parquet -o paper/",),
        run,
    )
    common.add_model(parser)
    parser.add_argument(
        "-o",
        "--output",
        default="paper",
        metavar="FOLDER",
        help="a new folder, or one that this command has written (default paper)",
    )
    documents = parser.add_argument_group("documents")
    documents.add_argument(
        "--corpus",
        dest="file",
        metavar="FILE",
        help="the documents that the model was fitted to: adds two typical texts of each topic",
    )
    documents.add_argument(
        "--group", metavar="COLUMN", help="its column of groups, if the fit had one"
    )
    documents.add_argument(
        "--robustness",
        action="store_true",
        help="refit with other numbers of topics and seeds: do effects stay?",
    )
    common.add_table_options(documents)


def run(options: argparse.Namespace) -> None:
    """Write the files."""
    from hdsp.paper import check_paper_folder

    folder = Path(options.output)
    common.check_parent(options.output)
    check_paper_folder(folder)
    common.check_writable(folder.absolute())
    if options.file == STANDARD:
        raise ValueError("--corpus needs a file: it is read twice, for counts and for texts.")
    model = common.load(options)
    corpus, texts = None, None
    with common.printed_warnings():
        if options.file is not None:
            corpus = read_documents(options, model)
            # A stored corpus has counts and ids, and no texts.
            if not common.is_stored(options.file):
                texts = list(texts_of(options, options.text))
        model.paper(folder, corpus, texts=texts, robustness=options.robustness)
    print(f"Wrote {printable(options.output)}: {', '.join(sorted(os.listdir(folder)))}")
