"""Figures for papers: each function takes a fitted model, and takes and returns an Axes.

They need matplotlib, an extra: ``pip install 'hdsp[plots]'``. Without `ax` they create a figure
with pyplot, which notebooks show.
"""

from hdsp.plots.fits import history, search
from hdsp.plots.labels import effects, expected_topics, heatmap, observed, perspectives
from hdsp.plots.levels import curve, levels
from hdsp.plots.topics import correlations, map, summary, words

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
