"""Probabilities of labels, given documents' words."""

from collections.abc import Iterator, Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from hdsp.prediction import LABEL_METHODS, LabelMethod, make_candidates, without_target
from hdsp.queries.attributes import Columns, FittedAttributes
from hdsp.validation import check_choice, check_flag


def probability_parts(
    model: FittedAttributes,
    X: Any,
    target: str,
    labels: object = None,
    values: Sequence[Any] | None = None,
    prior: bool = True,
    method: LabelMethod | None = None,
) -> Iterator[tuple[Any, Columns]]:
    """Yield documents with the columns of `HDSP.predict_labels`: all, or part by part on disk."""
    check_is_fitted(model)
    check_flag(prior, "prior", "HDSP.predict_labels")
    if method is not None:
        check_choice(method, LABEL_METHODS, "method", "HDSP.predict_labels")
    candidates = make_candidates(model._model, target, values, prior)
    if method is None:
        method = "calibrated" if target in model._model.label_regressions else "generative"
    elif method == "calibrated" and target not in model._model.label_regressions:
        raise ValueError(
            f"HDSP.predict_labels has nothing to calibrate {target!r} with: too few training "
            'documents tell. Choose `method="generative"`.'
        )
    for part, counts, design in model._new_parts(X, labels, "predict_labels"):
        values_known = model._model.space.values(design)
        known = without_target(model._model.schema, target, values_known)
        with model._executor():
            found = model._model.label_probabilities(counts, known, candidates, method)
        yield part, dict(zip(candidates.names, found.T.tolist(), strict=True))


def probability_columns(
    model: FittedAttributes,
    X: Any,
    target: str,
    labels: object = None,
    values: Sequence[Any] | None = None,
    prior: bool = True,
    method: LabelMethod | None = None,
) -> Columns:
    """The columns of `HDSP.predict_labels`."""
    columns: dict[str, list[Any]] = {}
    for _, found in probability_parts(model, X, target, labels, values, prior, method):
        for name, probabilities in found.items():
            columns.setdefault(name, []).extend(probabilities)
    return columns
