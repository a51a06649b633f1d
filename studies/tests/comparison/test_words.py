"""Test documents have no say in the words of a split."""

import numpy as np
import pytest

from hdsp.corpus import Corpus, TextSettings
from hdsp_studies.comparison import compare, split_corpus
from hdsp_studies.comparison.isolation import CellResult

UNIGRAM = "studies.tests.comparison.fakes:Unigram"
TEST_SIZE, SEED = 0.3, 4
SETTINGS = [
    TextSettings(),
    TextSettings(min_df=4, max_df=0.5),
    TextSettings(min_df=0.1, max_df=20, max_features=12),
    TextSettings(language=None, ngrams=2, max_df=0.9, max_features=30),
]


def texts(n_documents=60):
    rng = np.random.default_rng(1)
    words = np.array([f"{a}{b}{c}" for a in "bdfg" for b in "aeiou" for c in "klm"])
    shares = 1.0 / np.arange(1, len(words) + 1)
    drawn = rng.choice(words, size=(n_documents, 12), p=shares / shares.sum())
    return [" ".join(row) for row in drawn]


def in_test():
    return np.random.default_rng(SEED).random(60) < TEST_SIZE


def counted(documents, settings):
    return Corpus.from_texts(documents, text_settings=settings.all_words)


@pytest.mark.parametrize("settings", SETTINGS)
def test_words_are_those_of_the_training_texts_alone(settings):
    documents = texts()
    train, test = split_corpus(counted(documents, settings), TEST_SIZE, SEED, settings)
    training = [text for text, is_test in zip(documents, in_test(), strict=True) if not is_test]
    counts, words = settings.count(training)
    assert train.words == test.words == words
    np.testing.assert_array_equal(train.counts.toarray(), counts.toarray())
    others = [text for text, is_test in zip(documents, in_test(), strict=True) if is_test]
    np.testing.assert_array_equal(test.counts.toarray(), settings.count(others, words)[0].toarray())


@pytest.mark.parametrize("settings", SETTINGS)
def test_what_test_documents_say_changes_nothing(settings):
    """A word that only they have, one that they make too frequent, one that they lack."""
    documents = texts()
    train, _ = split_corpus(counted(documents, settings), TEST_SIZE, SEED, settings)
    by_frequency = np.argsort((train.counts > 0).sum(axis=0))
    rare, frequent = train.words[by_frequency[0]], train.words[by_frequency[-1]]
    changed = [
        f"{text.replace(rare, '')} zebra {f'{frequent} ' * 9}" if is_test else text
        for text, is_test in zip(documents, in_test(), strict=True)
    ]
    again, test = split_corpus(counted(changed, settings), TEST_SIZE, SEED, settings)
    assert again.words == test.words == train.words
    assert "zebra" not in test.words
    np.testing.assert_array_equal(again.counts.toarray(), train.counts.toarray())


def test_a_comparison_chooses_by_split_and_says_how(tmp_path, monkeypatch):
    jobs = []

    def run_nothing(job, most_seconds):
        jobs.append(job)
        return CellResult({"completion": 2.0}, None)

    monkeypatch.setattr("hdsp_studies.comparison.run.run_isolated", run_nothing)
    settings = TextSettings(max_features=10, tokenizer=str.split)
    corpus = counted(texts(), settings)
    cells = compare({"a": corpus}, [UNIGRAM], tmp_path, seeds=3, text_settings=settings)
    for job in jobs:
        train, test = split_corpus(corpus, 0.2, job.settings.seed, settings)
        assert job.train.words == job.test.words == train.words
        np.testing.assert_array_equal(job.test.counts.toarray(), test.counts.toarray())
    assert len({job.train.words for job in jobs}) > 1
    recorded = cells[0].determined_by["split"]["text_settings"]
    assert recorded["max_features"] == 10
    with pytest.raises(ValueError, match=r"text_settings.max_features is 10 there and 11 here"):
        compare({"a": corpus}, [UNIGRAM], tmp_path, text_settings=TextSettings(max_features=11))
    with pytest.raises(ValueError, match=r"split.text_settings is .* there and None here"):
        compare({"a": corpus}, [UNIGRAM], tmp_path)


def test_words_that_were_chosen_before_stay():
    corpus = Corpus.from_texts(texts(), text_settings=TextSettings(max_features=5))
    train, _ = split_corpus(corpus, TEST_SIZE, SEED)
    assert train.words == corpus.words
