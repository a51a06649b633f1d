"""The search for the number of topics, by held-out words.

A share of the documents is held out. Short fits of the others with several numbers of topics
predict one half of the words of each held-out document from the other. `hdsp.fit.number`
turns that into a number; all documents are then fitted with it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from hdsp.fit.batch import fit_batch
from hdsp.fit.history import TrialRecord
from hdsp.fit.merge import FEWEST_TOPICS
from hdsp.fit.number import best_number, chosen_number, number_range, settles
from hdsp.fit.run import Run
from hdsp.model import GlobalState, HeldOut, Problem
from hdsp.numerics.types import FloatArray

# Held out: a tenth of the documents, but some hundreds, and never more than a quarter.
_SHARE, _FEWEST_HELD_OUT, _MOST_HELD_OUT, _LARGEST_SHARE = 0.1, 500, 2_000, 0.25
# Trials read at most as many documents; the start of a fit reads no more either.
_MOST_FITTED = 20_000
# As many passes tell numbers of topics apart as well as a fit that has settled does.
_PASSES = 2
# The first number tried, and the factor between one and the next.
_FIRST = 32
_STEP = 1.5
# A fall of the score by as many standard errors is no chance.
_CLEARLY = 2.0
# Numbers whose ratio is closer to 1 than this are not told apart.
_CLOSE = 1.1
# Where the search for the best concentration begins.
_CONCENTRATION = 8.0


@dataclass(eq=False)
class Search:
    """How many topics the documents of a problem ask for.

    Attributes
    ----------
    problem : Problem
        All documents.
    most_topics : int
        There may be.
    number_by : str
        ``"prediction"`` or ``"evidence"``.
    start_at : callable
        The state where a fit of a problem with so many topics starts; the same for the same
        problem and number.
    run : Run
        How fits proceed; it keeps the trials, and knows those of a search that was cut short.
    rng : numpy.random.Generator
        Chooses the documents that are held out.
    after_trial : callable or None, default=None
        Called after each trial.
    """

    problem: Problem
    most_topics: int
    number_by: str
    start_at: Callable[[Problem, int], GlobalState]
    run: Run
    rng: np.random.Generator
    after_trial: Callable[[], None] | None = None
    _trials: dict[int, TrialRecord] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        n_documents = self.problem.n_documents
        wanted = min(max(_SHARE * n_documents, _FEWEST_HELD_OUT), _MOST_HELD_OUT)
        n_held_out = int(min(wanted, _LARGEST_SHARE * n_documents))
        order = self.rng.permutation(n_documents)
        fitted = np.sort(order[n_held_out : n_held_out + _MOST_FITTED])
        held_out = np.sort(order[:n_held_out])
        self._fitted = self.problem.take(fitted)
        counts = self.problem.counts
        frequency = np.asarray(self._fitted.counts.sum(axis=0), dtype=np.float64)
        self._held_out = HeldOut(counts[held_out], self.problem.design[held_out], frequency)
        self._ceiling = max(min(self.most_topics, len(fitted)), 1)
        # Seeded topics, and one for all the rest.
        wanted = max(FEWEST_TOPICS, self.problem.priors.n_seeded + 1)
        self._fewest = min(wanted, self.most_topics)
        self._ceiling = max(self._ceiling, self._fewest)

    def number(self) -> int:
        """The number of topics to fit all documents with."""
        if self._ceiling <= self._fewest or not self._held_out.tokens.sum():
            return self._fewest
        first = min(max(_FIRST, self._fewest), self._ceiling)
        self._try(first)
        if not self._trials:
            # Interrupted in the first of them.
            return first
        self._climb()
        self._descend()
        if self.number_by == "prediction":
            peak = self._within(best_number(self.gain()))
            if min(abs(np.log(peak / n)) for n in self._trials) > np.log(_CLOSE):
                self._try(peak)
        return self._within(chosen_number(self.gain(), self.number_by))

    def number_range(self) -> tuple[int, int] | None:
        """Numbers that are about as good; None where nothing was tried."""
        if len(self._trials) < 2:
            return None
        likelihood = {n: trial.likelihood for n, trial in self._trials.items()}
        low, high = number_range(
            likelihood, self._held_out.tokens, self._held_out.unigram, self.number_by
        )
        return self._within(low), self._within(high)

    def gain(self) -> dict[int, float]:
        """The mean log probability of a held-out token beyond that by word frequencies alone."""
        tokens, unigram = self._held_out.tokens.sum(), self._held_out.unigram.sum()
        return {n: float(t.likelihood.sum() - unigram) / tokens for n, t in self._trials.items()}

    def _climb(self) -> None:
        """Try larger numbers until the score has passed its peak, or is no longer worth it."""
        while (largest := max(self._trials)) < self._ceiling and not self.run.interrupted:
            if self._passed(largest) or (self.number_by == "evidence" and settles(self.gain())):
                break
            following = round(largest * _STEP)
            self._try(self._ceiling if following * _CLOSE >= self._ceiling else following)

    def _descend(self) -> None:
        """Try smaller numbers until the number that is wanted lies between numbers tried."""
        while (smallest := min(self._trials)) > self._fewest and not self.run.interrupted:
            wanted = chosen_number(self.gain(), self.number_by)
            inside = self.number_by == "evidence" and wanted > smallest * _CLOSE
            if inside or (self.number_by == "prediction" and self._passed(smallest)):
                break
            self._try(max(round(smallest / _STEP), self._fewest))

    def _passed(self, edge: int) -> bool:
        """Whether the score falls from its best towards `edge`: clearly, or twice."""
        gain = self.gain()
        best = max(gain, key=lambda n: gain[n])
        if best == edge:
            return False
        beyond = [n for n in gain if (n - best) * (edge - best) > 0]
        return len(beyond) > 1 or gain[best] - gain[edge] > _CLEARLY * self._error(best, edge)

    def _error(self, one: int, other: int) -> float:
        """The standard error of the difference of two numbers' scores, over documents."""
        apart = self._trials[one].likelihood - self._trials[other].likelihood
        tokens: FloatArray = self._held_out.tokens
        residual = apart - tokens * (apart.sum() / tokens.sum())
        return float(np.sqrt((residual**2).sum()) / tokens.sum())

    def _try(self, number: int) -> None:
        """A short fit with so many topics, and its score."""
        for trial in self.run.trials:
            if trial.topics == number:
                self._trials[number] = trial
                return
        self.run.display.begin_trial(number)
        run = replace(self.run, max_iter=_PASSES, tol=0.0, keep_documents=True, after_pass=None)
        history = run.new_history()
        fit = fit_batch(self._fitted, self.start_at(self._fitted, number), run, history)
        if self.run.interrupted:
            return
        near = min(self._trials, key=lambda n: abs(np.log(n / number)), default=None)
        concentration = _CONCENTRATION if near is None else self._trials[near].concentration
        score = self._held_out.score(fit.state, self.problem.scaling, concentration)
        trial = TrialRecord(
            number,
            score.concentration,
            score.likelihood,
            self._perplexity(score.likelihood),
            self.run.seconds,
        )
        self._trials[number] = trial
        self.run.trials.append(trial)
        self.run.display.end_trial(trial.perplexity)
        if self.after_trial is not None:
            self.after_trial()

    def _perplexity(self, likelihood: FloatArray) -> float:
        return float(np.exp(-likelihood.sum() / self._held_out.tokens.sum()))

    def _within(self, number: float) -> int:
        return int(min(max(round(number), self._fewest), self._ceiling))
