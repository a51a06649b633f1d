"""The reading of training documents: unbiased, with topics that have not seen them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, vstack

from hdsp import HDSP, Corpus
from hdsp.analysis.reading import LeftOut, estimate_proportions, folds
from hdsp.execution.executor import InProcess
from hdsp.metrics import match_topics
from hdsp.model.data import make_problem
from hdsp.model.documents import LocalSettings
from hdsp.model.reading import group_share
from hdsp.model.updates import expected_tokens
from hdsp_studies.synthetic import make_corpus
from tests.analysis.corpora import draw_counts, draw_topics, left_out, read_with
from tests.problems import fit_documents
from tests.reference.reading import read_document

N_TRAIN = 300
SETTLED = LocalSettings(max_iter=100, tol=1e-4)


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(600, n_topics=5, n_words=300, document_length=40, random_state=0)[0]


@pytest.fixture(scope="module")
def model(corpus):
    return HDSP(8, random_state=0, n_jobs=1).fit(corpus[:N_TRAIN])


@pytest.fixture(scope="module")
def fitted(model):
    return model._model


@pytest.mark.parametrize("words", [5, 20, 200])
def test_the_reading_is_unbiased_given_the_topics(words):
    rng = np.random.default_rng(words)
    topics = draw_topics(8, 200, overlap=0.5)
    share = rng.dirichlet(np.full(8, 0.15), size=6_000)
    error = read_with(draw_counts(share, topics, words, rng), topics) - share
    # Also of the documents that lack a topic, whose reading maximum likelihood keeps above 0.
    lacking = [own[part < 0.02] for own, part in zip(error.T, share.T, strict=True)]
    for errors in (error.T, lacking):
        z = np.array([own.mean() / own.std() * np.sqrt(len(own)) for own in errors])
        assert np.sqrt((z**2).mean()) < 1.5


def test_the_reading_agrees_with_its_definition(model, fitted, corpus):
    found, left = fitted.reading, fitted.left_out
    counts = corpus[:N_TRAIN].counts.toarray()
    for number in range(3):
        tokens = expected_tokens(left.without(number), fitted.priors).T[: found.n_topics]
        rows = np.flatnonzero(found.fold == number)[:20]
        wanted = [read_document(counts[m], np.maximum(tokens, 0.0)) for m in rows]
        np.testing.assert_allclose(found.proportions[rows], wanted, atol=2e-3)
    np.testing.assert_allclose(model.proportions_.sum(axis=1), 1.0, atol=5e-3)
    assert model.proportions_.min() < 0.0
    np.testing.assert_array_equal(found.lengths, counts.sum(axis=1))


def test_token_weighted_means_are_the_topics_shares_of_tokens(fitted):
    found = fitted.reading
    mean = found.lengths @ found.proportions.astype(float) / found.lengths.sum()
    tokens = fitted.topic_tokens()
    np.testing.assert_allclose(mean, tokens / tokens.sum(), atol=0.01)


def test_words_that_no_other_fold_has_are_ignored():
    """The rows of documents with such words still sum to 1."""
    rng = np.random.default_rng(0)
    topics = draw_topics(4, 60)
    topics[:, 50:] = 0.0
    counts = draw_counts(rng.dirichlet(np.ones(4), 50), topics, 40, rng)
    with_others = counts.copy()
    with_others[:, 50:] = 7.0
    with_others[-1] = 0.0
    found, wanted = read_with(with_others, topics), read_with(counts, topics)
    np.testing.assert_allclose(found[:-1], wanted[:-1], atol=2e-3)
    np.testing.assert_allclose(found[:-1].sum(axis=1), 1.0, atol=5e-3)
    assert np.isnan(found[-1]).all()


def test_documents_without_words_have_no_reading(corpus):
    counts = corpus[:N_TRAIN].counts.toarray()
    counts[[3, 50]] = 0.0
    tags = [["odd"] if m % 2 else [] for m in range(N_TRAIN)]
    model = HDSP(5, random_state=0, n_jobs=1).fit(counts, labels=tags)
    unknown = np.isnan(model.proportions_).all(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(unknown), [3, 50])
    found = model.estimate_effects()
    assert found.n_documents == N_TRAIN - 2
    assert model.label_effects()["effect"].notna().all()


def test_a_topic_of_one_group_is_kept_whole():
    """It would lose nearly all of its tokens with the fold of these documents."""
    rng = np.random.default_rng(0)
    topics = draw_topics(3, 90)
    topics[:2, 60:] = topics[2, :60] = 0.0
    topics /= topics.sum(axis=1, keepdims=True)
    groups = np.repeat(np.arange(12), 10)
    share = np.zeros((120, 3))
    share[:, :2] = rng.dirichlet(np.ones(2), 120)
    share[groups == 4] = [0.0, 0.05, 0.95]
    counts = draw_counts(share, topics, 60, rng)
    model = HDSP(3, init=topics, random_state=0, n_jobs=1)
    reading = model.fit(counts, groups=groups)._model.reading
    (own,) = reading.kept_whole
    found = reading.proportions[:, own].astype(float)
    np.testing.assert_allclose(found[groups == 4].mean(), 0.95, atol=0.03)
    np.testing.assert_allclose(found[groups != 4], 0.0, atol=0.05)


def test_versions_of_topics_are_read_with_their_own_words():
    """Of each group, with its left-out versions."""
    rng = np.random.default_rng(0)
    topics = draw_topics(3, 60)
    share, side = rng.dirichlet(np.full(3, 0.3), 300), np.arange(300) % 2
    counts = np.zeros((300, 80))
    counts[:, :60] = draw_counts(share, topics, 80, rng)
    # The second half uses other words for the first twenty.
    counts[side == 1, 60:] = counts[side == 1, :20]
    counts[side == 1, :20] = 0.0
    labels = pd.DataFrame({"side": np.where(side, "left", "right")})
    start = np.hstack([topics, topics[:, :20]])
    model = HDSP(3, init=start, content="side", random_state=0, n_jobs=1)
    fitted = model.fit(counts, labels=labels)._model
    left, reading = fitted.left_out, fitted.reading
    weight = np.maximum(expected_tokens(fitted.state, fitted.priors), 0.0).sum(axis=0)
    for m in (0, 1, 120, 211):
        place = left.problem.entries(np.array([m])).indices % 3
        assert len(set(place)) == 1
        versions = group_share(left.without(int(left.fold[m])))[place[0] :: 3]
        wanted = read_document(counts[m], (versions * weight).T)
        np.testing.assert_allclose(reading.proportions[m], wanted, atol=3e-3)
    partner, _ = match_topics(start, model.components_)
    assert np.abs(reading.proportions[:, partner] - share).mean() < 0.1


def test_topics_that_are_mixtures_of_others_have_a_large_condition():
    topics = draw_topics(3, 40)
    counts = draw_counts(np.full((20, 3), 1 / 3), topics, 50, np.random.default_rng(0))
    alike = topics.copy()
    alike[2] = 0.4999 * (topics[0] + topics[1]) + 0.0002 * topics[2]
    apart, near = (
        estimate_proportions(left_out(counts, own), csr_array((20, 0)), 3).condition
        for own in (topics, alike)
    )
    assert apart < 100.0 < 1e4 < near


def problem_of(fitted, corpus):
    return make_problem(corpus.counts, csr_array((len(corpus), 0)), fitted.scaling, fitted.priors)


def without(fitted, problem, fold, **options):
    """The state without a fold."""
    return LeftOut(problem, fitted.state, LocalSettings(), InProcess(), **options).without(fold)


@pytest.mark.parametrize("goes_on", [False, True])
def test_a_fold_is_read_with_topics_that_lack_it(fitted, corpus, goes_on):
    """From fitted documents in two passes over the others, between which topics are learned."""
    problem, prior = problem_of(fitted, corpus[:N_TRAIN]), fitted.priors.topic_prior
    documents = None
    if goes_on:
        documents, _ = fit_documents(problem, fitted.state, None, SETTLED, InProcess())
    found = without(fitted, problem, 1, documents=documents)
    inside, outside = (np.flatnonzero((folds(problem) == 1) == wanted) for wanted in (True, False))

    def after_a_pass(rows, state, documents):
        part = problem.take(rows)
        found, sums = fit_documents(part, state, documents, LocalSettings(), InProcess())
        return found, sums.word_counts

    own, others = (documents.rows(rows) if goes_on else None for rows in (inside, outside))
    topics = fitted.state.topics - after_a_pass(inside, fitted.state, own)[1]
    topics = np.maximum(topics, prior)
    for _ in range(1 + goes_on):
        state = replace(fitted.state, topics=topics.astype(np.float32))
        others, words = after_a_pass(outside, state, others)
        topics = words + prior
    np.testing.assert_allclose(found.topics, topics, rtol=1e-6)
    # Of very many documents, none matters.
    assert without(fitted, problem, 0, learned_from=1_000_000) is fitted.state


def test_copies_are_left_out_together(fitted, corpus):
    problem = problem_of(fitted, corpus[:N_TRAIN])
    nothing, once, twice = (
        without(fitted, problem, 2, copies=copies).topics
        for copies in (None, np.ones(N_TRAIN, dtype=np.int64), np.full(N_TRAIN, 2))
    )
    np.testing.assert_array_equal(once, nothing)
    assert twice.sum() == pytest.approx(2 * once.sum(), rel=0.02)


def test_folds_follow_from_the_words_or_the_groups(fitted, corpus):
    problem = problem_of(fitted, corpus)
    found = folds(problem)
    order = np.random.default_rng(0).permutation(len(corpus))
    np.testing.assert_array_equal(folds(problem.take(order)), found[order])
    # Each document is in one of three folds of about the same size.
    assert np.bincount(found, minlength=3).min() > 160
    twice = Corpus(vstack([corpus.counts, corpus.counts]))
    np.testing.assert_array_equal(folds(problem_of(fitted, twice)), np.tile(found, 2))
    groups = np.where(np.arange(600) < 100, -1, np.arange(600) // 4)
    grouped = folds(problem, groups)
    np.testing.assert_array_equal(grouped[:100], found[:100])
    together = grouped[100:].reshape(-1, 4)
    assert (together == together[:, :1]).all()
    assert len(set(grouped[100:])) == 3


def test_other_documents_are_read_with_all_topics(model, fitted, corpus):
    """Topics have not seen them."""
    others = corpus[N_TRAIN:]
    labelled = Corpus(others.counts, others.words, pd.DataFrame({"x": np.arange(300.0)}))
    found = model.estimate_effects("~ x", corpus=labelled)._reading
    tokens = np.maximum(expected_tokens(fitted.state, fitted.priors), 0.0).T[: found.n_topics]
    wanted = [read_document(row, tokens) for row in others.counts.toarray()[:20]]
    np.testing.assert_allclose(found.proportions[:20], wanted, atol=2e-3)
    assert left_out(np.ones((3, 9)), np.full((2, 9), 1 / 9)).without(0).topics.shape == (9, 2)
