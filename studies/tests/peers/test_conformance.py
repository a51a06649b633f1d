"""What holds of every model behind the protocol."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import hdsp
from hdsp.corpus import Corpus, Labels
from hdsp_studies.peers import PEERS, FitSettings, make_peer

N_WORDS = 40
SETTINGS = FitSettings(n_topics=5, seed=3, quick=True, target="place")
UNLABELLED = {"hdp", "hdp-tomotopy", "lda", "lda-sklearn", "gsdmm", "btm", "pt"}
CLASSIFIERS = {"lda-svm", "svm", "logistic", "nb", "tree"}


def table(rows):
    return Labels.from_frame(pd.DataFrame(rows), tags="tags", categories="place", numeric="rating")


@cache
def training():
    """Documents with tags, a category and a number, some missing; one document is empty."""
    rng = np.random.default_rng(0)
    rows = []
    for number in range(80):
        tags = [tag for tag in ("red", "long") if rng.random() < 0.5]
        place = ["north", "south", None][number % 3]
        rating = None if number % 7 == 0 else float(rng.integers(1, 6))
        rows.append({"tags": tags, "place": place, "rating": rating})
    labels = table(rows)
    corpus, _ = hdsp.simulate(
        labels, n_topics=5, n_words=N_WORDS, document_length=30, random_state=1
    )
    counts = corpus.counts.toarray()
    counts[5] = 0
    # A word that no training document has.
    counts[:, -1] = 0
    return Corpus(counts, labels=labels)


@cache
def new():
    """An ordinary document, one of unknown labels, one without words, one without labels."""
    rows = [
        {"tags": ["red"], "place": "north", "rating": 4.0},
        {"tags": ["unheard", "of"], "place": "west", "rating": 99.0},
        {"tags": ["long"], "place": "south", "rating": 1.0},
        {"tags": [], "place": None, "rating": None},
    ]
    counts = csr_array(training().counts[[0, 1, 5, 3]])
    assert counts[[2]].nnz == 0
    return counts, table(rows)


@cache
def fitted(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_peer(name).fit(training(), SETTINGS)


@pytest.mark.parametrize("name", PEERS)
def test_topics_are_shares_of_our_words(name):
    model = fitted(name)
    if name in CLASSIFIERS - {"lda-svm"}:
        assert model.topics is None
        assert model.topic_tokens is None
        return
    assert model.topics.shape[1] == N_WORDS
    assert (model.topics > 0).all()
    np.testing.assert_allclose(model.topics.sum(axis=1), 1.0)
    assert model.topic_tokens.shape == (len(model.topics),)
    assert (model.topic_tokens >= 0).all()
    # A word that was never seen is not the word of any topic.
    assert (model.topics[:, -1] <= np.median(model.topics, axis=1)).all()


@pytest.mark.parametrize("name", PEERS)
def test_tokens_of_topics_are_those_of_training(name):
    model = fitted(name)
    if model.topic_tokens is not None and name != "llda":
        np.testing.assert_allclose(model.topic_tokens.sum(), training().n_tokens, rtol=1e-6)


@pytest.mark.parametrize("name", PEERS)
def test_proportions_given_labels(name):
    _, labels = new()
    found = fitted(name).given_labels(labels)
    if name in CLASSIFIERS | {"slda"}:
        assert found is None
        return
    check_proportions(found, fitted(name))
    if name in UNLABELLED:
        np.testing.assert_allclose(found, np.tile(found[0], (4, 1)), rtol=1e-6)
    else:
        assert np.abs(found[0] - found[2]).max() > 1e-3


@pytest.mark.parametrize("name", PEERS)
def test_proportions_given_words(name):
    found = fitted(name).given_words(*new())
    if name in CLASSIFIERS - {"lda-svm"}:
        assert found is None
        return
    check_proportions(found, fitted(name))


@pytest.mark.parametrize("name", PEERS)
def test_unknown_labels_are_ignored(name):
    counts, _ = new()
    model = fitted(name)
    unknown = table([{"tags": ["unheard"], "place": "west", "rating": None}] * 2)
    missing = table([{"tags": [], "place": None, "rating": None}] * 2)
    for given in (
        lambda known: model.given_labels(known),
        lambda known: model.given_words(csr_array(counts[[0, 2]]), known),
    ):
        found, expected = given(unknown), given(missing)
        if found is not None:
            np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("name", PEERS)
def test_labels_may_be_absent_altogether(name):
    counts, _ = new()
    model = fitted(name)
    nothing = Labels.empty(4)
    for found in (model.given_labels(nothing), model.given_words(counts, nothing)):
        if found is not None:
            check_proportions(found, model)


@pytest.mark.parametrize("name", PEERS)
def test_predictions_are_values_of_the_target(name):
    found = fitted(name).predict(*new())
    if name in CLASSIFIERS | {"hdsp", "whdsp", "slda"}:
        assert len(found) == 4
        assert set(found) <= {"north", "south"}
    else:
        assert found is None


@pytest.mark.parametrize("name", PEERS)
def test_a_second_fit_gives_the_same(name):
    first = fitted(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        second = make_peer(name).fit(training(), SETTINGS)
    if first.topics is not None:
        np.testing.assert_array_equal(first.topics, second.topics)
    before, after = first.given_words(*new()), second.given_words(*new())
    if before is not None:
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("name", PEERS)
def test_words_tell_more_than_labels(name):
    """Proportions given a training document's words explain it better than those of another."""
    model = fitted(name)
    corpus = training()
    found = model.given_words(corpus.counts, corpus.labels)
    if found is None or name == "atm":
        return
    words = corpus.counts.toarray()
    own = (words * np.log(found @ model.topics)).sum()
    other = (words * np.log(np.roll(found, 1, axis=0) @ model.topics)).sum()
    assert own > other + 10.0


@pytest.mark.parametrize("name", PEERS)
def test_a_corpus_without_labels(name):
    """A model without use for it says so."""
    corpus = Corpus(training().counts)
    settings = FitSettings(n_topics=5, quick=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in CLASSIFIERS | {"llda", "plda", "plda-2", "plda-5"}:
            with pytest.raises(ValueError, match=r"needs tags or categories|name it as the target"):
                make_peer(name).fit(corpus, settings)
            return
        model = make_peer(name).fit(corpus, settings)
    counts, labels = new()
    check_proportions(model.given_words(counts, labels), model)
    assert model.predict(counts, labels) is None


@pytest.mark.parametrize("name", PEERS)
def test_counts_may_be_fractions(name):
    counts, labels = new()
    found = fitted(name).given_words(csr_array(counts * 0.3), labels)
    if found is not None:
        check_proportions(found, fitted(name))


def check_proportions(found, model):
    assert found.shape == (4, len(model.topics))
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
