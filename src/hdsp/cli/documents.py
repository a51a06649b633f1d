"""Documents of a model: `transform`, `predict`, `evaluate`, and pages: `report`, `article`."""

import os
from argparse import Namespace
from pathlib import Path
from typing import Any

from hdsp import progress
from hdsp.cli import options as opt
from hdsp.cli.output import Table, answer, answer_table, intervals, print_columns
from hdsp.cli.reading import load, read_documents, read_with_texts

# A tag is predicted if it is more probable than not.
_CHOSEN = 0.5


def _with_ids(corpus: Any, table: Table) -> Table:
    """A table of documents, with their IDs in front if they have any."""
    return table if corpus.ids is None else {"id": list(corpus.ids), **table}


@opt.command(*opt.DOCUMENTS, *opt.TABLE)
def transform(options: Namespace) -> None:
    """Write the topic proportions of documents, one row per document.

    hdsp transform model.hdsp new.jsonl -o proportions.parquet
    hdsp transform model.hdsp - --format jsonl < new.jsonl > proportions.csv
    """
    model = load(options)
    corpus = read_documents(options, model)
    with progress.task(f"Finding topics of {len(corpus):,} documents"):
        from hdsp.analysis.documents import transformed_parts

        names = model.topic_names_
        columns = [f"topic{k} {names.get(k, '')}".rstrip() for k in range(len(model.components_))]
        pieces = (
            _with_ids(part, dict(zip(columns, proportions.T, strict=True)))
            for part, proportions in transformed_parts(model._model, corpus, n_jobs=model.n_jobs)
        )
        answer_table(options, "documents", pieces)


_TARGET = opt.option("--target", "COLUMN", "label to predict", required=True)
_VALUES = opt.option("--values", "VALUE", "values to choose from (default: all)", nargs="+")
_NO_PRIOR = opt.option("--no-prior", None, "do not favour values that are frequent in training")


@opt.command(*opt.DOCUMENTS, _TARGET, _VALUES, _NO_PRIOR, *opt.TABLE)
def predict(options: Namespace) -> None:
    """Write the probabilities of a label's values, one row per document.

    hdsp predict model.hdsp new.csv --target rating -o ratings.csv
    hdsp predict model.hdsp new.csv --target rating --no-prior
    """
    model = load(options)
    corpus = read_documents(options, model, target=options.target)
    with progress.task(f"Predicting {options.target} of {len(corpus):,} documents"):
        from hdsp.analysis.documents import probability_parts

        schema, target = model.label_schema_, options.target
        prior = False if options.no_prior else None
        given = {"values": options.values, "prior": prior, "n_jobs": model.n_jobs}
        pieces = (
            _with_ids(part, _predicted(table, are_tags=schema.kind(target) == "tags"))
            for part, table in probability_parts(model._model, corpus, target, **given)
        )
        answer_table(options, "documents", pieces)


def _predicted(probabilities: Table, are_tags: bool) -> Table:
    """Probabilities, after the probable tags or the most probable value."""
    import numpy as np

    names, values = list(probabilities), np.stack(list(probabilities.values()), axis=1)
    predicted: list[Any] = [
        [names[j] for j in np.flatnonzero(row >= _CHOSEN)] if are_tags else names[row.argmax()]
        for row in values
    ]
    return {"predicted": predicted} | {f"p({name})": p for name, p in probabilities.items()}


@opt.command(*opt.DOCUMENTS, opt.LEVEL, *opt.TABLE)
def evaluate(options: Namespace) -> None:
    """Print how well a model predicts held-out documents.

    hdsp evaluate model.hdsp test.parquet
    hdsp evaluate model.hdsp test.parquet --json
    """
    model = load(options)
    corpus = read_documents(options, model)
    names = ("perplexity", "lower", "upper")
    kinds: list[Any] = ["labels", "completion"]
    with progress.task(f"Evaluating {len(corpus):,} documents"):
        limits = [model.perplexity(corpus, None, kind, interval=options.level) for kind in kinds]
    table = {"given": kinds} | {name: [own[i] for own in limits] for i, name in enumerate(names)}
    facts = {"documents": len(corpus), "tokens": corpus.n_tokens, "level": options.level}

    def show(table: Table) -> None:
        print(f"{len(corpus):,} documents, {corpus.n_tokens:,.0f} tokens of words in the model")
        heading = f"{options.level:.0%} interval"
        half = "half of the words, from the other half and the labels"
        predicted = ("all words, from the labels alone", half)
        shown = {**table, heading: intervals(table, ",.1f"), "of": predicted}
        print_columns(shown, "perplexity", heading, "of")

    answer_table(options, "perplexity", table, show, **facts)


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
