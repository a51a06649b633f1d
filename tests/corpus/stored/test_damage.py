"""Corpora that are damaged, foreign or forged, and folders that must not be touched."""

import json
import os
import re
from dataclasses import replace

import numpy as np
import pytest

import hdsp
from hdsp.corpus.stored import manifest as manifest_module
from hdsp.corpus.stored import shards as shards_module
from hdsp.corpus.stored import writing
from hdsp.corpus.stored.manifest import read_manifest
from hdsp.exceptions import ReadError
from hdsp.storage.container import map_arrays, write_arrays
from tests.corpus.stored.corpora import check_same, example


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "corpus"
    example(50).write(folder, 10)
    return folder


def truncate(path):
    path.write_bytes(path.read_bytes()[:-1])


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def empty(path):
    path.write_bytes(b"")


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (truncate, "is damaged: it has"),
        (flip, "is damaged: its checksum is wrong"),
        (empty, "is damaged: it has 0 bytes in place of"),
        (os.unlink, "is missing"),
    ],
)
def test_a_damaged_shard_is_named_and_the_others_are_read(folder, harm, says):
    stored = hdsp.open_corpus(folder)
    path = stored.shards[3].path
    harm(path)
    message = re.escape(f"{path}: this shard of the corpus {says}")
    for read in (stored.shards[3].read, lambda: stored.counts, lambda: list(stored.parts())):
        with pytest.raises(ReadError, match=message + r".*; copy this file again, or prepare"):
            read()
    assert len(stored.shards[2].read()) == 10


def test_every_flipped_byte_is_noticed(folder):
    path = hdsp.open_corpus(folder).shards[1].path
    data = path.read_bytes()
    for position in range(0, len(data), 97):
        path.write_bytes(data[:position] + bytes([data[position] ^ 64]) + data[position + 1 :])
        with pytest.raises(ReadError, match="shard-000001"):
            hdsp.open_corpus(folder).shards[1].read()


def test_a_manifest_with_a_flipped_byte_opens_nothing(folder):
    path = folder / "manifest.json"
    data = path.read_bytes()
    for position in range(0, len(data), 13):
        path.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        with pytest.raises(ReadError, match=re.escape(str(path))):
            hdsp.open_corpus(folder)


def forge(folder, change):
    """Change the manifest, with a right fingerprint where it can have one."""
    path = folder / "manifest.json"
    data = json.loads(path.read_text())
    change(data)
    with pytest.MonkeyPatch.context() as patch:
        # Whatever fingerprint it has is right.
        path.write_text(json.dumps(data))
        patch.setattr(
            manifest_module.Manifest, "fingerprint", property(lambda _: data["fingerprint"])
        )
        try:
            stored = hdsp.open_corpus(folder)
            return stored[:]
        finally:
            shards_module._opened.cache_clear()


def put(*keys_and_value):
    *keys, last, value = keys_and_value

    def change(data):
        for key in keys:
            data = data[key]
        data[last] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        put("words", [1, 2, 3, 4, 5]),
        put("words", ["a", "a", "b", "c", "d"]),
        put("words", "abcde"),
        put("words", ["a"]),
        put("words", 3),
        put("shards", []),
        put("shards", 0, 0, 2**70),
        put("shards", 0, 0, 2**40),
        put("shards", 0, 0, -1),
        put("shards", 0, 0, True),
        put("shards", 0, 0, 9),
        put("shards", 0, 1, float("nan")),
        put("shards", 0, 2, 7),
        put("shards", 0, 3, "../../../../etc/passwd"),
        put("shards", 0, 3, None),
        put("shards", 0, [1]),
        put("shards", 0, "shard"),
        put("blocks", 0, "kind", "code"),
        put("blocks", 0, "kind", "number"),
        put("blocks", 1, "kind", "number"),
        put("blocks", 0, "name", "kind"),
        put("blocks", 0, "name", 3),
        put("blocks", 0, "columns", ["a"]),
        put("blocks", 0, "columns", ["a", "a", "b"]),
        put("blocks", 2, "moments", []),
        put("blocks", 2, "moments", 0, 0, -3),
        put("blocks", 2, "moments", 0, 2, -1.0),
        put("blocks", 2, "moments", 0, 1, float("inf")),
        put("blocks", 2, "centred", "yes"),
        put("blocks", {}),
        put("blocks", [3]),
        put("ids", 1),
        put("ids", None),
        put("text_settings", {"token_pattern": "(a+)+b"}),
        put("text_settings", {"ngrams": 10**9}),
        put("text_settings", {"surprise": 1}),
        put("text_settings", 3),
        put("format", "other"),
        lambda data: data.pop("words"),
        lambda data: data.pop("shards"),
        lambda data: data.pop("fingerprint"),
    ],
)
def test_a_forged_manifest_is_refused(folder, change):
    with pytest.raises(ReadError, match=str(folder)):
        forge(folder, change)


def test_a_manifest_names_no_files(folder, tmp_path):
    """Shards are found by number, and so lie in the folder, whatever a manifest says."""
    stored = hdsp.open_corpus(folder)
    assert all(shard.path.parent == folder for shard in stored.shards)
    assert "shard-" not in (folder / "manifest.json").read_text()


@pytest.mark.parametrize("text", ["", "[]", "3", "{", "null", "[" * 100_000, '{"format": NaN}'])
def test_what_is_no_manifest_is_refused(folder, text):
    (folder / "manifest.json").write_text(text)
    with pytest.raises(ReadError, match="the manifest is damaged"):
        hdsp.open_corpus(folder)


def test_a_manifest_too_large_to_be_one_is_not_read(folder, monkeypatch):
    monkeypatch.setattr(manifest_module, "_LARGEST_FILE", 100)
    with pytest.raises(ReadError, match="it is too large for a manifest"):
        hdsp.open_corpus(folder)


@pytest.mark.parametrize("version", ["1.1", "0.9", "one\n", None, 1])
def test_a_corpus_of_another_version_says_so(folder, version):
    message = f"format version {version!r}, and this hdsp reads 1.0; use the hdsp that wrote it"
    with pytest.raises(ReadError, match=re.escape(message)):
        forge(folder, put("version", version))


def rewrite(folder, number, change):
    """Change the arrays of a shard, with a right size and checksum."""
    path = shards_module.shard_path(folder, number)
    text, arrays = map_arrays(path)
    arrays = {name: np.array(array) for name, array in arrays.items()}
    change(arrays)
    with path.open("wb") as file:
        write_arrays(file, arrays, text)
    found = read_manifest(folder)
    records = list(found.shards)
    old = records[number]
    records[number] = shards_module.ShardRecord(
        old.n_documents, old.n_tokens, path.stat().st_size, shards_module.file_checksum(path)
    )
    replace(found, shards=tuple(records)).write(folder)


def poke(name, position, value, dtype=None):
    def change(arrays):
        if dtype is not None:
            arrays[name] = arrays[name].astype(dtype)
        arrays[name][position] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        poke("counts.indices", 0, 5),
        poke("counts.indices", 0, -1),
        poke("counts.indices", 0, 2**31 - 1),
        poke("counts.indices", 1, 0),
        poke("counts.indptr", 0, 1),
        poke("counts.indptr", 3, 10**6),
        poke("counts.indptr", -1, 3),
        poke("counts.indptr", 3, 0),
        poke("counts.data", 0, 0),
        poke("counts.data", 0, np.nan, "<f4"),
        poke("counts.data", 0, np.inf, "<f8"),
        poke("counts.data", 0, -1.0, "<f8"),
        poke("counts.data", 0, 1, "<i4"),
        poke("labels.0.indices", 0, 99),
        poke("labels.1.indices", 0, -99),
        poke("labels.2.data", 0, np.nan),
        poke("ids.ends", 0, 10**9),
        poke("ids.ends", -1, 3),
        lambda arrays: arrays.pop("counts.data"),
        lambda arrays: arrays.pop("counts.indptr"),
        lambda arrays: arrays.pop("labels.1.indices"),
        lambda arrays: arrays.pop("ids.text"),
        lambda arrays: arrays.update({"counts.indptr": arrays["counts.indptr"][:-1]}),
        lambda arrays: arrays.update({"counts.data": arrays["counts.data"][:-1]}),
        lambda arrays: arrays.update({"counts.data": arrays["counts.data"][:, None]}),
        lambda arrays: arrays.update({"ids.ends": arrays["ids.ends"][:-1]}),
        lambda arrays: arrays.update({"labels.1.indptr": np.arange(11, dtype=np.int32) * 2}),
    ],
)
def test_a_forged_shard_is_refused(folder, change):
    rewrite(folder, 1, change)
    stored = hdsp.open_corpus(folder)
    with pytest.raises(
        ReadError, match=r"shard-000001\.safetensors: this shard of the corpus is dam"
    ):
        stored.shards[1].read()


def test_rewriting_without_a_change_is_harmless(folder):
    rewrite(folder, 1, lambda arrays: None)
    check_same(hdsp.open_corpus(folder)[:], example(50))


def test_what_is_no_corpus_says_what_to_do(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere: there is no such folder; check the path"):
        hdsp.open_corpus(tmp_path / "nowhere")
    with pytest.raises(ReadError, match=r"no stored corpus: .*write one with Corpus\.write"):
        hdsp.open_corpus(tmp_path)


def test_only_a_corpus_is_replaced(tmp_path, folder):
    corpus = example(20)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("years of work")
    (folder / "notes.txt").write_text("do not lose")
    file = tmp_path / "file"
    file.write_text("text")
    orphan = tmp_path / "orphan"
    orphan.mkdir()
    (orphan / "shard-000000.safetensors").write_bytes(b"x")
    for place, what in {
        mine: "a folder with 'thesis.tex' in it",
        folder: "a folder with 'notes.txt' in it",
        file: "a file",
        orphan: "a folder with 'shard-000000.safetensors' in it",
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


def test_a_full_disk_leaves_what_was_there(folder, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shards_module, "write_arrays", fail)
    with pytest.raises(OSError, match=r"cannot be written to .*No space left on device.*has room"):
        example(20).write(folder)
    check_same(hdsp.open_corpus(folder)[:], example(50))
    assert os.listdir(folder.parent) == ["corpus"]


def test_a_failed_exchange_puts_the_former_corpus_back(folder, monkeypatch):
    rename = type(folder).rename

    def fail(self, target):
        if self.name.endswith(".tmp"):
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(type(folder), "rename", fail)
    with pytest.raises(OSError, match="Input/output error"):
        example(20).write(folder)
    check_same(hdsp.open_corpus(folder)[:], example(50))
    assert os.listdir(folder.parent) == ["corpus"]


def test_an_interruption_leaves_what_was_there(folder, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(writing.Manifest, "write", interrupt)
    with pytest.raises(KeyboardInterrupt):
        example(20).write(folder)
    check_same(hdsp.open_corpus(folder)[:], example(50))
    assert os.listdir(folder.parent) == ["corpus"]


def test_a_place_that_does_not_exist_is_told(tmp_path):
    with pytest.raises(OSError, match="choose a place that exists"):
        example(5).write(tmp_path / "no" / "corpus")


@pytest.mark.parametrize("size", [0, -1, 2.5, True, None])
def test_a_shard_size_is_a_number_of_documents(tmp_path, size):
    with pytest.raises(ValueError, match=r"`shard_size` of Corpus\.write must be a whole number"):
        example(5).write(tmp_path / "corpus", size)
    assert not (tmp_path / "corpus").exists()


def test_numbers_too_large_to_standardise_are_refused(tmp_path):
    corpus = hdsp.Corpus([[1], [2]], labels=[[1e300], [-1e300]])
    with pytest.raises(ValueError, match="Numbers must be small enough to standardise"):
        corpus.write(tmp_path / "corpus")
    assert os.listdir(tmp_path) == []
