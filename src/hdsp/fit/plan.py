"""What a fit does: its settings, its start, and the search for the number of topics."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hdsp.fit.run import Run
from hdsp.fit.search import Search
from hdsp.fit.start import initial_state
from hdsp.model import GlobalState, Problem


@dataclass(frozen=True, eq=False)
class Plan:
    """The settings of a fit that decide its result.

    Attributes
    ----------
    n_components : int
        The largest number of topics.
    fixed_number : bool
        Whether there are exactly so many.
    number_by : str
        How the number is found otherwise.
    init : str or array
        The initial topics.
    corpus_concentration, document_concentration : float
        The initial values of alpha and beta.
    rng : numpy.random.Generator
        The source of random numbers.
    batch_size : int or None, default=None
        The documents that make a step of stochastic inference; None is batch inference.
    """

    n_components: int
    fixed_number: bool
    number_by: str
    init: Any
    corpus_concentration: float
    document_concentration: float
    rng: np.random.Generator
    batch_size: int | None = None

    @property
    def searches(self) -> bool:
        """Whether the number of topics is searched for."""
        return not self.fixed_number and isinstance(self.init, str)


@dataclass(frozen=True, eq=False)
class Beginning:
    """How many topics a fit has, and where it starts.

    Attributes
    ----------
    n_topics : int
        The number of topics.
    numbers : tuple of two int, or None
        Numbers that are about as good; None where nothing was searched.
    state : callable
        Makes the initial state: it takes time, and is not wanted where a fit is resumed.
    """

    n_topics: int
    numbers: tuple[int, int] | None
    state: Callable[[], GlobalState]


def begin(
    problem: Problem,
    plan: Plan,
    run: Run,
    after_trial: Callable[[], None] | None = None,
    n_tokens: float | None = None,
) -> Beginning:
    """Find the number of topics, or take the one that is given.

    Parameters
    ----------
    problem : Problem
        All documents, or a sample of them.
    plan : Plan
        The settings of the fit.
    run : Run
        How it proceeds.
    after_trial : callable or None, default=None
        Called after each trial of a search.
    n_tokens : float or None, default=None
        The tokens of all documents, if `problem` is a sample.
    """

    def start(problem: Problem, n_topics: int, rng: np.random.Generator, held: Any) -> GlobalState:
        return initial_state(
            problem,
            n_topics,
            plan.init,
            plan.corpus_concentration,
            plan.document_concentration,
            rng,
            held,
        )

    if not plan.searches:
        number = plan.n_components
        return Beginning(number, None, lambda: start(problem, number, plan.rng, n_tokens))
    seed = int(plan.rng.integers(2**62))

    def start_at(problem: Problem, n_topics: int, held: Any = None) -> GlobalState:
        return start(problem, n_topics, np.random.default_rng([seed, n_topics]), held)

    search = Search(
        problem,
        plan.n_components,
        plan.number_by,
        start_at,
        run,
        plan.rng,
        after_trial=after_trial,
    )
    with run.stage("search"):
        number, numbers = search.number(), search.number_range()
    return Beginning(number, numbers, lambda: start_at(problem, number, n_tokens))
