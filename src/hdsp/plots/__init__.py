"""Figures for papers: each function takes a fitted model, and takes and returns an Axes.

They need matplotlib, an extra: ``pip install 'hdsp[plots]'``. Without `ax` they create a figure
with pyplot, which notebooks show.
"""

from hdsp.plots.fits import history, search
from hdsp.plots.labels import effects, expected_topics, heat_map, observed, perspectives
from hdsp.plots.levels import curve, levels
from hdsp.plots.topics import correlations, summary, topic_map, words

__all__ = [
    "correlations",
    "curve",
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
