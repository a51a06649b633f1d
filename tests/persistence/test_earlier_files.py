"""Model files of earlier versions still load, and say what they said when they were written."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hdsp import HDSP, Corpus

FILES = Path(__file__).parent / "files"
LABELS = pd.DataFrame(
    {
        "tags": [["a", "b"], ["a"], ["b", "c"], [], ["a", "b"], ["a"]],
        "kind": ["x", "y", None, "x", "y", None],
        "rating": [1.0, 2.0, 5.0, None, 1.0, 2.0],
    }
)


@pytest.fixture
def model():
    """A model of format 1.1: three kinds of labels, a search for the number of topics."""
    return HDSP.load(FILES / "model-1.1.hdsp")


@pytest.fixture
def written():
    """What the model said when it was written."""
    return json.loads((FILES / "model-1.1.json").read_text())


def test_a_file_of_format_1_1_says_what_it_said(model, written):
    assert len(model.components_) == written["n_topics"]
    assert list(model.words_) == written["words"]
    assert list(model.label_names_) == written["label_names"]
    assert model.document_concentration_ == written["document_concentration"]
    assert model.history_[-1]["bound"] == written["bound"]
    assert [row["start"] for row in model.search_] == written["starts"]
    # Its documents are predicted with the concentration of the fit, as far as it knows.
    assert model.predictive_concentration_ == written["document_concentration"]
    assert model.n_topics_range_ is None
    np.testing.assert_allclose(model.topic_weight_, written["topic_weight"], rtol=1e-12)
    expected = model.expected_topics(LABELS)
    np.testing.assert_allclose(expected, written["expected_topics"], rtol=1e-9)
    effects = model.label_effects(labels="tags")["effect"]
    np.testing.assert_allclose(effects, written["effects"], rtol=1e-9)


def test_a_file_of_format_1_1_reads_new_documents(model):
    counts = np.arange(120).reshape(6, 20) % 3
    corpus = Corpus(counts, words=model.words_, labels=LABELS)
    np.testing.assert_allclose(model.transform(corpus).sum(axis=1), 1.0, rtol=1e-6)
    assert np.isfinite(model.perplexity(corpus, given="completion"))
    assert model.predict_labels(corpus, target="kind").shape == (6, 2)


def test_it_can_be_saved_again(model, tmp_path):
    model.save(tmp_path / "again.hdsp")
    again = HDSP.load(tmp_path / "again.hdsp")
    np.testing.assert_array_equal(again.components_, model.components_)
