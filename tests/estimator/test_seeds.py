"""Seed words that steer topics, from the constructor to the file."""

import warnings

import pytest

from hdsp import HDSP, Corpus, FitWarning
from tests.cli.commands import PLACES, reviews

SEEDS = {"cloth": ["silk"], "walk": ["sole"]}


@pytest.fixture(scope="module")
def corpus():
    frame = reviews(200)
    return Corpus.from_texts(frame["text"], labels=frame[["department", "rating"]])


@pytest.fixture(scope="module")
def model(corpus):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return HDSP(max_components=20, seeds=SEEDS, random_state=1).fit(corpus)


def test_seeds_name_topics_of_their_words(model):
    names = {name: topic for topic, name in model.topic_names_.items()}
    assert names.keys() == SEEDS.keys()
    for name, words in SEEDS.items():
        company = next(own for own in PLACES.values() if words[0] in own)
        assert set(words) <= set(model.top_words(len(company))[names[name]])
        # Most of the topic's first words are of the place that the seed belongs to.
        first = model.top_words(len(company))[names[name]]
        assert len(set(first) & set(company)) > len(company) / 2


def test_the_search_leaves_room_for_every_seed_and_one_more(corpus):
    seeds = {word: [word] for own in PLACES.values() for word in own}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HDSP(max_components=60, seeds=seeds, random_state=0).fit(corpus)
    assert len(model.components_) > len(seeds)
    assert sorted(model.topic_names_.values()) == sorted(seeds)
    assert model.n_topics_range_ is None or model.n_topics_range_[0] > len(seeds)


def test_unknown_seed_words_warn(corpus):
    model = HDSP(3, max_iter=50, random_state=0)
    with pytest.warns(FitWarning, match="'satin'"):
        model.set_params(seeds={"cloth": ["silk", "satin"]}).fit(corpus)
