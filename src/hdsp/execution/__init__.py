"""Where a pass over the documents runs.

Internal: names here may change without notice.
"""

from hdsp.execution.choice import check_executor, make_executor
from hdsp.execution.executor import Executor, InProcess, Kept, Step, tree_sum
from hdsp.execution.passes import (
    fit_documents,
    is_alone,
    solve_documents,
    sum_documents,
    sum_tokens,
)
from hdsp.execution.processes import Processes

__all__ = [
    "Executor",
    "InProcess",
    "Kept",
    "Processes",
    "Step",
    "check_executor",
    "fit_documents",
    "is_alone",
    "make_executor",
    "solve_documents",
    "sum_documents",
    "sum_tokens",
    "tree_sum",
]
