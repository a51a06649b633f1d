"""Documents as a model sees them: counts of words, and labels."""

from hdsp.corpus.columns import as_groups, as_labels, group_numbers
from hdsp.corpus.corpus import Corpus
from hdsp.corpus.frames import library_of, make_frame
from hdsp.corpus.labels import Kind, LabelBlock, Labels, ReadingSettings
from hdsp.corpus.preparing import prepare_corpus
from hdsp.corpus.readers import read_counts, read_folder, read_table
from hdsp.corpus.schema import BlockSchema, LabelSchema, warn_unknown
from hdsp.corpus.stored import StoredCorpus, open_corpus
from hdsp.corpus.text import TextSettings

__all__ = [
    "BlockSchema",
    "Corpus",
    "Kind",
    "LabelBlock",
    "LabelSchema",
    "Labels",
    "ReadingSettings",
    "StoredCorpus",
    "TextSettings",
    "as_groups",
    "as_labels",
    "group_numbers",
    "library_of",
    "make_frame",
    "open_corpus",
    "prepare_corpus",
    "read_counts",
    "read_folder",
    "read_table",
    "warn_unknown",
]
