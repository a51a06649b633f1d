"""Corpora in other libraries' forms, and the registry."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from hdsp.corpus import Corpus, Labels
from hdsp_studies.peers import (
    Classifier,
    FitSettings,
    Peer,
    check_libraries,
    labels_in_use,
    make_peer,
    target_values,
)
from hdsp_studies.peers.documents import KnownLabels, normalised, tokens, word_shares


def labels():
    frame = pd.DataFrame(
        {
            "place": ["north", None, "south"],
            "rating": [1.0, 3.0, None],
            "tags": [["a", "b"], [], ["b"]],
        }
    )
    return Labels.from_frame(frame)


def test_tokens_are_the_counts():
    counts = csr_array(np.array([[2.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.4, 0.6, 0.0]]))
    assert tokens(counts) == [["0", "0", "2"], [], ["1"]]


def test_word_shares_keep_our_places():
    shares = word_shares(np.array([[0.75, 0.25], [1.0, 0.0]]), np.array([2, 0]), 3)
    np.testing.assert_allclose(shares[0], [0.2, 0.2, 0.6])
    np.testing.assert_allclose(shares[1], [0.0, 0.0, 1.0], atol=1e-11)
    assert (shares > 0).all()


def test_rows_without_weight_become_even():
    np.testing.assert_allclose(
        normalised(np.array([[0.0, 0.0], [1.0, 3.0]])), [[0.5] * 2, [0.25, 0.75]]
    )


def test_labels_that_nobody_carries_are_left_out():
    part = labels_in_use(labels()[1:])
    assert [block.name for block in part.blocks] == ["place", "rating", "tags"]
    assert part.names == ("south", "rating", "b")
    assert labels_in_use(Labels.empty(2)).blocks == ()


def test_known_labels_ignore_the_rest():
    known = KnownLabels.of(labels()[1:])
    assert known.tags(labels()) == [["2"], [], ["0", "2"]]
    assert known.design(labels()).shape == (3, 3)
    assert known.is_number() == [False, True, False]


def test_values_of_a_target():
    assert target_values(labels(), "place") == ["north", None, "south"]
    assert target_values(labels(), "rating") == ["1", "3", None]
    with pytest.raises(ValueError, match="choose a category or a number"):
        target_values(labels(), "tags")
    with pytest.raises(ValueError, match="has no block 'colour'"):
        target_values(labels(), "colour")


@pytest.mark.parametrize("name", ["hdsp", "slda", "lda-svm", "svm", "logistic", "nb", "tree"])
def test_a_number_can_be_the_target(name):
    rng = np.random.default_rng(0)
    rating = np.repeat([1.0, 5.0], 40)
    counts = rng.poisson(np.where(rating[:, None] == 1.0, [4.0, 0.2, 1.0], [0.2, 4.0, 1.0]))
    corpus = Corpus(counts, labels=pd.DataFrame({"rating": rating}))
    model = make_peer(name).fit(corpus, FitSettings(n_topics=2, quick=True, target="rating"))
    found = model.predict(corpus.counts, corpus.labels)
    assert np.mean(np.array(found, dtype=float) == rating) > 0.8


@pytest.mark.parametrize("kind", ["nb", "logistic", "svm"])
def test_balanced_classifiers_give_rare_values_their_due(kind):
    rng = np.random.default_rng(0)
    rare = np.arange(400) % 10 == 0
    counts = rng.poisson(np.where(rare[:, None], [1.3, 1.0, 2.0], [1.0, 1.3, 2.0]))
    corpus = Corpus(counts, labels=pd.DataFrame({"place": np.where(rare, "far", "near")}))
    far = []
    for balanced in (False, True):
        fitted = Classifier(kind, balanced).fit(corpus, FitSettings(target="place"))
        far.append(fitted.predict(corpus.counts, corpus.labels).count("far"))
    assert far[0] < 40 < far[1]


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="There is no model 'lsa'"):
        make_peer("lsa")
    with pytest.raises(ValueError, match="cannot be imported"):
        make_peer("nowhere_at_all:Model")
    with pytest.raises(TypeError, match="must make a Peer"):
        make_peer("builtins:dict")


def test_a_model_of_ones_own():
    peer = make_peer("studies.tests.comparison.fakes:Unigram")
    assert isinstance(peer, Peer)


def test_a_missing_library_is_named():
    with pytest.raises(ImportError, match=r"needs no_such_package: pip install no_such_package"):
        check_libraries(["no_such_package"], "The model 'x'")
