"""Words that labels use beyond their topics."""

import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_array, csr_array

from hdsp import HDSP, Corpus
from hdsp.analysis.words import WordFactors, _sweep, factor_ratios
from tests.reference.scaling import sweep_gamma_weights

N_WORDS, N_TOPICS, LENGTH = 120, 4, 60
# Words of each tag beyond its topics, in all of them.
OWN = {"red": [93, 111, 43], "blue": [115, 31]}


def simulated(seed=0, n_documents=600, boost=4.0):
    """Documents with two tags of own words, one without, a category and a number."""
    rng = np.random.default_rng(seed)
    topics = np.random.default_rng(0).dirichlet(np.full(N_WORDS, 0.2), size=N_TOPICS)
    carried = rng.random((n_documents, 3)) < (0.3, 0.3, 0.4)
    names = np.array([*OWN, "grey"])
    counts = np.zeros((n_documents, N_WORDS))
    for m in range(n_documents):
        share = rng.dirichlet(0.3 + carried[m, 0] * np.arange(N_TOPICS)) @ topics
        for name in names[carried[m]]:
            share[OWN.get(name, [])] *= boost
        counts[m] = rng.multinomial(LENGTH, share / share.sum())
    labels = pd.DataFrame(
        {
            "tags": pd.Series([list(names[row]) for row in carried]),
            "kind": rng.choice(["long", "short"], size=n_documents),
            "rating": rng.integers(1, 6, size=n_documents).astype(float),
        }
    )
    return Corpus(csr_array(counts), [f"w{i}" for i in range(N_WORDS)], labels)


@pytest.fixture(scope="module")
def model():
    return HDSP(N_TOPICS, init="nmf", random_state=0, n_jobs=1).fit(simulated())


@pytest.fixture(scope="module")
def test_corpus():
    return simulated(seed=1, n_documents=300)


def without_words(model):
    """The same model, that predicts by topics alone."""
    found = copy.copy(model)
    _ = model._model.word_factors
    answers = model._model.answers | {"word_factors": None}
    found._fitted = replace(model._model, answers=answers)
    return found


def expected_tokens(labels, load, observed, strength, order):
    """What topics and other labels lead one to expect, [J, W], by the definition."""
    factors, expected = np.ones_like(observed), observed.copy()
    for j in order:
        others = factors.copy()
        others[j] = 1.0
        product = np.exp(labels @ np.log(others))
        expected[j] = (load * product)[labels[:, j] > 0].sum(axis=0)
        factors[j] = (strength[j] + observed[j]) / (strength[j] + expected[j])
    return expected


def test_the_sweep_is_that_of_the_definition_and_of_categorical():
    rng = np.random.default_rng(0)
    labels = (rng.random((40, 6)) < 0.4).astype(float)
    labels[:, -1] = labels[:, :-1].any(axis=1)
    load, observed = rng.gamma(1.0, size=(40, 7)), rng.poisson(9.0, size=(6, 7)).astype(float)
    strength = np.array([2.0, 2.0, 8.0, 8.0, 8.0, 4.0])
    columns = [slice(0, 2), slice(3, 5)]
    found = _sweep(csc_array(labels), load.astype(np.float32), observed, columns, strength)
    # What all labelled documents have in common comes before each column.
    wanted = expected_tokens(labels, load, observed, strength, [5, 0, 1, 5, 3, 4] * 3)
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
    assert (found[2] == observed[2]).all()
    # Of one label and a column that is the same, it is a sweep over both.
    both, observed = labels[:, [5, 0]], observed[:2]
    shape = rate = (observed + 2.0).T
    for _ in range(3):
        rate = sweep_gamma_weights(both, load, shape, 2.0, rate)
    arrays = csc_array(both[:, ::-1]), load.astype(np.float32), observed[::-1]
    found = _sweep(*arrays, [slice(0, 1)], np.full(2, 2.0))
    np.testing.assert_allclose(found[::-1], rate.T - 2.0, rtol=1e-4)


def test_the_gain_is_that_of_the_normalised_product():
    rng = np.random.default_rng(0)
    observed = csr_array(rng.poisson(1.0, size=(3, 6)).astype(np.float32))
    expected = rng.gamma(2.0, size=observed.nnz).astype(np.float32)
    factors = WordFactors(observed, expected, np.array([1.0, 4.0, 2.0]), np.ones(6))
    share, proportions = rng.dirichlet(np.ones(6), size=2).T, rng.dirichlet(np.ones(2), size=4)
    counts = rng.poisson(2.0, size=(4, 6)).astype(float)
    labels = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    ratio = np.ones((3, 6))
    stored = observed.tocoo()
    prior = factors.strength[stored.row]
    ratio[stored.row, stored.col] = (prior + stored.data) / (prior + expected)
    plain = proportions @ share.T
    product = plain * np.exp(labels @ np.log(ratio))
    product /= product.sum(axis=1, keepdims=True)
    wanted = (counts * (np.log(product) - np.log(plain))).sum(axis=1)
    found = factors.log_likelihood_gain(csr_array(counts), csr_array(labels), proportions, share)
    np.testing.assert_allclose(found, wanted, atol=1e-9)
    assert found[2] == 0.0
    none = csr_array((3, 6), dtype=np.float32)
    nothing = WordFactors(none, none.data, np.ones(3), np.ones(6))
    gain = nothing.log_likelihood_gain(csr_array(counts), csr_array(labels), proportions, share)
    assert (gain == 0.0).all()


def test_words_of_labels_predict_held_out_documents(model, test_corpus):
    alone = without_words(model)
    before = alone.perplexity(test_corpus, given="labels")
    assert model.perplexity(test_corpus, given="labels") < 0.97 * before
    for asked in ({"method": "exact"}, {"method": "ratio"}, {"given": "completion"}):
        assert model.perplexity(test_corpus, **asked) == alone.perplexity(test_corpus, **asked)


def test_label_words_are_listed(model):
    table = model.label_words()
    assert list(table.columns) == ["label", "word", "ratio", "lower", "upper", "n"]
    assert ((table["lower"] > 1.0) | (table["upper"] < 1.0)).all()
    assert ((table["lower"] <= table["ratio"]) & (table["ratio"] <= table["upper"])).all()
    more = table[table["ratio"] > 1.0]
    for name, words in OWN.items():
        assert set(more.loc[more["label"] == name, "word"]) <= {f"w{i}" for i in words}
    assert {"red", "blue"} <= set(more["label"])
    assert "grey" not in set(table["label"])
    red = model.label_words("red")
    assert set(red["label"]) == {"red"}
    assert red["ratio"].is_monotonic_decreasing
    assert len(model.label_words("tags")) == len(table)
    assert len(model.label_words(level=0.999)) <= len(table)
    assert model.merge_topics([0, 1]).label_words().equals(table)


def test_ratios_are_between_what_is_counted_and_one():
    # The last row is that of all labels.
    observed = csr_array(np.array([[40.0, 0.0, 3.0], [0.0, 90.0, 0.0]], dtype=np.float32))
    expected = np.array([10.0, 2.0, 5.0], dtype=np.float32)
    factors = WordFactors(observed, expected, np.array([4.0, 4.0]), np.ones(3))
    found = factor_ratios(factors, 0.9)
    # A word with fewer than five tokens has no ratio.
    assert found["word"].tolist() == [0, 2]
    assert 1.0 < found["lower"][0] < found["ratio"][0] < 4.0
    assert found["lower"][1] == found["upper"][1] == 1.0
    # Documents that repeat the word say less.
    wider = factor_ratios(replace(factors, spread=np.full(3, 2.0)), 0.9)
    assert wider["upper"][0] - wider["lower"][0] > found["upper"][0] - found["lower"][0]
    still = factor_ratios(replace(factors, spread=np.full(3, 20.0)), 0.9)
    assert still["lower"][0] == 1.0 < still["upper"][0]
