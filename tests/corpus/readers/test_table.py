import bz2
import gzip
import io
import json
import lzma
import re
from datetime import date, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from hdsp.corpus import Labels, ReadError, TextSettings, read_table
from hdsp.corpus.readers import table_columns
from tests.corpus.readers.samples import (
    COUNTS,
    IDS,
    RATINGS,
    TAGS,
    WORDS,
    arrow_bytes,
    csv_text,
    feather_bytes,
    jsonl_text,
    parquet_bytes,
)

LABELS = {"tags": "tags", "categories": "kind", "numeric": "rating"}
ALL = TextSettings(language=None, min_df=1, max_df=1.0)


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def told(message, read, *arguments, **options):
    """Assert that reading fails with one sentence that holds a text."""
    with pytest.raises(ReadError, match=re.escape(message)) as caught:
        read(*arguments, **options)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", csv_text()),
        ("a.CSV", csv_text(end="\r\n")),
        ("a.csv", csv_text(end="\r")),
        ("a.csv", "\ufeff" + csv_text()),
        ("a.csv", csv_text().encode("utf-16")),
        ("a.tsv", csv_text("\t")),
        ("a.tab.bz2", bz2.compress(csv_text("\t").encode())),
        ("a.csv.xz", lzma.compress(csv_text().encode())),
        ("a.csv.gz", gzip.compress(csv_text().encode())),
        ("a.csv", gzip.compress(csv_text().encode())),
        ("a.csv.zst", pa.compress(csv_text().encode(), codec="zstd", asbytes=True)),
        ("a.jsonl", jsonl_text()),
        ("a.ndjson", "\ufeff" + jsonl_text().replace("\n", "\r\n\r\n")),
        ("a.json.gz", gzip.compress(jsonl_text().encode())),
        ("a.parquet", parquet_bytes()),
        ("a.pq.gz", gzip.compress(parquet_bytes())),
        ("a.arrow", arrow_bytes(pa.ipc.new_file)),
        ("a.arrow", arrow_bytes(pa.ipc.new_stream)),
        ("a.feather", feather_bytes()),
    ],
)
def test_every_format_gives_the_same_corpus(name, content, tmp_path):
    path = write(tmp_path, name, content)
    utf16 = path.read_bytes().startswith(b"\xff\xfe")
    options = {"encoding": "utf-16"} if utf16 else {}
    corpus = read_table(path, ids="id", **LABELS, **options)
    assert corpus.words == tuple(sorted(WORDS))
    order = [WORDS.index(word) for word in corpus.words]
    np.testing.assert_array_equal(corpus.counts.toarray(), np.array(COUNTS)[:, order])
    assert corpus.ids == tuple(IDS)
    assert corpus.text_settings == TextSettings()
    tags, kind, rating = corpus.labels.blocks
    assert tags.columns == ("grün", "pets", "place")
    assert [[tags.columns[j] for j in row.indices] for row in tags.values] == [
        sorted(row) for row in TAGS
    ]
    assert kind.columns == ("a", "b")
    assert np.diff(kind.values.indptr).tolist() == [1, 1, 0, 1, 1]
    assert rating.values.data.tolist() == [value for value in RATINGS if value is not None]
    stream = io.BytesIO(path.read_bytes())
    formats = {".pq": "parquet", ".feather": "arrow", ".arrow": "arrow", ".ndjson": "jsonl"}
    kind_of_file = next((f for suffix, f in formats.items() if suffix in name), None)
    kind_of_file = kind_of_file or name.lower().split(".")[1].replace("json", "jsonl")
    kind_of_file = {"tab": "tsv", "jsonll": "jsonl"}.get(kind_of_file, kind_of_file)
    from_stream = read_table(stream, format=kind_of_file, **LABELS, **options)
    np.testing.assert_array_equal(from_stream.counts.toarray(), corpus.counts.toarray())
    assert not stream.closed


def test_labels_only_where_they_are_named(tmp_path):
    path = write(tmp_path, "a.csv", csv_text())
    assert read_table(path).labels.blocks == ()
    assert read_table(path, text="text", categories=["kind"]).labels.names == ("a", "b")
    message = "A column of read_table must be of one kind. Got 'kind' as tags and as category."
    with pytest.raises(ValueError, match=re.escape(message)):
        read_table(path, tags="kind", categories=["kind"])


def test_feather_of_version_1(tmp_path):
    path = write(tmp_path, "a.feather", b"FEA1" + bytes(20))
    message = "a.feather: it is in the first, disused Feather format; write it again."
    told(message, read_table, path)
    told(message, table_columns, path)


def test_quoted_line_ends_and_delimiters(tmp_path):
    content = 'text;n\n"first line\nsecond; ""line""";1\n\nthird;2\n'
    path = write(tmp_path, "a.csv", content)
    corpus = read_table(path, numeric="n", delimiter=";")
    assert corpus.words == ("line", "second")
    assert corpus.shape == (2, 2)
    told(
        "a.csv, line 5: this row has 1 value, but the header has 2 columns, and begins with 'ab'",
        read_table,
        write(tmp_path, "a.csv", 'text,n\n"first\nline",1\n\nab\ncd,2\n'),
    )
    told(
        "a.csv, line 3: a quoted value that begins here is never closed; close it.",
        read_table,
        write(tmp_path, "a.csv", 'text,n\nab,1\n"cd,2\nef,3\n'),
    )
    told(
        "a.csv, line 2: this is not as a row should be (',' expected after '\"'); quote values",
        read_table,
        write(tmp_path, "a.csv", 'text,n\n"ab"c,1\n'),
    )


def test_long_texts(tmp_path):
    text = "word " * 200_000
    for name, content in (
        ("a.csv", f'text\n"{text}"\n'),
        ("a.jsonl", json.dumps({"text": text}) + "\n"),
    ):
        assert read_table(write(tmp_path, name, content)).n_tokens == 200_000


def test_rows_without_text_are_empty_documents(tmp_path):
    table = pa.table({"text": ["cat dog", None, "dog"], "n": [1, 2, 3]})
    contents = {
        "a.parquet": parquet_bytes(table),
        "a.jsonl": '{"text":"cat dog","n":1}\n{"text":null,"n":2}\n{"n":3,"text":"dog"}\n',
        "b.jsonl": '{"text":"cat dog","n":1}\n{"n":2}\n{"n":3,"text":"dog"}\n',
        "a.csv": "text,n\ncat dog,1\n,2\ndog,3\n",
    }
    for name, content in contents.items():
        corpus = read_table(write(tmp_path, name, content), numeric="n")
        assert corpus.counts.toarray().tolist() == [[1, 1], [0, 0], [0, 1]]
        assert corpus.labels.block("n").values.data.tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.arrow", "a.csv.gz"])
def test_no_file_no_content_or_a_folder(name, tmp_path):
    with pytest.raises(FileNotFoundError, match=re.escape(f"{name}: there is no such file; check")):
        read_table(tmp_path / name)
    told(f"{name}: it is empty; check that", read_table, write(tmp_path, name, b""))
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    told(f"{name}: this is a folder; name a file, or use read_folder", read_table, tmp_path / name)


def test_an_empty_file_in_a_compressed_one(tmp_path):
    told("a.csv.gz: it is empty", read_table, write(tmp_path, "a.csv.gz", gzip.compress(b"")))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "text,n\n"),
        ("a.csv", "text,n"),
        ("a.jsonl", "\n\n"),
        ("a.parquet", parquet_bytes(pa.table({"text": pa.array([], pa.string()), "n": []}))),
    ],
)
def test_a_header_only(name, content, tmp_path):
    path = write(tmp_path, name, content)
    told(f"{name}: it has no documents; check that", read_table, path, numeric="n")
    like = read_table(write(tmp_path, "b.csv", "text\ncat\n"))
    told(f"{name}: it has no documents; check that", read_table, path, like=like)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet", "a.arrow"])
def test_a_missing_column(name, tmp_path):
    contents = {
        "a.csv": csv_text(),
        "a.jsonl": jsonl_text(),
        "a.parquet": parquet_bytes(),
        "a.arrow": arrow_bytes(pa.ipc.new_file),
    }
    path = write(tmp_path, name, contents[name])
    message = "; choose from 'id', 'text', 'tags', 'kind', 'rating'."
    told(f"{name}: there is no column 'txt'{message}", read_table, path, "txt")
    told(f"{name}: there is no column 'stars'{message}", read_table, path, numeric="stars")
    assert table_columns(path) == ("id", "text", "tags", "kind", "rating")


def test_a_missing_column_is_told_before_the_end(tmp_path):
    content = '{"txt": "cat"}\n' * 2000 + "not JSON\n"
    path = write(tmp_path, "a.jsonl", content)
    told("a.jsonl: there is no column 'text'; choose from 'txt'.", read_table, path)
    told("a.jsonl: there is no column 'text'; it", read_table, write(tmp_path, "a.jsonl", "{}\n"))


def test_names_that_stand_twice(tmp_path):
    path = write(tmp_path, "a.csv", "text,n,n,text\ncat,1,2,dog\n")
    told("a.csv: 2 columns are called 'text'; rename all but one.", read_table, path)
    table = pa.table([["cat"], ["dog"]], names=["text", "text"])
    path = write(tmp_path, "a.parquet", parquet_bytes(table))
    told("a.parquet: 2 columns are called 'text'; rename all but one.", read_table, path)
    path = write(tmp_path, "a.jsonl", '{"text": "cat", "text": "dog"}\n')
    told("a.jsonl, line 1: this is not JSON (the key 'text' stands twice in", read_table, path)
    # Elsewhere they are nobody's concern.
    path = write(tmp_path, "a.csv", "text,n,n\ncat,1,2\n")
    assert read_table(path).shape == (1, 1)


def test_a_text_column_of_numbers(tmp_path):
    path = write(tmp_path, "a.parquet", parquet_bytes())
    message = (
        "a.parquet: column 'rating' holds double and not text; "
        "name a column of text with `text` (there are: 'id', 'text', 'kind')."
    )
    told(message, read_table, path, "rating")
    path = write(tmp_path, "a.csv", "text,n\ncat,1\ndog,2\n")
    told("a.csv: no word of column 'n' is left to count; check that this", read_table, path, "n")
    path = write(tmp_path, "a.jsonl", '{"text": "cat"}\n{"text": 3}\n')
    told("a.jsonl, row 1: column 'text' holds 3, which is not text;", read_table, path)


def test_tags_in_every_form(tmp_path):
    expected = [["a", "b"], [], ["3", "b c"]]
    forms = {
        "lists": pa.array([["a", "b", "a"], None, ["3", "b c"]]),
        "json": pa.array(['["a", "b"]', "", '[3, "b c", null]']),
        "numbers": pa.array([[1.0], [], [2.5]]),
    }
    path = write(tmp_path, "a.parquet", parquet_bytes(pa.table({"text": ["cat"] * 3, **forms})))
    labels = read_table(path, tags=list(forms)).labels
    for name in ("lists", "json"):
        block = labels.block(name)
        assert [[block.columns[j] for j in row.indices] for row in block.values] == expected
    assert labels.block("numbers").columns == ("1", "2.5")
    path = write(tmp_path, "a.csv", "text,tags\ncat,a; b;;a\ndog,\ndog,3 ;b c\n")
    block = read_table(path, tags="tags", tag_separator=";").labels.block("tags")
    assert [[block.columns[j] for j in row.indices] for row in block.values] == expected
    told(
        "a.csv, row 0: column 'tags' holds 'a; b;;a', which is not a list of tags; write lists as "
        """'["a", "b"]', or pass `tag_separator`, such as ';'.""",
        read_table,
        path,
        tags="tags",
    )


@pytest.mark.parametrize("value", ["['a', 'b']", "['a' 'b']", '{"a": 1}', "3", "[" * 9000])
def test_what_is_no_list_of_tags(value, tmp_path):
    path = write(tmp_path, "a.jsonl", json.dumps({"text": "cat", "tags": value}) + "\n")
    told("a.jsonl, row 0: column 'tags' holds", read_table, path, tags="tags")


def test_numbers_and_dates(tmp_path):
    content = "text,n,day\ncat,1.5,2001-07-02T12:00\ndog, NA ,2001\ndog,-2e3,\ndog,nan,2020-01-01\n"
    labels = read_table(write(tmp_path, "a.csv", content), numeric=["n", "day"]).labels
    assert labels.block("n").values.toarray().ravel().tolist() == [1.5, 0, -2000, 0]
    assert labels.block("n").values.nnz == 2
    assert labels.block("day").values.toarray().ravel().tolist() == [2001.5, 2001, 0, 2020]
    days = [datetime(2001, 7, 2, 12), None, date(2001, 1, 1)]
    frame = pd.DataFrame({"text": ["cat", "dog", "dog"], "day": pd.to_datetime(days)})
    for unit in ("s", "ns"):
        typed = frame.assign(day=frame["day"].astype(f"datetime64[{unit}]"))
        typed.to_parquet(tmp_path / "a.parquet")
        block = read_table(tmp_path / "a.parquet", numeric="day").labels.block("day")
        expected = Labels.from_frame(typed[["day"]]).block("day")
        np.testing.assert_array_equal(block.values.toarray(), expected.values.toarray())


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("four", "must hold numbers or dates in column 'n', but got 'four' at row 1; convert the"),
        ("inf", "must be finite, but got inf at row 1, column 'n'; leave a value missing with"),
        ("0001-01-01T00:00+14:00", "must hold numbers or dates in column"),
    ],
)
def test_wrong_numbers(value, message, tmp_path):
    path = write(tmp_path, "a.csv", f"text,n\ncat,1\ndog,{value}\n")
    with pytest.raises(ReadError, match=re.escape(f"a.csv {message}".replace(" :", ":"))):
        read_table(path, numeric="n")


def test_wrong_categories_and_ids(tmp_path):
    path = write(tmp_path, "a.jsonl", '{"text": "cat", "c": 1}\n{"text": "dog", "c": [1]}\n')
    message = "a.jsonl must hold plain values as tags and categories, but got a list at row 1, col"
    told(message, read_table, path, categories="c")
    told("a.jsonl, row 1: column 'c' holds [1], which is no id; give", read_table, path, ids="c")
    path = write(
        tmp_path, "a.jsonl", '{"text": "cat", "c": ' + json.dumps({"x": "y" * 900}) + "}\n"
    )
    with pytest.raises(ReadError) as caught:
        read_table(path, ids="c")
    assert len(str(caught.value)) < 400


def test_bytes_that_are_not_text(tmp_path):
    good = "text\n" + "größer\n" * 5000
    path = write(tmp_path, "a.csv", (good + "kleiner\n").encode() + b"k\xfcrzer\nlast\n")
    message = "a.csv, line 5003: byte 0xfc is not utf-8; pass the file's `encoding`, such as 'lat"
    told(message, read_table, path)
    path = write(tmp_path, "a.csv", (good + "kleiner\nkürzer\n").encode("latin-1"))
    told("a.csv, line 2: byte 0xf6 is not utf-8", read_table, path)
    assert read_table(path, text_settings=ALL, encoding="latin-1").words[-1] == "kürzer"
    path = write(tmp_path, "a.jsonl", b'{"text": "a"}\n{"text": "\xff"}\n')
    told("a.jsonl, line 2: byte 0xff is not utf-8", read_table, path)
    path = write(tmp_path, "a.csv", "text\ncat\n".encode("utf-16"))
    message = "a.csv, line 1: byte 0xff is not utf-8; pass the file's `encoding`, such as 'utf-16'."
    told(message, read_table, path)
    with pytest.raises(ValueError, match=re.escape("`encoding` must be one that Python knows.")):
        read_table(path, encoding="latin-99")
    table = pa.table({"text": pa.array([b"cat", b"\xff"]).view(pa.binary())})
    schema = pa.schema([("text", pa.string())])
    invalid = pa.Table.from_arrays(
        [pa.Array.from_buffers(pa.string(), 2, table["text"].chunk(0).buffers())], schema=schema
    )
    path = write(tmp_path, "a.parquet", parquet_bytes(invalid))
    told("a.parquet: it is damaged or cut off (", read_table, path)


def test_lines_that_are_not_json(tmp_path):
    cases = {
        '{"text": "cat"}\n{"text": "dog"\n': "a.jsonl, line 2: this is not JSON (Expecting ',' del",
        '{"text": "cat"}\n["cat"]\n': "a.jsonl, line 2: this is no JSON object: '[\"cat\"]';",
        '\n\n{"text": "\\ud800"}\n': "a.jsonl, line 3: the escape \\ud800 is half of a character;",
        '{"text": ' + "[" * 50_000 + "\n": "a.jsonl, line 1: this is not JSON (nested too deep)",
        '{"text": 1' + "1" * 5000 + "}\n": "a.jsonl, line 1: this is not JSON (Exceeds the limit",
    }
    for content, message in cases.items():
        told(message, read_table, write(tmp_path, "a.jsonl", content))
    path = write(tmp_path, "a.jsonl", '{"text": "\\ud83d\\ude00 smile \\u00fc"}\n')
    assert read_table(path).words == ("smile",)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv.gz", gzip.compress(csv_text().encode() * 50)),
        ("a.csv.bz2", bz2.compress(csv_text().encode() * 50)),
        ("a.csv.xz", lzma.compress(csv_text().encode() * 50)),
        ("a.csv.zst", pa.compress(csv_text().encode() * 50, codec="zstd", asbytes=True)),
        ("a.parquet", parquet_bytes()),
        ("a.arrow", arrow_bytes(pa.ipc.new_file)),
        ("a.feather", feather_bytes()),
    ],
)
@pytest.mark.parametrize("share", [0.3, 0.99])
def test_files_that_are_cut_off(name, content, share, tmp_path):
    path = write(tmp_path, name, content[: int(share * len(content))])
    told(f"{name}: it is damaged or cut off (", read_table, path)


def test_arguments(tmp_path):
    path = write(tmp_path, "table.dat", csv_text())
    told(
        "table.dat: the name does not tell read_table which format the file has; pass `format`, "
        "one of 'csv', 'tsv', 'jsonl', 'parquet', 'arrow'.",
        read_table,
        path,
    )
    assert read_table(path, format="csv").shape == (5, 4)
    with pytest.raises(ValueError, match=r"`format` of read_table must be one of 'csv', 'tsv'"):
        read_table(path, format="xls")
    with pytest.raises(ValueError, match=r"`delimiter` of read_table must be one character\. Got"):
        read_table(path, format="csv", delimiter=";;")
    with path.open() as text:
        message = "it is not open for reading bytes; open it with mode 'rb'"
        told(message, read_table, text, format="csv")
    with pytest.raises(TypeError, match=r"A file must be given by its path, .* Got list\."):
        read_table(["a.csv"], format="csv")
    told("the file object: the name does not tell", read_table, io.BytesIO(b"text\ncat\n"))


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    path = write(tmp_path, "a.csv", csv_text())

    def refuse(*arguments):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    told("a.csv: it cannot be opened (Permission denied); check its permissions", read_table, path)


def test_text_settings(tmp_path):
    path = write(tmp_path, "a.csv", "text\nThe cat-flap of 2001\n")
    assert read_table(path).words == ("cat", "flap")
    settings = TextSettings(ngrams=2)
    corpus = read_table(path, text_settings=settings)
    assert corpus.words == ("cat", "cat flap", "flap")
    assert corpus.text_settings == settings
    assert read_table(path, text_settings=str.split).words == ("2001", "The", "cat-flap", "of")
    told("a.csv: no word of column 'text' is left", read_table, path, text_settings=lambda text: [])


def test_errors_of_a_tokenizer_are_its_own(tmp_path):
    def tokenize(text):
        raise OSError("the dictionary is gone")

    with pytest.raises(OSError, match="the dictionary is gone"):
        read_table(write(tmp_path, "a.csv", "text\ncat\n"), text_settings=tokenize)


def test_only_wanted_columns_are_converted(tmp_path):
    path = write(tmp_path, "a.jsonl", '{"text": "cat", "x": 1}\n{"text": "dog", "x": ["a"]}\n')
    assert read_table(path).shape == (2, 2)
    table = pa.table({"text": ["cat"], "far": pa.array([2**40], pa.timestamp("s"))})
    path = write(tmp_path, "a.parquet", parquet_bytes(table))
    assert read_table(path).shape == (1, 1)
    told("a.parquet: it is damaged or cut off (", read_table, path, numeric="far")


def test_many_columns_and_repeated_keys_take_no_quadratic_time(tmp_path):
    # Either took hours when each name was looked for among all.
    names = [f"c{number}" for number in range(200_000)]
    wide = tmp_path / "wide.csv"
    values = ["silk gown", *["1"] * len(names)]
    wide.write_text(",".join(["text", *names]) + "\n" + ",".join(values))
    corpus = read_table(wide, numeric=names[-300:], text_settings=ALL)
    assert len(corpus.labels.blocks) == 300
    rows = tmp_path / "keys.jsonl"
    keys = ",".join(f'"{name}":1' for name in [*names, "c7"])
    rows.write_text(f'{{"text":"silk",{keys}}}\n')
    told("the key 'c7' stands twice", read_table, rows)


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("hdsp.corpus.readers.common.LONGEST_LINE", 1 << 20)
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"text\nsilk gown\n")
        file.write(b"a" * (3 << 20))
    told("bomb.csv.gz, line 3: this line has more than 1 million characters", read_table, path)


def test_a_json_array_is_read_as_lines_are(tmp_path):
    rows = [json.loads(line) for line in jsonl_text().splitlines()]
    for text in (json.dumps(rows), json.dumps(rows, indent=1), "\n\n" + json.dumps(rows)):
        corpus = read_table(write(tmp_path, "a.json", text), text_settings=ALL, **LABELS)
        lines = read_table(write(tmp_path, "a.jsonl", jsonl_text()), text_settings=ALL, **LABELS)
        np.testing.assert_array_equal(corpus.counts.toarray(), lines.counts.toarray())
    for text, message in [
        ('[{"text": "cat"},\n oops]', "a.json, line 2: this is no JSON array (Expecting value)"),
        ('[{"text": "cat"}, 3]', "a.json, line 1: entry 1 of the array is no JSON object"),
        ('[{"text": "cat", "text": "dog"}]', "the key 'text' stands twice"),
        ("[" * 100_000, "nested too deep"),
    ]:
        told(message, read_table, write(tmp_path, "a.json", text))


def test_spreadsheets_are_told_what_to_do(tmp_path):
    for name in ("a.xlsx", "a.XLS", "a.ods"):
        told("this is a spreadsheet; save the sheet as CSV", read_table, write(tmp_path, name, "x"))
