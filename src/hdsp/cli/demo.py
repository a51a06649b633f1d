"""`hdsp demo`: the built-in corpus, fitted, with its topics and what labels do to them."""

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from hdsp.cli.common import check_output
from hdsp.corpus import Corpus
from hdsp.datasets import collect_docstrings, load_docstrings
from hdsp.estimator import HDSP

_TOPICS_SHOWN = 12
_LABELS_SHOWN = 8
_EFFECTS_SHOWN = 2


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "demo",
        help="fit the docstrings of NumPy, SciPy and scikit-learn",
        description="Fit a model to the docstrings of the scientific Python packages installed "
        "here, print its topics and what labels do to them, and write a report to look at.",
    )
    parser.add_argument(
        "--topics", type=int, help="exactly this many (default: as many as the corpus needs)"
    )
    parser.add_argument(
        "-o", "--output", default="report.html", help="the report to write (default report.html)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random start (default 0)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Fit and print."""
    check_output(options.output)
    progress = sys.stderr.isatty()
    if progress:
        print("Reading docstrings ...", file=sys.stderr)
    corpus = load_docstrings()
    print(f"{corpus!r}\n")
    number = {} if options.topics is None else {"n_components": options.topics}
    model = HDSP(
        **number, fixed_number=bool(number), random_state=options.seed, verbose=int(progress)
    )
    train, test = corpus.split(test_size=0.1, random_state=0)
    with warnings.catch_warnings():
        # The docstrings installed here may ask for a few more topics than there may be.
        warnings.filterwarnings("ignore", message=".* topics are in use of")
        model.fit(train)
    _print_topics(model)
    _print_effects(model, train)
    print(
        f"\nPerplexity of held-out docstrings: {model.perplexity(test):,.0f} from their labels "
        f"alone, {model.perplexity(test, given='completion'):,.0f} with half of their words; "
        f"{_unlabelled_perplexity(model, test):,.0f} from nothing."
    )
    write_demo_report(model, corpus, options.output)
    print(f"\nTo look at topics, labels and documents, open {Path(options.output).absolute()}")


def write_demo_report(model: HDSP, corpus: Corpus, path: str) -> None:
    """The report of a model of docstrings, with their names and texts."""
    records = collect_docstrings()
    named = Corpus(
        corpus.counts,
        corpus.words,
        corpus.labels,
        text_settings=corpus.text_settings,
        ids=[record.name for record in records],
    )
    model.report(
        path,
        named,
        texts=[record.text for record in records],
        title="Docstrings of NumPy, SciPy and scikit-learn",
    )


def _print_topics(model: HDSP) -> None:
    words = model.top_words(8)
    shown = min(_TOPICS_SHOWN, len(words))
    print(f"The {shown} largest of {model.n_topics_} topics in use:")
    share = model.topics()["token_share"]
    for topic in range(shown):
        print(f"  {topic:>3}  {share[topic]:6.1%}  {' '.join(words[topic])}")


def _print_effects(model: HDSP, corpus: Corpus) -> None:
    """For the largest modules: the topics whose expected share they raise most, and how surely."""
    print(
        "\nWhat a label does: topics that a module raises, against other modules (90 % intervals)"
    )
    modules = corpus.labels.block("module")
    sizes = np.asarray(modules.values.sum(axis=0))
    words = model.top_words(3)
    effects = model.label_effects(labels="module")
    for column in np.argsort(-sizes)[:_LABELS_SHOWN]:
        own = effects[effects["contrast"] == f"{modules.columns[column]} - other module"]
        best = own.nlargest(_EFFECTS_SHOWN, "effect")
        shown = ", ".join(
            f"{' '.join(words[row.topic])} +{row.effect:.0%} ({row.lower:.0%} to {row.upper:.0%})"
            for row in best.itertuples()
        )
        print(f"  {modules.columns[column]:<24} {shown}")


def _unlabelled_perplexity(model: HDSP, corpus: Corpus) -> float:
    unlabelled = Corpus(corpus.counts, words=corpus.words)
    return float(model.perplexity(unlabelled))
