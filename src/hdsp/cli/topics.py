"""`hdsp topics` and `hdsp stability`: the topics of a model, and which topics recur."""

import sys
from argparse import Namespace

from hdsp import progress
from hdsp.cli import options as opt
from hdsp.cli.output import Table, answer, answer_table, head, intervals, print_columns, rows_of
from hdsp.cli.reading import load, load_fitted, read_documents, read_with_texts
from hdsp.progress import printable

# Topics of a word are printed from this share of its tokens on.
_MIN_SHARE = 0.01
_DOCUMENTS_PER_TOPIC, _CHARACTERS = 3, 100
_PAIRS_SHOWN = 30
# Labels considered for the column of effects, and effects printed per topic.
_LABELS, _EFFECTS = 500, 3
_STRONGEST = "strongest effects (points)"
_MODEL_SUFFIX = ".hdsp"


def table_or_model(path: str) -> str:
    """A file for a table or a model."""
    return opt.output_file(path) if path.endswith(_MODEL_SUFFIX) else opt.output_table(path)


def topic_list(text: str) -> list[int]:
    """Topics written as 3,17."""
    return [int(part) for part in text.split(",")]


@opt.command(
    *opt.OPTIONAL_DOCUMENTS,
    opt.N_WORDS,
    opt.ALL,
    opt.Group(
        None,
        opt.option("--find", "WORD", "print the topics of a word"),
        opt.option("--documents", "FILE", "print the most typical documents of each topic"),
        opt.option(
            "--correlations", None, "print topic pairs that co-occur unusually often or rarely"
        ),
        opt.option("--junk", None, "print topic words that look like web page remains"),
        opt.option("--about", None, "print the versions, seed, settings and data of the fit"),
    ),
    opt.Group(
        "changing the model, in its file or in -o MODEL.hdsp",
        opt.NAMES,
        opt.option(
            "--merge", "3,17", "topics to merge; may be repeated", topic_list, action="append"
        ),
    ),
    opt.output(
        "FILE", "a table (.csv, .tsv, .jsonl, .parquet) or model (.hdsp) to write", table_or_model
    ),
    opt.FORMULAS,
)
def topics(options: Namespace) -> None:
    """Print the topics of a model.

    hdsp topics model.hdsp
    hdsp topics model.hdsp --n-words 20 -o topics.csv
    hdsp topics model.hdsp --find silk
    hdsp topics model.hdsp --documents reviews.parquet
    hdsp topics model.hdsp --correlations
    hdsp topics model.hdsp --junk
    hdsp topics model.hdsp --about
    hdsp topics model.hdsp --names topic-names.json
    hdsp topics model.hdsp --merge 0,1 -o merged.hdsp
    """
    options.file = options.documents or options.file
    is_model = (options.output or "").endswith(_MODEL_SUFFIX)
    if options.names is not None or options.merge or is_model:
        _edit(options, options.output if is_model else None)
    modes = (
        (options.about, _about),
        (options.correlations, _correlations),
        (options.junk, _junk),
        (options.find is not None, _find),
        (options.file, _documents),
    )
    next((show for asked, show in modes if asked), _all_topics)(options)


def _edit(options: Namespace, output: str | None) -> None:
    """Give topics names or merge them, in the model file or in another, which is shown then."""
    from hdsp.report import read_names

    if options.merge and output is None:
        raise ValueError("--merge makes a new model: name it with -o, such as merged.hdsp.")
    if not options.merge and options.names is None:
        raise ValueError(f"-o {output} would only copy the model: add --names or --merge.")
    model = load(options)
    if options.names is not None:
        model.name_topics(read_names(options.names, model))
    if options.merge:
        model = model.merge_topics(options.merge)
    if output is not None:
        options.model, options.output = output, None
    model.save(options.model)
    print(f"hdsp: wrote {printable(options.model)}.", file=sys.stderr)


def _all_topics(options: Namespace) -> None:
    """The topics with their words and their strongest effects."""
    fitted = load_fitted(options)
    with progress.task("Describing topics"):
        from hdsp.analysis.checks import junk_sentence
        from hdsp.analysis.label_effects import effect_columns
        from hdsp.analysis.topics import topic_columns

        effects = effect_columns(fitted, most=_LABELS) if fitted.used.any() else {"label": []}
        table = topic_columns(fitted, options.n_words, effects)

    def show(table: Table) -> None:
        print_topics(table, effects, len(fitted.groups))
        if effects["label"]:
            print(
                "\nEffects are changes of a topic's share in percentage points, if their 90% "
                f"interval excludes 0. See all: hdsp effects {printable(options.model)}"
            )
        if sentence := junk_sentence(fitted):
            print(f"hdsp: {printable(sentence)}", file=sys.stderr)

    n_rows = None if options.all else fitted.report.n_topics
    answer_table(options, "topics", head(table, n_rows), show)


def print_topics(table: Table, effects: Table, n_topics: int) -> None:
    """Print topics with the strongest effects, in points, whose interval excludes 0."""
    shown = dict(table)
    if effects["label"]:
        cells: list[list[tuple[float, str]]] = [[] for _ in range(n_topics)]
        columns = (effects[name] for name in ("topic", "label", "effect", "lower", "upper"))
        for topic, label, effect, lower, upper in zip(*columns, strict=True):
            if lower > 0 or upper < 0:
                cells[topic].append((-abs(effect), f"{label} {100 * effect:+.1f}"))
        texts = ["; ".join(text for _, text in sorted(own)[:_EFFECTS]) for own in cells]
        shown[_STRONGEST] = texts[: len(shown["topic"])]
    names = ("topic", "name", "fitted_topics", "share", "coherence", "words", _STRONGEST)
    print_columns(shown, *names)


def _junk(options: Namespace) -> None:
    """Words that look like the remains of web pages."""
    from hdsp.analysis.checks import junk_columns

    hint = "To exclude them, write them to a file, one per line, and fit with --stop-words FILE."

    def show(table: Table) -> None:
        print_columns(table, "topic", "name", "share", "word")
        print(hint)

    none = "No topic word looks like the remains of a web page."
    answer_table(options, "junk", junk_columns(load_fitted(options)), show, none)


def _find(options: Namespace) -> None:
    """The topics of a word."""
    from hdsp.analysis.topics import word_columns

    def show(table: Table) -> None:
        least = 0.0 if options.all else _MIN_SHARE
        rows = [row for row, share in enumerate(table["share"]) if share >= least]
        print_columns(rows_of(table, rows), "topic", "name", "share", "words")

    answer_table(options, "topics", word_columns(load_fitted(options), options.find), show)


def _documents(options: Namespace) -> None:
    """The most typical documents of each topic."""
    model = load(options)
    corpus, texts = read_with_texts(options, model).values()
    with progress.task(f"Finding topics of {len(corpus):,} documents"):
        from hdsp.analysis.documents import typical_columns

        asked = (None, None, _DOCUMENTS_PER_TOPIC, model.n_jobs, texts)
        table: Table = typical_columns(model._model, corpus, *asked)
    if not options.all:
        table = head(table, sum(topic < model.n_topics_ for topic in table["topic"]))

    def show(table: Table) -> None:
        shown, number = dict(table), "id" if "id" in table else "document"
        if "text" in table:
            shown["text"] = [_shortened(text) for text in table["text"]]
        print_columns(shown, "topic", "name", "proportion", number, "text")

    answer_table(options, "documents", table, show)


def _shortened(text: str) -> str:
    """The beginning of a text in one line."""
    line = " ".join(text.split())
    return line if len(line) <= _CHARACTERS else f"{line[: _CHARACTERS - 1]}…"


def _correlations(options: Namespace) -> None:
    """The topic pairs whose interval excludes 0, or all in a file."""
    from hdsp.analysis.topics import correlation_columns, top_words

    fitted = load_fitted(options)

    def show(table: Table) -> None:
        limits = zip(table["lower"], table["upper"], strict=True)
        pairs = [row for row, (lower, upper) in enumerate(limits) if lower > 0 or upper < 0]
        n_pairs = f"{len(pairs):,} of {len(table['lower']):,} topic pairs"
        print(f"{n_pairs} are correlated, given labels (90% intervals exclude 0).")
        correlation, words = table["correlation"], top_words(fitted, min(options.n_words, 4))
        if not options.all:
            pairs = sorted(pairs, key=lambda row: -abs(correlation[row]))[:_PAIRS_SHOWN]
        shown = rows_of(table, sorted(pairs, key=lambda row: -correlation[row]))
        for side in ("topic", "other"):
            names = (fitted.topic_names.get(k) or " ".join(words[k]) for k in shown[side])
            shown[side] = [f"{k} {name}" for k, name in zip(shown[side], names, strict=True)]
        shown["interval"] = intervals(shown, "+.2f")
        if pairs:
            print_columns(shown, "correlation", "interval", "raw", "topic", "other")

    answer_table(options, "correlations", correlation_columns(fitted, 0.9), show)


def _about(options: Namespace) -> None:
    """The record of the fit."""
    record = load(options).provenance_
    lines = [(name, value) for name, value in record.items() if name != "versions"]
    lines = [*record["versions"].items(), *lines]
    answer(options, record, *(f"{name:<14}{value}" for name, value in lines))


_N_FITS = opt.option("--n-fits", "N", "number of refits", opt.count, 4)


@opt.command(*opt.DOCUMENTS, _N_FITS, opt.N_WORDS, opt.ALL, *opt.TABLE)
def stability(options: Namespace) -> None:
    """Refit the model's documents with other seeds, and print which topics recur.

    hdsp stability model.hdsp reviews.parquet --n-fits 4
    """
    model = load(options)
    corpus = read_documents(options, model)
    from hdsp.analysis.label_effects import stability_columns
    from hdsp.analysis.topics import topic_columns

    fitted = model._model
    numbers, found = stability_columns(fitted, model, corpus, None, options.n_fits)
    described = {**found, **topic_columns(fitted, options.n_words)}
    table = head(described, None if options.all else model.n_topics_)

    def show(table: Table) -> None:
        fits = ", ".join(map(str, numbers))
        print(f"{model.n_topics_} topics; with other seeds {fits}. Most stable topics first:")
        order = sorted(range(len(table["topic"])), key=lambda k: -table["similarity"][k])
        names = ("topic", "name", "share", "similarity", "found_in", "fits", "words")
        print_columns(rows_of(table, order), *names)

    answer_table(options, "topics", table, show, topics_in_fits=numbers)
