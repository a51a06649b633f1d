"""A fit of documents in memory."""

from hdsp.fitting.plan import Plan, begin
from hdsp.inference import History, Resumed, Run, fit_batch, merge_topics
from hdsp.model import Fit, Problem
from hdsp.persistence import Checkpoint


def fit_in_memory(
    problem: Problem, plan: Plan, run: Run, checkpoint: Checkpoint | None
) -> tuple[Fit, History, tuple[int, int] | None]:
    """Fit with a fixed number of topics, or with the number that held-out words ask for.

    The third result is the range of numbers that are about as good.
    """
    resumed = checkpoint.resume(problem, run, plan.n_components) if checkpoint else None
    if checkpoint is not None:
        run.after_pass = checkpoint.pass_writer(run)
    after_trial = checkpoint.trial_writer(run) if checkpoint else None
    beginning = begin(problem, plan, run, after_trial)
    run.display.begin_fit(beginning.n_topics)
    # Interrupted in its trials, a search may have gone on with another number.
    if resumed is None or resumed.state.n_topics != beginning.n_topics:
        resumed = Resumed(beginning.state(), None, run.new_history())
    history = resumed.history
    fit = fit_batch(problem, resumed.state, run, history, resumed.documents)
    if not plan.fixed_number and run.keep_documents and history.converged:
        fit = merge_topics(problem, fit, run, history)
    return fit, history, _scaled(beginning.numbers, fit.state.n_topics, beginning.n_topics)


def _scaled(
    numbers: tuple[int, int] | None, n_topics: int, searched: int
) -> tuple[int, int] | None:
    """The range of numbers that are as good as the one searched, after merges as for that one."""
    if numbers is None:
        return None
    low, high = (max(round(number * n_topics / searched), 2) for number in numbers)
    return min(low, n_topics), max(high, n_topics)
