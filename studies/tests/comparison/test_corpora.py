"""Corpora are read from files, and split so that test documents decide nothing."""

import numpy as np
import pandas as pd
import pytest

from hdsp_studies.comparison import ORIGINS, CorpusFolder, Reading

N_DOCUMENTS = 200
IS_TEST = np.random.default_rng(0).random(N_DOCUMENTS) < 0.2
N_TRAIN = int((~IS_TEST).sum())
WIDE = 49  # training documents: over 30 % of those, and below 30 % of all


def carriers(n_train, n_test):
    """Which documents have a word or a label: so many of training, so many of test."""
    return {*np.flatnonzero(~IS_TEST)[:n_train], *np.flatnonzero(IS_TEST)[:n_test]}


def by_document(held):
    """The names that each document carries."""
    return [[name for name in held if m in held[name]] for m in range(N_DOCUMENTS)]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Words and labels by how many training and test documents carry them."""
    words = {
        "usual": carriers(30, 10),
        "barely": carriers(10, 0),
        "short": carriers(9, 20),
        "wide": carriers(WIDE, 0),
        "secret": carriers(0, 30),
    }
    labels = {
        "common": carriers(60, 20),
        "barely": carriers(20, 0),
        "short": carriers(19, 20),
        "secret": carriers(0, 30),
    }
    folder = tmp_path_factory.mktemp("corpora")
    texts = [" ".join(names) for names in by_document(words)]
    frame = pd.DataFrame({"text": texts, "labels": by_document(labels)})
    frame.to_parquet(folder / "small.parquet")
    return CorpusFolder(folder)


def test_words_and_labels_are_chosen_by_training_documents(small):
    assert 0.3 * N_TRAIN < WIDE < 0.3 * N_DOCUMENTS
    train, test = small.split("small", Reading())
    assert (len(train), len(test)) == (N_TRAIN, N_DOCUMENTS - N_TRAIN)
    assert train.words == test.words == ("barely", "usual")
    assert train.labels.names == ("barely", "common")
    np.testing.assert_array_equal(train.counts.sum(axis=0), [10, 30])
    np.testing.assert_array_equal(test.counts.sum(axis=0), [0, 10])


def test_of_a_whole_corpus_all_documents_choose(small):
    whole = small.whole("small", Reading())
    assert len(whole) == N_DOCUMENTS
    assert whole.words == ("barely", "secret", "short", "usual", "wide")
    assert whole.labels.names == ("barely", "common", "secret", "short")


def test_a_reading_says_how_strictly(small):
    strict = Reading(largest_share=0.1, least_documents=25)
    train, _ = small.split("small", strict)
    assert train.words == ("barely",)
    assert train.labels.names == ("common",)


def test_a_part_is_the_same_every_time(small):
    reading = Reading(largest_share=1.0, most_documents=120)
    part = small.whole("small", reading)
    assert len(part) == 120
    again = CorpusFolder(small.path).whole("small", reading)
    np.testing.assert_array_equal(part.counts.toarray(), again.counts.toarray())
    all_of_it = small.whole("small", reading._replace(most_documents=10 * N_DOCUMENTS))
    assert len(all_of_it) == N_DOCUMENTS


@pytest.mark.parametrize("name", ORIGINS)
def test_a_missing_corpus_is_named_with_where_to_obtain_it(name, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        CorpusFolder(tmp_path).split(name, Reading())
    expected = f"The folder of the corpora, {str(tmp_path)!r}, has no {name}.parquet."
    assert str(caught.value) == f"{expected} It can be made from {ORIGINS[name]}."


def test_a_corpus_of_unknown_origin_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"has no missing\.parquet\.$"):
        CorpusFolder(tmp_path).whole("missing", Reading())
    with pytest.raises(ValueError, match="--data or HDSP_DATA"):
        CorpusFolder().whole("missing", Reading())
