"""The perplexity of new documents: the concentration, and limits."""

from dataclasses import replace

import numpy as np
import pytest

from hdsp import HDSP
from hdsp.analysis.documents import bootstrap_interval
from hdsp_studies.synthetic import make_corpus


def completion(model, test, concentration):
    """The perplexity of new documents with another concentration."""
    other = replace(model._model, fixed_concentration=concentration)
    before, model._fitted = model._model, other
    try:
        return model.perplexity(test, given="completion")
    finally:
        model._fitted = before


@pytest.mark.parametrize("length", [20, 150])
def test_the_choice_is_near_the_best_for_new_documents(length):
    corpus, _ = make_corpus(1_400, n_topics=10, n_words=600, document_length=length, random_state=0)
    train, test = corpus[:1_000], corpus[1_000:]
    model = HDSP(10, random_state=0).fit(train)
    chosen = model.predictive_concentration_
    found = {factor: completion(model, test, chosen * factor) for factor in (0.2, 0.5, 1, 2, 5)}
    best = min(found.values())
    assert found[1] < 1.005 * best
    assert max(found[0.2], found[5]) > 1.005 * best


def test_too_few_documents_keep_the_concentration_of_the_fit():
    counts = np.random.default_rng(0).poisson(2.0, size=(4, 9)) + 1.0
    model = HDSP(2, random_state=0).fit(counts)
    assert model.predictive_concentration_ == model.document_concentration_


def test_limits_of_the_perplexity_are_those_of_a_mean():
    rng = np.random.default_rng(0)
    log_likelihood = rng.normal(-50.0, 4.0, size=400)
    lower, upper = np.log(bootstrap_interval(log_likelihood, np.full(400, 10.0), 0.9))
    # The mean log probability of a token has the standard error s / (10 sqrt 400); 1,000 draws.
    half_width = 1.645 * log_likelihood.std() / 10 / 20
    mean = -log_likelihood.sum() / 4000
    assert (lower + upper) / 2 == pytest.approx(mean, abs=0.1 * half_width)
    assert (upper - lower) / 2 == pytest.approx(half_width, rel=0.1)
