"""Every single update raises the bound, and the bound is the one of the equations."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, psi
from scipy.stats import beta as beta_density
from scipy.stats import gamma

from hdsp.execution.executor import InProcess
from hdsp.fit.passes import Documents
from hdsp.model.bound import elbo
from hdsp.model.data import make_problem
from hdsp.model.documents import (
    DocumentView,
    LocalSettings,
    block_step,
    document_terms,
    solve_block,
)
from hdsp.model.priors import Priors
from hdsp.model.state import DocumentState
from hdsp.model.updates import (
    update_corpus_concentration,
    update_document_concentration,
    update_sticks,
    update_topics,
)
from tests.problems import SCALINGS, fit_documents, problems, without_labels
from tests.reference.bound import bound_terms, full_documents

HERE = InProcess()
# Sums of float64 terms of both signs; counts go up to 1e5.
ROUNDING = 1e-10


def size_of(terms):
    return sum(map(abs, terms.values()))


class Climb:
    """Follows the reference bound through updates and names the one that lowers it."""

    def __init__(self, problem, dense):
        self.problem, self.dense, self.terms = problem, dense, None

    def check(self, name, state, documents):
        terms = bound_terms(self.dense, self.problem, state, documents)
        if self.terms is not None:
            size = size_of(terms)
            fall = sum(self.terms.values()) - sum(terms.values())
            moved = {key: terms[key] - self.terms[key] for key in terms}
            assert fall <= ROUNDING * size, f"{name} lowers the bound by {fall}: {moved}"
        self.terms = terms


def solve(problem, state, kept, settings):
    """The document step of a problem of one block: solution and statistics."""
    (block,) = problem.blocks
    view = DocumentView(state, problem.scaling, problem.dtype)
    return block_step(view, block, kept, settings)


@pytest.mark.parametrize("scaling", SCALINGS)
@given(data=st.data())
def test_no_update_lowers_the_bound(scaling, data):
    problem, dense, state = data.draw(problems(scaling))
    climb = Climb(problem, dense)
    kept = None
    for cycle in range(3):
        for inner in range(3):
            solution, statistics = solve(problem, state, kept, LocalSettings(1, 0.0, prune=0.0))
            kept, documents = solution.documents, full_documents(problem, state, solution)
            climb.check(f"document step {cycle}.{inner}", state, documents)
        state = update_topics(problem, state, statistics)
        climb.check("topics", state, documents)
        # Before the scaling function moves: E[pi] follows from the state documents saw.
        state = replace(
            state,
            scaling=Documents(problem, HERE, kept).update_scaling(state.weights, statistics.limits),
        )
        climb.check("scaling", state, documents)
        state = replace(state, scaling=problem.scaling.learn_prior(state.scaling))
        climb.check("priors of label weights", state, documents)
        log_total = statistics.log_proportion + problem.scaling.log_rate_total(
            state.scaling, problem.design
        )
        state = update_sticks(problem, state, log_total)
        climb.check("sticks", state, documents)
        state = update_corpus_concentration(problem, state)
        climb.check("corpus concentration", state, documents)
        state = update_document_concentration(problem, state, log_total)
        climb.check("document concentration", state, documents)


@given(data=st.data())
def test_the_itemised_bound_is_the_reference(data):
    problem, dense, state = data.draw(problems())
    solution, statistics = solve(problem, state, None, LocalSettings(5, 0.0, prune=0.0))
    ours = elbo(problem, state, statistics)
    reference = bound_terms(dense, problem, state, full_documents(problem, state, solution))
    for name, value in ours.items().items():
        np.testing.assert_allclose(value, reference[name], rtol=1e-8, atol=1e-6, err_msg=name)
    assert ours.total == pytest.approx(sum(ours.items().values()))


@given(data=st.data())
def test_the_statistics_are_sums_over_documents(data):
    problem, _, state = data.draw(problems())
    solution, statistics = solve(problem, state, None, LocalSettings(5, 0.0, prune=0.0))
    kept, documents = solution.documents, full_documents(problem, state, solution)
    tokens = kept.tokens(slice(state.n_topics))
    mean = solution.mean_proportions(problem.scaling, tokens, state.weights)
    np.testing.assert_allclose(mean, documents.shape / documents.rate, rtol=1e-10)
    log_mean = psi(documents.shape) - np.log(documents.rate)
    # Topics that hold next to nothing enter by their expansion about the prior.
    np.testing.assert_allclose(
        statistics.log_proportion, log_mean.sum(axis=0), rtol=1e-6, atol=1e-6
    )
    # Every token goes to some topic, of its own word and of its own document.
    lengths = np.concatenate([block.lengths for block in problem.blocks])
    np.testing.assert_allclose(kept.token_counts.sum(axis=1), lengths, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(statistics.word_counts.sum(), lengths.sum(), rtol=1e-8, atol=1e-12)


@given(data=st.data())
def test_float32_agrees_with_float64(data):
    problem, _, state = data.draw(problems())
    single = make_problem(problem.counts, problem.design, problem.scaling, problem.priors)
    settings = LocalSettings(5, 0.0, prune=0.0)
    _, exact = fit_documents(problem, state, None, settings, HERE)
    _, rough = fit_documents(single, state, None, settings, HERE)
    terms = exact.bound.items()
    size = size_of(terms) + 1.0
    assert rough.bound.items() == pytest.approx(terms, rel=0.0, abs=1e-5 * size)


@given(data=st.data())
def test_a_restart_pass_never_lowers_the_bound(data):
    problem, _, state = data.draw(problems())
    settings = LocalSettings(3, 0.0, prune=0.0)
    kept, before = fit_documents(problem, state, None, LocalSettings(1, 0.0, prune=0.0), HERE)
    _, plain = fit_documents(problem, state, kept, settings, HERE)
    _, restarted = fit_documents(problem, state, kept, replace(settings, restart=True), HERE)
    size = size_of(before.bound.items())
    totals = [s.bound.total for s in (before, plain, restarted)]
    assert totals[1] - totals[0] >= -ROUNDING * size
    assert totals[2] - totals[1] >= -ROUNDING * size


def test_a_restart_keeps_the_better_of_both_for_each_document():
    rng = np.random.default_rng(0)
    problem, state = without_labels(rng.poisson(1.0, size=(70, 9)), 6, rng)
    (block,) = problem.blocks
    view = DocumentView(state, problem.scaling, problem.dtype)
    settings = LocalSettings(2, 0.0, prune=0.0)
    # Tokens that sit with one topic each: some documents leave it, some do better afresh.
    held = np.zeros((70, view.table.shape[1]))
    held[np.arange(70), rng.integers(0, 6, size=70)] = block.lengths
    kept = DocumentState(held, np.ones(70))
    rate, either = np.ones(held.shape), []
    for documents in (kept, None):
        solved, _ = solve_block(view, block, rate, documents, settings)
        either.append(document_terms(view, block, rate, solved)[0].sum(axis=0))
    assert 5 < (either[0] > either[1]).sum() < 65
    _, found = block_step(view, block, kept, replace(settings, restart=True))
    # The same float64 numbers, summed in another order.
    assert found.bound.total == pytest.approx(np.maximum(*either).sum(), rel=1e-12)


def test_concentrations_are_at_their_maximum_under_any_gamma_prior():
    rng = np.random.default_rng(0)
    priors = Priors(0.05, (3.0, 0.5), (4.0, 0.2))
    problem, state = without_labels(np.ones((30, 4)), 5, rng, priors)
    state = replace(state, sticks=rng.uniform(0.2, 0.6, size=4))
    weight = state.topic_weight
    log_total = np.log(rng.gamma(6.0 * weight, size=(30, 5))).sum(axis=0)

    def corpus_loss(u):
        likelihood = beta_density.logpdf(state.sticks, 1.0, np.exp(u)).sum()
        return -likelihood - gamma.logpdf(np.exp(u), 3.0, scale=1 / 0.5)

    def document_loss(u):
        shape = np.exp(u) * weight
        likelihood = shape @ log_total - 30 * gammaln(shape).sum()
        return -likelihood - gamma.logpdf(np.exp(u), 4.0, scale=1 / 0.2)

    alpha = update_corpus_concentration(problem, state).corpus_concentration
    beta = update_document_concentration(problem, state, log_total).document_concentration
    for found, loss in ((alpha, corpus_loss), (beta, document_loss)):
        best = minimize_scalar(loss, bounds=(-5.0, 5.0), options={"xatol": 1e-9}).x
        # A search by values alone finds the maximum to about the root of rounding.
        assert np.log(found) == pytest.approx(best, abs=1e-6)
