"""The settings of the paper, and what follows from them."""

import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from hdsp import HDSP, Categorical, Constant, LogLinear, Monotone, Softplus, simulate
from hdsp.corpus import Labels


@contextmanager
def quiet():
    """Without warnings of fits that end early."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


TAGS = [["news"], ["sport"], ["news", "local"], []]


def documents(n=200, seed=0):
    """Documents with tags and a rating from one to five."""
    rng = np.random.default_rng(seed)
    tags = [TAGS[i] for i in rng.integers(0, 4, size=n)]
    table = pd.DataFrame({"tags": tags, "rating": rng.integers(1, 6, size=n).astype(float)})
    scaling = Categorical("tags") * LogLinear("rating", variance=4.0)
    return simulate(table, n_topics=5, n_words=60, scaling=scaling, random_state=seed)[0]


def published(name, corpus, **settings):
    """A small fit with the paper's settings."""
    given = {"n_components": 30, "random_state": 0, "n_jobs": 1, "max_iter": 15} | settings
    with quiet():
        return HDSP.as_published(name, topic_prior=0.25).set_params(**given).fit(corpus)


def test_the_settings_are_those_of_the_paper():
    for name, scaling in (
        ("HDSP", Categorical()),
        ("wHDSP", LogLinear(standardize=False)),
        ("HDP", Constant()),
    ):
        given = HDSP.as_published(name, topic_prior=0.5).get_params()
        assert given["n_components"] == 200
        assert (given["init"], given["tol"], given["topic_prior"]) == ("lda", 1e-3, 0.5)
        assert given["corpus_concentration"] is given["document_concentration"] is None
        assert given["scaling"] == scaling
    with pytest.raises(ValueError, match="must be one of 'HDSP', 'wHDSP', 'HDP'"):
        HDSP.as_published("LDA")


@pytest.mark.parametrize("name", ["HDSP", "wHDSP"])
def test_the_papers_predictor_is_the_default_and_survives(name, tmp_path):
    corpus = documents()
    model = published(name, corpus)
    model.save(tmp_path / "published.hdsp")
    loaded = HDSP.load(tmp_path / "published.hdsp")
    for one in (model, loaded, clone(model).fit(corpus)):
        ratio = one.expected_topics(corpus.labels, "ratio")
        np.testing.assert_array_equal(one.expected_topics(corpus.labels), ratio)
        assert one.perplexity(corpus) == one.perplexity(corpus, method="ratio")
        assert one.perplexity(corpus) != one.perplexity(corpus, method="regression")
    assert HDSP().fit(corpus).perplexity(corpus) != model.perplexity(corpus)


def test_topics_out_of_use_get_almost_nothing():
    """With E[w], which diverges for them, unused topics got half of the mass and more."""
    corpus = documents(1_000)
    for tol in (1e-3, 1e-5):
        model = published("HDSP", corpus, n_components=40, tol=tol, max_iter=100)
        unused = model.topic_tokens_ < corpus.n_tokens / len(corpus)
        assert unused.sum() > 30
        expected = model.expected_topics(corpus.labels)
        assert expected[:, unused].sum(axis=1).mean() < 0.02


def test_hyperparameters_are_learned():
    corpus = documents()
    for name, key, start in (("HDSP", "0:prior", [1.0, 1.0]), ("wHDSP", "0:prior", [1.0])):
        state = published(name, corpus)._model.state
        assert (state.scaling[key] == state.scaling[key][0]).all()
        assert not np.allclose(state.scaling[key][0], start, rtol=0.05)
    fixed = published("HDSP", corpus, scaling=Categorical(weight_shape=2.0, weight_rate=1.0))
    assert fixed._model.state.scaling["0:prior"][0].tolist() == [2.0, 1.0]


def test_ratings_are_those_that_make_words_most_probable():
    """The paper's rule, from expected topics alone: no prior, no words of labels."""
    corpus = documents()
    model = published("wHDSP", corpus)
    given = model.predict_labels(corpus, "rating")
    assert list(given.columns) == ["1", "2", "3", "4", "5"]
    share = model.components_ / model.components_.sum(axis=1, keepdims=True)
    table = pd.DataFrame({"tags": corpus_tags(corpus)})
    scores = []
    for rating in (1.0, 2.0, 3.0, 4.0, 5.0):
        expected = model.expected_topics(table.assign(rating=rating), "ratio")
        scores.append((corpus.counts.toarray() * np.log(expected @ share)).sum(axis=1))
    assert (given.to_numpy().argmax(axis=1) == np.argmax(scores, axis=0)).all()


def corpus_tags(corpus):
    """The tags of documents as lists."""
    block = corpus.labels.blocks[0]
    rows = np.split(block.values.indices, block.values.indptr[1:-1])
    return [[block.columns[j] for j in row] for row in rows]


@pytest.mark.parametrize("how", ["batch", "stochastic", "stream"])
def test_raw_numbers(how):
    """The rate is exp(w x) of the number itself, wherever the documents are."""
    corpus = documents()
    scaling = LogLinear("rating", standardize=False)
    settings = {"n_components": 5, "scaling": scaling, "random_state": 0, "n_jobs": 1}
    with quiet():
        if how == "stream":
            model = HDSP(**settings).partial_fit(corpus[:150]).partial_fit(corpus[150:])
        else:
            model = HDSP(**settings, inference=how, max_iter=5).fit(corpus)
    block = model.label_schema_.block("rating")
    assert (block.mean, block.scale) == ((0.0,), (1.0,))
    state = model._model.state
    weight, spread = (state.scaling[f"0:{name}"][:, 0] for name in ("weight", "spread"))
    for rating in (1.0, 4.0):
        rate = np.exp(weight * rating + spread * rating**2 / 2.0)
        expected = state.prior_shape / rate
        found = model.expected_topics(pd.DataFrame({"rating": [rating]}), "ratio")[0]
        np.testing.assert_allclose(found, expected / expected.sum(), rtol=1e-5)
    # Effects do not depend on the unit of the regression.
    plain = model.estimate_effects("~ rating").effects()
    assert plain["contrast"].str.contains("5").all() or plain["contrast"].str.contains("4").all()
    assert np.isfinite(plain["effect"]).all()


def test_raw_years_do_not_overflow():
    rng = np.random.default_rng(0)
    years = pd.DataFrame({"year": rng.integers(1990, 2020, size=150).astype(float)})
    corpus = simulate(years, n_topics=4, n_words=50, random_state=0)[0]
    model = published("wHDSP", corpus)
    assert np.isfinite(model.expected_topics(corpus.labels)).all()
    predicted = model.predict_labels(corpus, "year", values=[1990, 2019])
    assert np.isfinite(predicted.to_numpy()).all()
    assert isinstance(corpus.labels, Labels)


@pytest.mark.parametrize("scaling", [Softplus("rating"), Monotone("rating")], ids=repr)
def test_links_refuse_parts_of_a_corpus_and_name_the_alternatives(scaling):
    corpus = documents(60)
    model = HDSP(3, scaling=scaling, random_state=0, n_jobs=1)
    message = "has steps that need all documents at once.*use LogLinear, which bends with Spline"
    with pytest.raises(ValueError, match=message):
        clone(model).set_params(inference="stochastic").fit(corpus)
    with pytest.raises(ValueError, match=message):
        clone(model).partial_fit(corpus)
    with quiet():
        model.fit(corpus)
        with pytest.raises(ValueError, match=message):
            model.partial_fit(corpus)
