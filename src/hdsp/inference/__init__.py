"""How a fit proceeds: starts, the batch loop, the search for the number of topics.

Internal: names here may change without notice.
"""

from hdsp.inference.batch import fit_batch
from hdsp.inference.display import FitDisplay, fit_display
from hdsp.inference.history import History, PassRecord, TrialRecord, topics_in_use
from hdsp.inference.interruption import Interruption, interrupting_at_once
from hdsp.inference.merging import merge_topics
from hdsp.inference.number import NUMBERS_BY
from hdsp.inference.run import AfterPass, Resumed, Run
from hdsp.inference.search import Search
from hdsp.inference.seeding import find_seeds
from hdsp.inference.start import STARTS, initial_state

__all__ = [
    "NUMBERS_BY",
    "STARTS",
    "AfterPass",
    "FitDisplay",
    "History",
    "Interruption",
    "PassRecord",
    "Resumed",
    "Run",
    "Search",
    "TrialRecord",
    "find_seeds",
    "fit_batch",
    "fit_display",
    "initial_state",
    "interrupting_at_once",
    "merge_topics",
    "topics_in_use",
]
