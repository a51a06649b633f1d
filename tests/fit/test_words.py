"""Topics from words that go together."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from hdsp import HDSP
from hdsp.fit import start
from hdsp.fit.start import WordSpace, cooccurrence, factorise_pairs, pair_topics, ppmi
from hdsp.metrics import match_topics
from hdsp_studies.synthetic import make_corpus


def counted(seed, n_documents=12, n_words=7):
    rng = np.random.default_rng(seed)
    return rng.poisson(0.5, size=(n_documents, n_words)).astype(float)


@given(seed=st.integers(0, 1000))
def test_cooccurrence_counts_ordered_pairs_of_tokens(seed):
    dense = counted(seed)
    expected = np.zeros((7, 7))
    for row in dense:
        tokens = np.repeat(np.arange(7), row.astype(int))
        for i, one in enumerate(tokens):
            for j, other in enumerate(tokens):
                if i != j:
                    expected[one, other] += 1.0 / (len(tokens) * (len(tokens) - 1))
    found = cooccurrence(csr_array(dense)).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(seed=st.integers(0, 1000))
def test_association_is_the_positive_logarithm_of_found_over_expected(seed):
    joint = cooccurrence(csr_array(counted(seed)))
    dense = joint.toarray()
    total = dense.sum(axis=1)
    context = total**0.75 / (total**0.75).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.log(dense / np.outer(total, context))
    expected[~(dense > 1e-15)] = 0.0
    np.testing.assert_allclose(ppmi(joint).toarray(), np.maximum(expected, 0.0), atol=1e-9)


@cache
def short():
    return make_corpus(
        4_000, n_topics=10, n_words=500, document_length=10, overlap=0.2, random_state=0
    )


@cache
def fit_short(init):
    return HDSP(10, init=init, random_state=0, n_jobs=1).fit(short()[0])


def test_short_texts_whose_documents_say_too_little():
    _, truth = short()

    def found(init):
        return int((match_topics(truth.word_share, fit_short(init).components_)[1] <= 0.3).sum())

    assert found("words") >= 8
    assert found("pairs") >= 8
    assert found("nmf") <= 5


def test_long_documents_give_some_of_their_words(monkeypatch):
    rng = np.random.default_rng(0)
    counts = csr_array(rng.poisson(1.0, size=(50, 40)).astype(float))
    monkeypatch.setattr(start, "_MOST_PAIRS", 50 * 25)
    fewer = start._fewer_words(counts, rng)
    assert np.diff(fewer.indptr).max() == 5
    assert (fewer.toarray() <= counts.toarray()).all()
    topics = start.WordSpace(counts, rng).clusters(3, rng)
    # All words of documents are in their topics all the same.
    np.testing.assert_allclose(topics.sum(axis=1), counts.sum(axis=0))


def test_documents_of_one_word_and_none():
    counts = csr_array(np.eye(5)[[0, 1, 2, 3, 4, 0]] * np.array([1, 1, 1, 1, 0, 0])[:, None])
    rng = np.random.default_rng(0)
    space = WordSpace(counts, rng)
    assert np.isfinite(space.clusters(3, rng)).all()
    assert np.isfinite(pair_topics(space, 3, 0.05, rng)).all()
    assert not pair_topics(WordSpace(csr_array((4, 5)), rng), 3, 0.05, rng).any()


def test_the_start_that_predicts_better_is_chosen():
    """And the fit goes on as if it had been named."""
    model = fit_short("auto")
    tried = {row["init"]: row["perplexity"] for row in model.search_}
    assert tried.keys() == {"nmf", "words", "pairs"}
    assert model.init_ == min(tried, key=tried.get) != "nmf"
    np.testing.assert_array_equal(model.components_, fit_short(model.init_).components_)


def test_long_documents_need_no_trial():
    corpus, _ = make_corpus(100, n_topics=3, n_words=100, document_length=150, random_state=0)
    model = HDSP(3, init="auto", random_state=0, n_jobs=1).fit(corpus)
    default = HDSP(3, random_state=0, n_jobs=1).fit(corpus)
    assert model.init_ == default.init_ == "nmf"
    np.testing.assert_array_equal(model.components_, default.components_)


def test_documents_that_do_not_tell_start_from_factors():
    counts = np.eye(4, dtype=int)[[0, 1, 2, 3]]
    model = HDSP(2, init="auto", random_state=0, tol=0.5, n_jobs=1).fit(counts)
    assert model.init_ == "nmf"


def test_pairs_are_factorised_by_rising_likelihood():
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.full(30, 0.1), size=4).T
    shares = np.diag(rng.dirichlet(np.ones(4)))
    joint = (truth @ shares @ truth.T).astype(np.float32)
    start = rng.dirichlet(np.ones(30), size=4).T.astype(np.float32)

    def likelihood(n_steps):
        words, together = factorise_pairs(joint, start, n_steps)
        assert (words >= 0).all()
        np.testing.assert_allclose(words.sum(axis=0), 1.0, rtol=1e-5)
        assert together.sum() == pytest.approx(1.0, rel=1e-5)
        return float((joint * np.log(words @ together @ words.T)).sum())

    found = [likelihood(n) for n in (1, 2, 5, 20, 200)]
    assert (np.diff(found) > 0).all()
    entropy = float((joint * np.log(np.maximum(joint, 1e-30))).sum())
    assert found[-1] == pytest.approx(entropy, abs=5e-3)


def test_words_beyond_the_most_frequent_are_of_their_neighbours_topics(monkeypatch):
    corpus, truth = make_corpus(
        3_000, n_topics=4, n_words=120, document_length=20, overlap=0.1, random_state=0
    )
    monkeypatch.setattr(start, "_MOST_WORDS", 60)
    rng = np.random.default_rng(0)
    topics = pair_topics(WordSpace(corpus.counts, rng), 4, 0.05, rng)
    assert (match_topics(truth.word_share, topics.T)[1] <= 0.3).all()
    assert topics.sum() == pytest.approx(corpus.n_tokens)
