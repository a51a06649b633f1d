"""Streams learn again from their sample: what is kept, what is told, and what is refused."""

import signal
import warnings
from copy import deepcopy

import numpy as np
import pandas
import pytest

import hdsp
from hdsp.fit import stream as module
from hdsp.fit.stream import Stream, match
from hdsp.model.state import GlobalState
from hdsp.numerics import sticks_from_weights

SETTINGS = {"max_components": 12, "random_state": 0, "init": "nmf"}


def site(n_documents, number, seed=0, n_sites=4):
    """Documents of a site that writes of two things in words of its own."""
    rng = np.random.default_rng([seed, number])
    topics = np.random.default_rng(number).dirichlet(np.full(30, 0.2), size=2)
    counts = np.zeros((n_documents, 30 * n_sites))
    for row in counts[:, 30 * number : 30 * number + 30]:
        row[:] = rng.multinomial(40, rng.dirichlet([0.5, 0.5]) @ topics)
    words = [f"w{i}" for i in range(counts.shape[1])]
    return hdsp.Corpus(counts, words, labels=[[f"site{number}"]] * n_documents)


def test_topics_are_learned_again_as_a_fit_would():
    one, other = site(200, 0), site(200, 1)
    stream = hdsp.HDSP(**SETTINGS).partial_fit(one)
    told = {"learned_again", "better", "topics_kept", "topics_changed", "topics_gone", "topics_new"}
    assert not told & set(stream.history_[-1])
    stream.partial_fit(other)
    facts = {name: stream.history_[-1][name] for name in told}
    # A hundred documents decide, and are learned from afterwards.
    assert facts["learned_again"] == 300
    assert facts["better"] == 1
    n_topics = len(stream.components_)
    assert facts["topics_kept"] + facts["topics_changed"] + facts["topics_new"] == n_topics
    assert stream.n_documents_ == 400
    assert stream.search_
    tokens = stream.components_.sum() - stream.components_.size * stream.topic_prior
    assert tokens == pytest.approx(400 * 40, rel=1e-4)


def test_names_follow_their_topics_and_what_changed_is_told():
    stream = hdsp.HDSP(**SETTINGS).partial_fit(site(200, 0))
    names = {k: words[0] for k, words in enumerate(stream.top_words(1))}
    stream.name_topics(names)
    # Every topic of the next call is another one: none resembles those before.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            module, "topic_similarity", lambda one, other, _: np.zeros((len(one), len(other)))
        )
        with pytest.warns(hdsp.StreamWarning, match=r"these numbers .*: 0, 1") as caught:
            changed = deepcopy(stream).partial_fit(site(200, 1))
    assert caught[0].filename == __file__
    assert "Nothing is named" in str(caught[0].message)
    assert changed.topic_names_ == {}
    with warnings.catch_warnings():
        warnings.simplefilter("error", hdsp.StreamWarning)
        stream.partial_fit(site(200, 0, seed=1))
    assert stream.topic_names_
    for topic, word in stream.topic_names_.items():
        assert word in stream.top_words(3)[topic]


def test_merged_topics_stay_merged():
    stream = hdsp.HDSP(**SETTINGS).partial_fit(site(200, 0)).partial_fit(site(200, 1))
    merged = stream.merge_topics([0, 1])
    groups = merged.fitted_topics_
    merged.partial_fit(site(400, 0, seed=2))
    assert len(merged.components_) == len(merged.fitted_topics_)
    assert max(map(len, merged.fitted_topics_)) == max(map(len, groups)) == 2


def test_the_topics_that_predict_the_next_documents_better_are_kept(monkeypatch):
    first, second = site(200, 0), site(200, 0, seed=1)
    scores = iter([0.0, -1.0])
    monkeypatch.setattr(Stream, "_likelihood", lambda *_: next(scores))
    stream = hdsp.HDSP(**SETTINGS).partial_fit(first)
    n_passes = len(stream.history_)
    stream.partial_fit(second)
    row = stream.history_[-1]
    assert (row["learned_again"], row["better"]) == (300, 0)
    assert len(stream.history_) == n_passes
    assert stream.n_documents_ == 400
    # Too few documents to decide: the new topics are kept, without a comparison.
    monkeypatch.setattr(Stream, "_likelihood", lambda *_: 0.0)
    monkeypatch.setattr(module, "_LEAST_DECIDE", 1_000)
    assert stream.partial_fit(site(200, 1)).history_[-1]["better"] == 1


def state_of(topics, seeded=()):
    topics = np.asarray(topics, dtype=np.float64).T
    weight = np.full(topics.shape[1], 1 / topics.shape[1])
    return GlobalState(
        topics, sticks_from_weights(weight), 1.0, 1.0, {}, np.array(seeded, dtype=np.int64)
    )


def test_topics_are_matched_one_to_one_and_seeded_ones_by_their_seeds():
    old = np.eye(4) * 50 + 1
    partner, same = match(state_of(old), state_of(old[[2, 0, 3]]), np.ones(4))
    assert partner.tolist() == [1, -1, 0, 2]
    assert same.tolist() == [True, False, True, True]
    partner, same = match(state_of(old, [0]), state_of(old[[2, 0, 3]], [2]), np.ones(4))
    assert partner[0] == 2
    assert same[0]


def test_a_word_that_joins_has_the_tokens_of_earlier_documents():
    base = site(300, 0)
    names = (*base.words, "zebra")
    more = site(60, 0, seed=3)

    def with_zebra(corpus, rows):
        counts = np.hstack([corpus.counts.toarray(), np.zeros((len(corpus), 1))])
        counts[rows, -1] = 3.0
        return hdsp.Corpus(counts, names, labels=corpus.labels)

    stream = hdsp.HDSP(**SETTINGS).partial_fit(base)
    # Documents that are mostly of one topic have the word.
    more = more[np.argsort(-stream.transform(more)[:, 0])]
    stream.partial_fit(with_zebra(more[::2][:20], [0, 1, 2, 3]))
    assert stream._fitted.stream.waiting == {"zebra": 4}
    assert stream.words_ == base.words
    assert stream._fitted.stream.sample.counts[:, -1].sum() == 12.0
    stream.partial_fit(with_zebra(more[1::2][:20], [0, 1, 2]))
    assert stream.words_ == names
    assert stream._fitted.stream.waiting == {}
    held = stream.components_[:, -1] - stream.topic_prior
    assert held.sum() == pytest.approx(21.0, rel=0.05)
    # They are in the topics of the documents that had the word, not in all alike.
    assert held.max() > 1.5 * held.mean()


@pytest.mark.parametrize("interrupted", ["stochastic_step", "fit_batch"])
def test_an_interrupted_call_leaves_the_model_as_it_was(monkeypatch, interrupted):
    stream, fresh = (hdsp.HDSP(**SETTINGS).partial_fit(site(200, 0)) for _ in range(2))
    before, original = stream.components_, getattr(module, interrupted)

    def interrupt(*arguments):
        signal.raise_signal(signal.SIGINT)
        return original(*arguments)

    monkeypatch.setattr(module, interrupted, interrupt)
    with pytest.raises(KeyboardInterrupt):
        stream.partial_fit(site(200, 1))
    np.testing.assert_array_equal(stream.components_, before)
    assert stream.n_documents_ == 200
    monkeypatch.undo()
    for one in (stream, fresh):
        one.partial_fit(site(200, 1))
    np.testing.assert_array_equal(stream.components_, fresh.components_)


def test_of_many_documents_a_sample_stands_for_all(monkeypatch):
    monkeypatch.setattr(module, "MOST_FITTED", 150)
    stream = hdsp.HDSP(**SETTINGS).partial_fit(site(200, 0)).partial_fit(site(200, 1))
    assert stream.history_[-1]["better"] == 1
    tokens = stream.components_.sum() - stream.components_.size * stream.topic_prior
    assert tokens == pytest.approx(400 * 40, rel=1e-4)
    assert stream._fitted.stream.carriers.sum() == pytest.approx(400, rel=0.1)


def test_a_stream_can_forget():
    first, second = site(400, 0), site(400, 1)
    remembers, forgets = (
        hdsp.HDSP(**SETTINGS).partial_fit(first).partial_fit(second, forget=forget)
        for forget in (None, 50)
    )
    assert len(remembers._fitted.stream.sample) == 800
    # The last four hundred are worth 50 / ln 2 documents at the end.
    assert len(forgets._fitted.stream.sample) < 500
    for _ in range(4):
        forgets.partial_fit(second[:100], forget=50)
    assert len(forgets._fitted.stream.sample) < 200
    assert forgets.n_documents_ == 1_200
    less, more = (
        model.expected_topics(hdsp.Labels.empty(1)) @ model.components_[:, :30].sum(axis=1)
        for model in (forgets, remembers)
    )
    assert less < 0.1 * more


def test_numbers_on_another_scale_are_rescaled_and_absurd_columns_refused():
    counts = site(300, 0).counts
    labels = pandas.DataFrame({"year": np.arange(300.0), "dept": ["a", "b"] * 150})
    stream = hdsp.HDSP(**SETTINGS).partial_fit(counts[:250], labels=labels[:250])
    later = labels[250:]
    for wrong, error, message in (
        ({"year": 1e100}, ValueError, r"Got 1e\+100 in 'year', where the mean was 124.5"),
        ({"dept": 1.0}, ValueError, "Got numbers in 'dept', which was of kind category"),
        ({"dept": [["a", "b"], []] * 25}, TypeError, "'dept'"),
    ):
        with pytest.raises(error, match=message):
            stream.partial_fit(counts[250:], labels=later.assign(**wrong))
    assert stream.n_documents_ == 250
    assert stream.label_names_ == ("year", "a", "b")
    later = later.assign(year=np.linspace(1e6, 2e6, 50))
    stream.partial_fit(counts[250:], labels=later)
    assert stream.label_schema_.block("year").scale[0] > 1e5
    assert np.isfinite(stream.transform(counts[250:], labels=later)).all()
    assert np.isfinite(stream.label_effects()["effect"]).all()


def test_stochastic_inference_of_few_documents_is_advised_against():
    corpus = site(300, 0)
    with pytest.warns(hdsp.FitWarning, match="300 documents, where batch inference"):
        hdsp.HDSP(**SETTINGS, inference="stochastic").fit(corpus)
