"""`hdsp demo`: fit the built-in corpus and print its topics and label effects."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdsp import progress
from hdsp.cli.options import N_COMPONENTS, RANDOM_STATE, add_command, add_options
from hdsp.cli.output import Table, check_output, print_json, printed_warnings
from hdsp.cli.reading import fitted_model

if TYPE_CHECKING:
    from hdsp.corpus.corpus import Corpus
    from hdsp.estimator import HDSP

_TOPICS_SHOWN, _LABELS_SHOWN, _EFFECTS_SHOWN = 12, 8, 3


def add_parsers(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "demo",
        "fit the docstrings of NumPy, SciPy and scikit-learn, print topics and label effects, and "
        "write a report",
        ("hdsp demo", "hdsp demo --n-components 30 -o demo.html"),
        demo,
    )
    add_options(parser, N_COMPONENTS, RANDOM_STATE)
    parser.add_argument(
        "-o",
        "--output",
        default="report.html",
        metavar="FILE",
        help="the report to write (default: report.html)",
    )


def demo(options: argparse.Namespace) -> None:
    """Fit and print."""
    check_output(options.output)
    with progress.task("Reading docstrings"):
        from hdsp.analysis.label_effects import effect_columns
        from hdsp.analysis.topics import topic_columns
        from hdsp.estimator import HDSP

        corpus = demo_corpus()
    number = "auto" if options.n_components is None else options.n_components
    model = HDSP(number, random_state=options.random_state)
    train, test = corpus.split(test_size=0.1, random_state=0)
    with printed_warnings(options):
        model.fit(train)
    with progress.task("Describing topics"):
        topics = topic_columns(fitted_model(model), n_words=8)
        effects = effect_columns(fitted_model(model), "module")
    perplexity = {
        "labels": model.perplexity(test),
        "completion": model.perplexity(test, given="completion"),
        "nothing": model.perplexity(test.counts),
    }
    write_demo_report(model, corpus, options.output)
    if options.json:
        facts = {"topics": model.n_topics_, "number": model.number_summary_}
        print_json({"report": options.output, **facts, "perplexity": perplexity})
        return
    print(f"{corpus!r}\n")
    _print_topics(topics, model.n_topics_)
    print(f"\n{model.number_summary_}")
    _print_effects(effects, model)
    print(
        f"\nPerplexity of held-out docstrings: {perplexity['labels']:,.0f} given their labels, "
        f"{perplexity['completion']:,.0f} given their labels and half of their words, "
        f"{perplexity['nothing']:,.0f} given neither."
    )
    page = progress.printable(str(Path(options.output).absolute()))
    print(f"\nTo explore topics, labels and documents, open {page}")


def demo_corpus() -> "Corpus":
    """The docstrings without the label `package`, which `module` determines."""
    from hdsp.datasets import load_docstrings

    corpus = load_docstrings()
    return corpus.replaced(labels=corpus.labels.without("package"))


def write_demo_report(model: "HDSP", corpus: "Corpus", path: str) -> None:
    """Write the report of a model of docstrings, with their names and texts."""
    from hdsp.datasets import load_docstrings

    docstrings = load_docstrings(as_frame=True)
    model.report(
        path,
        corpus.replaced(ids=tuple(docstrings["name"])),
        texts=docstrings["text"].tolist(),
        title="Docstrings of NumPy, SciPy and scikit-learn",
    )


def _print_topics(topics: Table, n_in_use: int) -> None:
    shown = min(_TOPICS_SHOWN, n_in_use)
    print(f"The {shown} largest of {n_in_use} topics in use:")
    for topic in range(shown):
        print(f"  {topic:>3}  {topics['share'][topic]:6.1%}  {topics['words'][topic]}")


def _print_effects(effects: Table, model: "HDSP") -> None:
    """The topics whose share the largest modules raise or lower most, with intervals."""
    import numpy as np

    from hdsp.plots.labels import strongest

    print(
        "\nEffects of modules compared with other modules, in percentage points of a topic's "
        "share, with 90% intervals:"
    )
    words = model.top_words(3)
    contrasts = effects["contrast"][:: len(words)]
    effect, lower, upper = (
        100.0 * np.reshape(effects[name], (-1, len(words))) for name in ("effect", "lower", "upper")
    )
    block = model.label_schema_.block("module")
    counts = dict(zip(effects["label"], effects["n_documents"], strict=True))
    largest = sorted(block.columns, key=lambda module: -counts.get(module, 0))
    for module in largest[:_LABELS_SHOWN]:
        if (contrast := f"{module} - other module") not in contrasts:
            continue
        row = contrasts.index(contrast)
        shown = ", ".join(
            f"{' '.join(words[k])} {effect[row, k]:+.0f} "
            f"({lower[row, k]:+.0f} to {upper[row, k]:+.0f})"
            for k in strongest(effect[row], _EFFECTS_SHOWN).tolist()
        )
        print(f"  {module:<24} {shown}")
