"""`hdsp effects`, `hdsp words` and `hdsp check`: labels and topics."""

import argparse
from typing import TYPE_CHECKING, Any

from hdsp import progress
from hdsp.cli.options import (
    ALL,
    FORMULA,
    LEVEL,
    N_WORDS,
    RANDOM_STATE,
    REFITS,
    Option,
    add_command,
    add_model,
    add_options,
    add_output,
)
from hdsp.cli.output import (
    Table,
    answer,
    check_counts,
    check_output,
    head,
    intervals,
    percentages,
    print_columns,
    print_json,
    printed_warnings,
    records,
    rows_of,
)
from hdsp.cli.reading import fitted_model, load, load_fitted, read_documents
from hdsp.progress import printable

if TYPE_CHECKING:
    from hdsp.analysis.effects import TopicRegression
    from hdsp.corpus.corpus import Corpus

# With six topics each they fill a screen.
_LABELS_SHOWN = 4
_ORDER = "order"


def add_parsers(commands: Any) -> None:
    """Add the commands."""
    _add_effects(commands)
    parser = add_command(
        commands,
        "words",
        "print words that labels use beyond their topics",
        (
            "hdsp words model.hdsp --label department",
            "hdsp words sides.hdsp --topic 0",
            "hdsp words sides.hdsp -o words.csv",
        ),
        words,
    )
    add_model(parser)
    add_options(
        parser,
        Option("--label", "LABEL", "a label or label column (default: all)"),
        Option("--topic", "K", "a topic of a fit with --content", int),
        N_WORDS,
        LEVEL,
    )
    add_output(parser)
    parser = add_command(
        commands,
        "check",
        "test label effects for nonlinearity, interactions and change over time",
        (
            "hdsp check model.hdsp reviews.parquet",
            "hdsp check model.hdsp posts.csv --formula '~ ideology + day' --groups blog",
            "hdsp check model.hdsp posts.csv --time day -o cells.csv",
        ),
        check,
    )
    add_model(parser, "documents with labels: the model's, or others")
    add_options(
        parser,
        FORMULA,
        Option("--time", "COLUMN", "a column of numbers or dates, or 'order' for their order"),
        Option("--n-rows", "N", "rows printed (default: 10)", int, 10),
    )
    add_output(parser)


def _add_effects(commands: Any) -> None:
    parser = add_command(
        commands,
        "effects",
        "print the effect of each label on topic shares, with intervals",
        (
            "hdsp effects model.hdsp --label department",
            "hdsp effects model.hdsp --label rating --contrast 1 5",
            "hdsp effects model.hdsp -o effects.csv",
            "hdsp effects model.hdsp reviews.parquet --refits 20",
            "hdsp effects model.hdsp posts.csv --formula '~ ideology * s(day)' --groups blog",
            "hdsp effects model.hdsp --summary",
        ),
        effects,
    )
    add_model(parser, "the model's documents, or any with --formula", required=False)
    add_options(
        parser,
        Option("--label", "LABEL", "a label or label column (default: all)", repeated=True),
        FORMULA,
        REFITS,
        LEVEL,
        RANDOM_STATE,
        Option("--n-topics", "N", "topics printed per label (default: 6)", int, 6),
    )
    parser.add_argument(
        "--contrast",
        nargs=2,
        metavar=("FROM", "TO"),
        help="two levels of a category, or two values of a numeric label",
    )
    add_options(
        parser.add_mutually_exclusive_group(),
        Option("--n-labels", "N", "labels printed, those with the strongest effects first", int),
        ALL,
        Option("--summary", None, "print regression coefficients, as R's summary() does"),
    )
    add_output(parser)


def _check_effects(options: argparse.Namespace) -> None:
    """Raise if options exclude one another."""
    check_output(options.output, table=True)
    check_counts(options, "n_topics", "n_labels")
    if options.formula is not None and (options.file is None or options.refits is not None):
        raise ValueError("--formula needs a FILE of documents and excludes --refits.")
    if options.formula is None and (options.refits is None) != (options.file is None):
        raise ValueError("Documents need --refits or --formula, and --refits needs documents.")
    others = ("label", "contrast", "refits", "output")
    if options.summary and any(getattr(options, name) is not None for name in others):
        raise ValueError("--summary excludes --label, --contrast, --refits and -o.")


def effects(options: argparse.Namespace) -> None:
    """Print the strongest effects, or write all."""
    _check_effects(options)
    corpus: Any = None
    if options.file is None:
        fitted, model = load_fitted(options), None
    else:
        model = load(options)
        fitted = fitted_model(model)
        with printed_warnings(options):
            corpus = read_documents(options, model, others=formula_columns(options.formula))
    with printed_warnings(options), progress.task("Estimating effects"):
        from hdsp.analysis.label_effects import effect_columns, own_regression
        from hdsp.analysis.refits import Refits

        regression = own_regression(fitted)
        if model is not None and options.formula is not None:
            regression = _regression(options, model, corpus)
        asked = (options.label, options.contrast, options.level)
        if options.summary:
            summary = regression.summary()
        elif model is not None and options.refits is not None:
            refits = Refits(options.refits, corpus, model, options.random_state)
            table = effect_columns(fitted, *asked, refits=refits)
        else:
            table = regression._effect_columns(*asked)
    if options.summary:
        if options.json:
            print_json({"summary": summary})
        else:
            print("\n".join(map(printable, summary.splitlines())))
        return
    answer(
        options,
        "effects",
        table,
        lambda table: _print_effects(table, len(fitted.groups), options),
        level=options.level,
    )


def _regression(options: argparse.Namespace, model: Any, corpus: "Corpus") -> "TopicRegression":
    """The regression of a formula on the documents of a file."""
    regression: TopicRegression = model.estimate_effects(
        completed_formula(options.formula), corpus=corpus
    )
    return regression


def completed_formula(text: str) -> str:
    """A formula whose tilde may have been left out."""
    return text if text.lstrip().startswith("~") else f"~ {text}"


def formula_columns(text: str | None) -> list[str]:
    """The label columns of a formula."""
    if text is None:
        return []
    from hdsp.scaling.formula import parse_formula
    from hdsp.scaling.functions import Product

    scaling = parse_formula(completed_formula(text))
    factors = scaling.factors if isinstance(scaling, Product) else (scaling,)
    names = [name for factor in factors for name in factor.columns]
    names += [name for factor in factors for term in factor.terms for name in term.learns_from]
    return list(dict.fromkeys(names))


def _print_effects(table: Table, n_topics: int, options: argparse.Namespace) -> None:
    """Print the strongest effects of both signs, the labels with the strongest effects first."""
    import numpy as np

    from hdsp.plots.labels import strongest

    if not table["label"]:
        print("The model has no labels in its formula, so there are no effects.")
        return
    effect = np.reshape(table["effect"], (-1, n_topics))
    # Labels whose effects cannot be estimated had a warning.
    estimable = np.flatnonzero(~np.isnan(effect).all(axis=1))
    order = np.argsort(-np.nanmax(np.abs(effect[estimable]), axis=1), kind="stable")
    most = None if options.all else options.n_labels or (None if options.label else _LABELS_SHOWN)
    for label in estimable[order][:most].tolist():
        first = label * n_topics
        n_documents = table["n_documents"][first]
        documents = f"{n_documents:,} document{'s' * (n_documents != 1)}"
        print(printable(f"{table['label'][first]} ({table['contrast'][first]}; {documents})"))
        rows = rows_of(table, (first + strongest(effect[label], options.n_topics)).tolist())
        names = rows.get("name", [""] * len(rows["topic"]))
        print_columns(
            {
                "  topic": [f"  {topic}" for topic in rows["topic"]],
                "effect": [f"{100 * effect:+.1f} points" for effect in rows["effect"]],
                f"{options.level:.0%} interval": intervals(rows["lower"], rows["upper"], 100.0),
                "q": ["<0.001" if q < 0.001 else f"{q:.3f}" for q in rows["q"]],
                "words": [
                    ": ".join(filter(None, parts))
                    for parts in zip(names, rows["words"], strict=True)
                ],
            }
        )
        print()
    if most is not None and most < len(estimable):
        print(
            f"{most} of {len(estimable)} labels, those with the strongest effects. Use --all to "
            "print every label, or --label NAME."
        )


def words(options: argparse.Namespace) -> None:
    """Print the words that differ most, or write all."""
    check_output(options.output, table=True)
    check_counts(options, "n_words")
    fitted = load_fitted(options)
    with progress.task("Comparing words"):
        from hdsp.analysis.topics import top_words
        from hdsp.analysis.words import label_word_columns

        table = label_word_columns(fitted, options.label, options.topic, options.level)

    def show(table: Table) -> None:
        rows = records(table)
        if not rows:
            print("No label uses words significantly more than others.")
            return
        top = [" ".join(words) for words in top_words(fitted, 5)]
        # Without --content, words belong to labels in all topics.
        for topic in dict.fromkeys(row.get("topic") for row in rows):
            indent = "" if topic is None else "  "
            if topic is not None:
                print(printable(f"{topic} · {fitted.topic_names.get(topic) or top[topic]}"))
            of_topic = [row for row in rows if row.get("topic") == topic]
            for label in dict.fromkeys(row["label"] for row in of_topic):
                more = [row for row in of_topic if row["label"] == label and row["ratio"] > 1.0]
                shown = ", ".join(
                    f"{row['word']} ({row['ratio']:.1f}x)" for row in more[: options.n_words]
                )
                print(printable(f"{indent}{label}: {shown or 'none'}"))

    answer(options, "words", table, show, level=options.level)


def check(options: argparse.Namespace) -> None:
    """Print the cells that differ most, or write all."""
    check_output(options.output, table=True)
    check_counts(options, "n_rows")
    model = load(options)
    others = formula_columns(options.formula)
    if options.time not in (None, _ORDER):
        others.append(options.time)
    with printed_warnings(options):
        corpus = read_documents(options, model, others=others)
        with progress.task("Checking labels"):
            from hdsp.analysis.checks import cell_columns, check_columns, check_sentence, time_of
            from hdsp.pipeline import running

            if options.formula is None:
                with running(model._parameters(), local=True) as run:
                    table = check_columns(fitted_model(model), corpus, None, options.time, run)
            else:
                regression = _regression(options, model, corpus)
                table = cell_columns(regression, *time_of(corpus, options.time, "hdsp check"))
    sentence = check_sentence(table)

    def show(table: Table) -> None:
        shown = head(table, options.n_rows)
        shown |= {name: percentages(shown[name]) for name in ("found", "expected")}
        shown["documents"] = [f"{n:,}" for n in shown["n_documents"]]
        shown["z"] = [f"{z:+.1f}" for z in shown["z"]]
        names = ("label", "cell", "documents", "topic", "found", "expected", "z")
        if len(shown["label"]):
            print_columns({name: shown[name] for name in (*names, "verdict", "words")})
            print()
        print(printable(sentence))

    answer(options, "cells", table, show, summary=sentence)
