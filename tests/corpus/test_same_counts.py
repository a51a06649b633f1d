"""The same texts give the same words and counts, whichever way they come in."""

import numpy as np
import pandas as pd
import pytest

from hdsp import HDSP, Corpus, TextSettings, read_counts, read_folder, read_table
from hdsp.cli import main
from tests.corpus.corpora import TABLES, check_same, write

# Twelve subjects, of which the default settings keep some words and drop others: stop words, short
# words, digits, words in more than half of the documents. Both forms of an accent, other
# alphabets, and characters that the file formats quote.
SUBJECTS = [
    "The naïve café, didn't open",
    "A nai\u0308ve cafe\u0301 re-opened",
    "Größe ÄNDERN, größe",
    "собака и Кошка",
    'she said "quoted, twice"',
    "tab\tand; semicolon, word_with_underscores",
    "two\nlines here",
    "R2D2 and C3PO in 1977",
    "the of and",
    "",
    "COMMON Istanbul İstanbul",
    "it's Anna's dog's bone",
]


def make_texts(n_documents):
    rng = np.random.default_rng(0)
    rare = [f"rare{chr(97 + i)}{chr(97 + j)}" for i in range(12) for j in range(5)]
    return [
        " ".join([SUBJECTS[m % 12], "common" * (m % 5 > 0), *rng.choice(rare, size=3)]).strip()
        for m in range(n_documents)
    ]


TEXTS = make_texts(240)
FRAME = pd.DataFrame({"text": TEXTS})


def table(suffix):
    def read(folder):
        write(folder / f"texts{suffix}", {"text": TEXTS})
        return read_table(folder / f"texts{suffix}")

    return read


def files(folder):
    for number, text in enumerate(TEXTS):
        (folder / f"{number:03}.txt").write_bytes(text.encode())
    return read_folder(folder)


def mallet(folder):
    lines = [f"d{m} label {' '.join(text.split())}\n" for m, text in enumerate(TEXTS)]
    (folder / "texts.mallet").write_text("".join(lines), encoding="utf-8")
    return read_counts(folder / "texts.mallet")


def generator(folder):
    return Corpus.from_texts(text for text in TEXTS)


def settings(folder):
    counts, words = TextSettings().count(TEXTS)
    return Corpus(counts, words, text_settings=TextSettings())


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_texts(TEXTS)


def test_the_default_rules_bite(corpus):
    assert {"naïve", "café", "größe", "собака", "quoted", "underscores"} <= set(corpus.words)
    assert not {"the", "didn", "common", "na", "dog's"} & set(corpus.words)
    assert any(word.startswith("rare") for word in corpus.words)
    assert len(corpus.words) < len(TextSettings().all_words.count(TEXTS)[1])


@pytest.mark.parametrize("read", [*map(table, TABLES), files, mallet, generator, settings])
def test_every_way_in_counts_alike(read, corpus, tmp_path):
    found = read(tmp_path)
    # Labels and ids differ by format.
    check_same(Corpus(found.counts, found.words, text_settings=found.text_settings), corpus)


@pytest.mark.filterwarnings("ignore:HDSP stopped after")
def test_the_command_counts_alike(corpus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("texts.csv", index=False)
    FRAME[:30].to_csv("new.csv", index=False)
    small = ["--n-components", "3", "--max-iter", "2"]
    assert main(["fit", "texts.csv", *small, "-o", "model.hdsp"]) == 0
    loaded = HDSP.load("model.hdsp")
    assert loaded.words_ == corpus.words
    assert loaded.text_settings_ == TextSettings()
    model = HDSP(3, max_iter=2, random_state=0).fit(corpus)
    np.testing.assert_array_equal(loaded.components_, model.components_)

    assert main(["transform", "model.hdsp", "new.csv", "-o", "shares.parquet"]) == 0
    new = Corpus.from_texts(TEXTS[:30], like=loaded)
    np.testing.assert_array_equal(new.counts.toarray(), corpus[:30].counts.toarray())
    shares = pd.read_parquet("shares.parquet").to_numpy()
    np.testing.assert_array_equal(shares, model.transform(new))
