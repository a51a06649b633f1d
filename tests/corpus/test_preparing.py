"""Many tables become one corpus on disk: that of one table with all the rows."""

import io
import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import hdsp
from hdsp import TextSettings
from hdsp.corpus import preparing, shards
from hdsp.corpus.corpus import Corpus
from hdsp.exceptions import NotSavedWarning, ReadError
from tests.corpus.corpora import TABLES, check_same, check_same_schema, write

LABELS = {"tags": "tags", "categories": ["kind", "code"], "numeric": ["year", "when"]}


def make_table(n_rows=60, seed=0):
    """Rows with labels of every kind, missing values, missing texts and other alphabets."""
    rng = np.random.default_rng(seed)
    words = [
        "cat",
        "dog",
        "owl",
        "naïve",
        "größe",
        "собака",
        "한국어",
        "rare" + "xyz"[seed % 3] * 2,
    ]
    return {
        "name": [f"row {seed} {m}" for m in range(n_rows)],
        "text": [" ".join(rng.choice(words, rng.integers(0, 6))) or None for _ in range(n_rows)],
        "tags": [list(rng.choice(list("abcde"), rng.integers(0, 3))) for _ in range(n_rows)],
        "kind": rng.choice(["x", f"only {seed}", None], n_rows).tolist(),
        "code": rng.choice([1.0, 2.5, None], n_rows).tolist(),
        "year": rng.choice([1999.0, 0.0, None], n_rows).tolist(),
        "when": rng.choice(["2001-07-02", "2020-01-01T12:00", None], n_rows).tolist(),
    }


def write_all(folder, tables, suffix=".jsonl"):
    """Write tables, and one of all their rows; return the files."""
    files = [folder / f"table{number}{suffix}" for number in range(len(tables))]
    whole = {name: [value for table in tables for value in table[name]] for name in tables[0]}
    for file, table in zip([*files, folder / f"whole{suffix}"], [*tables, whole], strict=True):
        write(file, table)
    return files


@pytest.fixture
def small(monkeypatch):
    """Parts and drafts of a few documents, so that small tables have many of them."""
    monkeypatch.setattr(preparing, "PART_SIZE", 16)
    monkeypatch.setattr(preparing, "_CHARACTERS", 300)


def check_prepared(folder, files, whole, **options):
    stored = hdsp.prepare_corpus(files, folder, ids="name", **LABELS, **options)
    expected = hdsp.read_table(whole, ids="name", **LABELS, **options)
    check_same(stored[:], expected)
    check_same_schema(stored.schema, expected.schema)
    assert {len(part) for part in list(stored.parts())[:-1]} <= {16}
    assert sorted(os.listdir(folder))[0] == "manifest.json"
    assert len(os.listdir(folder)) == 1 + len(stored.shards)
    assert os.listdir(folder.parent).count(folder.name) == 1
    assert not [name for name in os.listdir(folder.parent) if name.startswith(".")]


@pytest.mark.parametrize("suffix", TABLES)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_tables_of_every_format(tmp_path, small, monkeypatch, suffix, n_threads):
    monkeypatch.setattr("joblib.effective_n_jobs", lambda n: n_threads)
    monkeypatch.setattr("hdsp.corpus.readers.tables._ROWS", 7)
    tables = [make_table(n, seed) for seed, n in enumerate([50, 1, 33, 70])]
    files = write_all(tmp_path, tables, suffix)
    check_prepared(tmp_path / "corpus", files, tmp_path / f"whole{suffix}")


@pytest.mark.parametrize(
    "settings",
    [
        TextSettings(min_df=3, max_df=0.3),
        TextSettings(ngrams=3, min_df=2, max_features=7),
        TextSettings(token_pattern="[a-z][a-z]+", stop_words=("cat",)),
        TextSettings(max_features=2),
        TextSettings(token_pattern="[a-z]+(?:-[a-z]+)*"),
    ],
)
def test_words_are_chosen_as_in_memory(tmp_path, small, settings):
    files = write_all(tmp_path, [make_table(50, seed) for seed in range(3)])
    check_prepared(tmp_path / "corpus", files, tmp_path / "whole.jsonl", text_settings=settings)


def test_of_very_many_words_the_rarest_are_forgotten(tmp_path, small, monkeypatch):
    monkeypatch.setattr(preparing, "_MOST_WORDS", 100)
    rows = [f"cat dog once{chr(97 + m // 26)}{chr(97 + m % 26)}" for m in range(600)]
    write(tmp_path / "a.jsonl", {"text": rows})
    stored = hdsp.prepare_corpus(
        tmp_path / "a.jsonl", tmp_path / "corpus", text_settings=TextSettings(min_df=1, max_df=1.0)
    )
    assert len(stored.words) <= 100
    counts = stored.counts.toarray().sum(axis=0)
    assert counts[[stored.words.index("cat"), stored.words.index("dog")]].tolist() == [600, 600]


def test_words_that_are_given(tmp_path, small):
    path, words = tmp_path / "a.jsonl", ("owl", "unheard", "cat")
    write(path, make_table())
    (tmp_path / "words.txt").write_text("owl\nunheard\ncat\n")
    like = Corpus([[0, 0, 0]], words)
    expected = hdsp.read_table(path, like=like, text_settings=TextSettings())
    for number, options in enumerate(
        ({"words": list(words)}, {"words": tmp_path / "words.txt"}, {"like": expected})
    ):
        stored = hdsp.prepare_corpus([path], tmp_path / str(number), **options)
        assert stored.words == words
        check_same(stored[:], expected)


def test_an_open_file_is_read_once(tmp_path, small):
    write(tmp_path / "a.jsonl", make_table())

    class Pipe(io.BytesIO):
        name = "a pipe"

        def seek(self, *_):
            raise OSError("a pipe cannot be rewound")

    pipe = Pipe((tmp_path / "a.jsonl").read_bytes())
    stored = hdsp.prepare_corpus(pipe, tmp_path / "corpus", format="jsonl")
    check_same(stored[:], hdsp.read_table(tmp_path / "a.jsonl"))


def test_a_function_that_splits_texts_is_used_and_left_out(tmp_path, small):
    write(tmp_path / "a.jsonl", make_table())
    with pytest.warns(NotSavedWarning, match="cannot be stored with the corpus") as caught:
        stored = hdsp.prepare_corpus(
            tmp_path / "a.jsonl", tmp_path / "corpus", text_settings=str.split
        )
    assert caught[0].filename == __file__
    expected = hdsp.read_table(tmp_path / "a.jsonl", text_settings=str.split)
    np.testing.assert_array_equal(stored.counts.toarray(), expected.counts.toarray())
    assert stored.words == expected.words


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("text", 3, "column 'text' holds 3, which is not text"),
        ("tags", "plain", "a list of tags in each row of 'tags', but got 'plain' at row 41"),
        ("tags", [["nested"]], "at row 41, column 'tags'"),
        ("kind", ["x"], "at row 41, column 'kind'"),
        ("year", "soon", "got 'soon' at row 41"),
        ("year", float("inf"), "got inf at row 41"),
        ("name", None, "column 'name' is empty"),
    ],
)
def test_an_error_names_the_file_and_the_row(tmp_path, small, column, value, says):
    table = make_table()
    table[column][41] = value
    write(tmp_path / "good.jsonl", make_table())
    write(tmp_path / "bad.jsonl", table)
    with pytest.raises(ReadError, match=re.escape(says)) as caught:
        hdsp.read_table(tmp_path / "bad.jsonl", ids="name", **LABELS)
    expected = str(caught.value)
    assert "row 41" in expected
    files = [tmp_path / "good.jsonl", tmp_path / "bad.jsonl"]
    with pytest.raises(ReadError, match=re.escape(expected)):
        hdsp.prepare_corpus(files, tmp_path / "corpus", ids="name", **LABELS)
    assert sorted(os.listdir(tmp_path)) == ["bad.jsonl", "good.jsonl"]


def test_tables_that_make_no_corpus(tmp_path):
    (tmp_path / "empty.csv").write_text("text\n")
    (tmp_path / "stop.csv").write_text("text\nthe of and\n")
    (tmp_path / "good.csv").write_text("text\na cat\n")
    with pytest.raises(ReadError, match=r"empty\.csv: it has no documents; check that it"):
        hdsp.prepare_corpus(tmp_path / "empty.csv", tmp_path / "corpus")
    with pytest.raises(ReadError, match=r"stop\.csv and 1 more: no word of column 'text' is left"):
        hdsp.prepare_corpus([tmp_path / "stop.csv", tmp_path / "empty.csv"], tmp_path / "corpus")
    with pytest.raises(FileNotFoundError, match=r"none\.csv: there is no such file"):
        hdsp.prepare_corpus([tmp_path / "good.csv", tmp_path / "none.csv"], tmp_path / "corpus")
    with pytest.raises(ValueError, match="`paths` of prepare_corpus must name a table"):
        hdsp.prepare_corpus([], tmp_path / "corpus")
    with pytest.raises(ReadError, match=r"good\.csv: there is no column 'words'"):
        hdsp.prepare_corpus(tmp_path / "good.csv", tmp_path / "corpus", text="words")
    assert not (tmp_path / "corpus").exists()
    stored = hdsp.prepare_corpus([tmp_path / "empty.csv", tmp_path / "good.csv"], tmp_path / "c")
    assert (len(stored), stored.words) == (1, ("cat",))


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    write(tmp_path / "a.jsonl", make_table())

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shards, "write_draft", fail)
    with pytest.raises(OSError, match="No space left on device"):
        hdsp.prepare_corpus(tmp_path / "a.jsonl", tmp_path / "corpus")
    assert os.listdir(tmp_path) == ["a.jsonl"]


PREPARE = """
import signal, sys
import hdsp
from hdsp.corpus import preparing
wait = sys.argv[3]
original = getattr(preparing, wait)
def stop(*arguments, **named):
    print("here", flush=True)
    signal.pause()
    return original(*arguments, **named)
setattr(preparing, wait, stop)
hdsp.prepare_corpus(sys.argv[1], sys.argv[2])
"""


@pytest.mark.parametrize("where", ["_choose", "write_shards", "Manifest"])
def test_a_killed_preparation_leaves_nothing_that_opens(tmp_path, where):
    write(tmp_path / "a.jsonl", make_table())
    with subprocess.Popen(
        [sys.executable, "-c", PREPARE, tmp_path / "a.jsonl", tmp_path / "corpus", where],
        stdout=subprocess.PIPE,
    ) as run:
        assert run.stdout.readline() == b"here\n"
        run.send_signal(signal.SIGKILL)
    assert not (tmp_path / "corpus").exists()
    left = [name for name in os.listdir(tmp_path) if name != "a.jsonl"]
    assert len(left) == 1
    with pytest.raises(ReadError, match="this is no stored corpus"):
        hdsp.open_corpus(tmp_path / left[0])
    stored = hdsp.prepare_corpus(tmp_path / "a.jsonl", tmp_path / "corpus")
    check_same(stored[:], hdsp.read_table(tmp_path / "a.jsonl"))


MEMORY = """
import sys
# Not ru_maxrss, which begins with that of the parent process.
def peak():
    with open("/proc/self/status") as status:
        return 1024 * int(status.read().split("VmHWM:")[1].split()[0])
import hdsp
from hdsp.corpus import preparing
preparing.PART_SIZE = 256
hdsp.prepare_corpus("warm.jsonl", "warm", tags="tags", numeric="year")
before = peak()
stored = hdsp.prepare_corpus([sys.argv[1]] * int(sys.argv[2]), "large", tags="tags", numeric="year")
total = sum(part.n_tokens for part in stored.parts())
assert total == stored.n_tokens
print(len(stored), peak() - before)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs Linux")
def test_memory_does_not_grow_with_the_documents(tmp_path):
    """18,000 documents more, of a hundred words each, and hardly more memory."""
    rng = np.random.default_rng(0)
    names = [f"{a}{b}{c}" for a in "bcdfgh" for b in "aeiou" for c in "klmnprst"]

    def lines(n_rows):
        for _ in range(n_rows):
            words = [a + b for a, b in rng.choice(names, (100, 2))]
            yield json.dumps({"text": " ".join(words), "tags": ["a"], "year": 3}) + "\n"

    (tmp_path / "warm.jsonl").write_text("".join(lines(600)))
    (tmp_path / "some.jsonl").write_text("".join(lines(3000)))
    growth = {}
    for times in (6, 12):
        run = subprocess.run(
            [sys.executable, "-c", MEMORY, "some.jsonl", str(times)],
            cwd=tmp_path,
            # Arrow's own allocator keeps some 60 MB more, however many documents there are.
            env=os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        n_documents, growth[times] = map(int, run.stdout.split())
        assert n_documents == 3000 * times
    # In memory, the counts of 18,000 documents would take 21 MB, and their texts 12 MB.
    # The allocator keeps a few MB more or less.
    assert growth[12] - growth[6] < 12_000_000
