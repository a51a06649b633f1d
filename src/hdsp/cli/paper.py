"""`hdsp paper`: methods, tables, figures and references for a paper."""

import argparse
import os
from pathlib import Path
from typing import Any

from hdsp.cli import common
from hdsp.cli.documents import check_read_twice, read_with_texts
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
        help="a new folder, or one that this command has written (default: paper)",
    )
    documents = parser.add_argument_group("documents")
    documents.add_argument(
        "--stability",
        action="store_true",
        help="compare effects with fits of other numbers of topics and other random seeds",
    )
    documents.add_argument(
        "--refits",
        type=int,
        metavar="N",
        help="refit topics to N resamples of the documents, so that intervals include the "
        "uncertainty of the topics; 20 are enough",
    )
    what = "the documents that the model was fitted to; adds two typical texts of each topic"
    common.add_corpus(documents, what, "its column of groups, if the fit had one")


def run(options: argparse.Namespace) -> None:
    """Write the files."""
    from hdsp.article.folder import check_article_folder, write_article

    folder = Path(options.output)
    common.check_parent(options.output)
    check_article_folder(folder)
    common.check_writable(folder.absolute())
    check_read_twice(options)
    model = common.load(options)
    corpus, texts = None, None
    with common.printed_warnings():
        if options.file is not None:
            corpus, texts = read_with_texts(options, model)
        stability, refits = options.stability, options.refits
        write_article(model, folder, corpus, texts=texts, stability=stability, refits=refits)
    print(f"Wrote {printable(options.output)}: {', '.join(sorted(os.listdir(folder)))}")
