import itertools
import re
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array, csr_matrix

from hdsp import HDSP, LabelDataWarning, read_table
from hdsp.corpus import Labels, as_labels, make_frame
from hdsp.corpus.columns import level_name, numeric_levels, parse_number
from tests.zoo import fit_quietly


def content(labels):
    """Everything that labels hold, as plain data; None is what is not stored."""
    result = []
    for block in labels.blocks:
        rows = [[None] * len(block.columns) for _ in range(len(labels))]
        entries = block.values.tocoo()
        for row, column, value in zip(entries.row, entries.col, entries.data, strict=True):
            rows[row][column] = float(value)
        result.append((block.name, block.kind, block.columns, rows, block.centred))
    return result


def kinds(labels):
    return [(block.kind, block.columns) for block in labels.blocks]


def test_nothing_and_labels():
    for nothing in (None, [None, None], [[], []]):
        assert as_labels(nothing, 2).shape == (2, 0)
    labels = Labels.from_tags([["a"], []])
    assert as_labels(labels, 2) is labels


def test_lists_of_tags():
    rows = [["b", "a", "b"], None, [], ("a",)]
    array = np.empty(4, dtype=object)
    array[:] = rows
    sets = [{"a", "b"}, float("nan"), np.array([]), np.array(["a"])]
    values = [[1.0, 1.0], [None, None], [None, None], [1.0, None]]
    for tags in (rows, array, pd.Series(rows), sets):
        assert content(as_labels(tags, 4)) == [("tags", "tags", ("a", "b"), values, True)]
    assert Labels.from_tags([[1, 2.0, None]], name="n").block("n").columns == ("1", "2")


STRINGS = [
    ["b", None, "a"],
    ("b", float("nan"), "a"),
    np.array(["b", None, "a"], dtype=object),
    pd.Series(["b", None, "a"], index=[7, 8, 9], name="other"),
    pd.Series(["b", pd.NA, "a"], dtype="string"),
    pl.Series(["b", None, "a"]),
    pa.chunked_array([["b", None], ["a"]]),
]


@pytest.mark.parametrize("values", STRINGS, ids=itertools.count())
def test_a_sequence_of_strings_is_one_category(values):
    expected = [("label", "category", ("a", "b"), [[None, 1.0], [None, None], [1.0, None]], True)]
    assert content(as_labels(values, 3)) == expected


COLUMNS = {
    "dept": ["b", None, "a"],
    "ok": [True, None, False],
    "count": [1, None, 0],
    "x": [0.5, float("nan"), 0.0],
    "tags": [["v", "u", "v"], None, []],
    "day": [date(2001, 7, 2), None, date(2000, 1, 1)],
    "time": [datetime(2001, 7, 2, 12), None, datetime(2000, 1, 1)],
    "price": [Decimal("1.5"), None, Decimal("0")],
    "nothing": [None, None, None],
}
CONTENT = [
    ("dept", "category", ("a", "b"), [[None, 1.0], [None, None], [1.0, None]], True),
    ("ok", "category", ("False", "True"), [[None, 1.0], [None, None], [1.0, None]], True),
    ("count", "number", ("count",), [[1.0], [None], [0.0]], True),
    ("x", "number", ("x",), [[0.5], [None], [0.0]], True),
    ("tags", "tags", ("u", "v"), [[1.0, 1.0], [None, None], [None, None]], True),
    ("day", "number", ("day",), [[2001 + 182 / 365], [None], [2000.0]], True),
    ("time", "number", ("time",), [[2001.5], [None], [2000.0]], True),
    ("price", "number", ("price",), [[1.5], [None], [0.0]], True),
    ("nothing", "category", (), [[], [], []], True),
]


FRAMES = {
    "pandas": make_frame(COLUMNS),
    "polars": make_frame(COLUMNS, like="polars"),
    "pyarrow": make_frame(COLUMNS, like="pyarrow"),
    "pandas nullable": pd.DataFrame(COLUMNS, index=[5, 3, 9]).convert_dtypes(),
    "pandas objects": pd.DataFrame(COLUMNS, dtype=object),
    "pandas arrow": make_frame(COLUMNS, like="pyarrow").to_pandas(types_mapper=pd.ArrowDtype),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_every_column_type_in_every_library(frame):
    assert content(as_labels(frame, 3)) == CONTENT
    assert content(Labels.from_frame(frame)) == CONTENT


def test_categoricals_are_categories_whatever_their_levels():
    frame = pd.DataFrame({"c": pd.Categorical([3, None, 1]), "cut": pd.cut([1, 2, 3], 2)})
    (known, levels), (cut, _) = kinds(Labels.from_frame(frame))
    assert (known, cut, levels) == ("category", "category", ("1", "3"))
    c = pl.Series(["b", None], dtype=pl.Categorical)
    e = pl.Series(["b", "a"], dtype=pl.Enum(["z", "b", "a"]))
    frame = pl.DataFrame({"c": c, "e": e})
    for table in (frame, frame.to_arrow()):
        assert kinds(Labels.from_frame(table)) == [("category", ("b",)), ("category", ("b", "a"))]


def test_list_columns_of_other_kinds_are_tags():
    array = pl.Series([["a", "b"], None], dtype=pl.Array(pl.String, 2))
    frame = pl.DataFrame({"array": array, "integers": [[1, 2, None], [2]]})
    for table in (frame, frame.to_arrow()):
        assert kinds(Labels.from_frame(table)) == [("tags", ("a", "b")), ("tags", ("1", "2"))]
    sets = pd.DataFrame({"t": [{"a"}, None, np.array(["b"]), ("a",), frozenset("c")]})
    assert kinds(Labels.from_frame(sets)) == [("tags", ("a", "b", "c"))]


def test_times_with_a_zone_are_read_in_utc():
    zone = timezone(timedelta(hours=2))
    assert parse_number(datetime(2001, 7, 2, 14, tzinfo=zone)) == 2001.5
    times = pd.to_datetime(pd.Series(["2001-07-02 14:00"])).dt.tz_localize(zone)
    assert Labels.from_frame(pd.DataFrame({"t": times})).block("t").values.data.tolist() == [2001.5]
    assert parse_number(date(9999, 12, 31)) == 9999 + 364 / 365
    assert parse_number(date(2004, 7, 2)) == 2004.5
    times = [np.datetime64("2001-07-02T12"), np.datetime64("NaT")]
    array = pd.DataFrame({"t": times}, dtype=object)
    assert Labels.from_frame(array).block("t").values.data.tolist() == [2001.5]


def test_named_columns_override_types_and_leave_out_the_rest():
    columns = {"text": ["long", "story"], "year": [2001.0, None], "stars": ["4", None]}
    frame = pd.DataFrame({**columns, "tags": [["a"], []], "open": [True, False]})
    labels = Labels.from_frame(frame, tags="tags", categories=["year"], numeric=["stars", "open"])
    expected = [("category", ("2001",)), ("number", ("stars",)), ("tags", ("a",))]
    assert kinds(labels) == [*expected, ("number", ("open",))]
    assert labels.block("stars").values.data.tolist() == [4.0]
    assert labels.block("open").values.data.tolist() == [1.0, 0.0]


def test_level_names():
    assert level_name(np.int64(3)) == level_name(3.0) == level_name("3") == "3"
    assert level_name(0.5) == "0.5"
    assert level_name(date(2001, 1, 2)) == "2001-01-02"
    assert level_name(["a"]) is None


MATRIX = np.array([[1, 0.5, 0, 0], [0, np.nan, np.nan, 2], [np.nan, 0, 1, 0]])


def test_dense_matrix():
    expected = [
        ("labels", "tags", ("label_0", "label_2"), [[1.0, None], [None, None], [None, 1.0]], True),
        ("label_1", "number", ("label_1",), [[0.5], [None], [0.0]], True),
        ("label_3", "number", ("label_3",), [[0.0], [2.0], [0.0]], True),
    ]
    assert content(as_labels(MATRIX, 3)) == expected
    assert content(as_labels(MATRIX.tolist(), 3)) == expected
    assert content(Labels.from_matrix(MATRIX.astype(object))) == expected
    assert as_labels(np.eye(2, dtype=bool), 2).block("labels").kind == "tags"
    assert as_labels(np.zeros((2, 0)), 2).shape == (2, 0)


@pytest.mark.parametrize("form", [csr_array, csr_matrix, coo_array])
def test_sparse_matrix_has_one_block_of_numbers_that_is_not_centred(form):
    expected = [
        ("labels", "tags", ("label_0", "label_2"), [[1.0, None], [None, None], [None, 1.0]], True)
    ]
    values = [[0.5, None], [None, 2.0], [None, None]]
    expected.append(("numbers", "number", ("label_1", "label_3"), values, False))
    assert content(as_labels(form(MATRIX), 3)) == expected


def test_stored_zeros_and_duplicates_of_a_sparse_matrix_do_not_matter():
    entries = (np.array([0.0, 0.5, 0.5, 3.0]), (np.array([0, 0, 0, 1]), np.array([0, 1, 1, 2])))
    same = csr_array(np.array([[0, 1.0, 0], [0, 0, 3.0]]))
    assert content(as_labels(coo_array(entries, shape=(2, 3)), 2)) == content(as_labels(same, 2))


def test_a_huge_sparse_matrix_is_not_made_dense():
    matrix = csr_array((np.array([1.0, 2.5]), ([0, 10**6 - 1], [3, 10**4 - 1])), (10**6, 10**4))
    labels = as_labels(matrix, 10**6)
    assert labels.shape == (10**6, 10**4)
    assert labels.block("numbers").columns == ("label_9999",)


value = st.one_of(st.none(), st.integers(-3, 3), st.floats(-5, 5, width=16))
row = st.fixed_dictionaries(
    {
        "level": st.one_of(st.none(), st.sampled_from(["x", "y", "z", ""])),
        "tags": st.one_of(st.none(), st.lists(st.sampled_from(["x", "u", "v"]), max_size=3)),
        "number": st.one_of(st.none(), st.floats(-5, 5, width=16)),
        "day": st.one_of(st.none(), st.dates()),
    }
)


@given(st.lists(row, max_size=6))
def test_the_three_libraries_give_equal_labels(rows):
    types = [pa.string(), pa.list_(pa.string()), pa.float64(), pa.date32()]
    schema = pa.schema(dict(zip(("level", "tags", "number", "day"), types, strict=True)))
    columns = {name: [r[name] for r in rows] for name in schema.names}
    table = pa.table(columns, schema=schema)
    expected = content(as_labels(table, len(rows)))
    assert content(as_labels(pl.from_arrow(table), len(rows))) == expected
    # A pandas column of objects, all of them None, does not tell its type.
    empty = {name for name in ("tags", "day") if all(v is None for v in columns[name])}
    of_pandas = content(as_labels(table.to_pandas(), len(rows)))
    assert [b for b in of_pandas if b[0] not in empty] == [b for b in expected if b[0] not in empty]
    assert content(as_labels(table.to_pandas(types_mapper=pd.ArrowDtype), len(rows))) == expected


@given(st.lists(st.lists(value, min_size=3, max_size=3), min_size=1, max_size=5))
def test_sparse_and_dense_matrices_say_the_same(rows):
    dense = np.array(rows, dtype=float)
    from_dense, from_sparse = as_labels(dense, len(rows)), as_labels(csr_array(dense), len(rows))
    assert set(from_dense.names) == set(from_sparse.names)
    for name in from_dense.names:
        assert column(from_dense, name) == column(from_sparse, name)


def column(labels, name):
    return [
        block.values.toarray()[:, block.columns.index(name)].tolist()
        for block in labels.blocks
        if name in block.columns
    ]


UNSUPPORTED = (
    "`labels` of HDSP.fit must be None, a matrix, a list of lists of strings, a sequence of "
    "strings, a pandas, polars or pyarrow table in memory, or Labels. Got {}."
)


WRONG_LABELS = [
    (["a", "b"], ValueError, "must have one row for each of the 1 document. Got 2 rows. Pass"),
    ("abc", TypeError, UNSUPPORTED.format("str")),
    (3, TypeError, UNSUPPORTED.format("int")),
    ({"a": ["b"]}, TypeError, UNSUPPORTED.format("dict")),
    (pl.LazyFrame({"a": [1]}), TypeError, UNSUPPORTED.format("LazyFrame")),
    ((x for x in "a"), TypeError, UNSUPPORTED.format("generator")),
    (np.array([1.0]), TypeError, "Got a sequence of type floating in one dimension. Conv"),
    (pd.Series([1]), TypeError, "Got a sequence of type integer in one dimension."),
    ([{"a": 1}], TypeError, "or lists of tags, all of one type. Got a dict at row 0."),
    (np.zeros((1, 1, 1)), ValueError, "must be a matrix of real numbers: Found array with dim 3"),
    (np.array([["a"]]), ValueError, "matrix of real numbers: could not convert string"),
    (np.array([[1j]]), ValueError, "matrix of real numbers: Complex data not supported"),
    (np.array([["a"]], dtype=object), ValueError, "real numbers: could not convert"),
    ([[1], [1, 2]], ValueError, "real numbers: setting an array element with a sequence"),
    ([[1], None], ValueError, "real numbers: setting an array element with a sequence"),
    (["a", ["b"]], TypeError, "or lists of tags, all of one type. Got a list at row 1."),
    ([[["a"]]], TypeError, "plain values as names, tags and categories. Got a list at row 0"),
    ([{1, 2}, {3, 4}], ValueError, "matrix of real numbers: float() argument"),
    (np.array([[0, 0], [1, np.inf]]), ValueError, "Got inf at row 1, column 'label_1'. Leave a"),
    (pd.DataFrame({"r": [1, -np.inf]}), ValueError, "finite. Got -inf at row 1, column 'r'."),
    (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "unique column names. Got 'a'"),
    (pa.table([[1], [2]], names=["a", "a"]), ValueError, "unique column names. Got 'a'"),
    (pd.DataFrame([[1, 2]], columns=[1, "1"]), ValueError, "unique column names. Got '1'"),
    (pl.DataFrame({"s": [{"a": 1}]}), TypeError, "Got a dict at row 0, column 's'."),
    (pa.table({"s": [{"a": 1}]}), TypeError, "Got a dict at row 0, column 's'."),
    (pl.DataFrame({"s": [timedelta(1)]}), TypeError, "Got a Timedelta at row 0, column 's'."),
    (pl.DataFrame({"s": [time(1)]}), TypeError, "Got a time at row 0, column 's'."),
    (pl.DataFrame({"s": [[["a"]]]}), TypeError, "Got a ndarray at row 0, column 's'. Name a"),
    (pd.DataFrame({"s": [b"a"]}), TypeError, "Got a bytes at row 0, column 's'."),
    (pd.DataFrame({"s": ["a", None, 1]}, dtype=object), TypeError, "Got a int at row 2, column"),
]


@pytest.mark.parametrize(("labels", "error", "message"), WRONG_LABELS, ids=itertools.count())
def test_wrong_labels_are_named(labels, error, message):
    with pytest.raises(error, match=re.escape(message)) as caught:
        as_labels(labels, 1)
    assert "`labels` of HDSP.fit" in str(caught.value)


WRONG_COLUMNS = [
    ({"tags": ["c"]}, TypeError, "a list of tags in each row of 'c'. Got 'a;b' at row 0. Split"),
    ({"numeric": ["c"]}, TypeError, "numbers or dates in column 'c'. Got 'a;b' at row 0."),
    ({"categories": ["t"]}, TypeError, "Got a list at row 0, column 't'. Name a column of lists"),
    ({"numeric": ["t"]}, TypeError, "numbers or dates in column 't'. Got ['a'] at row 0."),
    ({"tags": ["t"], "categories": "t"}, ValueError, "Got 't' as tags and as category. Name"),
    ({"tags": ["z"]}, ValueError, "must be columns: 'c', 't'. Got 'z'."),
]


@pytest.mark.parametrize(("arguments", "error", "message"), WRONG_COLUMNS)
def test_wrong_named_columns(arguments, error, message):
    frame = pd.DataFrame({"c": ["a;b"], "t": [["a"]]})
    with pytest.raises(error, match=re.escape(message)) as caught:
        Labels.from_frame(frame, **arguments)
    assert "Labels.from_frame" in str(caught.value)


def test_wrong_frames_and_tags():
    message = "must be a pandas, polars or pyarrow table in memory. Got list."
    with pytest.raises(TypeError, match=re.escape(message)):
        Labels.from_frame([1])
    message = "`tags` of Labels.from_tags must hold a list of tags in each row of 'tags'. Got 'a'"
    with pytest.raises(TypeError, match=re.escape(message)):
        Labels.from_tags(["a"])


def test_months_and_days_have_the_order_of_the_calendar():
    def levels(values):
        return Labels.from_frame(pd.DataFrame({"x": values})).blocks[0].columns

    months = ["March", "January", "may", "December", "March"]
    assert levels(months) == ("January", "March", "may", "December")
    assert levels(["Wed", "mon", "Sun"]) == ("mon", "Wed", "Sun")
    assert levels(["May", "June", "autumn"]) == ("June", "May", "autumn")
    ordered = pd.Categorical(["low", "high", "low"], ["low", "middle", "high"], ordered=True)
    assert levels(ordered) == ("low", "high")
    model = fit_quietly(HDSP(2, init="nmf", max_iter=2), np.eye(5), pd.DataFrame({"x": months}))
    assert [name.split("=")[-1] for name in model.label_names_] == [*levels(months)]


def test_numbers_and_dates_that_categories_write():
    block = Labels.from_frame(pd.DataFrame({"x": ["2", None, "2001-07-02T12:00", "nan"]}),
                              categories="x").blocks[0]  # fmt: skip
    number = numeric_levels(block)
    assert (number.kind, number.values.indptr.tolist()) == ("number", [0, 1, 1, 2, 2])
    assert number.values.data.tolist() == [2.0, 2001.5]
    for values in (["a", "2"], [None]):
        frame = pd.DataFrame({"x": values})
        assert numeric_levels(Labels.from_frame(frame, categories="x").blocks[0]) is None
    days = Labels.from_frame(pd.DataFrame({"x": ["2001-01-01", None, "2004-07-02"]})).blocks[0]
    assert (days.kind, days.values.data.tolist()) == ("number", [2001.0, 2004.5])


def test_lists_of_tags_that_are_mostly_missing_point_to_unknown_tags(tmp_path):
    counts, message = np.eye(5) + 1, "3 of 5 lists of tags in 'tags' are missing, .*unknown"
    model = HDSP(2, init="nmf", max_iter=100, random_state=0)
    with pytest.warns(LabelDataWarning, match=message):
        model.fit(counts, labels=[["a"], ["b"], np.nan, None, None])
    path = tmp_path / "a.csv"
    path.write_text("text,tags\nred hat,a\nblue hat,b\nred,\nblue,\nhat,\n")
    corpus = read_table(path, tags="tags", tag_separator=";")
    with pytest.warns(LabelDataWarning, match=message):
        model.fit(corpus)
    # Lists that are empty were looked at, and a warning would be an error.
    model.fit(counts, labels=[["a"], ["b"], [], [], None])
