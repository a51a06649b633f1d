"""Whole fits: starts, the search for the number of topics, passes, merges, steps and streams.

Internal: names here may change without notice.
"""

from hdsp.fit.passes import fit_batch
from hdsp.fit.relearn import Relearned, Renumbering, go_on
from hdsp.fit.run import (
    AfterPass,
    History,
    Interruption,
    Resumed,
    Run,
    Trial,
    interrupting_at_once,
    topics_in_use,
)
from hdsp.fit.sample import Sample, Survey, SurveyDocuments
from hdsp.fit.search import Search
from hdsp.fit.shard_batches import ShardBatches
from hdsp.fit.start import STARTS, find_seeds, initial_state
from hdsp.fit.stochastic import (
    AfterStep,
    PassSoFar,
    Stream,
    default_batch_size,
    fit_stochastic,
    start_stream,
    stochastic_step,
)
from hdsp.fit.stream import OpenStream, open_stream, stream_from
from hdsp.fit.stream_labels import read_further_labels
from hdsp.fit.whole import FitSource, Outcome, Plan, fit, survey_shards

__all__ = [
    "STARTS",
    "AfterPass",
    "AfterStep",
    "FitSource",
    "History",
    "Interruption",
    "OpenStream",
    "Outcome",
    "PassSoFar",
    "Plan",
    "Relearned",
    "Renumbering",
    "Resumed",
    "Run",
    "Sample",
    "Search",
    "ShardBatches",
    "Stream",
    "Survey",
    "SurveyDocuments",
    "Trial",
    "default_batch_size",
    "find_seeds",
    "fit",
    "fit_batch",
    "fit_stochastic",
    "go_on",
    "initial_state",
    "interrupting_at_once",
    "open_stream",
    "read_further_labels",
    "start_stream",
    "stochastic_step",
    "stream_from",
    "survey_shards",
    "topics_in_use",
]
