"""New documents, drawn from a fitted model."""

from typing import Any

import numpy as np

from hdsp.answers.new_documents import read_labels
from hdsp.corpus import Corpus
from hdsp.model import draw_documents
from hdsp.prediction import FittedModel
from hdsp.validation import make_generator


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
