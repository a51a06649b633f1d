"""Seeds start and steer topics of their own, which stay what they are through every move."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import gammaln

from hdsp import FitWarning
from hdsp.fit.merge import Merge, merged_state, propose_merges, take_snapshot
from hdsp.fit.passes import Documents, ascend
from hdsp.fit.run import Run
from hdsp.fit.start import find_seeds, initial_state, place_seeds
from hdsp.fit.topics import fit_batch
from hdsp.model.bound import word_terms
from hdsp.model.data import make_problem
from hdsp.model.documents import LocalSettings
from hdsp.model.priors import Priors, seed_prior
from hdsp.model.updates import expected_tokens
from hdsp.scaling.functions import Constant, take_topics
from tests.fit.test_merge import even_corpus


def seeded_problem(n_topics=4, strength=0.1):
    """A problem of known topics, with the two likeliest words of topics 1 and 2 as seeds."""
    corpus, truth = even_corpus(n_topics, 0)
    chosen = [np.sort(np.argsort(-truth.word_share[k])[:2]) for k in (1, 2)]
    tokens = np.asarray(corpus.counts.sum(axis=0))
    priors = Priors(0.05, (1.0, 1.0), (1.0, 0.01), seed_prior(chosen, tokens, strength))
    design = csr_array((len(corpus), 0))
    return make_problem(corpus.counts, design, Constant(), priors), truth, chosen


def test_the_prior_is_a_share_of_the_words_tokens():
    seeds = seed_prior([np.array([0, 2]), np.array([1])], np.array([10.0, 40.0, 0.0]), 0.5)
    # A word that never occurs counts as one token.
    np.testing.assert_array_equal(seeds.toarray(), [[5.0, 0.0, 0.5], [0.0, 20.0, 0.0]])


@pytest.mark.parametrize("init", ["nmf", "words", "lda", "random"])
def test_seeded_topics_start_from_the_words_that_keep_their_seeds_company(init):
    problem, truth, chosen = seeded_problem()
    state = initial_state(problem, 6, init, 1.0, 2.0, np.random.default_rng(0))
    share = state.topics / state.topics.sum(axis=0)
    frequency = np.asarray(problem.counts.sum(axis=0)) / problem.counts.sum()
    for topic, words, true in zip(state.seeded, chosen, truth.word_share[1:3], strict=True):
        lift = share[:, topic] - frequency
        assert set(words) <= set(np.argsort(-lift)[:4])
        others = np.delete(true, words)
        assert np.corrcoef(np.delete(lift, words), others)[0, 1] > 0.5
    # Sizes are ordered as ever.
    assert (np.diff(state.topic_weight) <= 1e-12).all()


def test_seeds_take_the_place_of_the_topics_that_resemble_them():
    problem, truth, _ = seeded_problem()
    _, seeded = place_seeds(problem.counts, problem.priors.seeds, truth.word_share.T)
    assert seeded.tolist() == [1, 2]


def test_seeds_end_as_the_topics_they_name():
    problem, truth, _ = seeded_problem()
    run = Run(max_iter=30)
    start = initial_state(problem, 4, "nmf", 1.0, 2.0, np.random.default_rng(0))
    state = fit_batch(Documents(problem, run.here), start, run)
    for topic, true in zip(state.seeded, truth.word_share[1:3], strict=True):
        found = state.topics[:, topic] / state.topics[:, topic].sum()
        assert np.abs(found - true).sum() / 2 < 0.2
    tokens = expected_tokens(state, problem.priors)
    assert tokens.min() > -1e-3
    assert tokens.sum() == pytest.approx(problem.n_tokens, rel=1e-5)
    assert (np.diff(state.topics.sum(axis=0)) <= 0).all()


def test_a_part_of_the_corpus_has_that_part_of_the_prior():
    problem, _, _ = seeded_problem()
    part = problem.take(np.arange(100))
    np.testing.assert_allclose(
        part.priors.seeds.toarray(), problem.priors.seeds.toarray() * 100 / problem.n_documents
    )


def test_a_seeded_topic_takes_in_others_but_no_other_seeded_one():
    problem, _, _ = seeded_problem()
    start = initial_state(problem, 6, "nmf", 1.0, 2.0, np.random.default_rng(0))
    run = Run(max_iter=3)
    documents = Documents(problem, run.here)
    state = ascend(documents, start, run)
    snapshot = take_snapshot(documents, state, LocalSettings())
    one, other = snapshot.state.seeded.tolist()
    pairs = [set(merge.pair) for merge in propose_merges(snapshot)]
    assert pairs
    assert {one, other} not in pairs
    plain = min(set(range(6)) - {one, other})
    for pair in ((plain, one), (one, plain)):
        merged, _ = merged_state(
            snapshot, [Merge(pair, 1.0, take_topics(snapshot.state.scaling, [0]))]
        )
        # The seed's prior is added once, to the topic that both became.
        tokens = expected_tokens(merged, problem.priors)[:, merged.seeded[0]]
        expected = snapshot.topic_words[one] + snapshot.topic_words[plain]
        np.testing.assert_allclose(tokens, expected, rtol=1e-4, atol=1e-3)
        assert len(set(merged.seeded.tolist())) == 2


def test_words_terms_are_those_of_the_asymmetric_dirichlet():
    problem, _, _ = seeded_problem(strength=2.0)
    rng = np.random.default_rng(0)
    words = rng.gamma(0.1, 20.0, size=(3, problem.n_words))
    prior = np.full(words.shape, problem.priors.topic_prior)
    prior[2] += problem.priors.seeds.toarray()[0]
    prior[0] += problem.priors.seeds.toarray()[1]

    def log_beta(a):
        return gammaln(a).sum(axis=1) - gammaln(a.sum(axis=1))

    found = word_terms(problem.priors.of_topics(np.array([2, 0])), words)
    np.testing.assert_allclose(found, log_beta(prior + words) - log_beta(prior), rtol=1e-6)


def test_reordered_topics_keep_their_seeds():
    problem, _, _ = seeded_problem()
    state = initial_state(problem, 5, "nmf", 1.0, 2.0, np.random.default_rng(0))
    order = np.array([3, 0, 4, 1, 2])
    moved = state.reordered(order)
    for before, after in zip(state.seeded, moved.seeded, strict=True):
        np.testing.assert_array_equal(state.topics[:, before], moved.topics[:, after])
    back = replace(moved, seeded=moved.seeded).reordered(np.argsort(order))
    assert back.seeded.tolist() == state.seeded.tolist()


def test_words_that_the_corpus_lacks_are_named():
    with pytest.warns(FitWarning, match=r"does not count.*: 'taxx', 'defi'\."):
        found = find_seeds({"budget": ["tax", "taxx"], "war": ["defi", "army"]}, ["army", "tax"])
    assert [words.tolist() for words in found] == [[1], [0]]
    with pytest.raises(ValueError, match=r"has no word for 'budget'.*Got 'taxx'\. Choose other"):
        find_seeds({"budget": ["taxx"]}, ["army", "tax"])
