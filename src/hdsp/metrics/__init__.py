"""Measures of fitted topics: pure functions on arrays."""

from hdsp.metrics.coherence import npmi, topic_top_words
from hdsp.metrics.diversity import topic_diversity
from hdsp.metrics.matching import match_topics

__all__ = ["match_topics", "npmi", "topic_diversity", "topic_top_words"]
