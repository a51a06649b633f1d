"""Steps on part of the documents: what they must equal, and what they must not forget."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp.execution.executor import InProcess
from hdsp.fit.passes import sum_documents
from hdsp.fit.stochastic import before_steps, default_batch_size, step_rate, stochastic_step
from hdsp.model.documents import LocalSettings
from hdsp.model.updates import global_step
from hdsp.scaling.functions import PRIOR, mix_labels
from tests.problems import elsewhere, problems

SETTINGS = LocalSettings(4, 0.0, prune=0.0, scaling_sums=True)


def step_on(problem, state, rate=None, n_documents=None, stream=None):
    statistics = sum_documents(problem, state, SETTINGS, InProcess())
    stream = stream or before_steps(state, problem.n_labels, problem.n_documents)
    whole = replace(elsewhere(problem), n_documents=n_documents or problem.n_documents)
    return stochastic_step(stream, whole, statistics, rate=rate), statistics


@given(data=st.data())
def test_a_step_on_the_whole_corpus_at_rate_1_is_a_batch_step(data):
    problem, _, state = data.draw(problems())
    stream, statistics = step_on(problem, state, rate=1.0)
    limits, shape = statistics.limits, state.prior_shape
    scaling = problem.scaling.update_from_statistics(
        state.scaling, statistics.scaling, shape, limits
    )
    # Labels that no document has stay, and so do the hyperparameters.
    present = (statistics.carriers > 0).astype(float)
    scaling = mix_labels(problem.scaling, state.scaling, scaling, present)
    batch = global_step(elsewhere(problem), state, statistics, scaling)
    np.testing.assert_allclose(stream.state.topics, batch.topics, rtol=1e-12)
    np.testing.assert_allclose(stream.state.topic_weight, batch.topic_weight, rtol=1e-4, atol=1e-9)
    assert stream.state.document_concentration == pytest.approx(
        batch.document_concentration, rel=1e-5
    )
    for name, value in batch.scaling.items():
        np.testing.assert_allclose(stream.state.scaling[name], value, rtol=1e-9)


@given(data=st.data())
def test_half_of_a_corpus_that_is_twice_the_same_asks_for_the_same(data):
    """Statistics of a batch stand for all documents: labels by their own frequency."""
    problem, _, state = data.draw(problems())
    once, _ = step_on(problem, state, rate=1.0, n_documents=2 * problem.n_documents)
    twice = problem.take(np.tile(np.arange(problem.n_documents), 2))
    # The strength of seeds is a share of the corpus.
    both, _ = step_on(replace(twice, priors=problem.priors), state, rate=1.0)
    np.testing.assert_allclose(once.state.topics, both.state.topics, rtol=1e-9)
    for name, value in both.state.scaling.items():
        np.testing.assert_allclose(once.state.scaling[name], value, rtol=1e-9, atol=1e-12)


@given(data=st.data(), rate=st.sampled_from([0.1, 0.6]))
def test_topics_move_by_the_rate_and_no_further(data, rate):
    problem, _, state = data.draw(problems())
    part, _ = step_on(problem, state, rate=rate)
    whole, _ = step_on(problem, state, rate=1.0)
    expected = (1 - rate) * state.topics + rate * whole.state.topics
    np.testing.assert_allclose(part.state.topics, expected, rtol=1e-9)


def test_two_halves_of_a_batch_move_the_state_as_far_as_the_batch():
    before, after = step_rate(5.0, 1.0), step_rate(5.0, 0.5)
    assert 1 - (1 - after) ** 2 == pytest.approx(before)
    assert step_rate(500.0, 1.0) < step_rate(5.0, 1.0) < 1.0


@given(data=st.data())
def test_a_label_that_is_not_in_the_batch_stays_as_it_is(data):
    problem, _, state = data.draw(problems(scaling="product"))
    moved, _ = step_on(problem, state, rate=0.5)
    absent = np.flatnonzero(np.bincount(problem.design.indices, minlength=problem.n_labels) == 0)
    for name, value in state.scaling.items():
        columns = problem.scaling.split[int(name.split(":")[0])]
        for i in np.flatnonzero(np.isin(columns[: value.shape[1]], absent)):
            np.testing.assert_array_equal(moved.state.scaling[name][:, i], value[:, i])
    assert (moved.label_steps[absent] == 0).all()


@given(data=st.data(), label_steps=st.lists(st.sampled_from([0.0, 3.0, 500.0]), min_size=4))
def test_a_label_moves_by_the_rate_of_the_steps_that_had_it(data, label_steps):
    """Not by that of all steps: a rare label takes as large steps at its first appearances."""
    problem, _, state = data.draw(problems(scaling="categorical"))
    start = before_steps(state, problem.n_labels, problem.n_documents)
    start = replace(start, steps=500.0, label_steps=np.array(label_steps[: problem.n_labels]))
    part, statistics = step_on(problem, state, stream=start)
    whole, _ = step_on(problem, state, rate=1.0, stream=start)
    # An update of several labels of a document at once is damped, which a small rate does already.
    rate = np.minimum(step_rate(start.label_steps, 1.0) * part.limits.labels_per_document, 1.0)
    rate[statistics.carriers == 0] = 0.0
    for name, value in state.scaling.items():
        # Hyperparameters have no labels, and stay.
        step = 0.0 if name.endswith(PRIOR) else rate
        expected = value + step * (whole.state.scaling[name] - value)
        np.testing.assert_allclose(part.state.scaling[name], expected, rtol=1e-9)
    np.testing.assert_array_equal(part.label_steps, start.label_steps + (statistics.carriers > 0))


def test_batches_are_a_share_of_the_documents_within_limits():
    assert default_batch_size(100) == 256
    assert default_batch_size(64_000) == 2_000
    assert default_batch_size(10**9) == 4_096
