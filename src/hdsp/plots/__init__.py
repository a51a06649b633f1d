"""Figures for papers: each function takes a fitted model, and takes and returns an Axes.

They need matplotlib, an extra: ``pip install 'hdsp[plots]'``. Without `ax` they create a figure
with pyplot, which notebooks show.
"""

from hdsp.plots.labels import curve, effects, expected_topics, heatmap, levels, observed
from hdsp.plots.labels import perspectives as perspectives
from hdsp.plots.topics import correlations, history, map, search, summary, words

__all__ = [
    "correlations",
    "curve",
    "effects",
    "expected_topics",
    "heatmap",
    "history",
    "levels",
    "map",
    "observed",
    "perspectives",
    "search",
    "summary",
    "words",
]
