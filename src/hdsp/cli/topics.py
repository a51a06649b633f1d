"""`hdsp topics`: the topics of a model."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from hdsp import progress
from hdsp.cli import common
from hdsp.cli.documents import read_documents, read_with_texts
from hdsp.cli.tables import Table, head, rows_of
from hdsp.progress import printable

if TYPE_CHECKING:
    from hdsp.analysis.fitted import FittedModel
    from hdsp.estimator import HDSP
    from hdsp.report import TopicNames


# Of a word's tokens, for its topics to be printed; and documents printed of each topic, and
# characters of each.
_LEAST_SHARE = 0.01
_DOCUMENTS = 3
_CHARACTERS = 100
# Pairs of topics printed, of those that correlate.
_PAIRS = 30
# Labels with the strongest effects that the table of topics considers, and those printed per topic.
_LABELS, _EFFECTS = 500, 3
# Where -o ends so, a model is written and not a table.
MODEL_SUFFIX = ".hdsp"


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = common.add_command(
        commands,
        "topics",
        "print the topics of a model",
        (
            "hdsp topics model.hdsp",
            "hdsp topics model.hdsp --words 20 -o topics.csv",
            "hdsp topics model.hdsp --find silk",
            "hdsp topics model.hdsp --documents reviews.parquet",
            "hdsp topics model.hdsp --correlations",
            "hdsp topics model.hdsp --junk",
            "hdsp topics model.hdsp --about",
            "hdsp topics model.hdsp --stable reviews.parquet",
            "hdsp topics model.hdsp --names topic-names.json",
            "hdsp topics model.hdsp --merge 0,1 -o merged.hdsp",
        ),
        run,
    )
    common.add_model(parser)
    parser.add_argument("--words", type=int, default=8, help="words of each topic (default 8)")
    parser.add_argument("--all", action="store_true", help="also topics that hold next to nothing")
    parser.add_argument("--find", metavar="WORD", help="print the topics that hold a word")
    parser.add_argument(
        "--documents",
        metavar="FILE",
        help="print the documents that are most typical of each topic",
    )
    parser.add_argument(
        "--correlations",
        action="store_true",
        help="print the pairs of topics that documents have together, or rather not",
    )
    parser.add_argument(
        "--junk",
        action="store_true",
        help="print words of topics that look like remains of web pages, to leave out of a fit",
    )
    parser.add_argument(
        "--about",
        action="store_true",
        help="print the versions, the seed, the settings and the data of the fit",
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
    common.add_table_options(stable)
    common.add_output(parser, None)
    common.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print or write the table, or a model with other topics."""
    new = (options.output or "").lower().endswith(MODEL_SUFFIX)
    if new:
        if not options.merge and options.names is None:
            raise ValueError(
                f"-o {options.output} would only copy the model: add --names or --merge."
            )
        common.check_output(options.output)
        _write_model(common.load(options), options)
        return
    if options.merge:
        raise ValueError(
            f"--merge makes a new model: name it with -o, such as -o merged{MODEL_SUFFIX}."
        )
    common.check_table_output(options.output)
    if options.names is not None:
        common.check_output(options.model)
    common.check_counts(options, "words", "fits")
    if options.about:
        _print_about(common.load(options), options)
        return
    names, model = None, None
    if any(one is not None for one in (options.names, options.documents, options.file)):
        model = common.load(options)
        names = None if options.names is None else _keep_names(model, options)
    fitted = common.load_fitted(options) if model is None else common.fitted_model(model)
    if options.correlations:
        _print_correlations(fitted, options)
        return
    if options.junk:
        _print_junk(fitted, options)
        return
    if options.find is not None or options.documents is not None:
        _print_asked(fitted, model, options)
        return
    effects = None
    with common.printed_warnings(), progress.task("Describing topics"):
        from hdsp.analysis.label_effects import effect_columns
        from hdsp.analysis.topics import topic_columns

        if fitted.used.any():
            effects = effect_columns(fitted, most=_LABELS)
        table = topic_columns(fitted, options.words, effects)
    if names is not None:
        # The names of combined topics stand for all of them.
        read = names.columns(len(fitted.groups))
        table = {"topic": table["topic"], **read, **table, **read}
    found: list[int] = []
    if options.file is not None and model is not None:
        from hdsp.analysis.refits import stability_columns

        with common.printed_warnings():
            documents = read_documents(options, model)
            found, stable = stability_columns(fitted, model, documents, None, options.fits)
        table |= {name: stable[name] for name in ("similarity", "found_in")}
    if not options.all:
        table = head(table, fitted.report.n_topics)
    numbers = {"topics_in_fits": found} if found else {}
    if common.is_answered(options, table, "topics", **numbers):
        return
    if found:
        _print_stable(fitted, table, found)
        return
    common.print_columns(
        {
            **_named(table),
            "tokens": common.percentages(table["share"]),
            "coherence": ["" if value != value else f"{value:.2f}" for value in table["coherence"]],
            "words": table["words"],
            **_strongest_effects(effects, len(table["topic"]), len(fitted.groups)),
        }
    )
    if effects is not None:
        print(
            "\nEffects are changes of a topic's share in percentage points, if their 90% interval "
            f"excludes 0. See all: hdsp effects {printable(options.model)}"
        )
    from hdsp.analysis.checks import junk_sentence

    if sentence := junk_sentence(fitted):
        print(f"hdsp: {printable(sentence)}", file=sys.stderr)


def _strongest_effects(effects: Table | None, n_shown: int, n_topics: int) -> Table:
    """The column of the strongest effects on each topic, in points, of those that exclude 0."""
    if effects is None or not effects["label"]:
        return {}
    import numpy as np

    effect, lower, upper = (
        np.reshape(effects[name], (-1, n_topics)) for name in ("effect", "lower", "upper")
    )
    names = effects["label"][::n_topics]
    size = np.where((lower > 0) | (upper < 0), np.abs(effect), 0.0)
    cells = []
    for k in range(n_shown):
        strongest = np.argsort(-size[:, k], kind="stable")[:_EFFECTS]
        cells.append(
            "; ".join(f"{names[j]} {100 * effect[j, k]:+.1f}" for j in strongest if size[j, k])
        )
    return {"strongest effects (points)": cells}


def _print_junk(fitted: "FittedModel", options: argparse.Namespace) -> None:
    """Print or write words that look like junk."""
    from hdsp.analysis.checks import junk_columns

    table: Table = junk_columns(fitted)
    if common.is_answered(options, table, "junk"):
        return
    if not table["word"]:
        print("No word of a topic looks like the remains of a web page.")
        return
    tokens = common.percentages(table["share"])
    common.print_columns({**_named(table), "tokens": tokens, "word": table["word"]})
    print("Leave them out: write them to a file, one per line, and fit with --stop-words FILE.")


def _named(table: Table) -> Table:
    """The first columns of what is printed: topics, and their names if they have any."""
    return {
        "topic": table["topic"],
        **({"name": table["name"]} if any(table.get("name", ())) else {}),
    }


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

    with common.printed_warnings():
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

    with common.printed_warnings():
        given = options.names
        names = TopicNames() if given is None else TopicNames.read(given, model)
        result = names.kept(model, options.merge)
        result.save(options.output)
    named, fitted = result.topic_names_, result.fitted_topics_
    if options.json:
        numbers = {"topics": len(fitted), "names": named, "fitted_topics": fitted}
        common.print_json({"model": options.output, **numbers})
        return
    called = {topic: f"{topic} {name}" for topic, name in named.items()}
    merged = ", ".join(
        f"{called.get(topic, topic)} is {' + '.join(map(str, own))} of the fit"
        for topic, own in enumerate(fitted)
        if len(own) > 1
    )
    told = f"; {merged}" if merged else ""
    print(printable(f"{options.output}: {len(fitted)} topics{told}."))


def _print_stable(fitted: "FittedModel", table: Table, numbers: list[int]) -> None:
    found = ", ".join(map(str, numbers))
    print(
        f"{fitted.report.n_topics} topics; with other seeds {found}. Topics that come back first:"
    )
    order = sorted(range(len(table["topic"])), key=lambda k: -table["similarity"][k])
    table = rows_of(table, order)
    common.print_columns(
        {
            "topic": table["topic"],
            "tokens": common.percentages(table["share"]),
            "in common": [f"{similarity:.2f}" for similarity in table["similarity"]],
            "found in": [f"{times} of {len(numbers)}" for times in table["found_in"]],
            "words": table["words"],
        }
    )


def _print_about(model: "HDSP", options: argparse.Namespace) -> None:
    """Print the record of the fit."""
    record = model.provenance_
    if options.json:
        common.print_json(record)
        return
    versions = record.pop("versions") or {"hdsp": "not recorded"}
    if (seed := record.pop("random_state")) is None:
        seed = "none, so that another fit will differ"
    for name, value in {**versions, "seed": seed, **record}.items():
        print(f"{name:<14}{value}")


def _print_correlations(fitted: "FittedModel", options: argparse.Namespace) -> None:
    """Print the pairs whose interval excludes 0, or write all."""
    from hdsp.analysis.topics import correlation_columns, top_words

    table: Table = correlation_columns(fitted, 0.9)
    if common.is_answered(options, table, "correlations"):
        return
    lower, upper, found = table["lower"], table["upper"], table["correlation"]
    sure = [i for i, value in enumerate(lower) if value > 0 or upper[i] < 0]
    total = len(lower)
    print(f"{len(sure):,} of {total:,} pairs correlate, given labels (90% intervals exclude 0):")
    if not options.all:
        sure = sorted(sure, key=lambda i: -abs(found[i]))[:_PAIRS]
    table = rows_of(table, sorted(sure, key=lambda i: -found[i]))
    words = top_words(fitted, min(options.words, 4))

    def called(side: str, name: str) -> list[str]:
        named = table.get(name, [""] * len(table[side]))
        return [f"{k} {n or ' '.join(words[k])}" for k, n in zip(table[side], named, strict=True)]

    common.print_columns(
        {
            "correlation": [f"{value:+.2f}" for value in table["correlation"]],
            "interval": [
                f"{low:+.2f} to {high:+.2f}"
                for low, high in zip(table["lower"], table["upper"], strict=True)
            ],
            "raw": [f"{value:+.2f}" for value in table["raw"]],
            "topic": called("topic", "name"),
            "other": called("other", "other_name"),
        }
    )


def _print_asked(fitted: "FittedModel", model: "HDSP | None", options: argparse.Namespace) -> None:
    """Print or write the topics of a word, or the documents of each topic."""
    from hdsp.analysis.documents import typical_columns
    from hdsp.analysis.topics import word_columns

    table: Table
    if options.find is not None or model is None:
        name, table = "topics", word_columns(fitted, options.find)
        share, last = "share", "words"
    else:
        options.file = options.documents
        with common.printed_warnings():
            corpus, texts = read_with_texts(options, model)
        with progress.task(f"Finding topics of {len(corpus):,} documents"):
            table = typical_columns(fitted, corpus, None, None, _DOCUMENTS, model.n_jobs, texts)
        name, share, last = "documents", "proportion", "id" if corpus.ids else "document"
        if not options.all:
            used = [i for i, topic in enumerate(table["topic"]) if topic < fitted.report.n_topics]
            table = rows_of(table, used)
    if common.is_answered(options, table, name):
        return
    if options.find is not None and not options.all:
        # Topics that hold next to nothing of a word say nothing.
        table = rows_of(table, [i for i, s in enumerate(table[share]) if s >= _LEAST_SHARE])
    common.print_columns(
        {
            **_named(table),
            share: common.percentages(table[share]),
            last.replace("_", " "): table[last],
            **({"text": [_short(text) for text in table["text"]]} if "text" in table else {}),
        }
    )


def _short(text: str) -> str:
    """A text as one line that is not long."""
    line = " ".join(text.split())
    return line if len(line) <= _CHARACTERS else f"{line[: _CHARACTERS - 1]}…"
