"""Groups that use other words for the same topics, from the constructor to the file."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import hdsp
from hdsp import HDSP, Corpus, UnreliableTopicsWarning
from hdsp.analysis.checks import shared_words
from hdsp.cli.output import named_options
from tests import zoo

N_TOPICS, N_WORDS = 4, 120


def speeches(seed=0, differ=0.3, n_documents=700, missing=0.0):
    """Documents of two parties that speak of the same topics; one has other words for them."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(N_WORDS, 0.05), size=N_TOPICS)
    moved = np.where(rng.random(topics.shape) < differ, topics, 0.0)
    words = np.stack([np.hstack([topics, 0.0 * topics]), np.hstack([topics - moved, moved])])
    party = rng.integers(2, size=n_documents)
    theta = rng.dirichlet(np.full(N_TOPICS, 0.2), size=n_documents)
    counts = [rng.multinomial(60, t @ words[g]) for t, g in zip(theta, party, strict=True)]
    names = np.where(rng.random(n_documents) < missing, None, np.array(["left", "right"])[party])
    frame = pd.DataFrame({"party": names, "kind": rng.choice(["long", "short"], n_documents)})
    vocabulary = [f"{word}{end}" for end in ("", "x") for word in range(N_WORDS)]
    corpus = Corpus(csr_array(np.array(counts, dtype=float)), words=vocabulary, labels=frame)
    return corpus, words, frame


@pytest.fixture(scope="module")
def corpus():
    return speeches()[0]


@pytest.fixture(scope="module")
def model(corpus):
    return HDSP(max_components=30, content="party", random_state=0).fit(corpus)


def shift(model):
    table = model.label_effects()
    return table[table["label"] == "right"]["effect"].abs().sum() / 2.0


@pytest.fixture(scope="module")
def without(corpus):
    return HDSP(max_components=30, random_state=0).fit(corpus)


def test_other_words_are_neither_topics_nor_effects(model, without, corpus):
    assert without.n_topics_ > N_TOPICS
    assert shift(without) > 0.3
    assert model.n_topics_ == N_TOPICS
    assert shift(model) < 0.1
    # Components are the words of all groups.
    assert model.topic_tokens_.sum() == pytest.approx(corpus.n_tokens, rel=1e-4)
    # A start by words that go together is tried only where groups have the same words.
    assert {row["init"] for row in model.search_} == {model.init_} == {"nmf"}
    alike = HDSP(max_components=30, content="party", random_state=0, max_iter=2, tol=1.0)
    assert {row["init"] for row in alike.fit(speeches(differ=0.0)[0]).search_} > {"nmf"}


def test_new_documents_are_read_with_the_words_of_their_group(model):
    fresh, _, frame = speeches()
    other = frame.assign(party=frame["party"].map({"left": "right", "right": "left"}))
    known, nothing, wrong = (
        model.perplexity(fresh.counts, labels=labels, given="completion")
        for labels in (frame, frame[["kind"]], other)
    )
    assert 1.05 * known < nothing < wrong
    given = model.perplexity(fresh.counts, labels=frame, given="labels")
    assert given < model.perplexity(fresh.counts, labels=other, given="labels")
    assert np.abs(model.transform(fresh) - model.transform(fresh.counts, labels=other)).max() > 0.1


def test_documents_without_a_group_take_part():
    corpus, _, frame = speeches(missing=0.1)
    model = HDSP(N_TOPICS, content="party", random_state=0).fit(corpus)
    tokens = model._model.state.versions.by_group().sum(axis=(0, 2))
    known = frame["party"].notna()
    assert tokens[0] == pytest.approx(corpus.counts[~known.to_numpy()].sum(), rel=1e-4)
    assert shift(model) < 0.1


def test_stochastic_inference_learns_versions_too():
    corpus = speeches(n_documents=3000)[0]
    settings = {"inference": "stochastic", "batch_size": 256, "random_state": 0}
    model = HDSP(max_components=30, content="party", **settings).fit(corpus)
    assert shift(model) < 0.1
    assert shift(HDSP(max_components=30, **settings).fit(corpus)) > 0.3
    versions = model._model.state.versions
    tokens = versions.by_group().sum(axis=(0, 2))
    assert tokens.sum() == pytest.approx(corpus.n_tokens, rel=0.02)
    right = (corpus.labels.blocks[0].values.toarray()[:, 1] > 0) @ corpus.counts.sum(axis=1)
    assert tokens[2] == pytest.approx(right, rel=0.05)
    found = model.label_words(label="right")
    # The words of the other party have a name of their own.
    assert found[found["ratio"] > 1]["word"].str.endswith("x").mean() > 0.9


def test_streams_have_versions_too(tmp_path):
    corpus, _, frame = speeches(n_documents=800)
    frame["party"] = frame["party"].where(frame.index < 700, "new")
    stream = HDSP(max_components=30, content="party", init="nmf", random_state=0)
    parts = [
        Corpus(corpus.counts[rows], words=corpus.words, labels=frame.iloc[rows])
        for rows in np.split(np.arange(800), [175, 350, 525, 700])
    ]
    for part in parts[:4]:
        # Words of the other party join later.
        kept = np.flatnonzero(part.counts.sum(axis=0))
        names = [part.words[i] for i in kept]
        stream.partial_fit(Corpus(csr_array(part.counts[:, kept]), names, part.labels))
    assert stream.n_topics_ == N_TOPICS
    assert shift(stream) < 0.1
    found = stream.label_words(label="right")
    assert found[found["ratio"] > 1]["word"].str.endswith("x").mean() > 0.9
    stream.save(tmp_path / "stream.hdsp")
    others = [stream, HDSP.load(tmp_path / "stream.hdsp")]
    for model in others:
        model.partial_fit(parts[4])
    one, other = others
    np.testing.assert_array_equal(one.components_, other.components_)
    # The level that came last has no version before topics are learned again.
    assert one.label_schema_.block("party").columns[-1] == "new"
    versions = one._model.state.versions
    assert len(versions.columns) == 2
    tokens = versions.by_group().sum(axis=(0, 2))
    assert tokens.sum() == pytest.approx(corpus.n_tokens, rel=2e-3)
    assert tokens[0] == pytest.approx(corpus.counts[700:].sum(), rel=2e-3)
    assert one.topic_words(0, by="party")["label"].nunique() == 2


def test_words_of_levels_are_those_that_differ(model):
    _, words, _ = speeches()
    moved = {i for i in range(N_WORDS) if (words[1][:, i] < words[0][:, i]).any()}
    table = model.label_words()
    assert list(table.columns) == ["topic", "label", "word", "ratio", "lower", "upper", "n"]
    assert ((table["lower"] > 1.0) | (table["upper"] < 1.0)).all()
    assert table["ratio"].between(table["lower"], table["upper"]).all()
    assert len(table) > 20
    assert {int(word.rstrip("x")) for word in table["word"]} <= moved
    # What one party has, the other lacks.
    mine = table[table["label"] == "left"]
    assert (mine["word"].str.endswith("x") == (mine["ratio"] < 1.0)).all()
    one = model.label_words("right", topic=1)
    assert set(one["label"]) == {"right"}
    assert set(one["topic"]) == {1}
    assert len(model.label_words("party")) == len(table)


def test_words_of_a_topic_by_level(model):
    table = model.topic_words(0, by="party", n_words=6)
    assert list(table["label"]) == ["left", "right"] * 6
    assert table.groupby("label")["probability"].sum().max() <= 1.0
    both = table.pivot(index="word", columns="label", values="probability")
    ratio = table.pivot(index="word", columns="label", values="ratio")["left"]
    common = ~both.index.str.endswith("x") & (both["right"] > 0.3 * both["left"])
    assert common.any()
    assert (np.abs(np.log(ratio[common])) < 0.2).all()
    every = model.topic_words(by="party", n_words=6)
    pd.testing.assert_frame_equal(table, every[every["topic"] == 0].reset_index(drop=True))
    shared = model.topic_words(n_words=3)
    assert [list(own["word"]) for _, own in shared.groupby("topic")] == model.top_words(3)
    merged = model.merge_topics([0, 1]).topic_words(0, by="party", n_words=3)
    assert (merged["n"] >= 0.0).all()


def test_perspectives_places_words_between_levels(model):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ax = hdsp.plots.perspectives(model, 0, "party", n=8)
    places = {text.get_text(): text.get_position()[0] for text in ax.texts}
    table = model.label_words("right", topic=0)
    for word, ratio in zip(table["word"], table["ratio"], strict=True):
        assert word not in places or places[word] * np.log(ratio) > 0.0
    other = hdsp.plots.perspectives(model, 0, "party", n=8, levels=("right", "left"))
    flipped = {text.get_text(): text.get_position()[0] for text in other.texts}
    assert flipped == pytest.approx({word: -x for word, x in places.items()})
    with pytest.raises(ValueError, match=r"levels of 'party': 'left', 'right'. Got 'up'"):
        hdsp.plots.perspectives(model, 0, "party", levels=("up", "left"))
    pyplot.close("all")


def test_checks_and_effects_of_other_documents_read_versions():
    model, documents = zoo.fitted("content"), zoo.corpus_of("content")
    table = model.check_labels(documents)
    assert (np.abs(table["found"] - table["expected"]) < 0.2).all()
    again = model.estimate_effects("~ dept", corpus=documents).effects()
    pd.testing.assert_frame_equal(again, model.label_effects())
    some = model.estimate_effects("~ dept", corpus=documents[:100])
    assert some.n_documents == 100
    effects = some.effects()
    assert (effects["lower"] < effects["upper"]).all()


def test_a_subject_in_the_words_of_two_groups_is_told_with_the_remedy(without, corpus):
    with pytest.warns(UnreliableTopicsWarning, match="one subject in the words") as caught:
        without.check_labels(corpus)
    message = str(caught[0].message)
    assert caught[0].filename == __file__
    assert "HDSP(content='party')" in message
    found = re.search(
        r"Topics (\d+) \(.* and (\d+) \(.* share (\d+)% .* '(.*)' raises .* by (\S+) .* by (\S+):",
        message,
    )
    topics, label = [int(found[1]), int(found[2])], found[4]
    assert int(found[3]) > 50
    effects = without.label_effects(labels=label).set_index("topic")["effect"][topics]
    np.testing.assert_allclose(100 * effects, [float(found[5]), -float(found[6])], atol=0.06)
    told = named_options(message, None)
    assert "hdsp fit --content 'party' gives groups their own words" in told


def test_what_groups_share_is_no_reason_to_warn():
    corpus, _, frame = speeches(differ=0.0)
    other = Corpus(corpus.counts, words=corpus.words, labels=frame[["kind"]])
    for content, documents in ((None, corpus), ("party", corpus), (None, other)):
        model = HDSP(max_components=30, init="nmf", content=content, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UnreliableTopicsWarning)
            model.fit(documents).check_labels(documents)


def test_shared_words_are_those_that_set_topics_apart():
    words = np.array([[0.5, 0.5, 0.5], [0.5, 0.4, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.5]])
    weight = np.ones(3)
    corpus = words.mean(axis=1)
    own = np.maximum(words - corpus[:, None], 0.0)
    expected = np.minimum(own[:, 0], own[:, 1]).sum() / min(own[:, 0].sum(), own[:, 1].sum())
    found = shared_words(words, weight)
    assert found[0, 1] == found[1, 0] == pytest.approx(expected)
    # All topics have the first word: it tells nothing.
    assert found[0, 2] == found[1, 2] == 0.0
