"""Whole fits: of documents in memory, of documents in shards, and of a stream.

Internal: names here may change without notice.
"""

from hdsp.fitting.growth import grow_topics
from hdsp.fitting.memory import fit_in_memory
from hdsp.fitting.plan import Outcome, Plan
from hdsp.fitting.shards import fit_shards

__all__ = ["Outcome", "Plan", "fit_in_memory", "fit_shards", "grow_topics"]
