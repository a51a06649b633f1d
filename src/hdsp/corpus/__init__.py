"""Documents as a model sees them: counts of words, and labels."""

from hdsp.corpus.corpus import Corpus, default_vectorizer
from hdsp.corpus.frames import library_of, make_frame
from hdsp.corpus.labels import Kind, LabelBlock, Labels
from hdsp.corpus.parsing import as_labels
from hdsp.corpus.schema import BlockSchema, LabelSchema

__all__ = [
    "BlockSchema",
    "Corpus",
    "Kind",
    "LabelBlock",
    "LabelSchema",
    "Labels",
    "as_labels",
    "default_vectorizer",
    "library_of",
    "make_frame",
]
