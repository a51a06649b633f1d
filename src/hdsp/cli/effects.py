"""`hdsp effects`, `hdsp words` and `hdsp check`: labels and topics."""

from argparse import Namespace
from typing import Any

from hdsp import progress
from hdsp.cli import options as opt
from hdsp.cli.output import Table, answer, answer_table, head, intervals, print_columns, rows_of
from hdsp.cli.reading import load, load_fitted, read_documents
from hdsp.progress import printable

# With six topics each they fill a screen.
_LABELS_SHOWN = 4
_ORDER = "order"


@opt.command(
    *opt.OPTIONAL_DOCUMENTS,
    opt.option("--label", "LABEL", "a label or label column; may be repeated", action="append"),
    opt.option(
        "--contrast", ("FROM", "TO"), "two levels of a category, or two numeric values", nargs=2
    ),
    opt.FORMULA,
    opt.REFITS,
    opt.LEVEL,
    opt.RANDOM_STATE,
    opt.option("--n-topics", "N", "topics printed per label", opt.count, 6),
    opt.Group(
        None,
        opt.option("--n-labels", "N", "labels printed, the strongest effects first", opt.count),
        opt.ALL,
        opt.option("--summary", None, "print regression coefficients, as R's summary() does"),
    ),
    *opt.TABLE,
)
def effects(options: Namespace) -> None:
    """Print the effect of each label on topic shares, with intervals.

    hdsp effects model.hdsp --label department
    hdsp effects model.hdsp --label rating --contrast 1 5
    hdsp effects model.hdsp -o effects.csv
    hdsp effects model.hdsp reviews.parquet --refits 20
    hdsp effects model.hdsp posts.csv --formula '~ ideology * s(day)' --groups blog
    hdsp effects model.hdsp --summary
    """
    if options.refits is not None and (options.formula or options.summary):
        raise ValueError("--refits excludes --formula and --summary.")
    if options.summary and (options.label or options.contrast or options.output):
        raise ValueError("--summary excludes --label, --contrast and -o.")
    model = None if options.file is None and options.formula is None else load(options)
    fitted = load_fitted(options) if model is None else model._model
    corpus = None
    if model is not None and options.file is not None:
        corpus = read_documents(options, model, columns=_columns(options.formula))
    with progress.task("Estimating effects"):
        from hdsp.analysis.label_effects import Refits, effect_columns, own_regression

        regression, refits = own_regression(fitted), None
        if options.refits is not None:
            refits = Refits(options.refits, corpus, model, options.random_state)
        elif model is not None:
            regression = model.estimate_effects(options.formula, corpus=corpus)
        if options.summary:
            summary = str(regression.summary())
            answer(options, {"summary": summary}, *summary.splitlines())
            return
        asked = (options.label, options.contrast, options.level)
        table = regression._effect_columns(*asked)
        if refits is not None:
            table = effect_columns(fitted, *asked, refits=refits)
    most = options.n_labels or (None if options.label or options.all else _LABELS_SHOWN)

    def show(table: Table) -> None:
        print_effects(table, len(fitted.groups), options.level, most, options.n_topics)

    none = "The model has no labels in its formula, so there are no effects."
    answer_table(options, "effects", table, show, none, level=options.level)


def _columns(formula: str | None, time: str | None = None) -> list[str]:
    """The label columns of a formula, and of time."""
    names = [] if time in (None, _ORDER) else [time]
    if formula is None:
        return names
    from hdsp.scaling.formula import parse_formula

    scaling = parse_formula(formula)
    for factor in getattr(scaling, "factors", (scaling,)):
        names += [*factor.columns, *(name for term in factor.terms for name in term.learns_from)]
    return list(dict.fromkeys(names))


def print_effects(table: Table, n_topics: int, level: float, most: int | None, n_each: int) -> None:
    """Print effects of both signs, first those of the labels with the strongest."""
    import numpy as np

    from hdsp.plots.labels import strongest

    effect = np.reshape(table["effect"], (-1, n_topics))
    # Labels whose effects cannot be estimated had a warning.
    labels = np.flatnonzero(~np.isnan(effect).all(axis=1))
    order = np.argsort(-np.nanmax(np.abs(effect[labels]), axis=1), kind="stable")
    for label in labels[order][:most].tolist():
        rows = rows_of(table, (label * n_topics + strongest(effect[label], n_each)).tolist())
        documents = f"{rows['n_documents'][0]:,} document{'s' * (rows['n_documents'][0] != 1)}"
        print(printable(f"{rows['label'][0]} ({rows['contrast'][0]}; {documents})"))
        rows["effect"] = [f"{100 * value:+.1f} points" for value in rows["effect"]]
        rows["q"] = ["<0.001" if q < 0.001 else f"{q:.3f}" for q in rows["q"]]
        rows[f"{level:.0%} interval"] = intervals(rows, "+.1f", 100.0)
        print_columns(rows, "topic", "name", "effect", f"{level:.0%} interval", "q", "words")
        print()
    if most is not None and most < len(labels):
        print(
            f"{most} of {len(labels)} labels, those with the strongest effects. Use --all to "
            "print every label, or --label NAME."
        )


_LABEL = opt.option("--label", "LABEL", "a label or label column (default: all)")
_TOPIC = opt.option("--topic", "K", "a topic of a fit with --content", int)


@opt.command(opt.MODEL_FILE, _LABEL, _TOPIC, opt.N_WORDS, opt.LEVEL, *opt.TABLE)
def words(options: Namespace) -> None:
    """Print words that labels use beyond their topics.

    hdsp words model.hdsp --label department
    hdsp words sides.hdsp --topic 0
    hdsp words sides.hdsp -o words.csv
    """
    fitted = load_fitted(options)
    with progress.task("Comparing words"):
        from hdsp.analysis.topics import top_words
        from hdsp.analysis.words import label_word_columns

        table = label_word_columns(fitted, options.label, options.topic, options.level)
        top, names = top_words(fitted, 5), fitted.topic_names
        called = [names.get(k) or " ".join(own) for k, own in enumerate(top)]

    def show(table: Table) -> None:
        # Words by topic and label; without --content, they belong to labels in all topics.
        topics = table.get("topic", [None] * len(table["label"]))
        words: dict[Any, list[str]] = {}
        rows = zip(topics, table["label"], table["word"], table["ratio"], strict=True)
        for topic, label, word, ratio in rows:
            own = words.setdefault((topic, label), [])
            if ratio > 1.0 and len(own) < options.n_words:
                own.append(f"{word} ({ratio:.1f}x)")
        shown = {
            "topic": [f"{k} {called[k]}" for k, _ in words if k is not None],
            "label": [label for _, label in words],
            "words": [", ".join(own) for own in words.values()],
        }
        print_columns(shown, *(name for name in shown if shown[name]))

    none = "No label uses words significantly more than others."
    answer_table(options, "words", table, show, none, level=options.level)


_TIME = opt.option("--time", "COLUMN", "a column of numbers or dates, or 'order' for their order")
_N_ROWS = opt.option("--n-rows", "N", "rows printed", opt.count, 10)


@opt.command(*opt.DOCUMENTS, opt.FORMULA, _TIME, _N_ROWS, *opt.TABLE)
def check(options: Namespace) -> None:
    """Test label effects for nonlinearity, interactions and change over time.

    hdsp check model.hdsp reviews.parquet
    hdsp check model.hdsp posts.csv --formula '~ ideology + day' --groups blog
    hdsp check model.hdsp posts.csv --time day -o cells.csv
    """
    model = load(options)
    corpus = read_documents(options, model, columns=_columns(options.formula, options.time))
    with progress.task("Checking labels"):
        from hdsp.analysis.checks import cell_columns, check_columns, check_sentence, time_of
        from hdsp.pipeline import running

        if options.formula is None:
            with running(model, local=True) as run:
                table = check_columns(model._model, corpus, None, options.time, run)
        else:
            regression = model.estimate_effects(options.formula, corpus=corpus)
            table = cell_columns(regression, *time_of(corpus, options.time, "hdsp check"))
    sentence = check_sentence(table)

    def show(table: Table) -> None:
        names = ("label", "cell", "n_documents", "topic", "found", "expected", "z", "verdict")
        if table["label"]:
            print_columns(head(table, options.n_rows), *names, "words")
            print()
        print(printable(sentence))

    answer_table(options, "cells", table, show, summary=sentence)
