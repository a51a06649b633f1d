"""Figures for papers: each function takes a fitted model, and takes and returns an Axes.

matplotlib draws, an extra: ``pip install 'hdsp[plots]'``. Without `ax` a figure is made with
pyplot, so that a notebook shows it.
"""

from hdsp.plots.fits import history, search
from hdsp.plots.labels import effects, expected_topics, heat_map, observed, perspectives
from hdsp.plots.levels import curve, curves, levels
from hdsp.plots.topics import correlations, summary, topic_map, words

__all__ = [
    "correlations",
    "curve",
    "curves",
    "effects",
    "expected_topics",
    "heat_map",
    "history",
    "levels",
    "observed",
    "perspectives",
    "search",
    "summary",
    "topic_map",
    "words",
]
