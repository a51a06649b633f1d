"""Probabilities of labels, given documents' words."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from hdsp.answers.new_documents import document_parts
from hdsp.execution import make_executor
from hdsp.numerics.types import FloatArray
from hdsp.prediction import LABEL_METHODS, FittedModel, LabelMethod, make_candidates, without_target
from hdsp.validation import check_choice, check_flag

# A table of many numbers, before it is a frame of some library.
Arrays: TypeAlias = dict[str, FloatArray]


def probability_parts(
    fitted: FittedModel,
    X: Any,
    target: str,
    labels: object = None,
    values: Sequence[Any] | None = None,
    prior: bool = True,
    method: LabelMethod | None = None,
    n_jobs: int | None = None,
) -> Iterator[tuple[Any, Arrays]]:
    """Yield documents with the columns of `HDSP.predict_labels`: all, or part by part on disk."""
    owner = "HDSP.predict_labels"
    check_flag(prior, "prior", owner)
    if method is not None:
        check_choice(method, LABEL_METHODS, "method", owner)
    candidates = make_candidates(fitted, target, values, prior)
    if method is None:
        method = "calibrated" if target in fitted.label_regressions else "generative"
    elif method == "calibrated" and target not in fitted.label_regressions:
        raise ValueError(
            f"{owner} has nothing to calibrate {target!r} with: too few training documents tell. "
            'Choose `method="generative"`.'
        )
    for part, counts, design in document_parts(fitted, X, labels, owner):
        known = without_target(fitted.schema, target, fitted.space.values(design))
        with make_executor(None, n_jobs):
            found = fitted.label_probabilities(counts, known, candidates, method)
        yield part, dict(zip(candidates.names, found.T, strict=True))


def joined_columns(parts: Iterable[tuple[Any, Arrays]]) -> Arrays:
    """The columns of all documents, from those of parts."""
    found = [columns for _, columns in parts]
    if len(found) == 1:
        return found[0]
    names = found[0] if found else {}
    return {name: np.concatenate([columns[name] for columns in found]) for name in names}
