"""`hdsp report` and `hdsp article`: a page and a folder about a model."""

import argparse
import os
from pathlib import Path
from typing import Any

from hdsp.cli.options import NAMES, REFITS, Option, add_command, add_model, add_options
from hdsp.cli.output import (
    check_counts,
    check_output,
    check_parent,
    check_writable,
    print_json,
    printed_warnings,
)
from hdsp.cli.reading import check_read_twice, load, read_with_texts
from hdsp.progress import printable


def add_parsers(commands: Any) -> None:
    """Add the commands."""
    parser = add_command(
        commands,
        "report",
        "write a page that shows topics, labels and documents in a browser",
        (
            "hdsp report model.hdsp -o report.html",
            "hdsp report model.hdsp reviews.parquet -o report.html",
            "hdsp report model.hdsp --names topic-names.json -o report.html",
        ),
        report,
    )
    add_model(parser, "the model's documents, or others", required=False)
    parser.add_argument(
        "-o",
        "--output",
        default="report.html",
        metavar="FILE",
        help="the page to write (default: report.html)",
    )
    add_options(
        parser,
        Option("--title", "TEXT", "title of the page", default="Topics and labels"),
        NAMES,
        Option("--texts", "COLUMN", "column of the texts to show (default: --text)"),
        Option("--most-documents", "N", "documents on the page (default: 1000)", int, 1000),
        Option("--stability", "N", "refit the documents N times: which topics recur?", int),
    )
    parser = add_command(
        commands,
        "article",
        "write methods, tables, figures and references for an article",
        ("hdsp article model.hdsp reviews.parquet -o article/",),
        article,
    )
    add_model(parser, "the model's documents; adds two typical texts per topic", required=False)
    parser.add_argument(
        "-o",
        "--output",
        default="article",
        metavar="FOLDER",
        help="a new folder, or one that this command wrote (default: article)",
    )
    add_options(
        parser,
        REFITS,
        Option("--stability", None, "compare with fits of other numbers of topics and seeds"),
    )


def report(options: argparse.Namespace) -> None:
    """Write the page."""
    check_output(options.output)
    if options.file is None and options.stability is not None:
        raise ValueError("--stability needs the documents of the fit: name their file.")
    check_read_twice(options)
    check_counts(options, "most_documents", "stability")
    model = load(options)
    corpus, texts, stability = None, None, None
    with printed_warnings(options):
        if options.file is not None:
            corpus, texts = read_with_texts(options, model, options.texts)
            if options.stability is not None:
                stability = model.stability(corpus, seeds=options.stability)
        model.report(
            options.output,
            corpus,
            texts=texts,
            title=options.title,
            names=options.names,
            stability=stability,
            most_documents=options.most_documents,
        )
    if options.json:
        print_json({"report": options.output})
        return
    print(f"Wrote {printable(options.output)}")


def article(options: argparse.Namespace) -> None:
    """Write the files."""
    from hdsp.article.folder import check_article_folder, write_article

    folder = Path(options.output)
    check_parent(options.output)
    check_article_folder(folder)
    check_writable(folder.absolute())
    check_read_twice(options)
    model = load(options)
    corpus, texts = None, None
    with printed_warnings(options):
        if options.file is not None:
            corpus, texts = read_with_texts(options, model)
        stability, refits = options.stability, options.refits
        write_article(model, folder, corpus, texts=texts, stability=stability, refits=refits)
    files = sorted(os.listdir(folder))
    if options.json:
        print_json({"article": options.output, "files": files})
        return
    print(f"Wrote {printable(options.output)}: {', '.join(files)}")
