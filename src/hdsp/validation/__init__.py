"""Checks of arguments, with their messages.

A message names the argument and its owner, the rule, the value found and what to do. Where a
check takes a `subject`, that is the first of these, such as "`labels` of HDSP.fit". A function
called `check_*` raises; the few others return what they made of a valid value.
"""

from hdsp.validation.documents import (
    check_counts,
    check_indices,
    check_length,
    check_matrix,
    check_not_dask,
    check_not_infinite,
    check_not_texts,
    check_texts,
    check_unique,
    check_weights,
    check_words,
    count_rows,
    row_positions,
)
from hdsp.validation.settings import (
    check_choice,
    check_content,
    check_flag,
    check_folder,
    check_jobs,
    check_known,
    check_learned,
    check_positive,
    check_prior,
    check_seeds,
    check_share,
    check_tolerance,
    check_whole,
    make_generator,
)
from hdsp.validation.topics import (
    check_merges,
    check_top_words,
    check_topic_names,
    normalised_components,
)
from hdsp.validation.wording import count_of, listed, quoted

__all__ = [
    "check_choice",
    "check_content",
    "check_counts",
    "check_flag",
    "check_folder",
    "check_indices",
    "check_jobs",
    "check_known",
    "check_learned",
    "check_length",
    "check_matrix",
    "check_merges",
    "check_not_dask",
    "check_not_infinite",
    "check_not_texts",
    "check_positive",
    "check_prior",
    "check_seeds",
    "check_share",
    "check_texts",
    "check_tolerance",
    "check_top_words",
    "check_topic_names",
    "check_unique",
    "check_weights",
    "check_whole",
    "check_words",
    "count_of",
    "count_rows",
    "listed",
    "make_generator",
    "normalised_components",
    "quoted",
    "row_positions",
]
