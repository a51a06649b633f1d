"""Versions of topics: their equations, their updates, and the model without them as a limit."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from hdsp.execution.executor import InProcess
from hdsp.fit.passes import Documents
from hdsp.fit.start import initial_state
from hdsp.model.bound import elbo, topic_terms
from hdsp.model.data import make_problem
from hdsp.model.documents import LocalSettings, word_factors, word_table
from hdsp.model.priors import Priors
from hdsp.model.reading import PredictiveView, group_share
from hdsp.model.state import GlobalState
from hdsp.model.updates import update_versions
from hdsp.model.versions import (
    Versions,
    choose_differing,
    count_parts,
    differing_words,
    expand_counts,
    prior_parts,
    topic_values,
    update_shares,
    update_strength,
    with_differing,
    word_spread,
)
from hdsp.numerics import sticks_from_weights
from hdsp.scaling.functions import Constant
from tests.problems import bound_scaling, draw_seeds, fit_documents
from tests.reference import versions as plain

HERE = InProcess()
FLOAT64 = np.dtype(np.float64)
N_WORDS, N_TOPICS, N_GROUPS = 12, 4, 3
# Sums of float64 terms of both signs.
ROUNDING = 1e-10


def drawn(seed, n_seeded=0):
    """Priors, and a state with random versions: groups have other shares of some words."""
    rng = np.random.default_rng(seed)
    seeds, seeded = draw_seeds(n_seeded, N_WORDS, N_TOPICS, rng)
    priors = Priors(0.3, (1.0, 1.0), (1.0, 0.01), seeds)
    share = rng.dirichlet(np.ones(N_WORDS), size=N_TOPICS)
    differ = rng.random((N_TOPICS, N_WORDS, 1)) < 0.3
    share = share[..., None] * np.exp(2.0 * differ * rng.normal(size=(*share.shape, N_GROUPS)))
    size = rng.gamma(2.0, 200.0, size=(N_TOPICS, 1, N_GROUPS))
    tokens = rng.poisson(size * share / share.sum(axis=1, keepdims=True)).transpose(1, 2, 0)
    tokens = tokens.reshape(-1, N_TOPICS) * rng.uniform(0.5, 1.0, size=(1, N_TOPICS))
    versions = Versions.initial(np.ones(N_WORDS), N_TOPICS, np.array([0, 1]), FLOAT64)
    state = GlobalState(
        np.ones((N_WORDS, N_TOPICS)),
        sticks_from_weights(np.full(N_TOPICS, 1.0 / N_TOPICS)),
        1.0,
        2.0,
        Constant().initial(N_TOPICS, 0),
        seeded,
        versions,
    )
    return priors, update_versions(priors, state, tokens)


def objective(priors, state, tokens):
    """What the words and the topics add to the bound where topics hold these tokens."""
    table = word_factors(state, FLOAT64)[:, :N_TOPICS]
    return float((tokens * np.log(table)).sum()) + topic_terms(state, priors)


def test_words_that_documents_repeat_are_spread():
    counts = csr_array(np.array([[1.0, 4.0, 0.0, 0.5], [1.0, 2.0, 0.0, 0.0]]))
    np.testing.assert_allclose(word_spread(counts), [1.0, 3.0, 1.0, 1.0])


def test_groups_words_are_words_of_their_own():
    counts = csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [4.0, 5.0, 0.0]]))
    design = csr_array(np.array([[0.0, 1.0, 0.0], [7.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    found = expand_counts(counts, design, np.array([1, 2])).toarray().reshape(3, 3, 3)
    for document, group in enumerate((1, 0, 2)):
        np.testing.assert_array_equal(found[document, :, group], counts.toarray()[document])
        assert found[document].sum() == counts.toarray()[document].sum()


@pytest.mark.parametrize("seed", range(3))
def test_the_table_and_the_bound_are_those_of_the_equations(seed):
    priors, state = drawn(seed, n_seeded=seed)
    assert 0 < len(state.versions.words) < N_WORDS * N_TOPICS / 2
    table = word_factors(state, FLOAT64)[:, :N_TOPICS].reshape(N_WORDS, N_GROUPS, N_TOPICS)
    np.testing.assert_allclose(table, np.exp(plain.log_table(state)), rtol=1e-9)
    assert topic_terms(state, priors) == pytest.approx(plain.topic_terms(state, priors), rel=1e-9)
    share = group_share(state).reshape(N_WORDS, N_GROUPS, N_TOPICS)
    np.testing.assert_allclose(share, plain.word_shares(state), rtol=1e-9)
    np.testing.assert_allclose(share.sum(axis=0), 1.0, rtol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_no_update_of_versions_lowers_the_bound(seed):
    priors, state = drawn(seed, n_seeded=seed % 3)
    rng = np.random.default_rng(seed)
    tokens = state.versions.tokens * rng.gamma(20.0, 0.05, size=state.versions.tokens.shape)
    pooled = tokens.reshape(N_WORDS, N_GROUPS, N_TOPICS).sum(axis=1)
    prior = plain.prior_words(priors, state.seeded, N_WORDS, N_TOPICS)
    reached = [objective(priors, state, tokens)]

    def check(versions):
        nonlocal state
        state = replace(state, topics=pooled + prior, versions=versions)
        reached.append(objective(priors, state, tokens))
        assert reached[-1] - reached[-2] >= -ROUNDING * abs(reached[-1])

    check(replace(state.versions, tokens=tokens))
    counts = count_parts(state.versions)
    eta = prior_parts(state.versions, priors.of_topics(state.seeded))
    for _ in range(3):
        check(update_shares(state.versions, counts, eta))
        check(update_strength(state.versions, counts))
    assert reached[-1] > reached[0] + 1.0


@pytest.mark.parametrize("seed", range(4))
def test_values_of_topics_are_the_bound_at_the_shared_shares_optimum(seed):
    priors, state = drawn(seed)
    versions = state.versions
    prior = priors.of_topics(state.seeded)
    counts, eta = count_parts(versions), prior_parts(versions, prior)
    for _ in range(200):
        versions = update_shares(versions, counts, eta)
    found = replace(state, versions=versions)
    reached = objective(priors, found, versions.tokens)
    for factor in (0.9999, 1.0001):
        for name in ("shared", "common"):
            moved = replace(versions, **{name: factor * getattr(versions, name)})
            assert objective(priors, replace(state, versions=moved), versions.tokens) < reached
    common = with_differing(versions, prior, *np.empty((2, 0), dtype=np.int64))[0]
    gained = reached - objective(priors, replace(state, versions=common), versions.tokens)
    assert topic_values(versions, counts, eta).sum() == pytest.approx(gained, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_other_words_differ_only_where_that_raises_the_bound(seed):
    priors, state = drawn(seed)
    prior = priors.of_topics(state.seeded)

    def values(versions):
        return topic_values(versions, count_parts(versions), prior_parts(versions, prior))

    before = values(state.versions)
    wrong = with_differing(state.versions, prior, np.arange(N_TOPICS), np.arange(N_TOPICS))[0]
    after = values(choose_differing(wrong, prior))
    assert (after >= values(wrong) - 1e-9).all()
    assert after.sum() == pytest.approx(before.sum(), rel=0.1)


def test_words_differ_where_groups_do():
    rng = np.random.default_rng(0)
    tokens = np.zeros((200, 3, 2))
    tokens[:, 1:] = rng.poisson(30.0, size=(200, 2, 2))
    # The first word is of one group in both topics, the second in one topic.
    tokens[0, 1:] = [[60.0, 60.0], [0.0, 0.0]]
    tokens[1, 1:, 1] = [0.0, 60.0]
    versions = Versions.initial(np.ones(200), 2, np.array([0, 1]), FLOAT64)
    words, topics = differing_words(replace(versions, tokens=tokens.reshape(-1, 2)))
    found = set(zip(words.tolist(), topics.tolist(), strict=True))
    assert {(0, 0), (0, 1), (1, 1)} <= found
    assert len(found) <= 6
    # Tokens that came in a few documents tell less.
    versions = replace(versions, spread=np.full(200, 30.0))
    assert not len(differing_words(replace(versions, tokens=tokens.reshape(-1, 2)))[0])


def corpus(seed, differ, n_documents=300):
    """Counts of documents of two groups and of none, and their design."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(40, 0.1), size=4)
    moved = np.where(rng.random(topics.shape) < differ, topics, 0.0)
    words = np.stack([np.hstack([topics, 0 * topics]), np.hstack([topics - moved, moved])])
    group = rng.integers(3, size=n_documents)
    theta = rng.dirichlet(np.full(4, 0.3), size=n_documents)
    counts = [rng.multinomial(40, t @ words[max(g - 1, 0)]) for t, g in zip(theta, group, strict=1)]
    design = np.column_stack([group == 1, group == 2, rng.random(n_documents) < 0.3])
    return csr_array(np.array(counts, dtype=float)), csr_array(design.astype(float))


def problem_of(counts, design, content, dtype=np.float64):
    priors = Priors(0.05, (1.0, 1.0), (1.0, 0.01))
    scaling = bound_scaling("categorical", design.shape[1])
    return make_problem(counts, design, scaling, priors, dtype, content=content)


@pytest.mark.parametrize("seed", range(3))
def test_passes_never_lower_the_bound(seed):
    problem = problem_of(*corpus(seed, 0.4), np.array([0, 1]))
    state = initial_state(problem, 5, "nmf", 1.0, 2.0, np.random.default_rng(seed))
    documents, reached = None, []
    for _ in range(25):
        settings = LocalSettings(2, 0.0, prune=0.0)
        documents, statistics = fit_documents(problem, state, documents, settings, HERE)
        reached.append(elbo(problem, state, statistics).total)
        state = Documents(problem, HERE, documents).update(state, statistics)
    assert len(state.versions.words) > 5
    assert np.diff(reached).min() >= -ROUNDING * abs(reached[-1])


def test_without_differing_words_the_model_is_the_one_without_versions():
    counts, design = corpus(0, 0.0)
    bounds = []
    for content in (np.array([0, 1]), np.empty(0, dtype=np.int64)):
        problem = problem_of(counts, design, content)
        state = initial_state(problem, 4, "nmf", 1.0, 2.0, np.random.default_rng(0))
        documents, own = None, []
        for _ in range(5):
            documents, statistics = fit_documents(problem, state, documents, LocalSettings(), HERE)
            own.append(elbo(problem, state, statistics).total)
            state = Documents(problem, HERE, documents).update(state, statistics)
        assert state.versions is None or not len(state.versions.words)
        bounds.append(own)
    # Words of different groups are summed in another order.
    np.testing.assert_allclose(*bounds, rtol=1e-10)


def test_a_strong_pull_leaves_the_shared_words():
    _, state = drawn(0)
    state = replace(state, versions=replace(state.versions, strength=1e12))
    table = word_factors(state, FLOAT64)[:, :N_TOPICS].reshape(N_WORDS, N_GROUPS, N_TOPICS)
    np.testing.assert_allclose(table[:, 1:], np.repeat(table[:, :1], N_GROUPS - 1, 1), rtol=1e-6)


def test_documents_without_a_group_use_the_shared_words():
    _, state = drawn(1)
    table = word_factors(state, FLOAT64)[:, :N_TOPICS].reshape(N_WORDS, N_GROUPS, N_TOPICS)
    common = np.setdiff1d(np.arange(N_WORDS), state.versions.words)
    all_words = word_table(state.topics, FLOAT64)[:, :N_TOPICS]
    # Common words keep their proportions in every group.
    for group in range(N_GROUPS):
        ratio = table[common, group] / all_words[common]
        np.testing.assert_allclose(ratio, np.broadcast_to(ratio[:1], ratio.shape), rtol=1e-9)
    counts = csr_array(np.ones((2, N_WORDS)))
    view = PredictiveView(state, Constant())
    one, other = view.proportions(counts, csr_array(np.eye(2)), 1.0)
    assert np.abs(one - other).max() > 1e-3


def test_topics_and_their_versions_are_reordered_together():
    _, state = drawn(2)
    order = np.array([2, 0, 3, 1])
    found = state.reordered(order)
    table, before = (word_factors(one, FLOAT64)[:, :N_TOPICS] for one in (found, state))
    np.testing.assert_allclose(table, before[:, order], rtol=1e-12)
