"""The fit as the report shows it: the bound, the search, settings and versions."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from hdsp.report.fitted import FittedLabels
from hdsp.report.packing import rounded

# In the history, but no terms of the bound.
NOT_TERMS = frozenset(
    {
        "pass",
        "bound",
        "n_topics",
        "corpus_concentration",
        "document_concentration",
        "topics_in_use",
        "inner_iterations",
        "moves",
        "seconds",
    }
)
_PACKAGES = ("hdsp", "numpy", "scipy", "scikit-learn", "numba")


def history_columns(model: Any) -> dict[str, list[float | None]]:
    """The numbers of `history_` by column, one for each pass."""
    names = [
        name
        for name in (model.history_[0] if model.history_ else {})
        if all(isinstance(row.get(name), (int, float, np.number)) for row in model.history_)
    ]
    return {name: rounded([float(row[name]) for row in model.history_], 12) for name in names}


def bound_terms(model: Any) -> list[str]:
    """The terms that the bound is the sum of, by name."""
    return [name for name in history_columns(model) if name not in NOT_TERMS]


def fit_view(model: Any, fitted: FittedLabels) -> dict[str, Any]:
    """What there is to know about a fit."""
    n_topics, n_words = model.components_.shape
    tokens = float(model.components_.sum()) - float(model.topic_prior) * n_topics * n_words
    facts: list[tuple[str, str]] = [
        ("Documents", f"{fitted.n_documents:,}"),
        ("Words in the vocabulary", f"{n_words:,}"),
        ("Tokens", f"{tokens:,.0f}"),
        ("Labels", f"{model.label_schema_.n_labels:,}"),
        ("Topics in use", f"{model.n_topics_:,} of {n_topics:,}"),
        ("Passes", f"{model.n_iter_:,}"),
        ("Converged", "yes" if model.converged_ else "no"),
        ("Corpus concentration α", f"{float(model.corpus_concentration_):.4g}"),
        ("Document concentration β", f"{float(model.document_concentration_):.4g}"),
    ]
    return {
        "facts": facts,
        "history": history_columns(model),
        "terms": bound_terms(model),
        "search": [
            {name: rounded([float(value)], 12)[0] for name, value in row.items()}
            for row in model.search_
        ],
        "settings": [(name, _short(value)) for name, value in _parameters(model).items()],
        "versions": [("Python", platform.python_version()), *_versions()],
    }


def _parameters(model: Any) -> dict[str, Any]:
    left_out = {"verbose", "checkpoint", "n_jobs"}
    return {k: v for k, v in model.get_params(deep=False).items() if k not in left_out}


def _short(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"array {list(value.shape)}"
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:199]}…"


def _versions() -> list[tuple[str, str]]:
    found = []
    for name in _PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return found
