"""Corpora that every user has, and synthetic ones whose topics and label effects are known."""

from hdsp.datasets.controls import add_placebo_tags, split_halves
from hdsp.datasets.docstrings import DocstringRecord, collect_docstrings, load_docstrings
from hdsp.datasets.synthetic import LabelDesign, SyntheticTruth, make_corpus

__all__ = [
    "DocstringRecord",
    "LabelDesign",
    "SyntheticTruth",
    "add_placebo_tags",
    "collect_docstrings",
    "load_docstrings",
    "make_corpus",
    "split_halves",
]
