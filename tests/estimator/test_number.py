"""The number of topics: searched for up to a ceiling, or fixed."""

from functools import cache

import numpy as np
import pytest

from hdsp import HDSP, simulate

MOVES = {"merges", "splits", "deletions"}


@cache
def corpus():
    tags = [["a"], ["b"], ["a", "b"], []] * 40
    return simulate(
        tags,
        n_topics=8,
        n_words=60,
        document_length=40,
        topic_prior=0.05,
        corpus_concentration=5.0,
        random_state=0,
    )[0]


def make(**settings):
    return HDSP(
        **{"n_components": 12, "tol": 1e-2, "random_state": 0, "n_jobs": 1} | settings,
    )


def moves(model):
    return {name for row in model.history_ for name in MOVES & row.keys()}


def compared(row):
    """What of the bound does not grow with the number of topics for nothing."""
    return row["bound"] - row["sticks"] - row["concentrations"]


def array(n_topics=12):
    return np.random.default_rng(1).random((n_topics, 60))


@pytest.mark.parametrize("init", ["nmf", "array"])
@pytest.mark.parametrize("keep_documents", [True, False])
def test_a_fixed_number_is_kept(init, keep_documents):
    model = make(
        fixed_number=True,
        init=array() if init == "array" else init,
        keep_documents=keep_documents,
    ).fit(corpus())
    assert model.components_.shape == (12, 60)
    assert model.transform(corpus()).shape == (160, 12)
    assert model.search_ == []
    assert moves(model) == set()
    assert {row["n_topics"] for row in model.history_} == {12}


def test_a_ceiling_far_above_does_not_change_the_number():
    near, far = make().fit(corpus()), make(n_components=200).fit(corpus())
    # Eight topics are there, some with hardly a word.
    assert 5 <= len(near.components_) <= 8
    assert abs(len(near.components_) - len(far.components_)) <= 1
    assert near.n_topics_ == len(near.components_)


def test_everything_has_as_many_topics_as_were_found():
    model = make().fit(corpus())
    n_topics = len(model.components_)
    assert n_topics < 12
    assert model.topic_weight_.shape == (n_topics,)
    assert model.topic_weight_.sum() == pytest.approx(1.0)
    assert model.transform(corpus()).shape == (160, n_topics)
    assert model.fit_transform(corpus()).shape == (160, n_topics)
    assert model.expected_topics(corpus().labels).shape == (160, n_topics)
    assert len(model.topics()) == len(model.top_words()) == n_topics
    assert len(model.get_feature_names_out()) == n_topics
    assert (np.diff(model.components_.sum(axis=1)) <= 0).all()


@pytest.mark.parametrize("ceiling", [3, 12, 40])
@pytest.mark.filterwarnings("ignore:.* topics are in use of:UserWarning")
def test_the_search_has_a_row_a_start_and_the_best_goes_on(ceiling):
    model = make(n_components=ceiling).fit(corpus())
    for row in model.search_:
        assert row.keys() == {"start", "topics", "bound", "compared", "passes", "seconds"}
        assert 2 <= row["topics"] <= row["start"] <= ceiling
        assert row["passes"] >= 2
    assert model.search_[0]["start"] == min(ceiling, 32)
    assert (np.diff([row["seconds"] for row in model.search_]) >= 0).all()
    starts = [row["start"] for row in model.search_]
    assert len(set(starts)) == len(starts)
    chosen = model.search_[starts.index(model.history_[0]["n_topics"])]
    assert compared(model.history_[chosen["passes"] - 1]) == chosen["compared"]
    best = max(row["compared"] for row in model.search_)
    # The document step is in float32.
    assert compared(model.history_[-1]) >= best - 1e-6 * abs(best)
    assert max(row["n_topics"] for row in model.history_) <= ceiling


def test_an_init_array_is_merged_split_and_deleted_from():
    model = make(init=array()).fit(corpus())
    assert model.history_[0]["n_topics"] == 12
    assert len(model.components_) == model.history_[-1]["n_topics"] < 12
    assert moves(model) == MOVES
    assert model.search_ == []
    fixed = make(init=array(), fixed_number=True).fit(corpus())
    assert [row["bound"] for row in fixed.history_] == [
        row["bound"] for row in model.history_[: fixed.n_iter_]
    ]
    assert model.history_[-1]["bound"] > fixed.history_[-1]["bound"]


def test_a_search_without_kept_documents_makes_no_moves():
    model = make(keep_documents=False).fit(corpus())
    assert moves(model) == set()
    assert len(model.search_) > 1
    assert all(row["topics"] == row["start"] for row in model.search_)
    best = max(model.search_, key=lambda row: row["compared"])
    assert len(model.components_) == best["start"] < 12
    assert model.history_[-1]["bound"] == best["bound"]


@pytest.mark.parametrize("shape", [(1, 60), (40, 1), (5, 4)], ids=repr)
@pytest.mark.filterwarnings("ignore:HDSP stopped after max_iter")
def test_the_smallest_corpora_are_searched_too(shape):
    counts = corpus().counts.toarray()[: shape[0], : shape[1]] + 1.0
    model = make().fit(counts)
    assert 2 <= len(model.components_) <= 12
    assert np.isfinite(model.components_).all()
    np.testing.assert_allclose(model.transform(counts).sum(axis=1), 1.0)


def test_fewer_passes_than_the_bound_needs_end_without_moves():
    with pytest.warns(UserWarning, match="stopped after max_iter=2 passes"):
        model = make(max_iter=2, tol=0.0).fit(corpus())
    assert model.n_iter_ == 2
    assert not model.converged_
    assert moves(model) == set()
    assert {row["passes"] for row in model.search_} == {2}
