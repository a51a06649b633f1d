"""Merges gain exactly what they say, and change nothing when refused."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from hdsp import HDSP, Categorical, Corpus
from hdsp.execution.executor import InProcess
from hdsp.fit.merge import (
    likely_pairs,
    merge_topics,
    merged_state,
    pair_entropies,
    propose_merges,
    take_snapshot,
)
from hdsp.fit.passes import Documents, ascend
from hdsp.fit.run import Run
from hdsp.fit.start import initial_state
from hdsp.metrics import match_topics
from hdsp.model.data import make_problem
from hdsp.model.documents import LocalSettings
from hdsp.model.simulate import Truth, draw_documents
from hdsp.scaling.functions import Constant
from tests.problems import SCALINGS, elsewhere, problem_of, problems
from tests.reference import terms as plain
from tests.reference.bound import Documents as FullDocuments
from tests.reference.bound import bound_terms

HERE = InProcess()
SETTLED = LocalSettings(200, 1e-12, prune=0.0)
# Sums of terms of both signs in float64; weights and words are in the table to 1e-20.
ROUNDING = 1e-8


def snapshot_of(data, scaling, seen_as=lambda problem: problem):
    """A snapshot of a small problem after four passes, and its dense counts."""
    problem, dense, state = data.draw(problems(scaling))
    assume(dense.sum() > 0)
    documents = Documents(seen_as(problem), HERE)
    documents.fit(state, SETTLED)
    for _ in range(3):
        snapshot = take_snapshot(documents, state, SETTLED)
        state = snapshot.state
    return snapshot, problem, dense


def block_of(snapshot):
    """What is kept of the only block."""
    (kept,) = snapshot.documents._kept
    return kept


def make_merges(snapshot, merges):
    """State and documents after merges; the snapshot stays as it is."""
    state, members = merged_state(snapshot, merges)
    return state, block_of(snapshot).documents.regrouped(members)


def even_corpus(n_topics, seed, n_documents=400, length=60, labelled=False):
    """A corpus of topics of about the same weight, with four labels or none, and the truth."""
    rng = np.random.default_rng(seed)
    truth = Truth(
        topic_weight=rng.dirichlet(np.full(n_topics, 5.0)),
        word_share=rng.dirichlet(np.full(200, 0.05), size=n_topics),
        weights=Categorical(weight_shape=3.0, weight_rate=2.0).draw_prior(n_topics, 4, rng),
        document_concentration=1.0,
    )
    carried = rng.random((n_documents, 4)) < 0.3
    design = csr_array(carried.astype(float))
    scaling = Categorical() if labelled else Constant()
    counts = draw_documents(truth, scaling, design, np.full(n_documents, length), rng)
    tags = [[f"l{j}" for j in np.flatnonzero(row)] for row in carried]
    return Corpus(counts, labels=tags if labelled else None), truth


def fitted(corpus, n_topics, executor=HERE):
    """A converged fit with so many topics: its documents, state and run."""
    problem, rng = problem_of(corpus), np.random.default_rng(0)
    start = initial_state(problem, n_topics, "nmf", 1.0, 20.0, rng)
    run = Run(executor=executor)
    documents = Documents(problem, executor)
    state = ascend(documents, start, run)
    order = state.by_size()
    documents.regroup(order[:, None].tolist())
    return documents, state.reordered(order), run


def tokens_of(snapshot, problem):
    """c_mi gamma_mik, [M, V, T], from what the snapshot remembers."""
    n_topics = snapshot.state.n_topics
    known, entries = block_of(snapshot), problem.entries()
    tokens = np.zeros((problem.n_documents, *snapshot.state.topics.shape))
    for m in range(len(tokens)):
        for i in range(entries.indptr[m], entries.indptr[m + 1]):
            word = entries.indices[i]
            joint = known.weight[m] * snapshot.table[word] * known.token_weight[i]
            tokens[m, word] = joint[:n_topics]
    return tokens


def reference_bound(dense, problem, state, tokens, tangent):
    """The bound of the equations where topics hold `tokens` [M, V, T] and q answers them."""
    rate = problem.scaling.expected_rate(state.scaling, problem.design)
    documents = FullDocuments(
        shape=state.prior_shape + tokens.sum(axis=1),
        rate=rate + (dense.sum(axis=1) / tangent)[:, None],
        tangent=tangent,
        responsibility=tokens / np.maximum(dense, 1e-300)[:, :, None],
    )
    terms = bound_terms(dense, problem, state, documents)
    del terms["sticks"], terms["concentrations"]
    return sum(terms.values()), sum(map(abs, terms.values()))


@pytest.mark.parametrize("seen_as", [lambda problem: problem, elsewhere], ids=["here", "there"])
@pytest.mark.parametrize("scaling", SCALINGS)
@given(data=st.data())
def test_a_merge_gains_what_the_bound_gains(seen_as, scaling, data):
    snapshot, problem, dense = snapshot_of(data, scaling, seen_as)
    tokens, tangent = tokens_of(snapshot, problem), block_of(snapshot).documents.tangent
    before, size = reference_bound(dense, problem, snapshot.state, tokens, tangent)
    for merge in propose_merges(snapshot):
        state, documents = make_merges(snapshot, [merge])
        first, second = merge.pair
        merged, weight = tokens.copy(), snapshot.state.prior_shape
        merged[..., first] += merged[..., second]
        weight[first] += weight[second]
        merged, weight = np.delete(merged, second, axis=2), np.delete(weight, second)
        merged = merged[..., np.argsort(-weight, kind="stable")]
        after, _ = reference_bound(dense, problem, state, merged, documents.tangent)
        np.testing.assert_allclose(after - before, merge.gain, rtol=0, atol=ROUNDING * size)


def test_every_accepted_move_raises_the_bound_and_passes_never_lower_it():
    corpus, _ = even_corpus(5, 3)
    many = HDSP(12, random_state=0).fit(corpus)
    model = HDSP(max_components=12, init=many.components_, random_state=0).fit(corpus)
    bounds = np.array([row["bound"] for row in model.history_])
    moved = [i for i, row in enumerate(model.history_) if "merges" in row]
    assert moved
    assert model.n_topics_ < 12
    # Documents are solved to a tolerance, so that passes may lose a little to it.
    assert (np.diff(bounds) > -1e-6 * np.abs(bounds[1:])).all()


def test_refusing_every_move_is_a_pass_and_no_more():
    corpus, _ = even_corpus(4, 1)
    documents, state, run = fitted(corpus, 4)
    twin = Documents(documents.problem, HERE, documents.joined())
    refined = merge_topics(documents, state, run)
    expected = twin.update(state, twin.fit(state, LocalSettings()))
    np.testing.assert_array_equal(refined.topics, expected.topics)
    one, other = documents.joined(), twin.joined()
    np.testing.assert_array_equal(one.token_counts, other.token_counts)


def test_moves_are_the_same_for_any_number_of_threads():
    corpus, _ = even_corpus(6, 5, n_documents=800, labelled=True)
    found = []
    for n_threads in (1, 3):
        with InProcess(n_threads) as executor:
            documents, state, run = fitted(corpus, 14, executor)
            state = merge_topics(documents, state, run)
            found.append((state, documents.joined()))
    (one, some), (three, others) = found
    assert one.n_topics < 14
    assert run.task.details["merges"].startswith("merges ")
    np.testing.assert_array_equal(one.topics, three.topics)
    np.testing.assert_array_equal(some.token_counts, others.token_counts)


@pytest.mark.parametrize("labelled", [False, True])
def test_blocks_gain_what_documents_in_memory_do(labelled):
    corpus, _ = even_corpus(5, 3, labelled=labelled)
    fit, state, run = fitted(corpus, 12)
    here = Documents(fit.problem, HERE)
    whole = fit.problem
    problem = make_problem(whole.counts, whole.design, whole.scaling, whole.priors, block_size=64)
    there = Documents(elsewhere(problem), HERE)
    for documents in (here, there):
        documents.fit(state, SETTLED)
    one, other = (take_snapshot(kept, state, SETTLED) for kept in (here, there))
    gains, sums = ({m.pair: m.gain for m in propose_merges(s)} for s in (one, other))
    assert gains.keys() == sums.keys()
    # The same terms; but labels' weights are fitted by exact sweeps here, and there by rounds.
    np.testing.assert_allclose(
        [sums[pair] for pair in gains],
        list(gains.values()),
        rtol=1e-5,
        atol=2.0 if labelled else 1e-3,
    )
    merged = merge_topics(there, state, run)
    assert merged.n_topics == merge_topics(here, state, Run()).n_topics < 12


def test_a_topic_that_was_split_in_two_is_merged_again():
    corpus, truth = even_corpus(3, 0)
    doubled = np.concatenate([truth.word_share, truth.word_share[:1]]) + 1e-6
    model = HDSP(max_components=4, init=doubled, random_state=0).fit(corpus)
    assert len(model.topic_weight_) == 3
    assert match_topics(truth.word_share, model.components_)[1].max() < 0.1


@given(data=st.data())
def test_pair_entropies_agree_with_their_twin(data):
    snapshot, problem, _ = snapshot_of(data, "constant")
    tokens = tokens_of(snapshot, problem)
    pairs = likely_pairs(snapshot.topic_words, 3.0)
    expected = plain.pair_entropies(tokens, pairs)
    size = np.abs(tokens).sum() + 1
    (block,) = snapshot.documents.problem.blocks
    found = pair_entropies(block, block_of(snapshot), snapshot.table, pairs)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * size)
