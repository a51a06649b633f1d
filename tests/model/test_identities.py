"""Identities that any right implementation has (constant scaling is the HDP, and so on)."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, vstack

from hdsp.execution.executor import InProcess
from hdsp.fit.passes import Documents
from hdsp.fit.run import Run
from hdsp.fit.topics import fit_batch
from hdsp.model.data import make_problem
from hdsp.model.documents import LocalSettings
from hdsp.scaling.functions import Constant
from tests.problems import bound_scaling, fit_documents, problems, without_labels

HERE = InProcess()
SETTINGS = LocalSettings(4, 0.0, prune=0.0)


def fitted(problem, state, n_passes=3):
    run = Run(n_passes, tol=0.0, settings=SETTINGS)
    return fit_batch(Documents(problem, InProcess()), state, run), run.history


def remake(problem, counts, design):
    return make_problem(
        csr_array(counts), csr_array(design), problem.scaling, problem.priors, np.float64
    )


def assert_same(one, other, rtol=1e-7):
    np.testing.assert_allclose(one.topics, other.topics, rtol=rtol, atol=1e-9)
    np.testing.assert_allclose(one.topic_weight, other.topic_weight, rtol=rtol, atol=1e-9)
    assert one.document_concentration == pytest.approx(other.document_concentration, rel=rtol)
    for name in one.scaling:
        np.testing.assert_allclose(one.scaling[name], other.scaling[name], rtol=rtol, atol=1e-9)


@given(data=st.data(), name=st.sampled_from(["categorical", "loglinear", "product"]))
def test_labels_nobody_carries_give_the_hdp(data, name):
    problem, dense, state = data.draw(problems("constant"))
    n_labels = problem.design.shape[1]
    scaling = bound_scaling(name, n_labels)
    labelled = make_problem(
        csr_array(dense), csr_array((len(dense), n_labels)), scaling, problem.priors, np.float64
    )
    plain, history = fitted(problem, state)
    other, other_history = fitted(
        labelled, replace(state, scaling=scaling.initial(state.n_topics, n_labels))
    )
    np.testing.assert_array_equal(plain.topics, other.topics)
    np.testing.assert_array_equal(plain.sticks, other.sticks)
    # Only the weights' prior is there to differ, and it moves once, when it is learned.
    gaps = [b["bound"] - a["bound"] for a, b in zip(history, other_history, strict=True)]
    np.testing.assert_allclose(gaps[1:], gaps[-1], atol=1e-6 * (1 + abs(history[0]["bound"])))
    assert isinstance(problem.scaling, Constant)


@given(data=st.data())
def test_an_unlabelled_document_sees_rate_one(data):
    problem, dense, state = data.draw(problems())
    rng = np.random.default_rng(0)
    scaling = {k: v * np.exp(0.3 * rng.normal(size=v.shape)) for k, v in state.scaling.items()}
    state = replace(state, scaling=scaling)
    unlabelled = remake(problem, dense, np.zeros(problem.design.shape))
    plain = make_problem(csr_array(dense), problem.design, Constant(), problem.priors, np.float64)
    one, _ = fit_documents(unlabelled, state, None, SETTINGS, HERE)
    constant = replace(state, scaling=Constant().initial(state.n_topics, 0))
    other, _ = fit_documents(plain, constant, None, SETTINGS, HERE)
    np.testing.assert_array_equal(one.token_counts, other.token_counts)
    np.testing.assert_array_equal(one.tangent, other.tangent)


@given(data=st.data())
def test_permuting_documents_changes_nothing_else(data):
    problem, dense, state = data.draw(problems())
    order = np.random.default_rng(0).permutation(len(dense))
    shuffled = remake(problem, dense[order], problem.design[order].toarray())
    one, _ = fit_documents(problem, state, None, SETTINGS, HERE)
    other, _ = fit_documents(shuffled, state, None, SETTINGS, HERE)
    np.testing.assert_array_equal(one.token_counts[order], other.token_counts)
    assert_same(fitted(problem, state, 2)[0], fitted(shuffled, state, 2)[0], 1e-5)


@given(data=st.data())
def test_permuting_words_permutes_topics(data):
    problem, dense, state = data.draw(problems())
    order = np.random.default_rng(0).permutation(dense.shape[1])
    shuffled = remake(problem, dense[:, order], problem.design.toarray())
    if problem.priors.seeds is not None:
        seeds = csr_array(problem.priors.seeds[:, order])
        shuffled = replace(shuffled, priors=replace(problem.priors, seeds=seeds))
    one, _ = fitted(problem, state, 2)
    other, _ = fitted(shuffled, replace(state, topics=state.topics[order].copy()), 2)
    assert_same(replace(one, topics=one.topics[order]), other, 1e-5)


@given(data=st.data())
def test_permuting_topics_permutes_the_documents_answer(data):
    problem, _, state = data.draw(problems())
    order = np.random.default_rng(0).permutation(state.n_topics)
    one, first = fit_documents(problem, state, None, SETTINGS, HERE)
    other, second = fit_documents(problem, state.reordered(order), None, SETTINGS, HERE)
    np.testing.assert_allclose(
        one.token_counts[:, order], other.token_counts[:, : len(order)], rtol=1e-6, atol=1e-9
    )
    np.testing.assert_allclose(first.bound.words, second.bound.words, rtol=1e-8, atol=1e-8)


@given(data=st.data(), name=st.sampled_from(["categorical", "loglinear"]))
def test_permuting_labels_permutes_their_weights(data, name):
    problem, dense, state = data.draw(problems(name))
    n_labels = problem.design.shape[1]
    order = np.random.default_rng(0).permutation(n_labels)
    shuffled = remake(problem, dense, problem.design.toarray()[:, order])

    def settle(p):
        """Many passes: one label after another depends on the order until it converges."""
        rng = np.random.default_rng(1)
        exposure = rng.gamma(1.0, size=(len(dense), state.n_topics))
        parameters = p.scaling.initial(state.n_topics, n_labels)
        for _ in range(400):
            parameters = p.scaling.update(parameters, p.design, state.prior_shape, exposure)
        return p.scaling.expected_rate(parameters, p.design)

    np.testing.assert_allclose(settle(problem), settle(shuffled), rtol=1e-4)


@given(data=st.data())
def test_a_document_twice_is_weight_two(data):
    problem, dense, state = data.draw(problems())
    twice = remake(problem, np.vstack([dense, dense]), vstack([problem.design] * 2).toarray())
    _, one = fit_documents(problem, state, None, SETTINGS, HERE)
    _, two = fit_documents(twice, state, None, SETTINGS, HERE)
    assert 2 * one.n_documents == two.n_documents
    np.testing.assert_allclose(2 * one.word_counts, two.word_counts, rtol=1e-9, atol=1e-12)
    assert (one.bound + one.bound).items() == pytest.approx(two.bound.items(), rel=1e-9, abs=1e-12)


@given(data=st.data(), size=st.integers(1, 5))
def test_shards_add_up_to_the_whole(data, size):
    problem, dense, state = data.draw(problems())
    sharded = make_problem(
        csr_array(dense),
        problem.design,
        problem.scaling,
        problem.priors,
        np.float64,
        block_size=size,
    )
    whole, one = fit_documents(problem, state, None, SETTINGS, HERE)
    parts, other = fit_documents(sharded, state, None, SETTINGS, HERE)
    np.testing.assert_array_equal(whole.token_counts, parts.token_counts)
    assert one.bound.items() == pytest.approx(other.bound.items(), rel=1e-9, abs=1e-9)
    for name in ("word_counts", "log_proportion"):
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-9, err_msg=name
        )


@given(data=st.data())
def test_threads_do_not_change_a_bit(data):
    problem, _, state = data.draw(problems(dtype=np.float32))
    one, first = fit_documents(problem, state, None, SETTINGS, HERE)
    with InProcess(3) as several:
        other, second = fit_documents(problem, state, None, SETTINGS, several)
    np.testing.assert_array_equal(one.token_counts, other.token_counts)
    np.testing.assert_array_equal(first.word_counts, second.word_counts)
    assert first.bound == second.bound


def test_the_fifth_pass_also_starts_documents_afresh():
    rng = np.random.default_rng(0)
    problem, state = without_labels(rng.poisson(1.0, size=(20, 9)) + np.eye(20, 9), 3, rng)
    _, history = fitted(problem, state, 6)
    # With a tolerance of zero every visit takes its four iterations, and a fresh start four more.
    assert [row["inner_iterations"] for row in history] == [4, 4, 4, 4, 8, 4]
