"""Models x corpora x seeds x measures, resumable, as a table and a figure."""

from hdsp.comparison.cells import Cell, with_others, write_whole
from hdsp.comparison.figure import draw
from hdsp.comparison.measures import MEASURES, measure, perplexity, word_likelihoods
from hdsp.comparison.run import Progress, compare
from hdsp.comparison.split import split_corpus
from hdsp.comparison.table import as_csv, as_data, as_text, failure_text, summarise

__all__ = [
    "MEASURES",
    "Cell",
    "Progress",
    "as_csv",
    "as_data",
    "as_text",
    "compare",
    "draw",
    "failure_text",
    "measure",
    "perplexity",
    "split_corpus",
    "summarise",
    "with_others",
    "word_likelihoods",
    "write_whole",
]
