"""Topics that other seeds find again."""

import numpy as np
import pytest

from hdsp import HDSP, Corpus, simulate
from hdsp.analysis.refits import stability_columns
from hdsp.metrics import stability


@pytest.fixture(scope="module")
def corpus():
    tags = [["a"], ["b"], ["a", "b"], []] * 75
    return simulate(tags, n_topics=4, n_words=60, document_length=60, random_state=1)[0]


@pytest.fixture(scope="module")
def model(corpus):
    return HDSP(5, random_state=3).fit(corpus)


def test_the_table_has_a_row_a_topic(model, corpus):
    table = model.topic_stability(corpus, n_fits=3)
    assert list(table.columns) == ["topic", "similarity", "lowest", "found_in", "fits"]
    assert table["topic"].tolist() == list(range(5))
    assert (table["fits"] == 3).all()
    assert table["found_in"].between(0, 3).all()
    assert (table["lowest"] <= table["similarity"] + 1e-12).all()
    assert table["similarity"].between(0, 1).all()


def test_similarity_is_the_stability_over_the_seeds_that_follow(model, corpus):
    others = [HDSP(5, random_state=seed).fit(corpus) for seed in (4, 5)]
    expected = stability([model.components_, *[other.components_ for other in others]])
    table = model.topic_stability(corpus, n_fits=2)
    np.testing.assert_allclose(table["similarity"], expected)
    numbers, _ = stability_columns(model._model, model, corpus, None, 2)
    assert numbers == [other.n_topics_ for other in others]


def test_the_model_stays_as_it_was(model, corpus):
    before = model.components_.copy()
    model.topic_stability(corpus, n_fits=1)
    np.testing.assert_array_equal(model.components_, before)
    assert model.random_state == 3


def test_counts_and_labels_as_matrices_work_too(corpus):
    labels = np.arange(300)[:, None] % 2
    model = HDSP(4).fit(corpus.counts, labels=labels)
    table = model.topic_stability(corpus.counts, labels=labels, n_fits=1)
    assert len(table) == 4


def test_other_words_are_refused_before_anything_is_fitted(model, corpus):
    other = Corpus(corpus.counts, words=[f"x{i}" for i in range(60)])
    with pytest.raises(ValueError, match=r"X of HDSP\.topic_stability has other words"):
        model.topic_stability(other)


def test_a_bad_number_of_fits_is_refused(model, corpus):
    with pytest.raises(ValueError, match="`n_fits` of HDSP must be an integer >= 1"):
        model.topic_stability(corpus, n_fits=0)
