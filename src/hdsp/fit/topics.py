"""From documents to topics: the start that held-out words choose, passes, and merges."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hdsp.fit.merge import merge_topics
from hdsp.fit.passes import Documents, ascend
from hdsp.fit.run import FitParameters, Run, most_topics
from hdsp.fit.search import MOST_COMPARED, MOST_FITTED, Search, count_returning
from hdsp.fit.start import WordSpaceCache, common_words, initial_state
from hdsp.model.data import Problem
from hdsp.model.state import GlobalState

# Where documents have more words than this on average, those of a document say enough of it.
_LONG = 100.0
# Otherwise one of these is better, by held-out words.
_SHORT_STARTS = ("nmf", "words", "pairs")
# Where learned concentrations start.
_ALPHA, _BETA = 1.0, 0.5


@dataclass(frozen=True, eq=False)
class Start:
    """Where a fit begins.

    Attributes
    ----------
    n_topics : int
        The number of topics.
    init : str or array
        The start by name, or the topics that were given.
    rng : numpy.random.Generator
        Draws the initial state.
    numbers : tuple of two int, or None, default=None
        Numbers of topics that are about as good; None if nothing was searched.
    count_returning : callable or None, default=None
        Counts the topics that two halves of the documents share; None if documents are long, or
        the start was named.
    """

    n_topics: int
    init: Any
    rng: np.random.Generator
    numbers: tuple[int, int] | None = None
    count_returning: Callable[[], int] | None = None

    @property
    def name(self) -> str:
        """The start by name; ``"array"`` if topics were given."""
        return self.init if isinstance(self.init, str) else "array"

    def state(self, known: Problem, parameters: FitParameters, n_tokens: float) -> GlobalState:
        """The initial state, of `n_tokens` in all documents."""
        return initial_state(
            known, self.n_topics, self.init, *_concentrations(parameters), self.rng, n_tokens
        )

    def numbers_after(self, n_topics: int) -> tuple[int, int] | None:
        """The range of numbers, after merges as for the one that was chosen."""
        if self.numbers is None:
            return None
        low, high = (max(round(number * n_topics / self.n_topics), 2) for number in self.numbers)
        return min(low, n_topics), max(high, n_topics)


def choose_start(
    known: Problem, parameters: FitParameters, rng: np.random.Generator, run: Run
) -> Start:
    """Choose the start and the number of topics by held-out words, unless they are given.

    `known` are all documents, or a sample of them.
    """
    number, init, numbers = most_topics(parameters), parameters.init, None
    if not isinstance(init, str):
        return Start(number, init, rng)
    names, searched = _starts(init, known), parameters.n_components == "auto"
    # A generator of its own if the number is fixed: the fit goes on as if its start were named.
    trial_rng = rng if searched else rng.spawn(1)[0]
    seed = int(trial_rng.integers(2**62))

    def begin_trial(spaces: WordSpaceCache, part: Problem, n_topics: int, name: str) -> GlobalState:
        drawn = np.random.default_rng([seed, n_topics])
        return initial_state(
            part, n_topics, name, *_concentrations(parameters), drawn, spaces=spaces
        )

    init = names[0]
    if searched or len(names) > 1:
        most = MOST_FITTED if searched else MOST_COMPARED
        begin = partial(begin_trial, WordSpaceCache(seed))
        search = Search(known, number, begin, run, trial_rng, most)
        with run.stage("search"):
            if searched:
                init, number = search.number(names)
                numbers, rng = search.number_range(), np.random.default_rng([seed, number])
            else:
                init = search.better_start(names, number)
    returning = None
    asked = parameters.init == "auto" and _is_short(known) and number <= known.n_documents // 2
    if asked and not run.interrupted:

        def begin_half(half: Problem) -> GlobalState:
            return begin_trial(WordSpaceCache(seed), half, number, init)

        returning = partial(count_returning, known, begin_half, Run(settings=run.settings), seed)
    return Start(number, init, rng, numbers, returning)


def _concentrations(parameters: FitParameters) -> tuple[float, float]:
    return parameters.corpus_concentration or _ALPHA, parameters.document_concentration or _BETA


def _is_short(problem: Problem) -> bool:
    """Whether documents have so few words that those of one document say little of its topics."""
    return problem.n_tokens <= _LONG * problem.n_documents


def _starts(init: str, problem: Problem) -> tuple[str, ...]:
    """The starts that are tried, by the name of one or ``"auto"``."""
    if init != "auto":
        return (init,)
    alike = common_words(problem)
    # Words of one group go together, and topics that begin with them would stay apart.
    apart = alike is not None and bool((alike < 1.0).any())
    return _SHORT_STARTS if _is_short(problem) and not apart else ("nmf",)


def fit_batch(
    documents: Documents, state: GlobalState, run: Run, merge: bool = False
) -> GlobalState:
    """Passes until the bound settles, then merges if wanted; the largest topic is first."""
    with run.stage("passes"):
        state = ascend(documents, state, run)
    if merge and run.converged:
        run.saves = False
        with run.stage("merges"):
            state = merge_topics(documents, _sort(documents, state), run)
    return _sort(documents, state)


def _sort(documents: Documents, state: GlobalState) -> GlobalState:
    order = state.by_size()
    documents.regroup(order[:, None].tolist())
    return state.reordered(order)
