"""`hdsp effects`: label effects on topics."""

import argparse
from typing import Any

from hdsp import progress
from hdsp.cli import common
from hdsp.cli.documents import read_documents
from hdsp.cli.tables import Table, rows_of
from hdsp.progress import printable

# With six topics each they fill a screen.
_LABELS_SHOWN = 4


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = common.add_command(
        commands,
        "effects",
        "print the effect of each label on topic shares, with intervals",
        (
            "hdsp effects model.hdsp --label Dresses",
            "hdsp effects model.hdsp --label rating --contrast 1 5",
            "hdsp effects model.hdsp -o effects.csv",
            "hdsp effects model.hdsp --refits 20 --corpus reviews.parquet",
            "hdsp effects model.hdsp --corpus posts.csv --formula '~ ideology * s(day)' "
            "--group blog",
            "hdsp effects model.hdsp --summary",
        ),
        run,
    )
    common.add_model(parser)
    parser.add_argument(
        "--label",
        action="append",
        metavar="LABEL",
        help="a label, or a label column; may be given several times (default: all)",
    )
    parser.add_argument(
        "--contrast",
        nargs=2,
        metavar=("FROM", "TO"),
        help="two levels of a category, or two values of a numeric label",
    )
    parser.add_argument(
        "--level", type=float, default=0.9, help="confidence level of the intervals (default: 0.9)"
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed of --refits (default: 0)")
    parser.add_argument(
        "--most",
        type=int,
        default=6,
        help="topics printed per label, those that rise and those that fall (default: 6)",
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument(
        "--top",
        type=int,
        metavar="N",
        help="print the N labels with the strongest effects "
        f"(default: {_LABELS_SHOWN}, or all of --label)",
    )
    shown.add_argument("--all", action="store_true", help="print all labels")
    shown.add_argument(
        "--summary",
        action="store_true",
        help="print the coefficients of the regression by topic, as R's summary() does",
    )
    refits = parser.add_argument_group("documents")
    refits.add_argument(
        "--formula",
        metavar="FORMULA",
        help="estimate effects of other labels, columns of --corpus, such as '~ ideology * s(day)'",
    )
    refits.add_argument(
        "--refits",
        type=int,
        metavar="N",
        help="refit topics to N resamples of the documents, so that intervals include the "
        "uncertainty of the topics; 20 are enough",
    )
    common.add_corpus(
        refits,
        "the documents that the model was fitted to, or any others with --formula",
        "a column of groups whose documents are not independent (for --refits that of the fit, if "
        "it had one)",
    )
    common.add_output(parser, None)
    common.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the strongest effects, or write all."""
    common.check_table_output(options.output)
    common.check_counts(options, "most", "top")
    if options.formula is not None and (options.file is None or options.refits is not None):
        raise ValueError("--formula needs --corpus FILE and cannot be combined with --refits.")
    if options.formula is None and (options.refits is None) != (options.file is None):
        raise ValueError("--corpus FILE needs --refits or --formula, and --refits needs --corpus.")
    others = ("label", "contrast", "refits", "output")
    if options.summary and any(getattr(options, name) is not None for name in others):
        raise ValueError("--summary cannot be combined with --label, --contrast, --refits or -o.")
    model = None
    if options.file is None:
        fitted = common.load_fitted(options)
    else:
        model = common.load(options)
        fitted = common.fitted_model(model)
        with common.printed_warnings():
            further = common.formula_columns(options.formula)
            corpus = read_documents(options, model, further=further)
    with common.printed_warnings(), progress.task("Estimating effects"):
        from hdsp.analysis.label_effects import effect_columns, own_regression
        from hdsp.analysis.refits import Refits

        if model is not None and options.formula is not None:
            formula = common.written_formula(options.formula)
            regression = model.estimate_effects(formula, corpus=corpus)
        else:
            regression = own_regression(fitted)
        asked = (options.label, options.contrast, options.level)
        if options.summary:
            summary = regression.summary()
        elif model is not None and options.refits is not None:
            refits = Refits(options.refits, corpus, model, options.seed)
            table = effect_columns(fitted, *asked, refits=refits)
        else:
            table = regression._effect_columns(*asked)
    if options.summary:
        if options.json:
            common.print_json({"summary": summary})
        else:
            print("\n".join(map(printable, summary.splitlines())))
        return
    if common.is_answered(options, table, "effects", level=options.level):
        return
    if not table["label"]:
        print("The model has no labels in its formula, so there are no effects.")
        return
    _print_effects(table, len(fitted.groups), options)


def _print_effects(table: Table, n_topics: int, options: argparse.Namespace) -> None:
    """Print the strongest effects of both signs, the labels with the strongest ones first."""
    import numpy as np

    from hdsp.plots.labels import strongest

    effect = np.reshape(table["effect"], (-1, n_topics))
    # Of a label that is not estimable, a warning has been printed.
    estimable = np.flatnonzero(~np.isnan(effect).all(axis=1))
    by_strength = estimable[
        np.argsort(-np.nanmax(np.abs(effect[estimable]), axis=1), kind="stable")
    ]
    most = None if options.all else options.top or (None if options.label else _LABELS_SHOWN)
    for place in by_strength[:most].tolist():
        rows = place * n_topics + strongest(effect[place], options.most)
        label, contrast, n_documents = (
            table[name][place * n_topics] for name in ("label", "contrast", "n_documents")
        )
        documents = f"{n_documents:,} document{'s' * (n_documents != 1)}"
        print(printable(f"{label} ({contrast}; {documents})"))
        found = rows_of(table, rows.tolist())
        common.print_columns(
            {
                "  topic": [f"  {topic}" for topic in found["topic"]],
                "effect": [f"{100 * effect:+.1f} points" for effect in found["effect"]],
                f"{options.level:.0%} interval": [
                    f"{100 * lower:+.1f} to {100 * upper:+.1f}"
                    for lower, upper in zip(found["lower"], found["upper"], strict=True)
                ],
                "q": ["<0.001" if q < 0.001 else f"{q:.3f}" for q in found["q"]],
                "words": [
                    ": ".join(filter(None, parts))
                    for parts in zip(
                        found.get("name", [""] * len(rows)), found["words"], strict=True
                    )
                ],
            }
        )
        print()
    if most is not None and most < len(estimable):
        print(
            f"{most} of {len(estimable)} labels, those with the strongest effects. --all prints "
            "every label, --label NAME one of them."
        )
