"""What the report reads of a fitted model beyond its public attributes and methods.

The one place that knows a model's insides: where they change, only this file follows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics.types import FloatArray, IntArray


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
    topic_of : int array of shape [T]
        The topic that holds each of these, which are those of the fit: some may be merged.
    """

    intercept: FloatArray
    coefficients: FloatArray
    carriers: FloatArray
    n_documents: int
    values: Mapping[int, FloatArray]
    sample: csr_array
    topic_of: IntArray

    def sum(self, proportions: FloatArray) -> FloatArray:
        """Proportions of topics, from those of the fit's."""
        result = np.zeros((len(proportions), int(self.topic_of.max()) + 1))
        np.add.at(result.T, self.topic_of, proportions.T)
        return result


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
        _topic_of(model.fitted_topics_),
    )


def _topic_of(members: tuple[tuple[int, ...], ...]) -> IntArray:
    found = np.empty(sum(map(len, members)), dtype=np.int64)
    for topic, own in enumerate(members):
        found[list(own)] = topic
    return found


def model_key(model: Any) -> str:
    """A short text that differs between models, for names that readers give to its topics."""
    import zlib

    topics = np.ascontiguousarray(model.components_, dtype=np.float32)
    return f"{zlib.crc32(topics.tobytes()):08x}"
