"""`hdsp demo`: the built-in corpus, fitted, with its topics and what labels do to them."""

import argparse
import sys
import warnings
from typing import Any

import numpy as np

from hdsp.corpus import Corpus
from hdsp.datasets import load_docstrings
from hdsp.estimator import HDSP

_TOPICS_SHOWN = 12
_EFFECTS_SHOWN = 3


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "demo",
        help="fit the docstrings of NumPy, SciPy and scikit-learn",
        description="Fit a model to the docstrings of the scientific Python packages installed "
        "here, and print its topics and what labels do to them.",
    )
    parser.add_argument("--topics", type=int, default=40, help="at most this many (default 40)")
    parser.add_argument("--seed", type=int, default=0, help="of the random start (default 0)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Fit and print."""
    progress = sys.stderr.isatty()
    if progress:
        print("Reading docstrings ...", file=sys.stderr)
    corpus = load_docstrings()
    print(f"{corpus!r}\n")
    model = HDSP(n_components=options.topics, random_state=options.seed, verbose=int(progress))
    train, test = corpus.split(test_size=0.1, random_state=0)
    with warnings.catch_warnings():
        # Forty topics are chosen to be readable, not to be enough.
        warnings.filterwarnings("ignore", message="All .* topics are in use")
        model.fit(train)
    _print_topics(model)
    _print_effects(model, train)
    print(
        f"\nPerplexity of held-out docstrings: {model.perplexity(test):,.0f} from their labels "
        f"alone, {model.perplexity(test, given='completion'):,.0f} with half of their words; "
        f"{_unlabelled_perplexity(model, test):,.0f} from nothing."
    )


def _print_topics(model: HDSP) -> None:
    words = model.top_words(8)
    shown = min(_TOPICS_SHOWN, len(words))
    print(f"The {shown} largest of {model.n_topics_} topics in use:")
    share = model.topics()["token_share"]
    for topic in range(shown):
        print(f"  {topic:>3}  {share[topic]:6.1%}  {' '.join(words[topic])}")


def _print_effects(model: HDSP, corpus: Corpus) -> None:
    """For each module: the topics whose expected share it raises most."""
    print("\nWhat a label does: the topics that a module raises most above the corpus")
    modules = corpus.labels.block("module")
    sizes = np.asarray(modules.values.sum(axis=0))
    words = model.top_words(3)
    baseline = model.expected_topics(corpus.labels).mean(axis=0)
    for column in np.argsort(-sizes)[:8]:
        carriers = corpus.labels[modules.values[:, [column]].toarray().ravel() > 0]
        change = model.expected_topics(carriers).mean(axis=0) - baseline
        best = np.argsort(-change)[:_EFFECTS_SHOWN]
        shown = ", ".join(f"{' '.join(words[k])} ({change[k]:+.0%})" for k in best)
        print(f"  {modules.columns[column]:<24} {shown}")


def _unlabelled_perplexity(model: HDSP, corpus: Corpus) -> float:
    unlabelled = Corpus(corpus.counts, words=corpus.words)
    return float(model.perplexity(unlabelled))
