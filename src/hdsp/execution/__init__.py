"""Where a pass over the documents runs.

Internal: names here may change without notice.
"""

from hdsp.execution.executor import Executor, InProcess, tree_sum
from hdsp.execution.passes import fit_documents, sum_documents
from hdsp.execution.reading import sum_new_tokens

__all__ = [
    "Executor",
    "InProcess",
    "fit_documents",
    "sum_documents",
    "sum_new_tokens",
    "tree_sum",
]
