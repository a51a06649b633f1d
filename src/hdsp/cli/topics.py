"""`hdsp topics`: the topics of a model."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from hdsp import progress
from hdsp.cli.common import (
    Table,
    add_command,
    add_json,
    add_model,
    add_output,
    add_table_options,
    check_output,
    check_table_output,
    fitted_model,
    load,
    print_json,
    print_rows,
    printed_warnings,
    read_documents,
    records,
    write_table,
)
from hdsp.progress import printable

if TYPE_CHECKING:
    from hdsp.answers.topic_stability import Refits
    from hdsp.estimator import HDSP
    from hdsp.report import TopicNames


# Of a word's tokens, for its topics to be printed; and documents printed of each topic.
_LEAST_SHARE = 0.01
_DOCUMENTS = 3
# Where -o ends so, a model is written and not a table.
MODEL_SUFFIX = ".hdsp"


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = add_command(
        commands,
        "topics",
        "print the topics of a model",
        (
            "hdsp topics model.hdsp",
            "hdsp topics model.hdsp --words 20 -o topics.csv",
            "hdsp topics model.hdsp --find silk",
            "hdsp topics model.hdsp --documents reviews.parquet",
            "hdsp topics model.hdsp --stable reviews.parquet",
            "hdsp topics model.hdsp --names topic-names.json",
            "hdsp topics model.hdsp --merge 0,1 -o merged.hdsp",
        ),
    )
    add_model(parser)
    parser.add_argument("--words", type=int, default=8, help="words of each topic (default 8)")
    parser.add_argument("--all", action="store_true", help="also topics that hold next to nothing")
    parser.add_argument("--find", metavar="WORD", help="print the topics that hold a word")
    parser.add_argument(
        "--documents",
        metavar="FILE",
        help="print the documents that are most typical of each topic",
    )
    edit = parser.add_argument_group("changing the model")
    edit.add_argument(
        "--names",
        metavar="FILE",
        help="keep names that a report's page has saved: in the model file, or in -o MODEL.hdsp, "
        "where combined topics are merged too",
    )
    edit.add_argument(
        "--merge",
        action="append",
        default=[],
        type=_topics,
        metavar="TOPICS",
        help="topics to make one, such as 3,17, in -o MODEL.hdsp; may be given several times",
    )
    stable = parser.add_argument_group("stability")
    stable.add_argument(
        "--stable",
        dest="file",
        metavar="FILE",
        help="fit the model's documents again with other seeds: which topics come back?",
    )
    stable.add_argument("--fits", type=int, default=4, help="how often (default 4)")
    add_table_options(stable)
    add_output(parser, None)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print or write the table, or a model with other topics."""
    new = (options.output or "").lower().endswith(MODEL_SUFFIX)
    if options.merge and not new:
        raise ValueError(
            f"--merge makes a new model: name it with -o, such as -o merged{MODEL_SUFFIX}."
        )
    if new and not options.merge and options.names is None:
        raise ValueError(f"-o {options.output} would only copy the model: add --names or --merge.")
    if new:
        check_output(options.output)
    else:
        check_table_output(options.output)
    if options.names is not None and not new:
        check_output(options.model)
    if options.words < 1:
        raise ValueError(f"--words must be at least 1. Got {options.words}.")
    if options.fits < 1:
        raise ValueError(f"--fits must be at least 1. Got {options.fits}.")
    model = load(options)
    if new:
        _write_model(model, options)
        return
    names = None if options.names is None else _keep_names(model, options)
    if options.find is not None or options.documents is not None:
        _print_asked(model, options)
        return
    with progress.task("Describing topics"):
        from hdsp.answers.topic_tables import topic_columns

        table = topic_columns(fitted_model(model), options.words)
    if names is not None:
        # The names of combined topics stand for all of them.
        read = names.columns(len(model.components_))
        table = {"topic": table["topic"], **read, **table, **read}
    refits = None
    if options.file is not None:
        from hdsp.answers.topic_stability import refit, stability_columns

        with printed_warnings():
            documents = read_documents(options, model)
            refits = refit(fitted_model(model), model, documents, None, options.fits)
        table |= {name: stability_columns(refits)[name] for name in ("similarity", "found_in")}
    if not options.all:
        table = {name: values[: model.n_topics_] for name, values in table.items()}
    if options.json:
        numbers = {} if refits is None else {"topics_in_fits": refits.numbers.tolist()}
        print_json({"topics": records(table), **numbers})
    elif options.output is not None:
        write_table(table, options.output)
    elif refits is not None:
        _print_stable(model, table, refits)
    else:
        labels = table.get("raised_by", [[]] * len(table["topic"]))
        named = "name" in table
        print_rows(
            ("topic", *(["name"] if named else []), "tokens", "coherence", "words", "raised by"),
            [
                (
                    str(topic),
                    *([table["name"][topic]] if named else []),
                    f"{share:.1%}",
                    "" if coherence != coherence else f"{coherence:.2f}",
                    words,
                    ", ".join(raised),
                )
                for topic, share, coherence, words, raised in zip(
                    table["topic"],
                    table["token_share"],
                    table["coherence"],
                    table["top_words"],
                    labels,
                    strict=True,
                )
            ],
        )


def _topics(text: str) -> list[int]:
    """Topics written as 3,17."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"topics to merge are numbers with commas between them, such as 3,17. Got {text!r}"
        ) from None


def _keep_names(model: "HDSP", options: argparse.Namespace) -> "TopicNames":
    """Put names into the model and its file."""
    from hdsp.report import TopicNames

    with printed_warnings():
        names = TopicNames.read(options.names, model)
        model.name_topics(names.names)
        model.save(options.model)
    print(
        f"hdsp: {printable(options.model)} keeps the names of {printable(options.names)}.",
        file=sys.stderr,
    )
    return names


def _write_model(model: "HDSP", options: argparse.Namespace) -> None:
    """Write a model with names, or with topics merged."""
    from hdsp.report import TopicNames

    with printed_warnings():
        names = TopicNames()
        if options.names is not None:
            names = TopicNames.read(options.names, model)
        result = names.kept(model, options.merge)
        result.save(options.output)
    named = {k: f" {name}" for k, name in result.topic_names_.items()}
    merged = [
        f"{topic}{named.get(topic, '')} is {' + '.join(map(str, own))} of the fit"
        for topic, own in enumerate(result.fitted_topics_)
        if len(own) > 1
    ]
    said = {
        "model": options.output,
        "topics": len(result.fitted_topics_),
        "names": {str(topic): name for topic, name in result.topic_names_.items()},
        "fitted_topics": [list(own) for own in result.fitted_topics_],
    }
    if options.json:
        print_json(said)
        return
    told = f"; {', '.join(merged)}" if merged else ""
    print(printable(f"{options.output}: {said['topics']} topics{told}."))


def _print_stable(model: "HDSP", table: Table, refits: "Refits") -> None:
    found = ", ".join(map(str, refits.numbers))
    print(f"{model.n_topics_} topics; with other seeds {found}. Topics that come back first:")
    order = sorted(range(len(table["topic"])), key=lambda k: -table["similarity"][k])
    print_rows(
        ("topic", "tokens", "in common", "found in", "words"),
        [
            (
                str(table["topic"][k]),
                f"{table['token_share'][k]:.1%}",
                f"{table['similarity'][k]:.2f}",
                f"{table['found_in'][k]} of {len(refits.numbers)}",
                table["top_words"][k],
            )
            for k in order
        ],
    )


def _print_asked(model: "HDSP", options: argparse.Namespace) -> None:
    """Print or write the topics of a word, or the documents of each topic."""
    from hdsp.answers.document_topics import typical_columns
    from hdsp.answers.topic_tables import word_columns

    if options.find is not None:
        name, table = "topics", word_columns(fitted_model(model), options.find)
        share, last = "share", "top_words"
    else:
        options.file = options.documents
        with printed_warnings():
            corpus = read_documents(options, model)
        with progress.task(f"Finding topics of {len(corpus):,} documents"):
            table = typical_columns(
                fitted_model(model), corpus, None, None, _DOCUMENTS, model.n_jobs
            )
        name, share, last = "documents", "proportion", "id" if corpus.ids else "document"
    if options.find is None and not options.all:
        kept = [i for i, topic in enumerate(table["topic"]) if topic < model.n_topics_]
        table = {column: [values[i] for i in kept] for column, values in table.items()}
    if options.json:
        print_json({name: records(table)})
    elif options.output is not None:
        write_table(table, options.output)
    else:
        named = "name" in table
        print_rows(
            ("topic", *(["name"] if named else []), share, last.replace("_", " ")),
            [
                (
                    str(row["topic"]),
                    *([row["name"]] if named else []),
                    f"{row[share]:.1%}",
                    str(row[last]),
                )
                for row in records(table)
                # Of a word, topics that hold next to nothing of it say nothing.
                if options.all or options.find is None or row[share] >= _LEAST_SHARE
            ],
        )
