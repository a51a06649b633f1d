"""`partial_fit` and stochastic fits: new words and labels, any order, everything asked after."""

import pickle
import warnings
from copy import deepcopy

import numpy as np
import pandas
import pytest

import hdsp
from tests import zoo


def corpus_of(n_documents, seed=0, tags=(["news"], ["sport"], ["news", "art"])):
    rows = [list(tags[i % len(tags)]) for i in range(n_documents)]
    corpus, _ = hdsp.simulate(rows, n_topics=5, random_state=seed)
    return corpus


def streamed(corpus, n_parts, **settings):
    model = hdsp.HDSP(max_components=10, random_state=0, **settings)
    for rows in np.array_split(np.arange(corpus.n_documents), n_parts):
        model.partial_fit(corpus[rows])
    return model


def test_streams_and_stochastic_fits_predict_nearly_as_well_as_a_fit_of_all_documents():
    train, test = corpus_of(3_000).split(0.2, random_state=0)
    whole = hdsp.HDSP(max_components=10, random_state=0).fit(train)
    wanted = {given: whole.perplexity(test, given=given) for given in ("completion", "labels")}
    stream = streamed(train, 6)
    assert stream.n_documents_ == train.n_documents
    stochastic = hdsp.HDSP(max_components=10, random_state=0, inference="stochastic").fit(train)
    for given, best in wanted.items():
        assert stream.perplexity(test, given=given) < 1.03 * best
        assert stochastic.perplexity(test, given=given) < 1.02 * best
    # A stochastic fit goes on as a stream, and one of batch inference with a warning.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stochastic.partial_fit(test)
    with pytest.warns(hdsp.StreamWarning, match="new documents alone"):
        whole.partial_fit(test)
    assert stochastic.n_documents_ == whole.n_documents_ == 3_000
    assert whole.perplexity(test, given="completion") < 1.03 * wanted["completion"]


def sites_of(n_documents, n_sites=4, seed=0):
    """Documents of sites that write of other things in other words."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(30, 0.2), size=2 * n_sites)
    counts = np.zeros((n_documents, 30 * n_sites))
    site = rng.integers(n_sites, size=n_documents)
    for m, own in enumerate(site):
        share = rng.dirichlet([0.5, 0.5]) @ topics[2 * own : 2 * own + 2]
        counts[m, 30 * own : 30 * own + 30] = rng.multinomial(40, share)
    words = [f"w{i}" for i in range(counts.shape[1])]
    return hdsp.Corpus(counts, words, labels=[[f"site{own}"] for own in site])


def test_a_stream_sorted_by_label_keeps_its_first_topics():
    train, test = sites_of(1_200).split(0.2, random_state=0)
    site = train.labels.blocks[0].values.indices
    by_site = np.argsort(site, kind="stable")
    parts = np.array_split(by_site, 10)
    # The first parts have documents of one site alone, and the last has none of it.
    assert set(site[parts[0]]) == {site[by_site[0]]}
    assert site[by_site[0]] not in site[parts[-1]]
    whole = hdsp.HDSP(max_components=20, random_state=0, init="nmf").fit(train)
    stream = hdsp.HDSP(max_components=20, random_state=0, init="nmf")
    for rows in parts:
        stream.partial_fit(train[rows])
    for given in ("completion", "labels"):
        assert stream.perplexity(test, given=given) < 1.05 * whole.perplexity(test, given=given)


def test_a_new_label_grows_the_model_and_gets_its_effect():
    corpus = corpus_of(1500, tags=(["news"], ["sport"]))
    model = hdsp.HDSP(max_components=10, random_state=0).partial_fit(corpus[:600])
    before = model.label_names_
    # The new tag goes with the documents that are mostly of one topic.
    later = corpus[600:]
    topic = int(model.transform(later).mean(axis=0).argsort()[-2])
    share = model.transform(later)[:, topic]
    tags = [
        [*(["fresh"] if share[m] > np.median(share) else []), ["news", "sport"][m % 2]]
        for m in range(len(share))
    ]
    model.partial_fit(hdsp.Corpus(later.counts, words=later.words, labels=tags))
    assert model.label_names_ == (*before, "fresh")
    # Each document has one of the other tags.
    with pytest.warns(hdsp.LabelDataWarning, match="Dropped 'sport'"):
        effects = model.label_effects(labels="fresh")
    row = effects[effects["topic"] == topic].iloc[0]
    assert row["lower"] > 0.02
    assert model.predict_labels(later, "tags")["fresh"].between(0, 1).all()


def test_new_columns_levels_and_numbers_join_beside_the_old():
    first, second = corpus_of(300), corpus_of(300, seed=1)
    one = pandas.DataFrame({"dept": ["a", "b"] * 150, "year": np.arange(300.0)})
    two = pandas.DataFrame(
        {"year": np.arange(300.0), "dept": ["b", "c"] * 150, "kind": ["x", None] * 150}
    )
    model = hdsp.HDSP(max_components=10, random_state=0)
    model.partial_fit(first.counts, labels=one).partial_fit(second.counts, labels=two)
    assert model.label_names_ == ("a", "b", "c", "year", "x")
    schema = model.label_schema_.block("year")
    assert schema.mean == (pytest.approx(149.5, abs=3.0),)
    carriers = model._model.carriers
    np.testing.assert_allclose(carriers, [150, 300, 150, 600, 150])
    with pytest.warns(hdsp.LabelDataWarning, match="Only 150 of 600 documents have all"):
        effects = model.label_effects(labels=["dept", "year"])
    assert set(effects["label"]) == {"a", "b", "c", "year"}


def test_words_may_come_in_any_order_and_some_may_be_missing():
    base, later = corpus_of(300), corpus_of(200, seed=1)
    one = hdsp.HDSP(max_components=10, random_state=0).partial_fit(base).partial_fit(later)
    order = np.random.default_rng(0).permutation(later.n_words)
    shuffled = hdsp.Corpus(
        later.counts[:, order], words=[later.words[i] for i in order], labels=later.labels
    )
    other = hdsp.HDSP(max_components=10, random_state=0).partial_fit(base).partial_fit(shuffled)
    np.testing.assert_array_equal(one.components_, other.components_)
    few = hdsp.Corpus(later.counts[:, :20], words=later.words[:20], labels=later.labels)
    assert one.partial_fit(few).words_ == base.words
    # Documents without words change nothing.
    before = one.components_
    one.partial_fit(hdsp.Corpus(base.counts[:5] * 0, words=base.words))
    np.testing.assert_array_equal(one.components_, before)


def test_topics_are_added_as_documents_come_up_to_the_ceiling_which_can_be_raised():
    corpus, _ = hdsp.simulate(n_documents=2_000, n_topics=12, n_words=400, random_state=2)
    model = hdsp.HDSP(max_components=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hdsp.FitWarning)
        model.partial_fit(corpus[:40]).partial_fit(corpus[40:500])
        assert model.transform(corpus).shape[1] == 2
        at_ceiling = model.perplexity(corpus, given="completion")
        model.set_params(max_components=30).partial_fit(corpus[500:])
    n_topics = model.transform(corpus).shape[1]
    assert 2 < n_topics <= 30
    assert model.n_topics_ > 2
    found = model.perplexity(corpus, given="completion")
    whole = hdsp.HDSP(max_components=30, random_state=0).fit(corpus)
    assert found < at_ceiling
    assert found < 1.03 * whole.perplexity(corpus, given="completion")
    assert len(model.topics()) == n_topics


def test_a_corpus_on_disk_gives_the_bits_of_the_one_in_memory(tmp_path):
    corpus = corpus_of(700)
    corpus.write(tmp_path / "corpus")
    stored = hdsp.open_corpus(tmp_path / "corpus")
    settings = {"n_components": 10, "random_state": 0, "inference": "stochastic"}
    one, other = (hdsp.HDSP(**settings).fit(c) for c in (corpus, stored))
    np.testing.assert_array_equal(one.components_, other.components_)
    np.testing.assert_array_equal(one.transform(corpus), other.transform(stored))


def test_attributes_are_of_all_documents_so_far():
    """Each is asked before and after, and no other in between."""
    further = zoo.corpus_of("seeds").counts.toarray()
    first = zoo.fit_quietly(zoo.make("seeds"), zoo.corpus_of("seeds"))
    words = (*first.words_, "zebra")
    further = hdsp.Corpus(np.hstack([further, np.ones((len(further), 1))]), words=words)
    for name in ("components_", "n_features_in_", "topic_weight_", "words_"):
        model = deepcopy(first)
        before = getattr(model, name)
        with pytest.warns(hdsp.StreamWarning, match="new documents alone"):
            model.partial_fit(further)
        after = getattr(model, name)
        assert not np.array_equal(before, after)
        model.topics()
        np.testing.assert_array_equal(getattr(pickle.loads(pickle.dumps(model)), name), after)
    assert set(model.topic_names_.values()) == {"a", "b"}
