"""The search for the number of topics: on curves that are known, and on draws of other models."""

import numpy as np
import pytest

from hdsp import HDSP, Corpus
from hdsp.datasets import make_corpus
from hdsp.fit.search import ELASTICITY, best_number, number_range, settles, worthwhile_number
from hdsp.metrics import match_topics

NUMBERS = (9, 14, 21, 32, 48, 72, 108, 162)


def power_law(elasticity, numbers=NUMBERS):
    """A gain whose elasticity is the same everywhere."""
    return {n: n**elasticity for n in numbers}


def saturating(scale, numbers=NUMBERS):
    """A gain that saturates about `scale` topics: its elasticity is known in closed form."""
    return {n: 1.0 - np.exp(-n / scale) for n in numbers}


@pytest.mark.parametrize("peak", [14, 30, 47, 100])
def test_the_best_number_is_where_a_parabola_peaks(peak):
    gain = {n: 1.0 - np.log(n / peak) ** 2 for n in NUMBERS}
    assert best_number(gain) == pytest.approx(peak, rel=1e-6)


def test_a_gain_that_only_rises_has_its_best_at_the_end():
    assert best_number(power_law(0.3)) == 162
    assert best_number({2: 0.0}) == 2


@pytest.mark.parametrize("scale", [8.0, 15.0, 40.0])
def test_the_worthwhile_number_is_where_the_elasticity_has_fallen(scale):
    found = worthwhile_number(saturating(scale))
    numbers = np.linspace(2, 300, 20_000)
    x = numbers / scale
    elasticity = x * np.exp(-x) / (1.0 - np.exp(-x))
    exact = numbers[np.argmax(elasticity < ELASTICITY)]
    # Between numbers that are a factor of 1.5 apart.
    assert abs(np.log(found / exact)) < 0.15


def test_a_sharp_edge_is_found_whatever_the_elasticity():
    gain = {n: min(n, 30) ** 1.0 for n in NUMBERS}
    assert 21 <= worthwhile_number(gain) <= 32


def test_topics_that_say_nothing_are_few():
    assert worthwhile_number({2: -0.1, 4: -0.2, 8: -0.3}) == 2


def test_a_climb_ends_once_two_steps_gain_little():
    assert not settles(power_law(0.3))
    assert settles(power_law(0.1))
    assert not settles({32: 1.0, 48: 1.01})


def test_the_range_holds_the_number_and_narrows_with_documents():
    rng = np.random.default_rng(0)
    widths = []
    for n_documents in (50, 5_000):
        tokens = np.full(n_documents, 20.0)
        unigram = np.full(n_documents, -140.0)
        gain = saturating(15.0)
        likelihood = {
            n: unigram + tokens * gain[n] + rng.normal(0.0, 3.0, size=n_documents) for n in gain
        }
        low, high = number_range(likelihood, tokens, unigram, "evidence")
        assert low <= round(worthwhile_number(gain)) <= high
        widths.append(np.log(high / low))
    assert widths[1] < 0.4 * widths[0]


@pytest.fixture(scope="module")
def overlapping():
    """Twenty topics that share words, of Zipf-like weights."""
    return make_corpus(
        n_documents=1_500,
        n_topics=20,
        n_words=1_000,
        document_length=80,
        overlap=0.2,
        random_state=1,
    )


@pytest.mark.parametrize("number_by", ["evidence", "prediction"])
def test_overlapping_topics_are_found(overlapping, number_by):
    corpus, truth = overlapping
    model = HDSP(60, number_by=number_by, random_state=0).fit(corpus)
    assert 14 <= model.n_topics_ <= 26
    apart = match_topics(truth.word_share, model.components_)[1]
    assert (apart <= 0.3).sum() >= 12
    low, high = model.n_topics_range_
    assert low <= len(model.components_) <= high
    assert model.search_[0]["topics"] == 32
    best = min(model.search_, key=lambda row: row["perplexity"])
    assert 10 < best["topics"] < 60


def test_noise_without_topics_has_few():
    rng = np.random.default_rng(0)
    frequency = rng.dirichlet(np.ones(300))
    counts = rng.multinomial(60, frequency, size=400).astype(float)
    assert HDSP(60, random_state=0).fit(Corpus(counts)).n_topics_ <= 4


@pytest.mark.parametrize("n_documents", [1, 2, 5, 9])
def test_a_handful_of_documents_is_enough(n_documents):
    counts = np.random.default_rng(0).poisson(1.0, size=(n_documents, 12)) + 1.0
    model = HDSP(random_state=0).fit(counts)
    assert 1 <= len(model.components_) <= max(n_documents, 2)
