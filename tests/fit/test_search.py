"""The search for the number of topics: on curves that are known, and on draws of other models."""

import numpy as np
import pytest

from hdsp import HDSP, Corpus
from hdsp.fit.run import Run, Trial
from hdsp.fit.search import ELASTICITY, Scores, Search, elbow_number, has_flattened
from hdsp.metrics import match_topics
from hdsp_studies.synthetic import make_corpus
from tests.problems import problem_of

NUMBERS = (9, 14, 21, 32, 48, 72, 108, 162)


def power_law(elasticity, numbers=NUMBERS):
    """A gain whose elasticity is the same everywhere."""
    return {n: n**elasticity for n in numbers}


def saturating(scale, numbers=NUMBERS):
    """A gain that saturates about `scale` topics: its elasticity is known in closed form."""
    return {n: 1.0 - np.exp(-n / scale) for n in numbers}


def scores(gain, n_documents=400, noise=0.05, seed=0):
    """Held-out documents of twenty tokens whose mean gains are these."""
    rng = np.random.default_rng(seed)
    tokens, unigram = np.full(n_documents, 20.0), np.full(n_documents, -140.0)
    apart = {n: rng.normal(0.0, noise, size=n_documents) for n in gain}
    likelihood = {n: unigram + tokens * (gain[n] + apart[n] - apart[n].mean()) for n in gain}
    return Scores(likelihood, tokens, unigram)


def test_at_a_peak_the_smallest_number_about_as_good_as_the_best_is_chosen():
    gain = {14: 0.7, 21: 0.9, 32: 1.0, 48: 1.001, 72: 0.95}
    few = scores(gain)
    assert few.best == 48
    assert few.has_peak
    assert few.choice == 32
    # With many more documents the small difference is clear.
    assert scores(gain, n_documents=40_000).choice == 48
    low, high = few.good_range()
    assert 21 < low < 32 < 48 < high < 72


def test_another_start_is_taken_if_documents_tell_that_it_is_better():
    rng = np.random.default_rng(0)
    corpus, _ = make_corpus(400, n_topics=3, n_words=60, random_state=0)
    problem = problem_of(corpus)
    likelihood = rng.normal(-60.0, 10.0, size=100)

    def better(gain):
        run = Run()
        for init, found in (("nmf", likelihood), ("words", likelihood + gain)):
            perplexity = float(np.exp(-found.sum() / 2_000.0))
            run.trials.append(Trial(3, init, 1.0, perplexity, 0.0, 0.0, 0.0, found))
        search = Search(problem, 3, lambda *_: pytest.fail("tried already"), run, rng)
        return search.better_start(("nmf", "words"), 3)

    noise = rng.normal(size=100)
    noise -= noise.mean()
    assert better(0.1 + noise) == "nmf"
    assert better(0.4 + noise) == "words"
    assert better(-0.4 + noise) == "nmf"


def test_the_elbow_is_chosen_if_the_gain_keeps_rising():
    assert not scores(power_law(0.3)).has_peak
    gain = saturating(60.0)
    assert scores(gain).choice == pytest.approx(elbow_number(gain))


def test_a_fall_counts_if_it_is_clear_or_comes_twice():
    clear = scores({32: 1.0, 48: 0.9}, noise=0.05)
    slight = scores({32: 1.0, 48: 0.999}, noise=0.5)
    assert clear.declines_towards(48)
    assert not slight.declines_towards(48)
    assert not clear.declines_towards(32)
    assert scores({32: 1.0, 48: 0.999, 72: 0.998}, noise=0.5).declines_towards(72)


@pytest.mark.parametrize("scale", [8.0, 15.0, 40.0])
def test_the_elbow_is_where_the_elasticity_has_fallen(scale):
    found = elbow_number(saturating(scale))
    numbers = np.linspace(2, 300, 20_000)
    x = numbers / scale
    elasticity = x * np.exp(-x) / (1.0 - np.exp(-x))
    exact = numbers[np.argmax(elasticity < ELASTICITY)]
    # Between numbers that are a factor of 1.5 apart.
    assert abs(np.log(found / exact)) < 0.15


def test_a_sharp_edge_is_found_whatever_the_elasticity():
    gain = {n: min(n, 30) ** 1.0 for n in NUMBERS}
    assert 21 <= elbow_number(gain) <= 32


def test_topics_that_say_nothing_are_few():
    assert elbow_number({2: -0.1, 4: -0.2, 8: -0.3}) == 2


def test_a_climb_ends_once_two_steps_gain_little():
    assert not has_flattened(power_law(0.3))
    assert has_flattened(power_law(0.1))
    assert not has_flattened({32: 1.0, 48: 1.01})


def test_the_range_holds_the_number_and_narrows_with_documents():
    gain = saturating(60.0, NUMBERS[3:])
    widths = []
    for n_documents in (50, 20_000):
        low, high = scores(gain, n_documents, noise=0.3).good_range()
        assert low <= round(elbow_number(gain)) <= high
        widths.append(np.log(high / low))
    assert widths[1] < 0.5 * widths[0]


def test_the_range_widens_where_numbers_scatter_about_a_curve():
    gain = saturating(60.0, NUMBERS[2:])
    rough = {n: value + 0.01 * (-1) ** i for i, (n, value) in enumerate(gain.items())}
    widths = []
    for one in (gain, rough):
        low, high = scores(one, 20_000).good_range()
        widths.append(np.log(high / low))
    assert widths[1] > 1.3 * widths[0]


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


def test_overlapping_topics_are_found(overlapping):
    corpus, truth = overlapping
    model = HDSP(max_components=60, random_state=0).fit(corpus)
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
    assert HDSP(max_components=60, random_state=0).fit(Corpus(counts)).n_topics_ <= 4


@pytest.mark.parametrize("shape", [(1, 12), (2, 12), (5, 4), (9, 12), (40, 1)], ids=repr)
@pytest.mark.filterwarnings("ignore:HDSP stopped after max_iter")
def test_the_smallest_corpora_are_searched_too(shape):
    counts = np.random.default_rng(0).poisson(1.0, size=shape) + 1.0
    model = HDSP(random_state=0).fit(counts)
    assert 1 <= len(model.components_) <= max(shape[0], 2)
    assert np.isfinite(model.components_).all()
    np.testing.assert_allclose(model.transform(counts).sum(axis=1), 1.0)
