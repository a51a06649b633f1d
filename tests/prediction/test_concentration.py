"""The concentration that new documents are predicted with."""

from dataclasses import replace

import numpy as np
import pytest

from hdsp import HDSP
from hdsp.datasets import make_corpus


def completion(model, test, concentration):
    """The perplexity of new documents with another concentration."""
    other = replace(model._model, predictive_concentration=concentration)
    before, model._model = model._model, other
    try:
        return model.perplexity(test, given="completion")
    finally:
        model._model = before


@pytest.mark.parametrize("length", [20, 150])
def test_the_choice_is_near_the_best_for_new_documents(length):
    corpus, _ = make_corpus(1_400, n_topics=10, n_words=600, document_length=length, random_state=0)
    train, test = corpus[:1_000], corpus[1_000:]
    model = HDSP(10, fixed_number=True, random_state=0).fit(train)
    chosen = model.predictive_concentration_
    found = {factor: completion(model, test, chosen * factor) for factor in (0.2, 0.5, 1, 2, 5)}
    best = min(found.values())
    assert found[1] < 1.005 * best
    assert max(found[0.2], found[5]) > 1.005 * best


def test_the_choice_is_the_same_on_any_number_of_threads():
    corpus, _ = make_corpus(300, n_topics=5, n_words=200, document_length=30, random_state=0)
    found = [
        HDSP(5, fixed_number=True, random_state=0, n_jobs=n).fit(corpus).predictive_concentration_
        for n in (1, 3)
    ]
    assert found[0] == found[1]


def test_too_few_documents_keep_the_concentration_of_the_fit():
    counts = np.random.default_rng(0).poisson(2.0, size=(4, 9)) + 1.0
    model = HDSP(2, fixed_number=True, random_state=0).fit(counts)
    assert model.predictive_concentration_ == model.document_concentration_
