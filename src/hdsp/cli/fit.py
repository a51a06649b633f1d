"""`hdsp prepare` and `hdsp fit`: from files to a stored corpus or a model."""

import argparse
import json
from pathlib import Path
from typing import Any

from hdsp.cli.effects import completed_formula
from hdsp.cli.options import LARGE, MODEL, Option, add_command, add_files, add_options, chosen
from hdsp.cli.output import check_output, check_parent, check_writable, print_json, printed_warnings
from hdsp.cli.reading import is_table, opened_corpus, prepare_files, read_file
from hdsp.progress import printable

# Of the seconds of a fit, those of the longest stages are printed.
_STAGES_SHOWN = 4
_SEEDS_EXAMPLE = '{"budget": ["tax", "deficit"]}'


def add_parsers(commands: Any) -> None:
    """Add the commands."""
    parser = add_command(
        commands,
        "prepare",
        "write documents to a corpus on disk, which commands read part by part",
        (
            "hdsp prepare data/*.parquet --tags labels -o corpus/",
            "hdsp prepare new/*.parquet --tags labels --like model.hdsp -o new-corpus/",
            "zcat dump.jsonl.gz | hdsp prepare - --format jsonl -o corpus/",
        ),
        prepare,
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="FOLDER", help="the folder to write"
    )
    Option("--like", "MODEL", "count the words of a model, in its order").add(parser)
    add_files(parser)
    parser = add_command(
        commands,
        "fit",
        "fit a model to documents and write it to a file",
        (
            "hdsp fit reviews.parquet --categories department --numeric rating -o model.hdsp",
            "hdsp fit papers.csv --text abstract --tags keywords --tag-separator ';' -o a.hdsp",
            "hdsp fit reviews.parquet --categories department --groups reviewer -o model.hdsp",
            "hdsp fit reviews.parquet --categories department --numeric rating "
            "--scaling '~ department * s(rating)' -o curves.hdsp",
            "hdsp fit reviews.parquet --seeds seeds.json -o steered.hdsp",
            "hdsp fit reviews.parquet --categories department --content department -o sides.hdsp",
            "hdsp fit corpus/ -o model.hdsp",
            "hdsp fit letters/ --metadata letters.csv --categories sender -o letters.hdsp",
            "hdsp fit corpus/ --inference stochastic -o model.hdsp",
        ),
        fit,
    )
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the file to write")
    add_files(parser)
    add_options(parser.add_argument_group("model"), *MODEL)
    add_options(parser.add_argument_group("large corpora"), *LARGE)


def prepare(options: argparse.Namespace) -> None:
    """Read, count and write."""
    from hdsp.corpus import open_corpus
    from hdsp.corpus.preparing import check_replaceable

    folder = Path(options.output)
    check_parent(options.output)
    check_replaceable(folder)
    check_writable(folder.absolute().parent)
    with printed_warnings(options):
        if len(options.files) > 1 or is_table(options.files[0], options.format):
            like = None
            if options.like is not None:
                from hdsp.estimator import HDSP

                like = HDSP.load(options.like)
            prepare_files(options, options.output, like)
        elif options.like is not None:
            raise ValueError(f"--like needs tables of texts, and {options.files[0]} is not one.")
        else:
            read_file(options.files[0], options).write(folder)
    stored = open_corpus(folder)
    facts = {
        "corpus": options.output,
        "documents": len(stored),
        "words": stored.n_words,
        "tokens": stored.n_tokens,
        "labels": stored.schema.n_labels,
        "parts": len(stored.shards),
    }
    if options.json:
        print_json(facts)
        return
    output = printable(options.output)
    print(
        f"{output}: {len(stored):,} documents, {stored.n_words:,} words, {stored.n_tokens:,.0f} "
        f"tokens, {stored.schema.n_labels:,} labels. Fit them: hdsp fit {output} -o model.hdsp"
    )


def fit(options: argparse.Namespace) -> None:
    """Read, fit, save and print a summary."""
    check_output(options.output)
    parameters = chosen(options, *MODEL, *LARGE)
    if options.scaling is not None:
        parameters["scaling"] = completed_formula(options.scaling)
    if options.seeds is not None:
        parameters["seeds"] = _read_seeds(options.seeds)
    with printed_warnings(options), opened_corpus(options) as corpus:
        from hdsp.estimator import HDSP

        model = HDSP(**parameters).fit(corpus)
        model.save(options.output)
    seconds = {row["stage"]: row["seconds"] for row in model.stages_}
    if options.json:
        print_json(
            {
                "model": options.output,
                "documents": len(corpus),
                "words": len(corpus.words),
                "tokens": corpus.n_tokens,
                "labels": len(model.label_names_),
                "topics": model.n_topics_,
                "number": model.number_summary_,
                "passes": model.n_iter_,
                "converged": model.converged_,
                "bound": model.history_[-1]["bound"],
                "seconds": sum(seconds.values()),
                "stages": seconds,
            }
        )
        return
    from hdsp.checks import count_of

    output = printable(options.output)
    longest = sorted(seconds, key=lambda stage: -seconds[stage])[:_STAGES_SHOWN]
    print(
        f"{output}: {count_of(model.n_topics_, 'topic')} in use, "
        f"{count_of(len(model.label_names_), 'label')}, {model.n_iter_} passes, "
        f"{sum(seconds.values()):.1f} s (longest: "
        f"{', '.join(f'{stage} {seconds[stage]:.1f}' for stage in longest)}). "
        f"See them: hdsp topics {output}"
    )
    print(model.number_summary_)


def _read_seeds(path: str) -> dict[str, list[str]]:
    """Seed words by topic name; `HDSP` checks the rest."""
    try:
        seeds = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(
            f"{path} is not JSON: {error}. Write topic names and their words, such as "
            f"{_SEEDS_EXAMPLE}."
        ) from error
    if not isinstance(seeds, dict):
        raise ValueError(
            f"{path} must map topic names to words, such as {_SEEDS_EXAMPLE}. Got a "
            f"{type(seeds).__name__}."
        )
    return seeds
