"""What follows from labels: the topics to expect, and documents that are drawn."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array, eye_array

from hdsp.answers.new_documents import read_labels
from hdsp.corpus import Corpus, make_frame
from hdsp.model import draw_documents
from hdsp.numerics.types import FloatArray
from hdsp.prediction import METHODS, WEIGHTS, FittedModel, Method, Weight
from hdsp.validation import check_choice, make_generator


def expected_topics(
    fitted: FittedModel, labels: object, method: Method, weight: Weight
) -> FloatArray:
    """Expected proportions given labels alone, [M, T]; see `HDSP.expected_topics`."""
    owner = "HDSP.expected_topics"
    check_choice(method, METHODS, "method", owner)
    check_choice(weight, WEIGHTS, "weight", owner)
    if isinstance(labels, Mapping):
        # The labels of one document, which may have none.
        known = labels or dict.fromkeys(block.name for block in fitted.schema.blocks)
        labels = make_frame({name: [value] for name, value in known.items()})
    _, design = read_labels(fitted, labels, None, owner)
    return fitted.groups.sum(fitted.expected(design, method, weight))


def label_scale(fitted: FittedModel) -> FloatArray:
    """Expected scale of topics under each label alone, [T, J]."""
    alone = csr_array(eye_array(fitted.schema.n_labels, format="csr", dtype=np.float64))
    design = fitted.space.design(alone)
    scale = fitted.scaling.expected_scale(fitted.state.scaling, design)
    if fitted.merged_topics is not None:
        # By as much as the sum of its topics, each by its weight.
        weight = np.maximum(fitted.state.topic_weight, 1e-300)
        groups = fitted.merged_topics
        scale = groups.sum(scale * weight) / groups.sum(weight)
    return np.asarray(scale).T


def simulate(
    fitted: FittedModel,
    labels: object,
    n_documents: int | None,
    document_length: float,
    random_state: Any,
) -> Corpus:
    """Documents with labels; see `HDSP.simulate`."""
    parsed, design = read_labels(fitted, labels, n_documents, "HDSP.simulate")
    rng = make_generator(random_state)
    lengths = rng.poisson(document_length, size=len(parsed)).astype(np.float64)
    counts = draw_documents(fitted.draw(rng), fitted.scaling, design, lengths, rng)
    return Corpus(counts, words=fitted.source.words, labels=parsed)
