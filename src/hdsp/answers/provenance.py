"""What a fit can be traced by: versions, seed, settings and data."""

from typing import Any

from hdsp.prediction import FittedModel


def provenance(model: FittedModel, estimator: Any) -> dict[str, Any]:
    """The record of a fit as plain values; versions are empty in models of older files."""
    seed = estimator.random_state
    return {
        "versions": dict(model.report.versions),
        "random_state": None if seed is None or not hasattr(seed, "__index__") else int(seed),
        "settings": " ".join(repr(estimator).split()),
        "documents": model.training.n_documents,
        "words": len(model.source.words),
        "tokens": round(float(model.topic_tokens().sum())),
        "labels": len(model.schema.names),
        "topics": model.report.n_topics,
        "fingerprint": model.source.fingerprint,
    }
