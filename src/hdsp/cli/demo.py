"""`hdsp demo`: fit the built-in corpus and print its topics and label effects."""

import argparse
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdsp import progress
from hdsp.cli.common import add_command, check_output, fitted_model
from hdsp.cli.tables import Table

if TYPE_CHECKING:
    from hdsp.corpus import Corpus, LabelBlock
    from hdsp.estimator import HDSP

_TOPICS_SHOWN = 12
_LABELS_SHOWN = 8
_EFFECTS_SHOWN = 3


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = add_command(
        commands,
        "demo",
        "fit the docstrings of NumPy, SciPy and scikit-learn, print topics and label effects, and "
        "write a report",
        ("hdsp demo", "hdsp demo --topics 30 -o demo.html"),
        run,
    )
    parser.add_argument("--topics", type=int, help="number of topics (default: chosen by the fit)")
    parser.add_argument(
        "-o", "--output", default="report.html", help="the report to write (default: report.html)"
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")


def run(options: argparse.Namespace) -> None:
    """Fit and print."""
    check_output(options.output)
    with progress.task("Reading docstrings"):
        from hdsp.analysis.label_effects import effect_columns
        from hdsp.analysis.topics import topic_columns
        from hdsp.estimator import HDSP

        corpus = demo_corpus()
    print(f"{corpus!r}\n")
    number = {} if options.topics is None else {"n_components": options.topics}
    model = HDSP(**number, random_state=options.seed)
    train, test = corpus.split(test_size=0.1, random_state=0)
    with warnings.catch_warnings():
        # The docstrings installed here may ask for a few more topics than there may be.
        warnings.filterwarnings("ignore", message=".* topics are in use of")
        model.fit(train)
    with progress.task("Describing topics"):
        topics = topic_columns(fitted_model(model), n_words=8)
        effects = effect_columns(fitted_model(model), "module")
    _print_topics(topics, model.n_topics_)
    print(f"\n{model.number_summary_}")
    _print_effects(effects, train.labels.block("module"), model.top_words(3))
    print(
        f"\nPerplexity of held-out docstrings: {model.perplexity(test):,.0f} given their labels, "
        f"{model.perplexity(test, given='completion'):,.0f} given their labels and half of their "
        f"words, {model.perplexity(test.counts):,.0f} given neither."
    )
    write_demo_report(model, corpus, options.output)
    page = progress.printable(str(Path(options.output).absolute()))
    print(f"\nTo look at topics, labels and documents, open {page}")


def demo_corpus() -> "Corpus":
    """The docstrings without the label that another determines: a module is of one package."""
    from hdsp.datasets import load_docstrings

    corpus = load_docstrings()
    return corpus.replaced(labels=corpus.labels.without("package"))


def write_demo_report(model: "HDSP", corpus: "Corpus", path: str) -> None:
    """Write the report of a model of docstrings, with their names and texts."""
    from hdsp.datasets import load_docstrings

    docstrings = load_docstrings(as_frame=True)
    named = corpus.replaced(ids=tuple(docstrings["name"]))
    model.report(
        path,
        named,
        texts=docstrings["text"].tolist(),
        title="Docstrings of NumPy, SciPy and scikit-learn",
    )


def _print_topics(topics: Table, n_in_use: int) -> None:
    shown = min(_TOPICS_SHOWN, n_in_use)
    print(f"The {shown} largest of {n_in_use} topics in use:")
    for topic in range(shown):
        print(f"  {topic:>3}  {topics['share'][topic]:6.1%}  {topics['words'][topic]}")


def _print_effects(
    effects: Mapping[str, Sequence[Any]], modules: "LabelBlock", words: Sequence[Sequence[str]]
) -> None:
    """For the largest modules: the topics whose share they raise or lower most, with intervals."""
    import numpy as np

    from hdsp.plots.labels import strongest

    print(
        "\nEffects of modules against other modules, in percentage points of a topic's share, with "
        "90% intervals:"
    )
    contrasts = effects["contrast"][:: len(words)]
    effect, lower, upper = (
        100.0 * np.reshape(effects[name], (-1, len(words))) for name in ("effect", "lower", "upper")
    )
    sizes = modules.values.sum(axis=0)
    largest = sorted(range(len(modules.columns)), key=lambda column: -sizes[column])
    for module in (modules.columns[column] for column in largest[:_LABELS_SHOWN]):
        if (contrast := f"{module} - other module") not in contrasts:
            continue
        row = contrasts.index(contrast)
        shown = ", ".join(
            f"{' '.join(words[k])} {effect[row, k]:+.0f} "
            f"({lower[row, k]:+.0f} to {upper[row, k]:+.0f})"
            for k in strongest(effect[row], _EFFECTS_SHOWN).tolist()
        )
        print(f"  {module:<24} {shown}")
