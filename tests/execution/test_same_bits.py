"""The same shards give the same model wherever their blocks are worked on."""

import pytest

from hdsp import Categorical, LogLinear
from hdsp.execution.dask import DaskExecutor
from hdsp.execution.executor import InProcess
from tests.execution.conftest import scale
from tests.execution.fits import check_same, fit, fit_steps, make_problem

SCALINGS = {
    "auto": "auto",
    "categories": Categorical("kind"),
    "product": Categorical("tags", "kind") * LogLinear("year"),
}


@pytest.mark.parametrize(("n_workers", "scaling"), [(1, "product"), (2, "categories"), (3, "auto")])
def test_workers_fit_as_threads_do(corpus, local_cluster, client, n_workers, scaling):
    scale(local_cluster, client, n_workers)
    problem, state = make_problem(corpus, SCALINGS[scaling])
    expected = fit(InProcess(1), problem, state)
    check_same(fit(InProcess(2), problem, state), expected)
    check_same(fit(DaskExecutor(client), problem, state), expected)


def test_one_block_is_enough(corpus, client):
    problem, state = make_problem(corpus)
    problem.blocks[1:] = []
    expected = fit(InProcess(1), problem, state, passes=2)
    check_same(fit(DaskExecutor(client), problem, state, passes=2), expected)


def test_stochastic_steps(corpus, client):
    problem, state = make_problem(corpus)
    expected = fit_steps(InProcess(1), problem, state)
    for executor in (InProcess(2), DaskExecutor(client)):
        check_same(fit_steps(executor, problem, state), expected)
