"""Where a pass over the documents runs.

Internal: names here may change without notice.
"""

from hdsp.execution.choice import make_executor
from hdsp.execution.executor import Executor, InProcess, Kept, Step, tree_sum
from hdsp.execution.passes import (
    fit_blocks,
    fit_documents,
    sum_documents,
    sum_tokens,
    update_labels,
)
from hdsp.execution.processes import Processes

__all__ = [
    "Executor",
    "InProcess",
    "Kept",
    "Processes",
    "Step",
    "fit_blocks",
    "fit_documents",
    "make_executor",
    "sum_documents",
    "sum_tokens",
    "tree_sum",
    "update_labels",
]
