"""Tables in every format: the same corpus from each, and what is wrong by file and row."""

import bz2
import gzip
import io
import json
import re
from datetime import date, datetime
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from hdsp import HDSP, Corpus, Labels, ReadError, TextSettings, read_table
from tests.corpus.readers.samples import (
    COUNTS,
    IDS,
    RATINGS,
    TAGS,
    WORDS,
    arrow_bytes,
    csv_text,
    excel_bytes,
    feather_bytes,
    jsonl_text,
    parquet_bytes,
    stata_bytes,
)

LABELS = {"tags": "tags", "categories": "kind", "numeric": "rating"}
ALL = TextSettings(language=None, min_df=1, max_df=1.0)


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def check_error(message, read, *arguments, **options):
    """Reading fails with one line that contains a text."""
    with pytest.raises(ReadError, match=re.escape(message)) as caught:
        read(*arguments, **options)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")
    assert len(str(caught.value)) < 620


def tags_of(block):
    return [[block.columns[j] for j in row.indices] for row in block.values]


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
        ("a.csv.gz", gzip.compress(csv_text().encode())),
        ("a.csv", gzip.compress(csv_text().encode())),
        ("a.csv.zst", pa.compress(csv_text().encode(), codec="zstd", asbytes=True)),
        ("a.jsonl", jsonl_text()),
        ("a.ndjson", "\ufeff" + jsonl_text().replace("\n", "\r\n\r\n")),
        ("a.json.gz", gzip.compress(jsonl_text().encode())),
        ("a.json", json.dumps([json.loads(line) for line in jsonl_text().splitlines()], indent=1)),
        ("a.parquet", parquet_bytes()),
        ("a.arrow", arrow_bytes()),
        ("a.feather", feather_bytes()),
        ("a.xlsx", excel_bytes()),
        ("a.dta", stata_bytes()),
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
    assert tags_of(tags) == [sorted(row) for row in TAGS]
    assert kind.columns == ("a", "b")
    assert np.diff(kind.values.indptr).tolist() == [1, 1, 0, 1, 1]
    assert rating.values.data.tolist() == [value for value in RATINGS if value is not None]
    # A file object has no name and cannot go back.
    formats = {"tab": "tsv", "feather": "arrow", "ndjson": "jsonl", "json": "jsonl"}
    suffix = name.lower().split(".")[1]
    stream = io.BufferedReader(io.BytesIO(path.read_bytes()))
    stream.seekable = lambda: False
    from_stream = read_table(stream, format=formats.get(suffix, suffix), **LABELS, **options)
    np.testing.assert_array_equal(from_stream.counts.toarray(), corpus.counts.toarray())
    assert not stream.closed


def test_labels_are_read_if_they_are_named(tmp_path):
    path = write(tmp_path, "a.csv", csv_text())
    assert read_table(path).labels.blocks == ()
    assert read_table(path, categories=["kind"]).labels.names == ("a", "b")
    message = "A column of read_table must be of one kind. Got 'kind' as tags and as category."
    with pytest.raises(ValueError, match=re.escape(message)):
        read_table(path, tags="kind", categories=["kind"])


def test_quoted_line_ends_delimiters_and_decimal_commas(tmp_path):
    content = 'text;n\n"first line\nsecond; ""line""";1,5\n\nthird 5" pipe;2\n'
    corpus = read_table(write(tmp_path, "a.csv", content), numeric="n", delimiter=";", decimal=",")
    assert corpus.words == ("line", "pipe", "second")
    assert corpus.labels.block("n").values.data.tolist() == [1.5, 2.0]


WRONG = {
    "a.csv": [
        ('text,n\n"a\nb",1\n\nab\ncd,2\n', ", row 1: this row has 1 value, but the header has 2"),
        ('text,n\nab,1\n"cd,2\nef,3\n', ", line 3: a quoted value that begins here is not closed"),
        ('n,text\n1,ab\n2,"cd\n3,ef\n', ", line 3: a quoted value that begins here is not closed"),
        ('text,"n\nab,1\n', ", line 1: a quoted value that begins here is not closed"),
        ("text;n\nab;1\n", ", line 1: its columns are not separated by ','; pass ';' as `delim"),
        ("text,n,n,text\na,1,2,b\n", ": 2 columns are called 'text'; rename all but one."),
        ("txt,n\na,1\n", ": there is no column 'text'; choose from 'txt', 'n'."),
        (b"text,n\n" + "größer,1\n".encode() * 5000 + b"k\xfcrzer,1\n", ", row 5000: this is not"),
        (b"t\xe4xt,n\nab,1\n", ", line 1: this is not utf-8 text; pass the file's `encoding`, s"),
        ("text,n\n", ": it has no documents; check that"),
        ("text,n", ": it has no documents; check that"),
        (b"", ": there is no column 'text'; it has none."),
        ('text,n\ncat,"1,5"\n', "must hold numbers or dates in column 'n', but got '1,5' at row 0"),
        ("text,n\ncat,1\ncat,four\n", "hold numbers or dates in column 'n', but got 'four' at row"),
        ("text,n\ncat,1\ncat,1e400\n", "must be finite, but got inf at row 1, column 'n'. Leave a"),
        ("text,n\ncat,1\ncat,0001-01-01T00:00+14:00\n", "must hold numbers or dates in column 'n'"),
    ],
    "a.jsonl": [
        ('{"text": "a"}\n{"text": "b"', ", line 2: this is not JSON (Expecting ',' delimiter:"),
        ('{"text": "a"}\n[1]\n', ", line 2: this is not a JSON object: 1; write one object per"),
        ('{"text": ' * 3000, ", line 1: this is not JSON ("),
        ("[" * 100_000, "this is not JSON (maximum recursion depth"),
        ('{"text": "cat", "n": 1}\n{"text": 3}', ", row 1: column 'text' holds 3, which is not t"),
        ('{"txt": "a"}\n' * 5000 + "not JSON\n", ": there is no column 'text'; choose from 'txt'."),
        ("{}\n", ": there is no column 'text'; it has none."),
        ("\n\n", ": it has no documents;"),
        (b'{"text": "a"}\n{"text": "\xff"}\n', ", line 2: this is not utf-8 text; pass the file"),
    ],
    "a.parquet": [
        (pa.table({"text": [1.5], "n": [1]}), ", row 0: column 'text' holds 1.5, which is not te"),
        (pa.table({"txt": ["a"]}), ": there is no column 'text'; choose from 'txt'."),
        (pa.table([["a"], ["b"]], names=["text", "text"]), ": 2 columns are called 'text'"),
        (pa.table({"text": pa.array([], pa.string()), "n": []}), ": it has no documents"),
    ],
}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [(name, content, message) for name, cases in WRONG.items() for content, message in cases],
)
def test_wrong_tables(name, content, message, tmp_path):
    content = parquet_bytes(content) if isinstance(content, pa.Table) else content
    path = write(tmp_path, name, content)
    check_error(message, read_table, path, numeric="n")
    stream, format = io.BytesIO(path.read_bytes()), name.split(".")[1]
    check_error(message, read_table, stream, numeric="n", format=format)


def test_damaged_tables(tmp_path):
    invalid = pa.Array.from_buffers(pa.string(), 2, pa.array([b"cat", b"\xff"]).buffers())
    path = write(tmp_path, "a.parquet", parquet_bytes(pa.table({"text": invalid})))
    check_error("a.parquet: it is damaged or cut off (", read_table, path)
    for name in ("a.parquet", "a.arrow", "a.xlsx", "a.dta", "a.csv.gz"):
        path = write(tmp_path, name, b"\x1f\x8b" + b"nothing of the kind" * 9)
        check_error(f"{name}: it is damaged or cut off (", read_table, path)


def test_rows_without_text_are_empty_documents(tmp_path):
    table = pa.table({"text": ["cat dog", None, "dog"], "n": [1, 2, 3]})
    contents = {
        "a.parquet": parquet_bytes(table),
        "a.jsonl": '{"text":"cat dog","n":1}\n{"n":2}\n{"n":3,"text":"dog"}\n',
        "a.csv": "text,n\ncat dog,1\n,2\ndog,3\n",
    }
    for name, content in contents.items():
        corpus = read_table(write(tmp_path, name, content), numeric="n")
        assert corpus.counts.toarray().tolist() == [[1, 1], [0, 0], [0, 1]]
        assert corpus.labels.block("n").values.data.tolist() == [1, 2, 3]


def test_tags_in_every_form(tmp_path):
    expected = [["a", "b"], [], ["3", "b c"]]
    forms = {
        "lists": pa.array([["a", "b", "a"], None, ["3", "b c"]]),
        "json": pa.array(['["a", "b"]', "", '[3, "b c", null]']),
        "numbers": pa.array([[1.0], [], [2.5]]),
    }
    table = pa.table({"text": ["cat"] * 3, **forms})
    labels = read_table(write(tmp_path, "a.parquet", parquet_bytes(table)), tags=list(forms)).labels
    # Tables in memory are read by the same rules.
    for found in (labels, Labels.from_frame(table, tags=list(forms))):
        assert tags_of(found.block("lists")) == tags_of(found.block("json")) == expected
        assert found.block("numbers").columns == ("1", "2.5")
    path = write(tmp_path, "a.csv", "text,tags\ncat,a; b;;a\ndog,\ndog,3 ;b c\n")
    block = read_table(path, tags="tags", tag_separator=";").labels.block("tags")
    assert tags_of(block) == expected
    assert block.n_missing == 1
    for value in ("['a', 'b']", '{"a": 1}', "3", "[" * 9000):
        path = write(tmp_path, "a.jsonl", json.dumps({"text": "cat", "tags": value}) + "\n")
        check_error("must hold a list of tags in each row of 'tags', but got", read_table, path,
                    tags="tags")  # fmt: skip


def test_numbers_dates_booleans_and_large_codes(tmp_path):
    content = "text,n,day,b\ncat,1.5,2001-07-02T12:00,TRUE\ndog, NA ,2001,false\ndog,-2e3,,true\n"
    path = write(tmp_path, "a.csv", content + "dog,nan,2020-01-01,\n")
    labels = read_table(path, numeric=["n", "day"], categories="b").labels
    assert labels.block("n").values.toarray().ravel().tolist() == [1.5, 0, -2000, 0]
    assert labels.block("n").values.nnz == 2
    assert labels.block("day").values.toarray().ravel().tolist() == [2001.5, 2001, 0, 2020]
    assert labels.block("b").columns == ("False", "True")
    days = [datetime(2001, 7, 2, 12), None, date(2001, 1, 1)]
    frame = pd.DataFrame({"text": ["cat", "dog", "dog"], "day": pd.to_datetime(days)})
    for unit in ("s", "ns"):
        typed = frame.assign(day=frame["day"].astype(f"datetime64[{unit}]"))
        typed.to_parquet(tmp_path / "a.parquet")
        block = read_table(tmp_path / "a.parquet", numeric="day").labels.block("day")
        expected = Labels.from_frame(typed[["day"]]).block("day")
        np.testing.assert_array_equal(block.values.toarray(), expected.values.toarray())
    table = pa.table({"text": ["cat", "dog"], "code": [2**60 + 1, None]})
    path = write(tmp_path, "a.parquet", parquet_bytes(table))
    assert read_table(path, categories="code").labels.names == (str(2**60 + 1),)


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_ordered_categories_of_files_keep_their_order(tmp_path, suffix):
    size = pd.Categorical(["low", "high", "low"], ["low", "middle", "high"], ordered=True)
    frame = pd.DataFrame({"text": ["red hat", "hat", "red"], "size": size})
    getattr(frame, f"to_{suffix}")(tmp_path / f"a.{suffix}")
    block = read_table(tmp_path / f"a.{suffix}", categories="size").labels.block("size")
    assert block.columns == ("low", "high")
    assert block.values.toarray().tolist() == [[1, 0], [0, 1], [1, 0]]


def test_wrong_categories_and_ids(tmp_path):
    path = write(tmp_path, "a.jsonl", '{"text": "cat", "c": 1}\n{"text": "dog", "c": [1]}\n')
    message = "a.jsonl must hold plain values as names, tags and categories, but got a list at row"
    check_error(f"{message} 1, column 'c'", read_table, path, categories="c")
    check_error(f"{message} 1, column 'c'", read_table, path, ids="c")
    path = write(tmp_path, "a.jsonl", '{"text": "cat", "c": 1}\n{"text": "dog"}\n')
    check_error("a.jsonl, row 1: column 'c' is empty; give every", read_table, path, ids="c")
    row = json.dumps({"text": "cat", "c": "x" * 900})
    check_error("...", read_table, write(tmp_path, "a.jsonl", row), numeric="c")


def test_wrong_arguments(tmp_path):
    path = write(tmp_path, "table.dat", csv_text())
    message = "table.dat: the name does not show read_table which format the file has; pass"
    check_error(message, read_table, path)
    assert read_table(path, format="csv").shape == (5, 4)
    for options, message in (
        ({"format": "xls"}, r"`format` of read_table must be one of 'csv', 'tsv'"),
        ({"encoding": "latin-99"}, r"`encoding` must be one that Python knows\. Got 'latin-99'"),
        ({"encoding": "hex"}, r"`encoding` must be one that Python knows\. Got 'hex'"),
    ):
        with pytest.raises(ValueError, match=message):
            read_table(path, **{"format": "csv", **options})
    with path.open() as text, pytest.raises(TypeError, match=r"open for reading bytes\. Got Text"):
        read_table(text, format="csv")
    with pytest.raises(TypeError, match=r"A file must be a path, or .* Got list\."):
        read_table(["a.csv"], format="csv")


def test_text_settings_and_errors_of_a_tokenizer(tmp_path):
    path = write(tmp_path, "a.csv", "text\nThe cat-flap of 2001\n")
    assert read_table(path).words == ("cat", "flap")
    corpus = read_table(path, text_settings=TextSettings(ngrams=2))
    assert corpus.words == ("cat", "cat flap", "flap")
    assert read_table(path, text_settings=str.split).words == ("2001", "The", "cat-flap", "of")
    check_error("a.csv: No word of 1 text is left to count.", read_table, path,
                text_settings=lambda text: [])  # fmt: skip

    def tokenize(text):
        raise OSError("the dictionary is gone")

    with pytest.raises(OSError, match="the dictionary is gone"):
        read_table(path, text_settings=tokenize)


def test_wide_and_long_tables(tmp_path):
    # Either took hours when each name was looked for among all.
    names = [f"c{number}" for number in range(200_000)]
    values = ["silk gown", *["1"] * len(names)]
    wide = write(tmp_path, "wide.csv", ",".join(["text", *names]) + "\n" + ",".join(values))
    corpus = read_table(wide, numeric=names[-300:], text_settings=ALL)
    assert len(corpus.labels.blocks) == 300
    text = "word " * 200_000
    for name, content in (("a.csv", f'text\n"{text}"\n'), ("a.jsonl", json.dumps({"text": text}))):
        assert read_table(write(tmp_path, name, content)).n_tokens == 200_000
    bomb = gzip.compress(b"text\nsilk gown\n" + b"a" * (40 << 20))
    check_error("bomb.csv.gz: it is damaged or cut off (straddling object", read_table,
                write(tmp_path, "bomb.csv.gz", bomb))  # fmt: skip


def test_like_a_corpus(tmp_path):
    settings = TextSettings(language=None, token_pattern=r"\w+")
    path = write(tmp_path, "a.csv", "text,n\nA cat,1\nA dog,2\n")
    train = read_table(path, numeric="n", text_settings=settings)
    assert train.words == ("a", "cat", "dog")
    path = write(tmp_path, "b.csv", "text,m\nA bird and a cat,5\n")
    for like in (train, train[1:], SimpleNamespace(words_=train.words, text_settings_=settings)):
        corpus = read_table(path, numeric="m", like=like)
        assert corpus.words == train.words
        assert corpus.counts.toarray().tolist() == [[2, 1, 0]]
        assert corpus.text_settings == settings
        assert corpus.labels.names == ("m",)
    assert read_table(path, like=train, text_settings=settings).words == train.words
    with pytest.raises(ValueError, match=r"`text_settings` of read_table must be those of `like`"):
        read_table(path, like=train, text_settings=TextSettings())
    counted = Corpus([[1]], words=["cat"])
    with pytest.raises(ValueError, match=r"`like` of read_table must know how its texts were"):
        read_table(path, like=counted)
    assert read_table(path, like=counted, text_settings=settings).words == ("cat",)
    with pytest.raises(TypeError, match=r"`like` of read_table must have words: a Corpus, or a"):
        read_table(path, like=HDSP(), text_settings=settings)


def test_like_a_model_reads_all_that_is_not_named(tmp_path):
    rows = "cat dog;u,v;1,5;x;d1\nhouse garden;v;2;y;d2\n" * 10
    path = write(tmp_path, "a.csv", "body;tags;n;author;id\n" + rows)
    options = {"ids": "id", "groups": "author", "delimiter": ";", "decimal": ","}
    corpus = read_table(path, "body", tags="tags", numeric="n", tag_separator=",",
                        text_settings=TextSettings(max_df=1.0), **options)  # fmt: skip
    model = HDSP(3, max_iter=2, tol=1.0, random_state=0).fit(corpus)
    for like in (corpus, model):
        new = read_table(write(tmp_path, "b.csv", "body;n;author\ndog bird;3,5;z\n"), like=like)
        assert new.words == model.words_
        assert new.labels.names == ("n",)
        assert new.labels.block("n").values.data.tolist() == [3.5]
        assert (new.ids, new.groups) == (None, ("z",))
    assert model.transform(new).shape == (1, 3)
