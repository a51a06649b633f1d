"""Effects of labels on topics that are learned again from resampled documents."""

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import numpy as np
from threadpoolctl import threadpool_limits

from hdsp import progress
from hdsp.execution import InProcess
from hdsp.fit import Interruption, Run, fit_batch, interrupting_at_once
from hdsp.metrics import match_topics
from hdsp.model import Fit, Problem
from hdsp.numerics.types import FloatArray
from hdsp.prediction import Contrast, FittedModel, calibrate_labels, expected_sides

# Both sides of contrasts, [2, C, T].
Sides = FloatArray


def refit_sides(
    model: FittedModel,
    problem: Problem,
    contrasts: list[Contrast],
    n_refits: int,
    *,
    max_iter: int,
    tol: float,
    n_jobs: int,
    seed: int,
) -> FloatArray:
    """Expected proportions on both sides of contrasts by topics of resampled documents.

    Each refit draws as many documents with replacement, and starts at the fitted topics. All
    documents are then read with the topics that it ends with, matched with those of the model.
    Refits run side by side, with the same result for any number of threads.

    Parameters
    ----------
    model : FittedModel
        The fitted model.
    problem : Problem
        The documents that it was fitted to.
    contrasts : list of Contrast
        The C contrasts.
    n_refits : int
        The number R of refits.
    max_iter : int
        The largest number of passes of a refit.
    tol : float
        The relative change of the bound at which a refit stops.
    n_jobs : int
        The number of threads.
    seed : int
        Equal seeds give equal results.

    Returns
    -------
    float array of shape [R, 2, C, T]
        Before the change of each contrast, and after it.
    """
    interruption = Interruption()

    def work(number: int) -> Sides:
        rng = np.random.default_rng([seed, number])
        run = Run(max_iter, tol, interruption=interruption)
        return _refit(model, problem, contrasts, run, rng)

    with threadpool_limits(1, "blas"), interrupting_at_once():
        return np.array(_in_threads(work, n_refits, n_jobs, interruption))


def _refit(
    model: FittedModel,
    problem: Problem,
    contrasts: list[Contrast],
    run: Run,
    rng: np.random.Generator,
) -> Sides:
    drawn = np.sort(rng.integers(problem.n_documents, size=problem.n_documents))
    state = fit_batch(problem.take(drawn), model.state, run, run.new_history()).state
    if run.interrupted:
        # Nobody waits for the result.
        return np.empty(0)
    copies = np.bincount(drawn, minlength=problem.n_documents)
    calibration = calibrate_labels(
        problem, Fit(state, None), model.schema, run.settings, InProcess(), copies
    )
    sides = np.array(expected_sides(calibration, model.schema, model.training.sample, contrasts))
    # A fit orders its topics by size.
    partner, _ = match_topics(model.state.topics.T, state.topics.T)
    return np.asarray(sides[:, :, partner])


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
