"""What is asked of a model about a corpus on disk is what it says of the same one in memory."""

import warnings

import numpy as np
import pandas as pd
import pytest

import hdsp
from hdsp import Corpus, UnknownLabelWarning
from hdsp.corpus import StoredCorpus
from tests import zoo


@pytest.fixture(scope="module")
def corpus():
    return zoo.corpus_of("mixed")


@pytest.fixture(scope="module")
def model():
    return zoo.fitted("mixed")


@pytest.fixture
def stored(corpus, tmp_path):
    corpus.write(tmp_path / "corpus", 17)
    return hdsp.open_corpus(tmp_path / "corpus")


def test_queries_go_over_the_parts_of_a_corpus_and_of_a_split(model, corpus, stored, monkeypatch):
    for name in ("counts", "labels"):
        monkeypatch.setattr(StoredCorpus, name, property(lambda _: pytest.fail("read as a whole")))
    np.testing.assert_allclose(model.transform(stored), model.transform(corpus), rtol=1e-10)
    assert model.score(stored) == pytest.approx(model.score(corpus), rel=1e-10)
    for given in ("labels", "completion"):
        for options in ({}, {"interval": 0.9}, {"per_document": True}):
            np.testing.assert_allclose(
                model.perplexity(stored, given=given, **options),
                model.perplexity(corpus, given=given, **options),
                rtol=1e-10,
            )
    for target in ("tags", "dept", "rating"):
        pd.testing.assert_frame_equal(
            model.predict_labels(stored, target), model.predict_labels(corpus, target), rtol=1e-9
        )
    for side, expected in zip(stored.split(0.4, 0), corpus.split(0.4, 0), strict=True):
        np.testing.assert_allclose(model.transform(side), model.transform(expected), rtol=1e-10)


def test_unknown_labels_are_told_once(model, corpus, tmp_path):
    tags = [[f"new {m % 5}"] if m % 3 else ["x"] for m in range(120)]
    new = Corpus(corpus.counts, corpus.words, labels=pd.DataFrame({"tags": tags}))
    new.write(tmp_path / "new", 17)
    stored = hdsp.open_corpus(tmp_path / "new")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = model.transform(stored)
    with pytest.warns(UnknownLabelWarning) as expected:
        np.testing.assert_allclose(found, model.transform(new), rtol=1e-10)
    assert [str(one.message) for one in caught] == [str(expected[0].message)]
    assert "5 labels unknown to the model were ignored (in 80 documents)" in str(caught[0].message)


def test_a_stored_corpus_has_its_own_labels_and_the_model_s_words(model, corpus, stored, tmp_path):
    with pytest.raises(ValueError, match="must be None where X is a Corpus, which carries its own"):
        model.transform(stored, labels=corpus.labels)
    Corpus(np.ones((3, 12))).write(tmp_path / "other")
    with pytest.raises(ValueError, match="has other words than the model"):
        model.transform(hdsp.open_corpus(tmp_path / "other"))
    corpus[:0].write(tmp_path / "empty")
    with pytest.raises(ValueError, match=r"X of HDSP\.transform has no documents"):
        model.transform(hdsp.open_corpus(tmp_path / "empty"))
