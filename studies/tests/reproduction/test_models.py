"""The paper's models, by its names for them."""

import numpy as np
import pytest

from hdsp import HDSP, Labels, simulate
from hdsp_studies.comparison import CorpusFolder, Reading, perplexities
from hdsp_studies.peers import FitSettings, normalised
from hdsp_studies.reproduction import models
from hdsp_studies.reproduction.models import (
    DEFAULT,
    OTHERS,
    TOLERANCES,
    fit_settings,
    fit_unit,
    fits_of,
    reading_of,
)

QUICK = {"topics": 6, "topic_prior": 0.3, "seed": 1, "quick": True, "sweeps": 20}


def fit(name, train, settings=QUICK, **unit):
    """The fitted model of that name."""
    return fit_unit({"model": name, "fit": "published", **unit}, train, settings).fitted


@pytest.fixture(scope="module")
def split(corpora):
    """Training and test documents."""
    return CorpusFolder(corpora).split("rcv1_subset", Reading())


@pytest.mark.parametrize("name", ["HDSP", "wHDSP", "HDP"])
def test_perplexities_are_those_of_the_estimator(name, split):
    train, test = split
    fitted = fit(name, train)
    found = perplexities(fitted, test)
    assert list(found) == ["perplexity", "calibrated", "exact"]
    for method, value in zip(("ratio", "regression", "exact"), found.values(), strict=True):
        expected = fitted.model.perplexity(test.counts, test.labels, method=method)
        # The two differ by single precision in topics.
        np.testing.assert_allclose(value, expected, rtol=1e-5)
    if name != "HDP":
        # Where labels tell something, the three ways differ.
        assert len({round(value, 3) for value in found.values()}) == 3


@pytest.mark.parametrize("name", ["L-LDA", "PLDA-2", "ATM-50"])
def test_perplexities_of_peers_are_those_of_their_proportions(name, split):
    train, test = split
    fitted = fit(name, train)
    proportions = {"perplexity": fitted.given_labels(test.labels)}
    if name != "ATM-50":
        prior = normalised(fitted.prior(test.labels))
        proportions = {"perplexity": prior, "calibrated": proportions["perplexity"]}
    found = perplexities(fitted, test)
    assert list(found) == list(proportions)
    words = test.counts.toarray()
    for measure, shares in proportions.items():
        expected = np.exp(-(words * np.log(shares @ fitted.topics)).sum() / words.sum())
        np.testing.assert_allclose(found[measure], expected, rtol=1e-5)


def test_an_author_topic_model_has_its_number_of_topics_in_its_name(split):
    train, _ = split
    assert [name for name in OTHERS if name.startswith("ATM-")] == ["ATM-50", "ATM-100", "ATM-150"]
    assert len(fit("ATM-50", train).topics) == 50


def test_a_fit_says_how_it_went(split):
    train, _ = split
    settings = {**QUICK, "quick": False, "topics": 3}
    for fit_name, tol in TOLERANCES.items():
        unit = {"model": "HDSP", "fit": fit_name}
        fitted, facts = fit_unit(unit, train, settings)
        assert fitted.model.get_params()["tol"] == tol
        assert facts == {"passes": fitted.model.n_iter_, "converged": 1}
    _, facts = fit_unit({"model": "L-LDA", "fit": ""}, train, QUICK)
    assert facts == {"passes": 20, "converged": ""}
    # The library's default has its own prior, whatever the study's.
    model = fit(DEFAULT, train, fit="").model
    assert model.get_params()["topic_prior"] == HDSP().topic_prior
    assert fits_of(["HDSP", DEFAULT], {"fits": ["published", "converged"]}) == [
        {"model": "HDSP", "fit": "published"},
        {"model": "HDSP", "fit": "converged"},
        {"model": DEFAULT, "fit": ""},
    ]


def test_an_unknown_model_is_named(split):
    with pytest.raises(ValueError, match=r"no model 'LSA'.*HDSP, wHDSP, HDP"):
        fit("LSA", split[0])


def test_a_kept_start_is_that_of_the_estimator(monkeypatch):
    monkeypatch.setattr(models, "_STARTS", {})
    corpus, _ = simulate(
        Labels.from_tags([["a"], ["b"]] * 30), n_topics=3, n_words=20, random_state=0
    )
    settings = {**QUICK, "topics": 4, "quick": False, "seed": 3, "topic_prior": 0.1}
    first, second = (fit("HDSP", corpus, settings).model.components_ for _ in range(2))
    assert len(models._STARTS) == 1
    plain = HDSP.as_published("HDSP").set_params(n_components=4, n_jobs=1, random_state=3)
    plain.fit(corpus.counts, labels=corpus.labels)
    # A start that is given as an array is normalised, which rounds.
    np.testing.assert_allclose(first, plain.components_, rtol=1e-4)
    np.testing.assert_array_equal(first, second)


def test_a_start_is_of_its_words_number_prior_and_seed(monkeypatch):
    """Of nothing else, and the last alone is kept."""
    kept = {}
    monkeypatch.setattr(models, "_STARTS", kept)
    corpus, _ = simulate(n_documents=30, n_topics=3, n_words=20, random_state=0)
    first = models._start(corpus.counts, 4, 0.1, 0)
    assert models._start(corpus.counts.copy(), 4, 0.1, 0) is first
    others = [(corpus.counts[:20], 4, 0.1, 0), (corpus.counts, 5, 0.1, 0)]
    others += [(corpus.counts, 4, 0.2, 0), (corpus.counts, 4, 0.1, 1)]
    for key in others:
        found = models._start(*key)
        assert found.shape != first.shape or (found != first).any()
        assert len(kept) == 1


def test_a_unit_is_fitted_by_its_own_values_then_by_those_of_the_study():
    settings = {"topics": 20, "topic_prior": 0.1, "seed": 0, "quick": True, "sweeps": 30}
    unit = {"corpus": "rcv1_subset", "seed": 7, "topic_prior": 0.5}
    assert fit_settings(settings, unit) == FitSettings(
        n_topics=20, seed=7, quick=True, topic_prior=0.5, sweeps=30
    )


def test_categories_and_numbers_are_labels_too(corpora):
    reading = Reading(tags=(), categories=("category",), numeric=("rating",))
    train, test = CorpusFolder(corpora).split("clothing_reviews", reading)
    for part in (train, test):
        assert [(block.name, block.kind) for block in part.labels.blocks] == [
            ("category", "category"),
            ("rating", "number"),
        ]
    assert set(np.unique(train.labels.block("rating").values.data)) == {1, 2, 3, 4, 5}


def test_a_study_reads_in_its_own_way_then_in_that_of_the_corpus():
    nips = "nips_fulltext_1987_1999"
    assert reading_of("rcv1_subset", {}) == Reading()
    assert reading_of(nips, {}).text == "bow"
    settings = {
        "most_documents": 800,
        "reading": {nips: {"most_documents": 150, "tags": ["authors"], "least_documents": 3}},
    }
    assert reading_of("rcv1_subset", settings) == Reading(most_documents=800)
    assert reading_of(nips, settings) == Reading(
        text="bow", tags=("authors",), largest_share=0.9, least_documents=3, most_documents=150
    )
