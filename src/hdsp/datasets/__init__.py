"""Corpora that every user has."""

from hdsp.datasets.docstrings import DocstringRecord, collect_docstrings, load_docstrings

__all__ = ["DocstringRecord", "collect_docstrings", "load_docstrings"]
