"""How a fit proceeds: starts, the batch loop, the search for the number of topics.

Internal: names here may change without notice.
"""

from hdsp.inference.batch import fit_batch, fit_sharded
from hdsp.inference.batches import ShardBatches
from hdsp.inference.display import FitDisplay, fit_display
from hdsp.inference.history import History, PassRecord, TrialRecord, topics_in_use
from hdsp.inference.interruption import Interruption, interrupting_at_once
from hdsp.inference.merging import merge_topics
from hdsp.inference.number import NUMBERS_BY
from hdsp.inference.open_world import (
    OpenStream,
    absorb,
    open_stream,
    read_further_labels,
    reopen_stream,
)
from hdsp.inference.run import AfterPass, Resumed, Run
from hdsp.inference.sample import Sample, Survey, SurveyDocuments
from hdsp.inference.search import Search
from hdsp.inference.seeding import find_seeds
from hdsp.inference.start import STARTS, initial_state
from hdsp.inference.stochastic import (
    AfterStep,
    PassSoFar,
    Stream,
    default_batch_size,
    fit_stochastic,
    start_stream,
    stochastic_step,
)

__all__ = [
    "NUMBERS_BY",
    "STARTS",
    "AfterPass",
    "AfterStep",
    "FitDisplay",
    "History",
    "Interruption",
    "OpenStream",
    "PassRecord",
    "PassSoFar",
    "Resumed",
    "Run",
    "Sample",
    "Search",
    "ShardBatches",
    "Stream",
    "Survey",
    "SurveyDocuments",
    "TrialRecord",
    "absorb",
    "default_batch_size",
    "find_seeds",
    "fit_batch",
    "fit_display",
    "fit_sharded",
    "fit_stochastic",
    "initial_state",
    "interrupting_at_once",
    "merge_topics",
    "open_stream",
    "read_further_labels",
    "reopen_stream",
    "start_stream",
    "stochastic_step",
    "topics_in_use",
]
