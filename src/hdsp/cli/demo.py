"""`hdsp demo`: the built-in corpus, fitted, with its topics and what labels do to them."""

import argparse
import warnings
from typing import TYPE_CHECKING, Any

from hdsp import progress
from hdsp.cli.common import add_command

if TYPE_CHECKING:
    from hdsp.corpus import Corpus
    from hdsp.estimator import HDSP

_TOPICS_SHOWN = 12
_LABELS_SHOWN = 8
_EFFECTS_SHOWN = 2


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = add_command(
        commands,
        "demo",
        "fit the docstrings of NumPy, SciPy and scikit-learn, and print topics and label effects",
        ("hdsp demo", "hdsp demo --topics 30"),
    )
    parser.add_argument(
        "--topics", type=int, help="exactly this many (default: as many as the corpus needs)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random start (default 0)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Fit and print."""
    with progress.task("Reading docstrings"):
        from hdsp.datasets import load_docstrings
        from hdsp.estimator import HDSP

        corpus = load_docstrings()
    print(f"{corpus!r}\n")
    number = {} if options.topics is None else {"n_components": options.topics}
    model = HDSP(**number, fixed_number=bool(number), random_state=options.seed)
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


def _print_topics(model: "HDSP") -> None:
    words = model.top_words(8)
    shown = min(_TOPICS_SHOWN, len(words))
    print(f"The {shown} largest of {model.n_topics_} topics in use:")
    share = model.topics()["token_share"]
    for topic in range(shown):
        print(f"  {topic:>3}  {share[topic]:6.1%}  {' '.join(words[topic])}")


def _print_effects(model: "HDSP", corpus: "Corpus") -> None:
    """For the largest modules: the topics whose expected share they raise most, and how surely."""
    import numpy as np

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


def _unlabelled_perplexity(model: "HDSP", corpus: "Corpus") -> float:
    from hdsp.corpus import Corpus

    unlabelled = Corpus(corpus.counts, words=corpus.words)
    return float(model.perplexity(unlabelled))
