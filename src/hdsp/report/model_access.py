"""What the report reads of a fitted model beyond its public attributes and methods.

The one place that knows a model's insides: where they change, only this file follows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.answers.junk_words import junk_sentence
from hdsp.answers.label_checks import check_sentence
from hdsp.corpus import Corpus, StoredCorpus
from hdsp.numerics.types import FloatArray
from hdsp.prediction import Calibration, Effects, TopicGroups, make_contrasts
from hdsp.scaling import LabelSpace


@dataclass(frozen=True, eq=False)
class LabelRecord:
    """How labels lead to expected topics, and what is remembered of the labels of training.

    Attributes
    ----------
    regression : Calibration
        Expected proportions, as in ``HDSP.expected_topics(method="calibrated")``.
    space : LabelSpace
        How labels become a design.
    carriers : float array of shape [n_labels]
        How many training documents carry a label, or have a number.
    n_documents : int
        How many training documents there were.
    values : mapping of int to float array of shape [2, n]
        By label, the values of a number in standard units, in order, and how many documents have
        each.
    sample : sparse array of shape [S, J]
        The design of some training documents.
    groups : TopicGroups
        The topics that hold these, which are those of the fit: some may be merged.
    """

    regression: Calibration
    space: LabelSpace
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
        fitted.calibration,
        fitted.space,
        np.asarray(fitted.training.carriers, dtype=np.float64),
        int(fitted.training.n_documents),
        fitted.training.values,
        fitted.space.design(fitted.training.sample),
        fitted.groups,
    )


def effects_along(
    model: Any, label: str, reference: float, values: Sequence[float], level: float
) -> Effects:
    """Effects of a number at some values, each against the reference: one row per value."""
    fitted = model._model
    contrasts = [
        contrast
        for value in values
        for contrast in make_contrasts(fitted.schema, fitted.used, label, (reference, value))
    ]
    found: Effects = fitted.effects(contrasts, level, "calibrated", seed=0)
    return found


def junk_note(model: Any) -> str:
    """What to do about words that are no language, in a sentence; empty where there are none."""
    return junk_sentence(model._model)


def label_check(model: Any, corpus: Corpus) -> str:
    """Whether documents have the topics that their labels lead one to expect, in a sentence."""
    if not model.label_names_ or isinstance(corpus, StoredCorpus):
        # Documents on disk may be too many to read again.
        return ""
    return check_sentence(model._check_columns(corpus))


def topic_tokens(model: Any) -> FloatArray:
    """Expected training tokens of each topic, [T]."""
    found: FloatArray = model._model.tokens
    return found


def has_versions(model: Any) -> bool:
    """Whether groups of documents have their own versions of topics."""
    return model._model.state.versions is not None


def model_key(model: Any) -> str:
    """A short text that differs between models, for names that readers give to its topics."""
    import zlib

    topics = np.ascontiguousarray(model.components_, dtype=np.float32)
    return f"{zlib.crc32(topics.tobytes()):08x}"
