"""The fit as the report shows it: the bound, the search, settings and versions."""

from typing import Any

import numpy as np

from hdsp.model import BoundTerms
from hdsp.report.packing import rounded

# Parameters that do not change a model.
_WITHOUT_EFFECT = ("verbose", "checkpoint", "n_jobs")


def history_columns(model: Any) -> dict[str, list[float | None]]:
    """The numbers of `history_` by column, one for each pass."""
    names = [
        name
        for name in (model.history_[0] if model.history_ else {})
        if all(isinstance(row.get(name), (int, float, np.number)) for row in model.history_)
    ]
    return {name: rounded([float(row[name]) for row in model.history_], 12) for name in names}


def fit_view(model: Any) -> dict[str, Any]:
    """What there is to know about a fit."""
    n_topics, n_words = model.components_.shape
    tokens, history = float(model.topic_tokens_.sum()), history_columns(model)
    facts: list[tuple[str, str]] = [
        ("Documents", f"{model.n_documents_:,}"),
        ("Words in the vocabulary", f"{n_words:,}"),
        ("Tokens", f"{tokens:,.0f}"),
        ("Labels", f"{model.label_schema_.n_labels:,}"),
        ("Topics in use", f"{model.n_topics_:,} of {n_topics:,}"),
        ("Number of topics", model.number_summary_),
        ("Passes", f"{model.n_iter_:,}"),
        ("Converged", "yes" if model.converged_ else "no"),
    ]
    if model.n_returning_ is not None:
        shared = f"{model.n_returning_:,} of {n_topics:,}"
        facts.append(("Topics that short fits to two halves of the documents share", shared))
    return {
        "facts": facts,
        "details": [
            ("Corpus concentration α", f"{float(model.corpus_concentration_):.4g}"),
            ("Document concentration β", f"{float(model.document_concentration_):.4g}"),
            ("β for new documents", f"{float(model.predictive_concentration_):.4g}"),
        ],
        "history": history,
        "terms": [name for name in BoundTerms.names() if name in history],
        "search": _search(model),
        "settings": [
            (name, _short(value))
            for name, value in model.get_params(deep=False).items()
            if name not in _WITHOUT_EFFECT
        ],
        "versions": list(model.provenance_["versions"].items()),
    }


def _search(model: Any) -> dict[str, Any] | None:
    """The numbers of topics that were tried, smallest first, and the number that there are."""
    rows = sorted(
        (row for row in model.search_ if row["init"] == model.init_), key=lambda row: row["topics"]
    )
    if len(rows) < 2:
        return None
    return {
        "summary": model.number_summary_,
        "rows": [
            {
                name: value if name == "init" else rounded([float(value)], 12)[0]
                for name, value in row.items()
            }
            for row in rows
        ],
        "number": len(model.components_),
        "range": model.n_topics_range_,
    }


def _short(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"array {list(value.shape)}"
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:199]}…"
