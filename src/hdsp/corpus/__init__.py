"""Documents as a model sees them: counts of words, and labels."""

from hdsp.corpus.corpus import Corpus
from hdsp.corpus.frames import library_of, make_frame
from hdsp.corpus.labels import Kind, LabelBlock, Labels
from hdsp.corpus.parsing import as_labels
from hdsp.corpus.readers import (
    ReadError,
    from_gensim,
    from_vectorizer,
    read_folder,
    read_ldac,
    read_mallet,
    read_matrix_market,
    read_svmlight,
    read_table,
    read_uci,
)
from hdsp.corpus.schema import BlockSchema, LabelSchema
from hdsp.corpus.text import TextSettings

__all__ = [
    "BlockSchema",
    "Corpus",
    "Kind",
    "LabelBlock",
    "LabelSchema",
    "Labels",
    "ReadError",
    "TextSettings",
    "as_labels",
    "from_gensim",
    "from_vectorizer",
    "library_of",
    "make_frame",
    "read_folder",
    "read_ldac",
    "read_mallet",
    "read_matrix_market",
    "read_svmlight",
    "read_table",
    "read_uci",
]
