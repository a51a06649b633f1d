"""What a fit reports: a row a pass, and whether it has converged."""

import sys
import time
from typing import TextIO

import numpy as np

from hdsp.model import Bound, GlobalState, Problem, Statistics
from hdsp.numerics.types import FloatArray

HistoryRow = dict[str, float]


def topics_in_use(topic_tokens: FloatArray, n_documents: int) -> int:
    """How many topics hold at least as many expected tokens as the average document has.

    A topic with less than a document's worth of words is no more than a few stray tokens.

    Parameters
    ----------
    topic_tokens : [T] expected tokens of each topic
    """
    return int((topic_tokens >= topic_tokens.sum() / n_documents).sum())


class Monitor:
    """Collects the history of a fit and decides when it stops.

    Parameters
    ----------
    tol : the relative change of the bound at which a fit has converged
    verbose : 0 is quiet; n prints every n-th pass
    """

    def __init__(self, tol: float, verbose: int = 0, stream: TextIO | None = None) -> None:
        self.tol = tol
        self.verbose = verbose
        self.history: list[HistoryRow] = []
        self.converged = False
        self._stream = stream
        self._start = time.perf_counter()

    def record(
        self, problem: Problem, state: GlobalState, statistics: Statistics, bound: Bound
    ) -> None:
        """Add a pass; `converged` tells whether it was the last that was needed."""
        total = bound.total
        tokens = statistics.word_counts.sum(axis=0, dtype=np.float64)
        before = self.history[-1]["bound"] if self.history else -np.inf
        self.history.append(
            {
                "pass": len(self.history) + 1,
                "bound": total,
                **bound.items(),
                "corpus_concentration": state.corpus_concentration,
                "document_concentration": state.document_concentration,
                "topics_in_use": topics_in_use(tokens, problem.n_documents),
                "inner_iterations": statistics.inner_iterations / problem.n_documents,
                "seconds": time.perf_counter() - self._start,
            }
        )
        self.converged = abs(total - before) <= self.tol * abs(total)
        if self.verbose and (self.converged or (len(self.history) - 1) % self.verbose == 0):
            row = self.history[-1]
            stream = self._stream or sys.stderr
            stream.write(
                f"pass {row['pass']:>4}  bound {total:,.1f}  topics in use "
                f"{row['topics_in_use']}  {row['seconds']:.1f} s\n"
            )
            stream.flush()
