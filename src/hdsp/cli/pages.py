"""`hdsp report` and `hdsp article`: a page and a folder about a model."""

import os
from argparse import Namespace
from pathlib import Path

from hdsp.cli import options as opt
from hdsp.cli.output import answer
from hdsp.cli.reading import load, read_with_texts


@opt.command(
    *opt.OPTIONAL_DOCUMENTS,
    opt.output("FILE", "the page to write", opt.output_file, "report.html"),
    opt.option("--title", "TEXT", "title of the page", str, "Topics and labels"),
    opt.NAMES,
    opt.option("--texts", "COLUMN", "column of the texts to show (default: --text)"),
    opt.option("--most-documents", "N", "documents on the page", opt.count, 1000),
    opt.option("--stability", "N", "refit the documents N times: which topics recur?", opt.count),
)
def report(options: Namespace) -> None:
    """Write a page that shows topics, labels and documents in a browser.

    hdsp report model.hdsp -o report.html
    hdsp report model.hdsp reviews.parquet -o report.html
    hdsp report model.hdsp --names topic-names.json -o report.html
    """
    if options.file is None and options.stability is not None:
        raise ValueError("--stability needs the documents of the fit: name their file.")
    model = load(options)
    documents = read_with_texts(options, model, options.texts)
    if options.stability is not None:
        documents["stability"] = model.stability(documents["corpus"], seeds=options.stability)
    shown = {name: getattr(options, name) for name in ("title", "names", "most_documents")}
    model.report(options.output, **shown, **documents)
    answer(options, {"report": options.output}, f"Wrote {options.output}")


@opt.command(
    *opt.OPTIONAL_DOCUMENTS,
    opt.output("FOLDER", "a new folder, or one of this command", opt.output_folder, "article"),
    opt.REFITS,
    opt.option("--stability", None, "compare with fits of other numbers of topics and seeds"),
)
def article(options: Namespace) -> None:
    """Write methods, tables, figures and references for an article.

    hdsp article model.hdsp reviews.parquet -o article/
    """
    from hdsp.article.folder import check_article_folder

    folder = Path(options.output)
    check_article_folder(folder)
    model = load(options)
    documents = read_with_texts(options, model)
    model.article(folder, stability=options.stability, refits=options.refits, **documents)
    files = sorted(os.listdir(folder))
    facts = {"article": options.output, "files": files}
    answer(options, facts, f"Wrote {options.output}: {', '.join(files)}")
