"""Training documents are read as new ones are."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array, vstack

from hdsp import HDSP, Corpus
from hdsp.datasets import make_corpus
from hdsp.execution import InProcess, fit_documents
from hdsp.model import Fit, LocalSettings, make_problem
from hdsp.numerics.sampling import parts_of
from hdsp.prediction.calibration.cross_fit import LeftOut, cross_fitted_tokens, folds

N_TRAIN = 300
SETTLED = LocalSettings(max_iter=100, tol=1e-4)


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(600, n_topics=5, n_words=300, document_length=40, random_state=0)[0]


@pytest.fixture(scope="module")
def fitted(corpus):
    model = HDSP(15, fixed_number=True, random_state=0, n_jobs=1).fit(corpus[:N_TRAIN])
    return model._model


def problem_of(fitted, corpus):
    return make_problem(corpus.counts, csr_array((len(corpus), 0)), fitted.scaling, fitted.priors)


def read(fitted, problem, copies=None):
    member = csr_array(eye_array(problem.n_documents, dtype=np.float32))
    fit = Fit(fitted.state, None)
    return cross_fitted_tokens(
        fit, member, LeftOut(problem, fit.state, LocalSettings(), InProcess(), copies)
    )


def tokens_with(problem, state):
    return fit_documents(problem, state, None, SETTLED, InProcess())[0].token_counts


def test_a_fold_is_read_with_topics_that_lack_it(fitted, corpus):
    problem = problem_of(fitted, corpus[:N_TRAIN])
    chosen = folds(problem) == 3
    part, rest = (problem.take(np.flatnonzero(rows)) for rows in (chosen, ~chosen))
    prior = fitted.priors.topic_prior

    def word_counts(problem, state):
        return fit_documents(problem, state, None, LocalSettings(), InProcess())[1].word_counts

    without = np.maximum(fitted.state.topics - word_counts(part, fitted.state), prior)
    state = replace(fitted.state, topics=without.astype(np.float32))
    state = replace(state, topics=(word_counts(rest, state) + prior).astype(np.float32))
    np.testing.assert_array_equal(read(fitted, problem)[chosen], tokens_with(part, state))


def test_reading_goes_on_from_fitted_documents(fitted, corpus):
    """In two passes over the documents outside the fold, between which topics are learned."""
    problem = problem_of(fitted, corpus[:N_TRAIN])
    documents, _ = fit_documents(problem, fitted.state, None, SETTLED, InProcess())
    left_out = LeftOut(problem, fitted.state, LocalSettings(), InProcess(), documents=documents)
    chosen = folds(problem) == 1
    prior = fitted.priors.topic_prior

    def after_a_pass(rows, state, documents):
        part = problem.take(np.flatnonzero(rows))
        found, sums = fit_documents(part, state, documents, LocalSettings(), InProcess())
        return found, sums.word_counts

    _, own = after_a_pass(chosen, fitted.state, documents.rows(np.flatnonzero(chosen)))
    topics = np.maximum(fitted.state.topics - own, prior)
    others = documents.rows(np.flatnonzero(~chosen))
    for _ in range(2):
        state = replace(fitted.state, topics=topics.astype(np.float32))
        others, words = after_a_pass(~chosen, state, others)
        topics = words + prior
    np.testing.assert_allclose(left_out.without(1).topics, topics, rtol=1e-6)


def test_no_fold_of_very_many_documents_matters(fitted, corpus):
    problem = problem_of(fitted, corpus[:N_TRAIN])
    left_out = LeftOut(problem, fitted.state, LocalSettings(), InProcess(), learned_from=1_000_000)
    assert left_out.without(0) is fitted.state


def test_training_documents_look_like_new_ones(fitted, corpus):
    """Topics fit their own documents better: these seem to be about fewer topics."""

    def largest(tokens):
        return (tokens.max(axis=1) / tokens.sum(axis=1)).mean()

    train, new = (problem_of(fitted, part) for part in (corpus[:N_TRAIN], corpus[N_TRAIN:]))
    fresh = largest(tokens_with(new, fitted.state))
    as_learned = largest(tokens_with(train, fitted.state))
    as_new = largest(read(fitted, train))
    assert as_learned - fresh > 0.1
    # Three times as many topics as there are. Taking away tokens alone, in ten folds, left 0.67.
    assert abs(as_new - fresh) < 0.6 * (as_learned - fresh)


def test_folds_follow_from_the_words(fitted, corpus):
    problem = problem_of(fitted, corpus)
    found = folds(problem)
    order = np.random.default_rng(0).permutation(len(corpus))
    np.testing.assert_array_equal(folds(problem.take(order)), found[order])
    # Each document is in one of three folds of about the same size.
    assert np.bincount(found, minlength=3).min() > 160
    twice = Corpus(vstack([corpus.counts, corpus.counts]))
    np.testing.assert_array_equal(folds(problem_of(fitted, twice)), np.tile(found, 2))


def test_groups_add_up(fitted, corpus):
    problem = problem_of(fitted, corpus[:N_TRAIN])
    # A fifth of the documents is in no group.
    member = csr_array(np.arange(4)[:, None] == np.arange(N_TRAIN) % 5, dtype=np.float32)
    fit = Fit(fitted.state, None)
    found = cross_fitted_tokens(
        fit, member, LeftOut(problem, fit.state, LocalSettings(), InProcess())
    )
    np.testing.assert_allclose(found, member @ read(fitted, problem), rtol=1e-4, atol=1e-3)


def test_a_few_documents_at_a_time(fitted, corpus, monkeypatch):
    problem = problem_of(fitted, corpus[:N_TRAIN])
    whole = read(fitted, problem)
    monkeypatch.setattr(
        "hdsp.prediction.calibration.cross_fit.parts_of", lambda rows: parts_of(rows, 50)
    )
    # Sums are added in another order.
    np.testing.assert_allclose(read(fitted, problem), whole, atol=0.02)


def test_documents_that_topics_were_not_learned_from_are_new(fitted, corpus):
    problem = problem_of(fitted, corpus[N_TRAIN:])
    none = np.zeros(problem.n_documents, dtype=np.int64)
    # A fold at a time, which changes the order of sums.
    np.testing.assert_allclose(
        read(fitted, problem, none), tokens_with(problem, fitted.state), rtol=1e-5, atol=1e-5
    )


def test_copies_are_left_out_together(fitted, corpus):
    problem = problem_of(fitted, corpus[:N_TRAIN])
    once = np.ones(N_TRAIN, dtype=np.int64)
    np.testing.assert_array_equal(read(fitted, problem, once), read(fitted, problem))
    assert not np.allclose(read(fitted, problem, 2 * once), read(fitted, problem))


def test_the_documents_of_a_fit_are_overwritten(fitted, corpus):
    problem = problem_of(fitted, corpus[:N_TRAIN])
    documents, _ = fit_documents(problem, fitted.state, None, SETTLED, InProcess())
    member = csr_array(eye_array(N_TRAIN, dtype=np.float32))
    fit = Fit(fitted.state, documents)
    found = cross_fitted_tokens(
        fit, member, LeftOut(problem, fit.state, LocalSettings(), InProcess())
    )
    assert found is documents.token_counts
    np.testing.assert_array_equal(found, read(fitted, problem))
