"""How a fit proceeds: starts, the batch loop, the search for the number of topics.

Internal: names here may change without notice.
"""

from hdsp.inference.batch import fit_batch
from hdsp.inference.display import FitDisplay, fit_display
from hdsp.inference.history import History, PassRecord, StartRecord, topics_in_use
from hdsp.inference.interruption import Interruption
from hdsp.inference.moves.refine import refine
from hdsp.inference.run import AfterPass, Run
from hdsp.inference.search import Resumed, Search
from hdsp.inference.start import STARTS, initial_state

__all__ = [
    "STARTS",
    "AfterPass",
    "FitDisplay",
    "History",
    "Interruption",
    "PassRecord",
    "Resumed",
    "Run",
    "Search",
    "StartRecord",
    "fit_batch",
    "fit_display",
    "initial_state",
    "refine",
    "topics_in_use",
]
