"""What the report reads of a fitted model beyond its public attributes and methods.

The one place that knows a model's insides: where they change, only this file follows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics.types import FloatArray
from hdsp.prediction import TopicGroups


@dataclass(frozen=True, eq=False)
class LabelRecord:
    """How labels lead to expected topics, and what is remembered of the labels of training.

    Expected proportions given a design row r are theta_k proportional to
    exp(intercept_k + r . coefficients_k), as in ``HDSP.expected_topics(method="calibrated")``.

    Attributes
    ----------
    intercept : float array of shape [T]
        Log proportions without labels, up to a constant.
    coefficients : float array of shape [J, T]
        What labels add to them.
    carriers : float array of shape [J]
        How many training documents carry a label, or have a number.
    n_documents : int
        How many training documents there were.
    values : mapping of int to float array of shape [2, n]
        By column of the design, the values of a number as the design has them, in order, and how
        many documents have each.
    sample : sparse array of shape [S, J]
        Labels of some training documents, as the design has them.
    groups : TopicGroups
        The topics that hold these, which are those of the fit: some may be merged.
    """

    intercept: FloatArray
    coefficients: FloatArray
    carriers: FloatArray
    n_documents: int
    values: Mapping[int, FloatArray]
    sample: csr_array
    groups: TopicGroups

    @property
    def topic_of(self) -> list[int]:
        """The topic that holds each of those of the fit."""
        owner = {own: k for k, members in enumerate(self.groups.members) for own in members}
        return [owner[k] for k in range(len(owner))]


def label_record(model: Any) -> LabelRecord:
    """What a fitted `HDSP` knows of its labels."""
    fitted = model._model
    return LabelRecord(
        np.asarray(fitted.calibration.intercept, dtype=np.float64),
        np.asarray(fitted.calibration.coefficients, dtype=np.float64),
        np.asarray(fitted.training.carriers, dtype=np.float64),
        int(fitted.training.n_documents),
        fitted.training.values,
        fitted.training.sample,
        fitted.groups,
    )


def model_key(model: Any) -> str:
    """A short text that differs between models, for names that readers give to its topics."""
    import zlib

    topics = np.ascontiguousarray(model.components_, dtype=np.float32)
    return f"{zlib.crc32(topics.tobytes()):08x}"
