"""How a fit proceeds: starts, the batch loop, the search for the number of topics.

Internal: names here may change without notice.
"""

from hdsp.inference.batch import fit_batch
from hdsp.inference.batches import ShardBatches
from hdsp.inference.display import FitDisplay, fit_display
from hdsp.inference.growth import grow_topics
from hdsp.inference.history import History, PassRecord, TrialRecord, topics_in_use
from hdsp.inference.interruption import Interruption, interrupting_at_once
from hdsp.inference.number import NUMBERS_BY
from hdsp.inference.open_world import (
    OpenStream,
    absorb,
    open_stream,
    read_further_labels,
    reopen_stream,
)
from hdsp.inference.plan import Plan
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
from hdsp.inference.whole import FitSource, Outcome, fit, survey_shards

__all__ = [
    "NUMBERS_BY",
    "STARTS",
    "AfterPass",
    "AfterStep",
    "FitDisplay",
    "FitSource",
    "History",
    "Interruption",
    "OpenStream",
    "Outcome",
    "PassRecord",
    "PassSoFar",
    "Plan",
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
    "fit",
    "fit_batch",
    "fit_display",
    "fit_stochastic",
    "grow_topics",
    "initial_state",
    "interrupting_at_once",
    "open_stream",
    "read_further_labels",
    "reopen_stream",
    "start_stream",
    "stochastic_step",
    "survey_shards",
    "topics_in_use",
]
