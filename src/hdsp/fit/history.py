"""The record of a fit: one entry per pass, and one per start of a search."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hdsp.model import BlockProblem, BoundTerms, GlobalState, Statistics
from hdsp.numerics import FloatArray

_FACTS = (
    "n_topics",
    "corpus_concentration",
    "document_concentration",
    "topics_in_use",
    "inner_iterations",
    "seconds",
)


def topics_in_use(topic_tokens: FloatArray, n_documents: int) -> int:
    """How many topics hold at least as many expected tokens as the average document has.

    A topic with fewer words than a document is no more than a few stray tokens; but of very few
    documents, all topics may have fewer, and then the largest counts. `topic_tokens` [T] are the
    expected tokens of each topic.
    """
    return max(int((topic_tokens >= topic_tokens.sum() / n_documents).sum()), 1)


@dataclass(frozen=True)
class PassRecord:
    """One pass over the documents.

    Attributes
    ----------
    bound : BoundTerms
        The bound after the pass, term by term.
    n_topics : int
        The number of topics T.
    corpus_concentration, document_concentration : float
        The concentrations alpha and beta during the pass.
    topics_in_use : int
        Topics with at least an average document's number of tokens.
    inner_iterations : float
        Mean inner iterations per document.
    seconds : float
        Seconds since the beginning of the fit.
    moves : mapping of str to int
        How many topics were merged, split or deleted after the pass, by the kind of move.
    """

    bound: BoundTerms
    n_topics: int
    corpus_concentration: float
    document_concentration: float
    topics_in_use: int
    inner_iterations: float
    seconds: float
    moves: Mapping[str, int] = field(default_factory=dict)

    def as_row(self, number: int) -> dict[str, float]:
        """The record as a plain row of `HDSP.history_`."""
        facts = {name: getattr(self, name) for name in _FACTS}
        total = {"pass": number, "bound": self.bound.total}
        return {**total, **self.bound.items(), **facts, **self.moves}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "PassRecord":
        """The record that `as_row` wrote."""
        terms = BoundTerms.names()
        own = {"pass", "bound", *terms, *_FACTS}
        moves = {name: value for name, value in row.items() if name not in own}
        facts = {name: row[name] for name in _FACTS}
        return cls(BoundTerms(**{name: row[name] for name in terms}), **facts, moves=moves)


@dataclass(frozen=True, eq=False)
class TrialRecord:
    """One number of topics that a search has tried, from one start.

    Attributes
    ----------
    topics : int
        The number of topics.
    init : str
        The start.
    concentration : float
        The beta at which held-out words are predicted best.
    likelihood : float array of shape [M]
        The log likelihood of each held-out document.
    perplexity : float
        Of a held-out token.
    coherence, exclusivity : float
        The means over topics of `hdsp.metrics.npmi`, in the documents that were fitted, and of
        `hdsp.metrics.exclusivity`.
    seconds : float
        Since the beginning of the fit.
    """

    topics: int
    init: str
    concentration: float
    likelihood: FloatArray
    perplexity: float
    coherence: float
    exclusivity: float
    seconds: float

    def as_row(self) -> dict[str, Any]:
        """The record as a plain row of `HDSP.search_`."""
        return {name: value for name, value in vars(self).items() if name != "likelihood"}


class History:
    """The passes of a fit, and whether its bound has settled.

    Parameters
    ----------
    tol : float
        The relative change of the bound at which a fit has converged.
    clock : callable
        Returns the seconds since the beginning of the fit.
    passes : list of PassRecord, default=None
        Passes of an earlier run that this one continues.

    Attributes
    ----------
    passes : list of PassRecord
        The passes so far.
    converged : bool
        Whether the last pass changed the bound by no more than `tol`.
    """

    def __init__(
        self, tol: float, clock: Callable[[], float], passes: list[PassRecord] | None = None
    ) -> None:
        self.tol = tol
        self.passes = passes or []
        self.converged = False
        self._clock = clock

    def __len__(self) -> int:
        return len(self.passes)

    @property
    def last(self) -> PassRecord:
        """The last pass."""
        return self.passes[-1]

    def rows(self) -> list[dict[str, float]]:
        """One plain row per pass."""
        return [record.as_row(number) for number, record in enumerate(self.passes, 1)]

    def record(
        self, problem: BlockProblem, state: GlobalState, statistics: Statistics, bound: BoundTerms
    ) -> PassRecord:
        """Add a pass, and update `converged`."""
        tokens = statistics.word_counts.sum(axis=0, dtype=np.float64)
        before = self.last.bound.total if self.passes else -np.inf
        self.converged = abs(bound.total - before) <= self.tol * abs(bound.total)
        self.passes.append(
            PassRecord(
                bound,
                state.n_topics,
                state.corpus_concentration,
                state.document_concentration,
                topics_in_use(tokens, problem.n_documents),
                statistics.inner_iterations / problem.n_documents,
                self._clock(),
            )
        )
        return self.last

    def note_moves(self, moves: Mapping[str, int]) -> None:
        """Add to the last pass how many topics were merged, split or deleted after it."""
        self.passes[-1] = replace(self.last, moves={**self.last.moves, **moves})
