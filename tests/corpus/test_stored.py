"""What is written comes back, whole and in parts."""

import json
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import hdsp
from hdsp.corpus import Corpus, LabelSchema, StoredCorpus, preparing, shards
from hdsp.corpus import stored as module
from hdsp.corpus.corpus import PART_SIZE
from hdsp.corpus.stored import VERSION, concatenate
from hdsp.exceptions import ReadError
from hdsp.numerics import BLOCK_DOCUMENTS
from tests.corpus.corpora import check_same, check_same_schema, corpora, example
from tests.persistence.forging import put, rewrite_manifest


@pytest.fixture
def folder(tmp_path):
    """A corpus of fifty documents in five shards, in a folder of its own."""
    example(50).write(tmp_path / "corpus", 10)
    return tmp_path / "corpus"


def check_untouched(folder):
    check_same(hdsp.open_corpus(folder)[:], example(50))
    assert os.listdir(folder.parent) == ["corpus"]


@pytest.fixture
def small_parts(monkeypatch):
    """Selections in parts of four documents, so that a few documents make several."""
    monkeypatch.setattr(module, "PART_SIZE", 4)


def test_a_part_is_a_block_of_a_fit():
    assert PART_SIZE == BLOCK_DOCUMENTS


@given(corpora(), st.integers(1, 50))
def test_a_written_corpus_is_the_same(tmp_path_factory, corpus, shard_size):
    folder = tmp_path_factory.mktemp("round") / "corpus"
    corpus.write(folder, shard_size)
    stored = hdsp.open_corpus(folder)
    assert isinstance(stored, Corpus)
    check_same(stored[:], corpus)
    check_same_schema(stored.schema, LabelSchema.of(corpus.labels))
    assert stored.shape == corpus.shape
    assert stored.n_tokens == pytest.approx(corpus.n_tokens, rel=1e-12)
    assert stored.schema.names == corpus.labels.names
    assert repr(stored) == "Stored" + repr(corpus)
    parts = list(stored.parts())
    assert [len(part) for part in parts] == [shard.n_documents for shard in stored.shards]
    assert all(len(part) == shard_size for part in parts[:-1])
    check_same(concatenate(parts), corpus)


@given(corpora(), st.data())
def test_an_index_selects_as_in_memory(tmp_path_factory, corpus, data):
    folder = tmp_path_factory.mktemp("index") / "corpus"
    corpus.write(folder, data.draw(st.integers(1, 9)))
    stored = hdsp.open_corpus(folder)
    n = len(corpus)
    keys = [slice(None, None, -1), slice(1, 7), np.arange(n) % 3 == 0]
    if n:
        keys += [n - 1, data.draw(st.lists(st.integers(-n, n - 1)))]
    for key in keys:
        check_same(stored[key], corpus[key])


@given(st.integers(0, 99), st.integers(2, 60), st.integers(1, 9))
def test_a_split_is_that_in_memory(tmp_path_factory, seed, n_documents, shard_size):
    corpus = example(n_documents)
    folder = tmp_path_factory.mktemp("split") / "corpus"
    corpus.write(folder, shard_size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PART_SIZE", 4)
        try:
            expected = corpus.split(0.3, random_state=seed)
        except ValueError:
            with pytest.raises(ValueError, match="must leave documents on both sides"):
                hdsp.open_corpus(folder).split(0.3, random_state=seed)
            return
        for got, side in zip(
            hdsp.open_corpus(folder).split(0.3, random_state=seed), expected, strict=True
        ):
            assert isinstance(got, StoredCorpus)
            assert len(got) == len(side)
            assert got.n_tokens == side.n_tokens
            check_same_schema(got.schema, LabelSchema.of(side.labels))
            check_same(got[:], side)
            check_same(got[[-1, 0]], side[[-1, 0]])
            # Parts are filled up over the bounds of shards, as the blocks of a fit are.
            assert [len(part) for part in got.parts()][:-1] == [4] * ((len(side) - 1) // 4)
            check_same(pickle.loads(pickle.dumps(got))[:], side)


def test_a_split_of_a_split_is_that_in_memory(tmp_path, small_parts):
    corpus = example(60)
    corpus.write(tmp_path / "corpus", 7)
    side, _ = hdsp.open_corpus(tmp_path / "corpus").split(0.3, random_state=0)
    expected, _ = corpus.split(0.3, random_state=0)
    for got, half in zip(side.split(0.5, 1), expected.split(0.5, 1), strict=True):
        check_same(got[:], half)
        got.write(tmp_path / "half", 5)
        check_same(hdsp.open_corpus(tmp_path / "half")[:], half)


def test_a_corpus_in_memory_has_parts_too(monkeypatch):
    from hdsp.corpus import corpus as module

    monkeypatch.setattr(module, "PART_SIZE", 8)
    corpus = example(20)
    parts = list(corpus.parts())
    assert [len(part) for part in parts] == [8, 8, 4]
    check_same(concatenate(parts), corpus)
    assert [len(part) for part in corpus[:0].parts()] == [0]
    assert corpus.schema == LabelSchema.of(corpus.labels)


def test_only_the_shards_that_are_needed_are_read(folder):
    corpus, stored = example(50), hdsp.open_corpus(folder)
    for number in (0, 2, 3):
        stored.shards[number].path.unlink()
    check_same(stored[[15, 47, 12]], corpus[[15, 47, 12]])
    assert (stored.n_words, stored.n_tokens, len(stored)) == (5, corpus.n_tokens, 50)
    with pytest.raises(ReadError, match=r"shard-000002\.parquet: .* cannot be read \(No such file"):
        stored[[15, 25]]


def test_other_tools_read_the_shards(tmp_path):
    corpus = example(12).with_groups(["a", None, "b"] * 4)
    corpus.write(tmp_path / "corpus", 5)
    frame = pandas.concat(map(pandas.read_parquet, sorted((tmp_path / "corpus").glob("*.parquet"))))
    words = json.loads((tmp_path / "corpus" / "manifest.json").read_text())["words"]
    assert list(frame) == ["words", "counts", "id", "group", "tags", "kind", "year"]
    assert frame["id"].tolist() == list(corpus.ids)
    assert frame["group"].tolist() == list(corpus.groups)
    for row, document in zip(frame.itertuples(), corpus.counts, strict=True):
        counts = dict(zip(document.indices.tolist(), document.data.tolist(), strict=True))
        assert dict(zip(row.words.tolist(), row.counts.tolist(), strict=True)) == counts
        assert max(counts) < len(words)
    tags, kinds, years = corpus.labels.blocks
    assert [len(row) for row in frame["tags"]] == np.diff(tags.values.indptr).tolist()
    assert [kind for kind in frame["kind"] if isinstance(kind, str)] == [
        kinds.columns[j] for j in kinds.values.indices
    ]
    assert frame["year"].dropna().tolist() == years.values.data.tolist()


def test_a_pickle_holds_the_path_and_opens_elsewhere(tmp_path):
    corpus = example(5000)
    corpus.write(tmp_path / "corpus", 500)
    stored = hdsp.open_corpus(tmp_path / "corpus")
    data = pickle.dumps((stored, stored.shards[3], stored.split(0.5, 0)[1].shards[0]))
    # A selection is pickled by the positions of its documents.
    assert len(data) < 25_000
    code = (
        "import pickle, sys; whole, shard, half = pickle.load(sys.stdin.buffer); "
        "print(len(whole), shard.read().counts.sum(), half.read().counts.sum())"
    )
    run = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True)
    half = corpus.split(0.5, 0)[1]
    assert run.stdout.split() == [
        str(value).encode() for value in (5000, corpus[1500:2000].counts.sum(), half.counts.sum())
    ]


def test_a_pickle_of_another_corpus_is_refused(folder):
    stored = hdsp.open_corpus(folder)
    shard, data = stored.shards[0], pickle.dumps(stored)
    example(30).write(folder)
    message = "another corpus was written here since it was opened; open it again"
    for read in (lambda: pickle.loads(data), shard.read, lambda: stored.counts):
        with pytest.raises(ReadError, match=message):
            read()


def test_the_fingerprint_is_that_of_the_documents(tmp_path):
    corpus = example(20)
    prints = []
    for name, one in {"a": corpus, "b": corpus, "c": corpus[::-1]}.items():
        one.write(tmp_path / name)
        stored = hdsp.open_corpus(tmp_path / name)
        train, test = stored.split(0.5, 0)
        prints += [stored.fingerprint, train.fingerprint, test.fingerprint]
    assert prints[:3] == prints[3:6]
    assert len(set(prints)) == 6


def test_a_model_of_a_stored_corpus_is_that_in_memory(tmp_path):
    """Without labels to bits; their weights are updated by sums over shards."""
    corpus = example(60)
    corpus = hdsp.Corpus(corpus.counts, words=corpus.words)
    corpus.write(tmp_path / "corpus")
    settings = {"max_iter": 3, "random_state": 0}
    with pytest.warns(ConvergenceWarning):
        models = [
            hdsp.HDSP(3, **settings).fit(documents)
            for documents in (corpus, hdsp.open_corpus(tmp_path / "corpus"))
        ]
    np.testing.assert_array_equal(models[0].components_, models[1].components_)


def test_what_is_no_corpus_says_what_to_do(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere: there is no such folder; check the path"):
        hdsp.open_corpus(tmp_path / "nowhere")
    with pytest.raises(ReadError, match=r"no stored corpus: .*write one with Corpus\.write"):
        hdsp.open_corpus(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "3", "{", "null", "[" * 100_000, '{"format": NaN}'])
def test_what_is_no_manifest_is_refused(folder, text):
    (folder / "manifest.json").write_text(text)
    with pytest.raises(ReadError, match=r"this file of the corpus is damaged: .*; copy it again"):
        hdsp.open_corpus(folder)


@pytest.mark.parametrize("version", ["1.0", "9.1", "one\n", None, 2])
def test_a_corpus_of_another_version_says_so(folder, version):
    rewrite_manifest(folder, put("version", version))
    message = f"format version {version!r}, and this hdsp reads {VERSION}; use the hdsp that wrote"
    with pytest.raises(ReadError, match=re.escape(message)):
        hdsp.open_corpus(folder)


def test_only_a_corpus_is_replaced(tmp_path, folder):
    corpus = example(20)
    mine, orphan, file = tmp_path / "mine", tmp_path / "orphan", tmp_path / "file"
    mine.mkdir()
    orphan.mkdir()
    file.write_text("text")
    (mine / "thesis.tex").write_text("years of work")
    (orphan / "shard-000000.parquet").write_bytes(b"x")
    (folder / "notes.txt").write_text("do not lose")
    for place, what in {
        mine: "a folder with 'thesis.tex' in it",
        folder: "a folder with 'notes.txt' in it",
        file: "a file",
        orphan: "a folder with 'shard-000000.parquet' in it",
    }.items():
        with pytest.raises(FileExistsError, match=re.escape(f"{str(place)!r} is {what}: choose")):
            corpus.write(place)
    assert (mine / "thesis.tex").read_text() == "years of work"
    check_same(hdsp.open_corpus(folder)[:], example(50))
    (tmp_path / "empty").mkdir()
    corpus.write(tmp_path / "empty")
    check_same(hdsp.open_corpus(tmp_path / "empty")[:], corpus)


def test_a_corpus_replaces_another_and_itself(folder):
    corpus = example(20)
    corpus.write(folder)
    stored = hdsp.open_corpus(folder)
    check_same(stored[:], corpus)
    stored.write(folder, 3)
    check_same(hdsp.open_corpus(folder)[:], corpus)
    assert os.listdir(folder.parent) == ["corpus"]


def fail(*_):
    raise OSError(28, "No space left on device")


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("place", "name", "act", "error", "message"),
    [
        (shards, "to_parquet", fail, OSError, "cannot be written to .*No space left.*has room"),
        (preparing, "sync_folder", fail, OSError, "cannot be written to .*No space left.*has room"),
        (preparing.Manifest, "write", interrupt, KeyboardInterrupt, "^$"),
    ],
)
def test_whatever_ends_the_writing_leaves_what_was_there(
    folder, monkeypatch, place, name, act, error, message
):
    monkeypatch.setattr(place, name, act)
    with pytest.raises(error, match=message):
        example(20).write(folder)
    check_untouched(folder)


def test_a_failed_exchange_puts_the_former_corpus_back(folder, monkeypatch):
    rename = type(folder).rename

    def fail_once(self, target):
        if self.name.endswith(".tmp"):
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(type(folder), "rename", fail_once)
    with pytest.raises(OSError, match="Input/output error"):
        example(20).write(folder)
    check_untouched(folder)


def test_a_place_that_does_not_exist_is_told(tmp_path):
    with pytest.raises(OSError, match="choose a place that exists"):
        example(5).write(tmp_path / "no" / "corpus")


@pytest.mark.parametrize("size", [0, -1, 2.5, True, None])
def test_a_shard_size_is_a_number_of_documents(tmp_path, size):
    with pytest.raises(ValueError, match=r"`shard_size` of Corpus\.write must be an integer >= 1"):
        example(5).write(tmp_path / "corpus", size)
    assert not (tmp_path / "corpus").exists()


@pytest.mark.parametrize("largest", [1e300, 1e40])
def test_numbers_too_large_to_standardise_are_refused(tmp_path, largest):
    corpus = hdsp.Corpus([[1], [2]], labels=[[largest], [-largest]])
    with pytest.raises(ValueError, match="Numbers must be small enough to standardise"):
        corpus.write(tmp_path / "corpus")
    assert os.listdir(tmp_path) == []


def test_numbers_that_hardly_differ_come_back(tmp_path):
    corpus = hdsp.Corpus([[1], [2]], labels=[[1e-40], [0.0]])
    corpus.write(tmp_path / "corpus")
    assert hdsp.open_corpus(tmp_path / "corpus").schema == corpus.schema
