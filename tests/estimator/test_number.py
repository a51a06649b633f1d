"""The number of topics: searched for up to a ceiling, or fixed."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from hdsp import HDSP, UnreliableTopicsWarning, simulate
from hdsp.analysis.topics import number_sentence
from tests import zoo


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
    return HDSP(**{"max_components": 12, "tol": 1e-2, "random_state": 0, "n_jobs": 1} | settings)


@cache
def searched():
    return make().fit(corpus())


def merges(model):
    return sum(row.get("merges", 0) for row in model.history_)


@pytest.mark.parametrize("init", ["nmf", "array"])
def test_a_fixed_number_is_kept(init):
    start = np.random.default_rng(1).random((12, 60)) if init == "array" else init
    model = make(n_components=12, init=start).fit(corpus())
    assert model.components_.shape == (12, 60)
    assert model.search_ == []
    assert model.n_topics_range_ is None
    assert {row["n_topics"] for row in model.history_} == {12}
    reason = {"nmf": "as many as were asked for", "array": "of those that were given"}[init]
    assert model.number_summary_ == f"12 topics, {reason}."


def test_a_ceiling_far_above_does_not_change_the_number():
    near, far = searched(), make(max_components=200).fit(corpus())
    # Eight topics are there, some with hardly a word.
    assert 5 <= len(near.components_) <= 8
    assert abs(len(near.components_) - len(far.components_)) <= 2
    assert near.n_topics_ == len(near.components_)


@pytest.mark.parametrize("ceiling", [3, 12, 40])
@pytest.mark.filterwarnings("ignore:.* topics are in use of:hdsp.FitWarning")
def test_the_search_has_a_row_for_each_number_it_tried(ceiling):
    model = make(max_components=ceiling).fit(corpus())
    tried = [row["topics"] for row in model.search_]
    assert tried[0] == min(ceiling, 32)
    pairs = [(row["init"], row["topics"]) for row in model.search_]
    assert len(set(pairs)) == len(pairs)
    # Documents are short: starts are compared.
    assert {init for init, _ in pairs} == {"nmf", "words", "pairs"}
    assert model.init_ in {"nmf", "words", "pairs"}
    assert all(2 <= number <= ceiling for number in tried)
    for row in model.search_:
        measures = {"perplexity", "concentration", "coherence", "exclusivity", "seconds"}
        assert row.keys() == {"topics", "init"} | measures
        assert -1.0 <= row["coherence"] <= 1.0
        assert 0.0 < row["exclusivity"] <= 1.0
        # Sixty words, each as probable as another, would have 60.
        assert 1.0 < row["perplexity"] < 60.0
    assert (np.diff([row["seconds"] for row in model.search_]) >= 0).all()
    assert model.history_[0]["n_topics"] <= ceiling
    low, high = model.n_topics_range_
    assert 2 <= low <= len(model.components_) <= high <= ceiling


def test_the_number_is_said_in_a_sentence_and_one_that_predicts_better_is_named():
    model = searched()
    assert re.fullmatch(
        r"\d+ topics( \(\d+ to \d+ are about as good\))?; (neither more nor fewer predict new "
        r"words better|\d+( or more)? would predict new words better, by [\d.]+ %)\.",
        model.number_summary_,
    )
    row = {"init": model.init_, "concentration": 1.0, "coherence": 0.1, "exclusivity": 0.5}
    rows = [
        row | {"topics": n, "perplexity": p, "seconds": 0.0} for n, p in ((4, 120.0), (40, 60.0))
    ]
    report = replace(model._model.report, search=rows, n_topics_range=(4, 9))
    said = number_sentence(replace(model._model, report=report))
    # Between the numbers tried, perplexities are interpolated.
    assert re.search(r"; 40 or more would predict new words better, by 4\d %\.$", said)


def test_topics_of_an_init_array_are_merged():
    twice = np.concatenate([make(n_components=6).fit(corpus()).components_] * 2)
    model = make(init=twice).fit(corpus())
    assert model.history_[0]["n_topics"] == 12
    assert len(model.components_) == model.history_[-1]["n_topics"] <= 7
    assert merges(model) == 12 - len(model.components_)
    assert model.search_ == []
    fixed = make(n_components=12, init=twice).fit(corpus())
    assert [row["bound"] for row in fixed.history_] == [
        row["bound"] for row in model.history_[: fixed.n_iter_]
    ]
    assert model.history_[-1]["bound"] > fixed.history_[-1]["bound"]


def test_topics_that_do_not_come_back_are_doubted():
    """Words at random, so that any topics are chance."""
    counts = np.random.default_rng(0).poisson(0.2, size=(300, 60))
    model = make(n_components=12).fit(counts)
    match = "halves of the documents share only [01] of 12"
    with pytest.warns(UnreliableTopicsWarning, match=match):
        model.topics()
    assert model.n_returning_ <= 1
    assert make(n_components=8).fit(corpus()).n_returning_ >= 3


def test_the_search_leaves_room_for_every_seed_and_one_more():
    seeds = {word: [word] for word in corpus().words[:20]}
    model = zoo.fit_quietly(make(seeds=seeds, max_components=60), corpus())
    assert len(model.components_) > len(seeds)
    assert sorted(model.topic_names_.values()) == sorted(seeds)
    assert model.n_topics_range_ is None or model.n_topics_range_[0] > len(seeds)
