"""Corpora that are damaged, foreign or forged, and folders that must not be touched."""

import json
import os
import re
from dataclasses import replace

import pyarrow as pa
import pytest
from pyarrow import parquet

import hdsp
from hdsp.corpus import preparing, shards
from hdsp.corpus import stored as module
from hdsp.corpus.stored import Manifest, checksum, read_manifest, shard_path
from hdsp.exceptions import ReadError
from tests.corpus.corpora import check_same, example


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
        patch.setattr(Manifest, "fingerprint", property(lambda _: data["fingerprint"]))
        try:
            return hdsp.open_corpus(folder)[:]
        finally:
            module._opened.cache_clear()


def put(*keys_and_value):
    *keys, last, value = keys_and_value

    def change(data):
        for key in keys:
            data = data[key]
        data[last] = value

    return change


WORDS = [[1, 2, 3, 4, 5], ["a", "a", "b", "c", "d"], "abcde", ["a"], 3]
SETTINGS = [{"token_pattern": "(a+)+b"}, {"ngrams": 10**9}, {"surprise": 1}, 3]
SHARD = [
    *(("n_documents", value) for value in (2**70, 2**40, -1, True, 9, None)),
    *(("n_tokens", value) for value in (float("nan"), -1, "1")),
    *(("n_bytes", value) for value in (7, -1, 1.5)),
    *(("checksum", value) for value in ("../../../../etc/passwd", None)),
]
BLOCKS = [
    *((0, "kind", value) for value in ("code", "number", None)),
    *((0, "columns", value) for value in (["a"], ["a", "a", "b"], "abc", [1, 2, 3])),
    (0, "name", "kind"),
    (0, "name", 3),
    (1, "kind", "number"),
    (2, "centred", "yes"),
    (2, "moments", []),
    (2, "moments", [[-3, 0.0, 0.0, 0.0, 0.0]]),
    (2, "moments", [[3, 0.0, -1.0, 0.0, 0.0]]),
    (2, "moments", [[3, float("inf"), 1.0, 0.0, 0.0]]),
    (2, "moments", [[3, 0.0, 1.0, 1.0, 0.0]]),
]


@pytest.mark.parametrize(
    "change",
    [
        *(put("words", words) for words in WORDS),
        *(put("text_settings", settings) for settings in SETTINGS),
        *(put("shards", 0, *entry) for entry in SHARD),
        *(put("blocks", *entry) for entry in BLOCKS),
        *(put("shards", value) for value in ([], [1], {}, None)),
        *(put("blocks", value) for value in ({}, [3])),
        *(put(key, value) for key in ("has_ids", "has_groups") for value in (1, None)),
        put("has_groups", True),
        put("format", "other"),
        put("surprise", 1),
        *((lambda data, key=key: data.pop(key)) for key in ("words", "shards", "fingerprint")),
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
    monkeypatch.setattr(module, "_LARGEST_FILE", 100)
    with pytest.raises(ReadError, match="it is too large for a manifest"):
        hdsp.open_corpus(folder)


@pytest.mark.parametrize("version", ["1.0", "2.1", "one\n", None, 2])
def test_a_corpus_of_another_version_says_so(folder, version):
    message = f"format version {version!r}, and this hdsp reads 2.0; use the hdsp that wrote it"
    with pytest.raises(ReadError, match=re.escape(message)):
        forge(folder, put("version", version))


def rewrite(folder, number, change):
    """Change the columns of a shard, as lists and by name, with a right size and checksum."""
    path = shard_path(folder, number)
    table = parquet.read_table(path)
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    types = dict(zip(table.column_names, table.schema.types, strict=True))
    change(columns, types)
    parquet.write_table(
        pa.table({name: pa.array(values, types[name]) for name, values in columns.items()}), path
    )
    manifest = read_manifest(folder)
    records, contents = list(manifest.shards), path.read_bytes()
    records[number] = replace(records[number], n_bytes=len(contents), checksum=checksum(contents))
    replace(manifest, shards=tuple(records)).write(folder)


def poke(name, row, value, kind=None):
    def change(columns, types):
        types[name] = kind or types[name]
        columns[name][row] = value

    return change


FLOATS = pa.list_(pa.float64())


@pytest.mark.parametrize(
    "change",
    [
        *(poke("words", 0, words) for words in ([0, 5], [-1, 1], [0, 2**31 - 1], [1, 0], [1, 1])),
        *(poke("words", 0, words) for words in ([0], [0, 1, 2], None, [0, None])),
        poke("words", 0, [0.0, 1.0], FLOATS),
        *(
            poke("counts", 0, [1, value], FLOATS)
            for value in (0, -1, float("nan"), float("inf"), None)
        ),
        poke("counts", 0, [0, 1]),
        poke("tags", 0, ["a", "other"]),
        poke("tags", 0, ["a", "a"]),
        poke("tags", 0, None),
        poke("kind", 0, "other"),
        *(poke("year", 0, value) for value in (float("nan"), float("inf"))),
        poke("id", 0, None),
        *((lambda columns, _, name=name: columns.pop(name)) for name in ("words", "id", "kind")),
        lambda columns, _: [values.pop() for values in columns.values()],
        lambda columns, types: columns.update(kind=[3] * 10) or types.update(kind=pa.int64()),
        lambda columns, types: columns.update(year=["x"] * 10) or types.update(year=pa.string()),
        lambda columns, types: columns.update(tags=["a"] * 10) or types.update(tags=pa.string()),
        lambda columns, types: columns.update(id=[3] * 10) or types.update(id=pa.int64()),
    ],
)
def test_a_forged_shard_is_refused(folder, change):
    rewrite(folder, 1, change)
    stored = hdsp.open_corpus(folder)
    with pytest.raises(
        ReadError, match=r"shard-000001\.parquet: this shard of the corpus is damaged"
    ):
        stored.shards[1].read()


def test_rewriting_without_a_change_is_harmless(folder):
    rewrite(folder, 1, lambda columns, types: None)
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
    (orphan / "shard-000000.parquet").write_bytes(b"x")
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


def test_a_full_disk_leaves_what_was_there(folder, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shards, "write_shard", fail)
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

    monkeypatch.setattr(preparing.Manifest, "write", interrupt)
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
