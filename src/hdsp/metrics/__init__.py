"""Measures of fitted topics: pure functions on arrays."""

from hdsp.metrics.coherence import npmi, topic_top_words, umass
from hdsp.metrics.diversity import inverted_rbo, topic_diversity
from hdsp.metrics.effective import effective_topics
from hdsp.metrics.exclusivity import exclusivity, frex
from hdsp.metrics.matching import match_topics, stability
from hdsp.metrics.windows import c_v

__all__ = [
    "c_v",
    "effective_topics",
    "exclusivity",
    "frex",
    "inverted_rbo",
    "match_topics",
    "npmi",
    "stability",
    "topic_diversity",
    "topic_top_words",
    "umass",
]
