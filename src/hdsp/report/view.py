"""All that a report shows, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hdsp import progress
from hdsp.analysis.documents import check_text_of_each
from hdsp.analysis.new_documents import check_corpus
from hdsp.analysis.topics import word_share
from hdsp.corpus import Corpus
from hdsp.report.documents import document_view
from hdsp.report.effects import curve_views, effect_view, report_effects
from hdsp.report.fit import fit_view
from hdsp.report.labels import form_view, label_view
from hdsp.report.layout import map_view, seriate
from hdsp.report.names import model_key
from hdsp.report.topics import related_view, side_view, topic_view, word_view

LEVEL = 0.9


@dataclass(frozen=True)
class View:
    """The content of a page.

    Attributes
    ----------
    model : dict
        Plain data that JSON can hold.
    documents : dict or None
        Likewise; None without a corpus.
    """

    model: dict[str, Any]
    documents: dict[str, Any] | None


def make_view(
    model: Any,
    corpus: Corpus | None = None,
    *,
    texts: Sequence[str] | None = None,
    title: str = "Topics and labels",
    names: Mapping[int, str] | None = None,
    stability: Any = None,
    most_documents: int = 1_000,
) -> View:
    """All that a page shows of a fitted model, and of documents; see `HDSP.report`."""
    if corpus is not None or texts is not None:
        check_corpus(corpus, "HDSP.report")
        check_text_of_each(texts, corpus, "HDSP.report")
    labels = label_view(model._model)
    with progress.task("Finding effects of labels"):
        effects, problem = report_effects(model, LEVEL)
        curves = curve_views(model, labels, effects, LEVEL)
    documents = None
    if corpus is not None:
        with progress.task(f"Finding topics of {len(corpus):,} documents"):
            documents = document_view(model, corpus, texts, most_documents)
    with progress.task("Drawing the map"):
        places = map_view(word_share(model._model), effects.effect)
    orders = {"topics": effects.effect.T, "labels": effects.effect}
    data = {
        "title": title,
        "key": model_key(model),
        "topics": topic_view(model, stability),
        "words": word_view(model),
        "sides": side_view(model),
        "labels": labels,
        "form": form_view(model._model),
        "effects": effect_view(model, labels, effects, LEVEL) | {"problem": problem},
        "curves": curves,
        "map": places,
        "related": related_view(model, LEVEL),
        "order": {name: seriate(matrix).tolist() for name, matrix in orders.items()},
        "fit": fit_view(model),
        "names": model.topic_names_ | dict(names or {}),
    }
    return View(data, documents)
