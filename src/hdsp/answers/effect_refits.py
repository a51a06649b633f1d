"""Effects of labels on topics that are learned again from resampled documents."""

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from hdsp import progress
from hdsp.corpus import Corpus
from hdsp.fit import STARTS, Interruption, Run, fit_batch, initial_state, interrupting_at_once
from hdsp.metrics import match_topics
from hdsp.model import Fit, GlobalState, Problem
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction import Contrast, FittedModel, Weight, expected_sides, prepare_calibration

# Both sides of contrasts, [2, C, T].
Sides = FloatArray


@dataclass(frozen=True, eq=False)
class Resampling:
    """How often topics are learned again, and how.

    Attributes
    ----------
    n_refits : int
        The number R of refits.
    corpus : Corpus or None
        The training documents; None is refused.
    max_iter : int
        The largest number of passes of a refit.
    tol : float
        The relative change of the bound at which a refit stops.
    n_jobs : int or None
        The number of threads; None is all cores.
    """

    n_refits: int
    corpus: Corpus | None
    max_iter: int
    tol: float
    n_jobs: int | None


def refit_sides(
    fitted: FittedModel,
    problem: Problem,
    groups: IntArray | None,
    contrasts: list[Contrast],
    resampling: Resampling,
    seed: int,
    weight: Weight = "documents",
) -> FloatArray:
    """Expected proportions on both sides of contrasts by topics of resampled documents.

    Each refit draws as many documents with replacement, or as many groups of them. Every other one
    starts afresh, as the model did and with as many topics, and the others at the fitted topics.
    All documents are then read with the topics that a refit ends with, matched with the model's.
    A topic that a refit does not find is matched with what is left: the effect then differs as much
    as that of another topic, and its interval says that the effect belongs to this fit. Refits run
    side by side, with the same result for any number of threads.

    Parameters
    ----------
    fitted : FittedModel
        The fitted model.
    problem : Problem
        The documents that it was fitted to.
    groups : int array of shape [M] or None
        The groups of documents that are not independent; -1 is a document of its own.
    contrasts : list of Contrast
        The C contrasts.
    resampling : Resampling
        How often, and how.
    seed : int
        Equal seeds give equal results.
    weight : str, default="documents"
        Whether each document weighs the same, or each token.

    Returns
    -------
    float array of shape [R, 2, C, T]
        Before the change of each contrast, and after it.
    """
    interruption = Interruption()

    def work(number: int) -> Sides:
        rng = np.random.default_rng([seed, number])
        run = Run(resampling.max_iter, resampling.tol, interruption=interruption)
        return _refit(fitted, problem, groups, contrasts, run, rng, weight, number % 2 == 0)

    n_jobs = joblib.effective_n_jobs(-1 if resampling.n_jobs is None else resampling.n_jobs)

    with threadpool_limits(1, "blas"), interrupting_at_once():
        return np.array(_in_threads(work, resampling.n_refits, n_jobs, interruption))


def _refit(
    fitted: FittedModel,
    problem: Problem,
    groups: IntArray | None,
    contrasts: list[Contrast],
    run: Run,
    rng: np.random.Generator,
    weight: Weight,
    afresh: bool,
) -> Sides:
    drawn = _resample(problem.n_documents, groups, rng)
    resampled, found = problem.take(drawn), fitted.state
    if afresh:
        found = fresh_start(fitted, resampled, rng)
    state = fit_batch(resampled, found, run, run.new_history()).state
    if run.interrupted:
        # Nobody waits for the result.
        return np.empty(0)
    copies = np.bincount(drawn, minlength=problem.n_documents)
    regress = prepare_calibration(problem, Fit(state, None), fitted.space, run, copies, groups)
    calibration = getattr(regress(), weight)
    sides = np.array(expected_sides(calibration, fitted.space, fitted.training.sample, contrasts))
    # A fit orders its topics by size.
    partner, _ = match_topics(fitted.state.topics.T, state.topics.T)
    return np.asarray(sides[:, :, partner])


def fresh_start(fitted: FittedModel, problem: Problem, rng: np.random.Generator) -> GlobalState:
    """Topics as the model's fit began, and as many."""
    init, state = fitted.report.init, fitted.state
    return initial_state(
        problem,
        state.n_topics,
        init if init in STARTS else "nmf",
        state.corpus_concentration,
        state.document_concentration,
        rng,
    )


def _resample(n_documents: int, groups: IntArray | None, rng: np.random.Generator) -> IntArray:
    """Documents drawn with replacement, in order: as many, or as many whole groups."""
    if groups is None:
        return np.sort(rng.integers(n_documents, size=n_documents))
    own = np.where(groups < 0, -1 - np.arange(n_documents), groups)
    _, member = np.unique(own, return_inverse=True)
    n_groups = int(member.max()) + 1
    copies = np.bincount(rng.integers(n_groups, size=n_groups), minlength=n_groups)
    return np.repeat(np.arange(n_documents), copies[member])


def _in_threads(
    work: Callable[[int], Sides], n_refits: int, n_jobs: int, interruption: Interruption
) -> list[Sides]:
    """The results of ``work(0)`` and so on, in this order."""
    pool = ThreadPoolExecutor(n_jobs)
    with progress.task("Fitting resampled documents", total=n_refits) as task:
        try:
            calls: list[Future[Sides]] = [pool.submit(work, number) for number in range(n_refits)]
            waiting = set(calls)
            while waiting:
                finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for call in finished:
                    call.result()
                task.update(done=n_refits - len(waiting))
        except BaseException:
            # Refits that run end with their pass, so that Ctrl-C need not wait for them.
            interruption.requested = True
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    pool.shutdown()
    return [call.result() for call in calls]
