"""Fitting: starts, the batch loop and what it reports."""

from hdsp.inference.batch import Fit, fit_batch, fit_documents, sum_tokens
from hdsp.inference.monitor import HistoryRow, Monitor, topics_in_use
from hdsp.inference.start import STARTS, initial_state

__all__ = [
    "STARTS",
    "Fit",
    "HistoryRow",
    "Monitor",
    "fit_batch",
    "fit_documents",
    "initial_state",
    "sum_tokens",
    "topics_in_use",
]
