"""One protocol for numbers: corpora, splits and measures that all models share.

`compare` runs models on corpora with seeds, resumably, and shows a table and a figure. The
reproduction of the paper and the benchmarks use the same corpora, splits and measures.

Not part of the public interface: what is here may change between releases.
"""

from hdsp_studies.comparison.cells import Cell, with_others, write_whole
from hdsp_studies.comparison.corpora import ORIGINS, READINGS, CorpusFolder, Reading
from hdsp_studies.comparison.figure import draw
from hdsp_studies.comparison.measures import (
    MEASURES,
    confusion_matrix,
    f1_scores,
    fit_and_measure,
    measure,
    perplexities,
    perplexity,
    word_likelihoods,
)
from hdsp_studies.comparison.run import Progress, compare
from hdsp_studies.comparison.split import split_corpus
from hdsp_studies.comparison.table import as_csv, as_data, as_text, failure_text, summarise

__all__ = [
    "MEASURES",
    "ORIGINS",
    "READINGS",
    "Cell",
    "CorpusFolder",
    "Progress",
    "Reading",
    "as_csv",
    "as_data",
    "as_text",
    "compare",
    "confusion_matrix",
    "draw",
    "f1_scores",
    "failure_text",
    "fit_and_measure",
    "measure",
    "perplexities",
    "perplexity",
    "split_corpus",
    "summarise",
    "with_others",
    "word_likelihoods",
    "write_whole",
]
