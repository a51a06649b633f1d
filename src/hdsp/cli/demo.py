"""`hdsp demo`: fit the built-in corpus and print its topics and label effects."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdsp import progress
from hdsp.cli import options as opt
from hdsp.cli.effects import print_effects
from hdsp.cli.output import head, print_json
from hdsp.cli.topics import print_topics
from hdsp.progress import printable

if TYPE_CHECKING:
    from hdsp.corpus import Corpus
    from hdsp.estimator import HDSP

_TOPICS_SHOWN, _LABELS_SHOWN, _EFFECTS_SHOWN = 12, 4, 4


_OUTPUT = opt.output("FILE", "the report to write", opt.output_file, "report.html")


@opt.command(opt.N_COMPONENTS, opt.RANDOM_STATE, _OUTPUT)
def demo(options: Namespace) -> None:
    """Fit the docstrings of NumPy, SciPy and scikit-learn, and write a report.

    hdsp demo
    hdsp demo --n-components 30 -o demo.html
    """
    with progress.task("Reading docstrings"):
        from hdsp.analysis.label_effects import effect_columns
        from hdsp.analysis.topics import topic_columns

        model, corpus, test = fit_demo(options.n_components, options.random_state)
    fitted = model._model
    perplexity = {
        "labels": model.perplexity(test),
        "completion": model.perplexity(test, given="completion"),
        "nothing": model.perplexity(test.counts),
    }
    write_demo_report(model, corpus, options.output)
    facts = {"report": options.output, "topics": model.n_topics_, "number": model.number_summary_}
    if options.json:
        print_json({**facts, "perplexity": perplexity})
        return
    print(f"{corpus!r}\n\nThe largest of {model.n_topics_} topics:")
    n_topics = len(fitted.groups)
    effects = effect_columns(fitted, "module")
    print_topics(head(topic_columns(fitted, 6), _TOPICS_SHOWN), effects, n_topics)
    print(f"\n{model.number_summary_}\n\nThe strongest effects of modules on topic shares:\n")
    print_effects(effects, n_topics, 0.9, _LABELS_SHOWN, _EFFECTS_SHOWN)
    print(
        f"Perplexity of held-out docstrings: {perplexity['labels']:,.0f} given their labels, "
        f"{perplexity['completion']:,.0f} given their labels and half of their words, "
        f"{perplexity['nothing']:,.0f} given neither.\n\nTo explore topics, labels and documents, "
        f"open {printable(str(Path(options.output).absolute()))}"
    )


def fit_demo(n_components: Any = "auto", random_state: int = 0) -> "tuple[HDSP, Corpus, Corpus]":
    """A model of the docstrings, all of these, and those held out.

    Labels leave out `package`, which `module` determines.
    """
    from hdsp.datasets import load_docstrings
    from hdsp.estimator import HDSP

    corpus = load_docstrings()
    corpus = corpus.replaced(labels=corpus.labels.without("package"))
    train, test = corpus.split(test_size=0.1, random_state=0)
    return HDSP(n_components, random_state=random_state).fit(train), corpus, test


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
