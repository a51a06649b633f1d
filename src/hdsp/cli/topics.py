"""`hdsp topics` and `hdsp stability`: the topics of a model, and which topics recur."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from hdsp import progress
from hdsp.cli.options import (
    ALL,
    N_WORDS,
    NAMES,
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
    rows_of,
)
from hdsp.cli.reading import fitted_model, load, load_fitted, read_documents, read_with_texts
from hdsp.progress import printable

if TYPE_CHECKING:
    from hdsp.estimator import HDSP

# Topics of a word are printed from this share of its tokens on.
_MIN_SHARE = 0.01
_DOCUMENTS_PER_TOPIC, _CHARACTERS = 3, 100
_PAIRS_SHOWN = 30
# Labels considered for the column of effects, and effects printed per topic.
_LABELS, _EFFECTS = 500, 3
_MODEL_SUFFIX = ".hdsp"


def add_parsers(commands: Any) -> None:
    """Add the commands."""
    parser = add_command(
        commands,
        "topics",
        "print the topics of a model",
        (
            "hdsp topics model.hdsp",
            "hdsp topics model.hdsp --n-words 20 -o topics.csv",
            "hdsp topics model.hdsp --find silk",
            "hdsp topics model.hdsp --documents reviews.parquet",
            "hdsp topics model.hdsp --correlations",
            "hdsp topics model.hdsp --junk",
            "hdsp topics model.hdsp --about",
            "hdsp topics model.hdsp --names topic-names.json",
            "hdsp topics model.hdsp --merge 0,1 -o merged.hdsp",
        ),
        topics,
    )
    add_model(parser, "documents, for the most typical of each topic", required=False)
    add_options(parser, N_WORDS, ALL)
    add_options(
        parser.add_mutually_exclusive_group(),
        Option("--find", "WORD", "print the topics of a word"),
        Option("--documents", "FILE", "print the most typical documents of each topic"),
        Option(
            "--correlations", None, "print topic pairs that co-occur more or less than expected"
        ),
        Option("--junk", None, "print topic words that look like web page remains"),
        Option("--about", None, "print the versions, seed, settings and data of the fit"),
    )
    edit = parser.add_argument_group("changing the model, in its file or in -o MODEL.hdsp")
    NAMES.add(edit)
    Option("--merge", "TOPICS", "merge topics, such as 3,17", _topics, [], repeated=True).add(edit)
    add_output(parser)
    parser = add_command(
        commands,
        "stability",
        "refit the model's documents with other seeds, and print which topics recur",
        ("hdsp stability model.hdsp reviews.parquet --n-fits 4",),
        stability,
    )
    add_model(parser, "the model's documents")
    add_options(parser, Option("--n-fits", "N", "refits (default: 4)", int, 4), N_WORDS, ALL)
    add_output(parser)


def _topics(text: str) -> list[int]:
    """Topics written as 3,17."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"topics to merge are integers separated by commas, such as 3,17. Got {text!r}"
        ) from None


def topics(options: argparse.Namespace) -> None:
    """Print or write a table, or write a model with other topics."""
    options.file = options.documents or options.file
    if (options.output or "").lower().endswith(_MODEL_SUFFIX):
        _write_model(options)
        return
    if options.merge:
        raise ValueError(
            f"--merge makes a new model: name it with -o, such as -o merged{_MODEL_SUFFIX}."
        )
    check_output(options.output, table=True)
    check_counts(options, "n_words")
    if options.names is not None:
        check_output(options.model)
        _keep_names(options)
    for asked, show in (
        (options.about, _about),
        (options.correlations, _correlations),
        (options.junk, _junk),
        (options.find is not None, _find),
        (options.file is not None, _documents),
    ):
        if asked:
            show(options)
            return
    _all_topics(options)


def _all_topics(options: argparse.Namespace) -> None:
    """The topics with their words and their strongest effects."""
    fitted = load_fitted(options)
    effects: dict[str, list[Any]] | None = None
    with printed_warnings(options), progress.task("Describing topics"):
        from hdsp.analysis.checks import junk_sentence
        from hdsp.analysis.label_effects import effect_columns
        from hdsp.analysis.topics import topic_columns

        if fitted.used.any():
            effects = effect_columns(fitted, most=_LABELS)
        table = topic_columns(fitted, options.n_words, effects)
    if not options.all:
        table = head(table, fitted.report.n_topics)

    def show(table: Table) -> None:
        coherence = ["" if value != value else f"{value:.2f}" for value in table["coherence"]]
        print_columns(
            _named(table)
            | {"share": percentages(table["share"]), "coherence": coherence}
            | {"words": table["words"]}
            | _strongest_effects(effects, len(table["topic"]), len(fitted.groups))
        )
        if effects is not None:
            print(
                "\nEffects are changes of a topic's share in percentage points, if their 90% "
                f"interval excludes 0. See all: hdsp effects {printable(options.model)}"
            )
        if sentence := junk_sentence(fitted):
            print(f"hdsp: {printable(sentence)}", file=sys.stderr)

    answer(options, "topics", table, show)


def _strongest_effects(effects: Table | None, n_shown: int, n_topics: int) -> dict[str, Any]:
    """The column of the strongest effects on each topic, in points, whose interval excludes 0."""
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


def _named(table: Table) -> dict[str, Any]:
    """The topic numbers, and the names of topics if any have names."""
    return {
        name: table[name]
        for name in ("topic", "name")
        if name in table and any(map(str, table[name]))
    }


def _junk(options: argparse.Namespace) -> None:
    """Words that look like the remains of web pages."""
    from hdsp.analysis.checks import junk_columns

    def show(table: Table) -> None:
        if not table["word"]:
            print("No topic word looks like the remains of a web page.")
            return
        shares = percentages(table["share"])
        print_columns(_named(table) | {"share": shares, "word": table["word"]})
        print(
            "To exclude them, write them to a file, one per line, and fit with --stop-words FILE."
        )

    answer(options, "junk", junk_columns(load_fitted(options)), show)


def _find(options: argparse.Namespace) -> None:
    """The topics of a word."""
    from hdsp.analysis.topics import word_columns

    def show(table: Table) -> None:
        least = 0.0 if options.all else _MIN_SHARE
        table = rows_of(table, [i for i, share in enumerate(table["share"]) if share >= least])
        shares = {"share": percentages(table["share"]), "words": table["words"]}
        print_columns(_named(table) | shares)

    answer(options, "topics", word_columns(load_fitted(options), options.find), show)


def _documents(options: argparse.Namespace) -> None:
    """The most typical documents of each topic."""
    model = load(options)
    fitted = fitted_model(model)
    with printed_warnings(options):
        corpus, texts = read_with_texts(options, model)
    with progress.task(f"Finding topics of {len(corpus):,} documents"):
        from hdsp.analysis.documents import typical_columns

        table: Table = typical_columns(
            fitted, corpus, None, None, _DOCUMENTS_PER_TOPIC, model.n_jobs, texts
        )
    if not options.all:
        used = [i for i, topic in enumerate(table["topic"]) if topic < fitted.report.n_topics]
        table = rows_of(table, used)

    def show(table: Table) -> None:
        name = "id" if corpus.ids else "document"
        columns = {"proportion": percentages(table["proportion"]), name: table[name]}
        texts = {"text": [_shortened(text) for text in table["text"]]} if "text" in table else {}
        print_columns(_named(table) | columns | texts)

    answer(options, "documents", table, show)


def _shortened(text: str) -> str:
    """The beginning of a text in one line."""
    line = " ".join(text.split())
    return line if len(line) <= _CHARACTERS else f"{line[: _CHARACTERS - 1]}…"


def _correlations(options: argparse.Namespace) -> None:
    """The topic pairs whose interval excludes 0, or all in a file."""
    from hdsp.analysis.topics import correlation_columns, top_words

    fitted = load_fitted(options)

    def show(table: Table) -> None:
        lower, upper, correlation = table["lower"], table["upper"], table["correlation"]
        pairs = [i for i, value in enumerate(lower) if value > 0 or upper[i] < 0]
        n_pairs = f"{len(pairs):,} of {len(lower):,} topic pairs"
        print(f"{n_pairs} are correlated, given labels (90% intervals exclude 0):")
        if not options.all:
            pairs = sorted(pairs, key=lambda i: -abs(correlation[i]))[:_PAIRS_SHOWN]
        table = rows_of(table, sorted(pairs, key=lambda i: -correlation[i]))
        words = top_words(fitted, min(options.n_words, 4))

        def titles(side: str) -> list[str]:
            return [f"{k} {fitted.topic_names.get(k) or ' '.join(words[k])}" for k in table[side]]

        print_columns(
            {
                "correlation": [f"{value:+.2f}" for value in table["correlation"]],
                "interval": intervals(table["lower"], table["upper"]),
                "raw": [f"{value:+.2f}" for value in table["raw"]],
                "topic": titles("topic"),
                "other": titles("other"),
            }
        )

    answer(options, "correlations", correlation_columns(fitted, 0.9), show)


def _about(options: argparse.Namespace) -> None:
    """The record of the fit."""
    record = load(options).provenance_
    if options.json:
        print_json(record)
        return
    versions = record.pop("versions") or {"hdsp": "not recorded"}
    if (seed := record.pop("random_state")) is None:
        seed = "none, so another fit will differ"
    for name, value in {**versions, "seed": seed, **record}.items():
        print(f"{name:<14}{value}")


def _keep_names(options: argparse.Namespace) -> None:
    """Write the names of a file to the model file."""
    from hdsp.report import read_names

    model: HDSP = load(options)
    with printed_warnings(options):
        model.name_topics(read_names(options.names, model))
        model.save(options.model)
    print(
        f"hdsp: {printable(options.model)} keeps the names of {printable(options.names)}.",
        file=sys.stderr,
    )


def _write_model(options: argparse.Namespace) -> None:
    """Write a model with names, or with topics merged."""
    from hdsp.report import read_names

    if not options.merge and options.names is None:
        raise ValueError(f"-o {options.output} would only copy the model: add --names or --merge.")
    check_output(options.output)
    model = load(options)
    with printed_warnings(options):
        if options.names is not None:
            model.name_topics(read_names(options.names, model))
        result = model.merge_topics(options.merge) if options.merge else model
        result.save(options.output)
    names_by_topic, groups = result.topic_names_, result.fitted_topics_
    if options.json:
        facts = {"topics": len(groups), "names": names_by_topic, "fitted_topics": groups}
        print_json({"model": options.output, **facts})
        return
    merged = ", ".join(
        f"{' '.join(filter(None, (str(topic), names_by_topic.get(topic))))} merges "
        f"{' + '.join(map(str, members))}"
        for topic, members in enumerate(groups)
        if len(members) > 1
    )
    print(printable(f"{options.output}: {len(groups)} topics{'; ' * bool(merged)}{merged}."))


def stability(options: argparse.Namespace) -> None:
    """Print how often each topic was found again, the most stable first."""
    check_output(options.output, table=True)
    check_counts(options, "n_fits", "n_words")
    model = load(options)
    fitted = fitted_model(model)
    from hdsp.analysis.refits import stability_columns
    from hdsp.analysis.topics import topic_columns

    with printed_warnings(options):
        corpus = read_documents(options, model)
        table = topic_columns(fitted, options.n_words, None)
        numbers, found = stability_columns(fitted, model, corpus, None, options.n_fits)
    table |= {name: found[name] for name in ("similarity", "lowest", "found_in")}
    if not options.all:
        table = head(table, fitted.report.n_topics)

    def show(table: Table) -> None:
        print(
            f"{fitted.report.n_topics} topics; with other seeds "
            f"{', '.join(map(str, numbers))}. Most stable topics first:"
        )
        order = sorted(range(len(table["topic"])), key=lambda k: -table["similarity"][k])
        table = rows_of(table, order)
        print_columns(
            _named(table)
            | {
                "share": percentages(table["share"]),
                "similarity": [f"{similarity:.2f}" for similarity in table["similarity"]],
                "found in": [f"{times} of {len(numbers)}" for times in table["found_in"]],
                "words": table["words"],
            }
        )

    answer(options, "topics", table, show, topics_in_fits=numbers)
