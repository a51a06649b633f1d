"""`hdsp report`: a model and its documents in a page for a browser."""

import argparse
from typing import Any

from hdsp.cli import common
from hdsp.cli.documents import check_read_twice, read_with_texts
from hdsp.progress import printable


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = common.add_command(
        commands,
        "report",
        "write a page that shows topics, labels and documents in a browser",
        (
            "hdsp report model.hdsp -o report.html",
            "hdsp report model.hdsp --corpus reviews.parquet -o report.html",
            "hdsp report model.hdsp --names topic-names.json -o report.html",
        ),
        run,
    )
    common.add_model(parser)
    parser.add_argument(
        "-o", "--output", default="report.html", help="the page to write (default report.html)"
    )
    parser.add_argument("--title", default="Topics and labels", help="the heading of the page")
    parser.add_argument(
        "--names", metavar="FILE", help="names of topics that a report's page has saved"
    )
    documents = parser.add_argument_group("documents")
    documents.add_argument(
        "--show", metavar="COLUMN", help="the column of the texts to show (default: --text)"
    )
    documents.add_argument(
        "--documents", type=int, default=1000, help="how many the page holds (default 1000)"
    )
    documents.add_argument(
        "--stable",
        type=int,
        metavar="FITS",
        help="fit the documents so often again: which topics come back?",
    )
    common.add_corpus(documents, "a table of documents, a folder of texts, or a stored corpus")


def run(options: argparse.Namespace) -> None:
    """Write the page."""
    common.check_output(options.output)
    if options.file is None and options.stable is not None:
        raise ValueError(
            "--stable needs the documents that the model was fitted to: --corpus FILE."
        )
    check_read_twice(options)
    common.check_counts(options, "documents", "stable")
    model = common.load(options)
    corpus, texts, stability = None, None, None
    with common.printed_warnings():
        if options.file is not None:
            corpus, texts = read_with_texts(options, model, options.show)
            if options.stable is not None:
                stability = model.stability(corpus, seeds=options.stable)
        model.report(
            options.output,
            corpus,
            texts=texts,
            title=options.title,
            names=options.names,
            stability=stability,
            most_documents=options.documents,
        )
    print(f"Wrote {printable(options.output)}")
