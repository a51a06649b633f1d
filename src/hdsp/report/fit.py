"""The fit as the report shows it: the bound, the search, settings and versions."""

from typing import Any

import numpy as np

from hdsp.model.state import BoundTerms
from hdsp.report.packing import rounded

# Parameters that do not change a model.
_WITHOUT_EFFECT = ("verbose", "checkpoint", "n_jobs")


def history_columns(model: Any) -> dict[str, list[float | None]]:
    """The numbers of `history_` by column, one for each pass."""
    import pandas as pd

    frame = pd.DataFrame(model.history_).dropna(axis=1).select_dtypes("number")
    return {str(name): rounded(values, 12) for name, values in frame.items()}


def search_rows(model: Any) -> list[dict[str, Any]]:
    """The numbers of topics that were tried from the model's start, smallest first, if several."""
    tried = [row for row in model.search_ if row["init"] == model.init_]
    return sorted(tried, key=lambda row: row["topics"]) if len(tried) > 1 else []


def fit_view(model: Any) -> dict[str, Any]:
    """Facts of a fit, and the numbers of its charts."""
    n_topics, n_words = model.components_.shape
    history, returning = history_columns(model), model.n_returning_
    n_documents, n_labels = f"{model.n_documents_:,}", f"{model.label_schema_.n_labels:,}"
    tokens = f"{float(model.topic_tokens_.sum()):,.0f}"
    facts = {
        "Documents": n_documents,
        "Words in the vocabulary": f"{n_words:,}",
        "Tokens": tokens,
        "Labels": n_labels,
        "Topics in use": f"{model.n_topics_:,} of {n_topics:,}",
        "Number of topics": model.number_summary_,
        "Passes": f"{model.n_iter_:,}",
        "Converged": "yes" if model.converged_ else "no",
    }
    again = ""
    if returning is not None:
        again = f" ({returning / n_topics:.0%} return in the other half of the documents)"
        shared = "Topics shared by short fits to two halves of the documents"
        facts[shared] = f"{returning:,} of {n_topics:,}"
    concentrations = {
        "Corpus concentration α": model.corpus_concentration_,
        "Document concentration β": model.document_concentration_,
        "β for new documents": model.predictive_concentration_,
    }
    settings = model.get_params(deep=False).items()
    return {
        "summary": f"{model.n_topics_:,} topics{again} · {n_documents} documents · "
        f"{tokens} tokens · {n_labels} labels",
        "facts": list(facts.items()),
        "concentrations": [(name, f"{value:.4g}") for name, value in concentrations.items()],
        "history": history,
        "terms": [name for name in BoundTerms.names() if name in history],
        "search": search_rows(model),
        "number_summary": model.number_summary_,
        "range": model.n_topics_range_,
        "settings": [(name, _short(v)) for name, v in settings if name not in _WITHOUT_EFFECT],
        "versions": list(model.provenance_["versions"].items()),
    }


def _short(value: object) -> str:
    text = f"array {list(value.shape)}" if isinstance(value, np.ndarray) else repr(value)
    return text if len(text) <= 200 else f"{text[:199]}…"
