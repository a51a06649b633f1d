"""`hdsp fit`: from a file of documents to a model in a file."""

import argparse
from typing import Any

from hdsp.cli.common import add_command, add_json, check_output, print_json, printed_warnings
from hdsp.cli.reading import add_reading, opened_corpus
from hdsp.progress import printable


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = add_command(
        commands,
        "fit",
        "fit a model to documents and write it to a file",
        (
            "hdsp fit reviews.parquet --category department --numeric rating -o model.hdsp",
            "hdsp fit papers.csv --text abstract --tags keywords --tag-separator ';' -o a.hdsp",
            "hdsp fit corpus/ -o model.hdsp",
            "hdsp fit letters/ --metadata letters.csv --category sender -o letters.hdsp",
        ),
    )
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the file to write")
    add_reading(parser)
    model = parser.add_argument_group("model")
    model.add_argument("--topics", type=int, default=200, help="at most this many (default 200)")
    model.add_argument(
        "--fixed-number", action="store_true", help="exactly as many topics as --topics says"
    )
    model.add_argument("--seed", type=int, default=0, help="of the random start (default 0)")
    model.add_argument("--max-iter", type=int, default=100, help="passes at most (default 100)")
    model.add_argument("--tol", type=float, default=1e-3, help="when to stop (default 0.001)")
    model.add_argument("--jobs", type=int, help="threads; default: all cores")
    model.add_argument(
        "--checkpoint", metavar="DIR", help="save every pass here, and go on from it"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Read, fit, save, and say what came of it."""
    check_output(options.output)
    with printed_warnings(), opened_corpus(options) as corpus:
        from hdsp.estimator import HDSP

        model = HDSP(
            options.topics,
            fixed_number=options.fixed_number,
            max_iter=options.max_iter,
            tol=options.tol,
            n_jobs=options.jobs,
            random_state=options.seed,
            checkpoint=options.checkpoint,
        )
        model.fit(corpus)
        model.save(options.output)
    last = model.history_[-1]
    if options.json:
        print_json(
            {
                "model": options.output,
                "documents": len(corpus),
                "words": len(corpus.words),
                "tokens": corpus.n_tokens,
                "labels": len(model.label_names_),
                "topics": model.n_topics_,
                "passes": model.n_iter_,
                "converged": model.converged_,
                "bound": last["bound"],
                "seconds": last["seconds"],
            }
        )
        return
    output = printable(options.output)
    print(
        f"{output}: {model.n_topics_} topics in use, {len(model.label_names_)} labels, "
        f"{model.n_iter_} passes in {last['seconds']:.1f} s. See them: hdsp topics {output}"
    )
