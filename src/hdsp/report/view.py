"""All that a report shows, as plain data."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hdsp import progress
from hdsp.analysis.documents import check_corpus, check_text_of_each
from hdsp.analysis.topics import word_share
from hdsp.corpus import Corpus
from hdsp.report.documents import document_view
from hdsp.report.effects import form_view, label_view, report_effects
from hdsp.report.fit import fit_view
from hdsp.report.layout import place_together, seriate
from hdsp.report.names import model_key
from hdsp.report.packing import pack_rounded
from hdsp.report.topics import related_view, side_view, topic_view, word_view

LEVEL = 0.9


def make_view(
    model: Any,
    corpus: Corpus | None = None,
    *,
    texts: Sequence[str] | None = None,
    title: str = "Topics and labels",
    names: Mapping[int, str] | None = None,
    stability: Any = None,
    most_documents: int = 1_000,
) -> dict[str, Any]:
    """All that a page shows of a fitted model, and of documents; see `HDSP.report`."""
    if corpus is not None or texts is not None:
        check_corpus(corpus, "HDSP.report")
        check_text_of_each(texts, corpus, "HDSP.report")
    with progress.task("Finding effects of labels"):
        table, problem = report_effects(model, LEVEL)
        labels = label_view(model._model, table, LEVEL)
    documents = None
    if corpus is not None:
        with progress.task(f"Finding topics of {len(corpus):,} documents"):
            documents = document_view(model, corpus, texts, most_documents)
    with progress.task("Drawing the map"):
        places = place_together(word_share(model._model), table.effect)
    effects = {
        "level": LEVEL,
        "labels": table.labels,
        "contrasts": table.contrasts,
        "effect": pack_rounded(table.effect),
        # Intervals are symmetric: half of their width.
        "half": pack_rounded((table.upper - table.lower) / 2.0),
        "problem": problem,
    }
    return {
        "title": title,
        "key": model_key(model),
        "topics": topic_view(model, stability),
        "words": word_view(model),
        "sides": side_view(model),
        "labels": labels,
        "form": form_view(model._model),
        "effects": effects,
        "map": {"topics": np.round(places[0], 4), "labels": np.round(places[1], 4)},
        "order": {"topics": seriate(table.effect.T), "labels": seriate(table.effect)},
        "related": related_view(model, LEVEL),
        "fit": fit_view(model),
        "names": model.topic_names_ | dict(names or {}),
        "documents": documents,
    }
