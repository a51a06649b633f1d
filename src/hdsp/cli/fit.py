"""`hdsp fit`: from a file of documents to a model in a file."""

import argparse
import json
from pathlib import Path
from typing import Any

from hdsp.cli.common import (
    add_command,
    add_json,
    check_output,
    print_json,
    printed_warnings,
    written_formula,
)
from hdsp.cli.reading import add_reading, opened_corpus
from hdsp.progress import printable

# Parameters of HDSP whose options have the same names.
_PARAMETERS = ("max_iter", "tol", "content", "checkpoint", "batch_size")
# Of the seconds of a fit, those of the longest stages.
_STAGES_SHOWN = 4


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = add_command(
        commands,
        "fit",
        "fit a model to documents and write it to a file",
        (
            "hdsp fit reviews.parquet --category department --numeric rating -o model.hdsp",
            "hdsp fit papers.csv --text abstract --tags keywords --tag-separator ';' -o a.hdsp",
            "hdsp fit reviews.parquet --category department --group reviewer -o model.hdsp",
            "hdsp fit reviews.parquet --category department --numeric rating "
            "--formula '~ department * s(rating)' -o curves.hdsp",
            "hdsp fit reviews.parquet --seeds seeds.json -o steered.hdsp",
            "hdsp fit reviews.parquet --category department --content department -o sides.hdsp",
            "hdsp fit corpus/ -o model.hdsp",
            "hdsp fit letters/ --metadata letters.csv --category sender -o letters.hdsp",
            "hdsp fit corpus/ --stochastic --dask tcp://host:8786 -o model.hdsp",
        ),
        run,
    )
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the file to write")
    add_reading(parser)
    model = parser.add_argument_group("model")
    model.add_argument("--topics", type=int, default=200, help="at most this many (default 200)")
    model.add_argument(
        "--fixed-number", action="store_true", help="exactly as many topics as --topics says"
    )
    model.add_argument(
        "--formula",
        metavar="FORMULA",
        help='what labels do, such as "~ ideology * s(day) + (1 | blog)"; default: each by itself',
    )
    model.add_argument(
        "--seeds",
        metavar="FILE",
        help='words that steer topics, as JSON: {"budget": ["tax", "deficit"]}',
    )
    model.add_argument(
        "--content",
        metavar="LABEL",
        help="a category whose levels have their own words for the same topics",
    )
    model.add_argument("--seed", type=int, default=0, help="of the random start (default 0)")
    model.add_argument("--max-iter", type=int, default=100, help="passes at most (default 100)")
    model.add_argument("--tol", type=float, default=1e-3, help="when to stop (default 0.001)")
    model.add_argument("--jobs", type=int, help="threads; default: all cores")
    model.add_argument(
        "--checkpoint", metavar="DIR", help="save every pass here, and go on from it"
    )
    large = parser.add_argument_group("large corpora")
    large.add_argument(
        "--stochastic",
        action="store_true",
        help="a step per batch, in one pass over many documents",
    )
    large.add_argument(
        "--batch-size", type=int, metavar="N", help="documents per step (default: by their number)"
    )
    large.add_argument(
        "--dask", metavar="ADDRESS", help="fit on a Dask cluster: its scheduler's address"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Read, fit, save, and say what came of it."""
    check_output(options.output)
    seeds = None if options.seeds is None else _read_seeds(options.seeds)
    with printed_warnings(), opened_corpus(options) as corpus:
        from hdsp.estimator import HDSP

        model = HDSP(
            options.topics if options.fixed_number else "auto",
            max_components=options.topics,
            scaling="auto" if options.formula is None else written_formula(options.formula),
            n_jobs=options.jobs,
            seeds=seeds,
            random_state=options.seed,
            inference="stochastic" if options.stochastic else "batch",
            executor=options.dask,
            **{name: getattr(options, name) for name in _PARAMETERS},
        )
        model.fit(corpus)
        model.save(options.output)
    last = model.history_[-1]
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
                "bound": last["bound"],
                "seconds": sum(seconds.values()),
                "stages": seconds,
            }
        )
        return
    from hdsp.checks import count_of

    output = printable(options.output)
    longest = sorted(seconds, key=lambda stage: -seconds[stage])[:_STAGES_SHOWN]
    told = ", ".join(f"{stage} {seconds[stage]:.1f}" for stage in longest)
    print(
        f"{output}: {count_of(model.n_topics_, 'topic')} in use, "
        f"{count_of(len(model.label_names_), 'label')}, {model.n_iter_} passes, "
        f"{sum(seconds.values()):.1f} s (the longest: {told}). See them: hdsp topics {output}"
    )
    print(model.number_summary_)


def _read_seeds(path: str) -> dict[str, list[str]]:
    """Words that steer topics; `HDSP` checks the rest."""
    try:
        seeds = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(
            f"{path} is no JSON: {error}. Write names of topics and their words, such as "
            '{"budget": ["tax", "deficit"]}.'
        ) from error
    if not isinstance(seeds, dict):
        raise ValueError(
            f"{path} must hold names of topics and their words, such as "
            f'{{"budget": ["tax", "deficit"]}}. Got a {type(seeds).__name__}.'
        )
    return seeds
