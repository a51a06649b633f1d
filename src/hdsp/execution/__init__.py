"""Where a pass over the documents runs.

Internal: names here may change without notice.
"""

from hdsp.execution.executor import Executor, InProcess, Kept, Step, tree_sum
from hdsp.execution.passes import (
    fit_blocks,
    fit_documents,
    sum_documents,
    sum_tokens,
    update_labels,
)

__all__ = [
    "Executor",
    "InProcess",
    "Kept",
    "Step",
    "fit_blocks",
    "fit_documents",
    "sum_documents",
    "sum_tokens",
    "tree_sum",
    "update_labels",
]
