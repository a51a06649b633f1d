"""The paper's models, by its names for them."""

import numpy as np
import pytest

from hdsp import HDSP, Categorical, Labels, simulate
from hdsp_studies.comparison import CorpusFolder, Reading, perplexities
from hdsp_studies.peers import FitSettings, normalised
from hdsp_studies.reproduction import models
from hdsp_studies.reproduction.models import MODELS, fit_model, fit_settings, reading_of

QUICK = FitSettings(n_topics=6, seed=1, quick=True, topic_prior=0.3)


@pytest.fixture(scope="module")
def split(corpora):
    """Training and test documents."""
    return CorpusFolder(corpora).split("rcv1_subset", Reading())


@pytest.mark.parametrize("name", ["HDSP", "wHDSP", "HDP"])
def test_perplexities_are_those_of_the_estimator(name, split):
    train, test = split
    fitted = fit_model(name, train, QUICK)
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
    fitted = fit_model(name, train, QUICK)
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
    assert [name for name in MODELS if name.startswith("ATM-")] == ["ATM-50", "ATM-100", "ATM-150"]
    assert len(fit_model("ATM-50", train, QUICK).topics) == 50


def test_label_scales_are_what_labels_multiply_topics_by(split):
    train, _ = split
    model = fit_model("HDSP", train, QUICK).model
    expected = normalised(model.topic_weight_ * model.label_scale_.T)
    found = model.expected_topics(
        Labels.from_tags([[name] for name in model.label_names_], "labels"), method="ratio"
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_an_unknown_model_is_named(split):
    with pytest.raises(ValueError, match=r"no model 'LSA'.*HDSP, wHDSP, HDP"):
        fit_model("LSA", split[0], QUICK)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_kept_start_is_that_of_the_estimator(monkeypatch):
    monkeypatch.setattr(models, "_STARTS", {})
    corpus, _ = simulate(
        Labels.from_tags([["a"], ["b"]] * 30), n_topics=3, n_words=20, random_state=0
    )
    settings = FitSettings(n_topics=4, seed=3, topic_prior=0.1)
    first, second = (fit_model("HDSP", corpus, settings).model.components_ for _ in range(2))
    assert len(models._STARTS) == 1
    plain = HDSP(
        4,
        scaling=Categorical(),
        topic_prior=0.1,
        init="lda",
        max_iter=100,
        tol=models._TOL,
        n_jobs=1,
        random_state=3,
    ).fit(corpus.counts, labels=corpus.labels)
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
    settings = {"topics": 20, "topic_prior": 0.1, "seed": 0, "quick": True}
    unit = {"corpus": "rcv1_subset", "seed": 7, "topic_prior": 0.5}
    assert fit_settings(settings, unit) == FitSettings(
        n_topics=20, seed=7, quick=True, topic_prior=0.5
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
