"""`hdsp effects`: what labels do to topics."""

import argparse
from typing import TYPE_CHECKING, Any

from hdsp import progress
from hdsp.cli import common
from hdsp.cli.documents import read_documents
from hdsp.cli.tables import records
from hdsp.progress import printable

if TYPE_CHECKING:
    from hdsp.prediction import FittedModel

# With six topics each they fill a screen.
_LABELS_SHOWN = 4


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = common.add_command(
        commands,
        "effects",
        "print what labels do to topics, with intervals",
        (
            "hdsp effects model.hdsp --label Dresses",
            "hdsp effects model.hdsp --label rating --contrast 1 5",
            "hdsp effects model.hdsp -o effects.csv",
            "hdsp effects model.hdsp --refits 20 --corpus reviews.parquet",
            "hdsp effects model.hdsp --corpus posts.csv --formula '~ ideology * s(day)' "
            "--group blog",
        ),
        run,
    )
    common.add_model(parser)
    parser.add_argument(
        "--label",
        action="append",
        metavar="LABEL",
        help="a label, or a column of labels; may be given several times (default: all)",
    )
    parser.add_argument(
        "--contrast", nargs=2, metavar=("FROM", "TO"), help="two levels, or two values of a number"
    )
    parser.add_argument("--level", type=float, default=0.9, help="of the intervals (default 0.9)")
    parser.add_argument("--seed", type=int, default=0, help="of the draws (default 0)")
    parser.add_argument("--most", type=int, default=6, help="topics printed per label (default 6)")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument(
        "--top",
        type=int,
        metavar="N",
        help="print the N labels with the strongest effects "
        f"(default {_LABELS_SHOWN}, or those of --label)",
    )
    shown.add_argument("--all", action="store_true", help="print all labels")
    refits = parser.add_argument_group("documents")
    refits.add_argument(
        "--formula",
        metavar="FORMULA",
        help="effects of other labels than those of the fit: columns of --corpus, such as "
        "'~ ideology * s(day)'",
    )
    refits.add_argument(
        "--refits",
        type=int,
        metavar="N",
        help="learn topics again from N resamples of the documents, for intervals that include "
        "how much topics differ; 20 are enough",
    )
    common.add_corpus(
        refits,
        "the documents that the model was fitted to; with --formula also others",
        "its column of groups, whose documents are not independent: for --refits that of the fit, "
        "if it had one",
    )
    common.add_output(parser, None)
    common.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the largest effects, or write all."""
    common.check_table_output(options.output)
    common.check_counts(options, "most", "top")
    if options.formula is not None and (options.file is None or options.refits is not None):
        raise ValueError("--formula needs --corpus, the documents, and goes without --refits.")
    if options.formula is None and (options.refits is None) != (options.file is None):
        raise ValueError(
            "--refits and --corpus go together, how often and with which documents; or --formula "
            "and --corpus."
        )
    regression = resampling = None
    if options.file is None:
        fitted = common.load_fitted(options)
    else:
        model = common.load(options)
        fitted = common.fitted_model(model)
        with common.printed_warnings():
            further = common.formula_columns(options.formula)
            corpus = read_documents(options, model, further=further)
            if options.formula is not None:
                regression = model.estimate_effects(corpus, common.written_formula(options.formula))
                fitted = regression._model
    asked = (options.label, options.contrast)
    most = None
    if not (options.all or options.json or options.output is not None):
        most = options.top or (_LABELS_SHOWN if options.label is None else None)
    with common.printed_warnings(), progress.task("Finding effects of labels"):
        from hdsp.answers.effect_refits import Resampling
        from hdsp.answers.label_effects import chosen_contrasts, effect_columns

        if options.refits is not None:
            resampling = Resampling(options.refits, corpus, model.max_iter, model.tol, model.n_jobs)
        if regression is not None:
            table = regression._effect_columns(options.level, *asked, random_state=options.seed)
        else:
            table = effect_columns(
                fitted,
                options.level,
                *asked,
                random_state=options.seed,
                resampling=resampling,
                most=most,
                n_jobs=options.jobs,
            )
        n_labels = len(chosen_contrasts(fitted, *asked))
    if common.is_answered(options, table, "effects", level=options.level):
        return
    rows = records(table)
    if not rows:
        print(_no_effects(fitted, options.label))
        return
    by_label: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        by_label.setdefault((row["label"], row["contrast"]), []).append(row)
    # The strongest first; sorting keeps the order of labels that are as strong.
    by_strength = sorted(
        by_label.items(), key=lambda item: -max(abs(row["effect"]) for row in item[1])
    )
    for (label, contrast), found in by_strength[:most]:
        print(printable(f"{label} ({contrast}; {found[0]['n_documents']:,} documents)"))
        largest = sorted(found, key=lambda row: -abs(row["effect"]))[: options.most]
        common.print_columns(
            {
                "  topic": [f"  {row['topic']}" for row in largest],
                "effect": [f"{100 * row['effect']:+.1f} points" for row in largest],
                f"{options.level:.0%} interval": [
                    f"{100 * row['lower']:+.1f} to {100 * row['upper']:+.1f}" for row in largest
                ],
                "words": [
                    ": ".join(filter(None, (row.get("name"), row["words"]))) for row in largest
                ],
            }
        )
        print()
    if most is not None and most < n_labels:
        print(
            f"These are the {most} labels with the strongest effects of {n_labels}: --all prints "
            "all, --label one of them."
        )


def _no_effects(fitted: "FittedModel", labels: list[str] | None) -> str:
    """Why there is nothing to print."""
    from hdsp.validation import quoted

    if not fitted.schema.names:
        return "The model has no labels, so there are no effects."
    named = "No label scales topics" if labels is None else f"{quoted(labels)}: no effect on topics"
    return (
        f"{named} in this model, whose formula leaves it out. --corpus FILE --formula COLUMN "
        "estimates it."
    )
