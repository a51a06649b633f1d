"""Fitting: starts, the batch loop and what it reports."""

from hdsp.inference.batch import Fit, fit_batch, fit_documents, sum_tokens
from hdsp.inference.display import FitDisplay, fit_display
from hdsp.inference.monitor import HistoryRow, Monitor, topics_in_use
from hdsp.inference.moves.refine import refine
from hdsp.inference.search import Search
from hdsp.inference.start import STARTS, initial_state

__all__ = [
    "STARTS",
    "Fit",
    "FitDisplay",
    "HistoryRow",
    "Monitor",
    "Search",
    "fit_batch",
    "fit_display",
    "fit_documents",
    "initial_state",
    "refine",
    "sum_tokens",
    "topics_in_use",
]
