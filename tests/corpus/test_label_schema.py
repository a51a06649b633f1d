import json
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import hdsp
from hdsp.corpus import BlockSchema, LabelBlock, Labels, LabelSchema
from hdsp.storage.codec import Decoder, encode

TAGS = [["u", "a"], None, ["v"], []]
FRAME = pd.DataFrame({"dept": ["a", "b", None, "a"], "tags": TAGS, "rating": [1, 3, None, 5]})


@pytest.fixture
def schema():
    return LabelSchema.of(Labels.from_frame(FRAME))


@st.composite
def frames(draw, min_size=1):
    row = st.tuples(
        st.one_of(st.none(), st.sampled_from("abc")),
        st.one_of(st.none(), st.lists(st.sampled_from("uvw"), max_size=3)),
        st.one_of(st.none(), st.integers(-4, 4)),
    )
    rows = draw(st.lists(row, min_size=min_size, max_size=8))
    level, tags, numbers = ([r[j] for r in rows] for j in range(3))
    columns = {"level": pd.array(level, "string"), "tags": pd.Series(tags, dtype=object)}
    return pd.DataFrame({**columns, "n": pd.array(numbers, dtype="Int64")})


def entries(matrix):
    coo = matrix.tocoo()
    return sorted(zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True))


def test_what_training_saw(schema):
    assert schema.n_labels == 6
    assert schema.names == ("dept=a", "b", "tags=a", "u", "v", "rating")
    assert schema.slices() == {"dept": slice(0, 2), "tags": slice(2, 5), "rating": slice(5, 6)}
    assert schema.kind("tags") == "tags"
    assert schema.block("rating") == BlockSchema(
        "rating", "number", ("rating",), (3.0,), (float(np.std([1, 3, 5])),)
    )
    message = "The model has no labels 'x'. Choose from its blocks: 'dept', 'tags', 'rating'."
    with pytest.raises(ValueError, match=re.escape(message)):
        schema.kind("x")


def test_encoding_stores_what_is_observed_and_nothing_else(schema):
    design = schema.encode(Labels.from_frame(FRAME))
    low = -2 / np.std([1, 3, 5])
    expected = [[1, 0, 1, 1, 0, low], [0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0], [1, 0, 0, 0, 0, -low]]
    np.testing.assert_array_equal(design.toarray(), expected)
    # The mean is stored as a zero.
    assert [row.indices.tolist() for row in design] == [[0, 2, 3, 5], [1, 5], [4], [0, 5]]
    assert design.dtype == np.float64
    assert design.has_sorted_indices


@pytest.mark.parametrize(
    ("values", "mean", "scale"),
    [([], 0.0, 1.0), ([0.1] * 3, 0.1, 1.0), ([7.0], 7.0, 1.0), ([1.0, 2.0], 1.5, 0.5)],
)
def test_mean_and_scale(values, mean, scale):
    frame = pd.DataFrame({"n": [*values, np.nan]})
    block = LabelSchema.of(Labels.from_frame(frame, numeric="n")).blocks[0]
    assert (block.mean, block.scale) == ((mean,), (scale,))


def test_numbers_of_a_sparse_matrix_are_scaled_but_not_centred():
    matrix = csr_array(np.array([[3.0, 0], [0, 0], [-4.0, 0.5]]))
    labels = Labels.from_matrix(matrix)
    schema = LabelSchema.of(labels)
    assert schema.blocks[0].mean == (0.0, 0.0)
    assert schema.blocks[0].scale == (np.sqrt(12.5), 0.5)
    np.testing.assert_allclose(
        schema.encode(labels).toarray(), matrix.toarray() / [np.sqrt(12.5), 0.5]
    )
    assert schema.encode(labels).nnz == 3


def test_numbers_too_large_to_standardise():
    message = "Numbers must be small enough to standardise. Got 1e+300 in column 'label_0'."
    with pytest.raises(ValueError, match=re.escape(message)):
        LabelSchema.of(Labels.from_matrix([[1e300], [-1e300]]))


@given(frames(), st.data())
def test_selecting_documents_commutes_with_encoding(frame, data):
    labels = Labels.from_frame(frame)
    schema = LabelSchema.of(labels)
    rows = data.draw(st.lists(st.integers(0, len(frame) - 1), max_size=10))
    selected = schema.encode(labels[rows])
    assert entries(selected) == entries(schema.encode(labels)[np.array(rows, dtype=int)])


@given(frames(), st.randoms())
def test_permuting_documents_permutes_the_design(frame, random):
    order = list(range(len(frame)))
    random.shuffle(order)
    labels, permuted = Labels.from_frame(frame), Labels.from_frame(frame.iloc[order])
    assert permuted.names == labels.names
    design = LabelSchema.of(labels).encode(labels)
    again = LabelSchema.of(permuted).encode(permuted)
    np.testing.assert_allclose(again.toarray(), design[order].toarray(), atol=1e-12)
    assert again.nnz == design.nnz


@given(frames(), st.integers(-20, 20), st.sampled_from([0.25, 1, 100]))
def test_the_design_does_not_depend_on_the_numbers_unit(frame, shift, factor):
    other = frame.assign(n=frame["n"].astype("Float64") * factor + shift)
    labels, changed = Labels.from_frame(frame), Labels.from_frame(other)
    assume(labels.block("n").values.nnz)
    design = LabelSchema.of(labels).encode(labels)
    again = LabelSchema.of(changed).encode(changed)
    np.testing.assert_allclose(again.toarray(), design.toarray(), atol=1e-12)
    assert again.nnz == design.nnz


@given(frames(min_size=0))
def test_round_trip_through_json(frame):
    schema = LabelSchema.of(Labels.from_frame(frame))
    data = json.loads(json.dumps(encode(schema, {})))
    assert Decoder({}).decode(LabelSchema, data) == schema


@given(frames(), frames())
def test_encoding_never_fails_and_warns_at_most_once(train, test):
    schema = LabelSchema.of(Labels.from_frame(train))
    labels = Labels.from_frame(test)
    seen = {("level", x) for x in train["level"].dropna()}
    seen |= {("tags", x) for tags in train["tags"].dropna() for x in tags}
    carried = {("level", x) for x in test["level"].dropna()}
    carried |= {("tags", x) for tags in test["tags"].dropna() for x in tags}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        design = schema.encode(labels)
    unknown = carried - seen
    assert len(caught) == (len(unknown) > 0)
    if unknown:
        assert str(caught[0].message).startswith(f"{len(unknown)} label")
    assert design.shape == (len(test), schema.n_labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert entries(schema.encode(labels, warn=False)) == entries(design)


def test_the_warning_counts_unknown_labels(schema):
    new = pd.DataFrame(
        {"dept": ["x", "a", None], "tags": [["u"], ["y", "z"], ["y"]], "new": [0, 1, 2]}
    )
    for labels, message in (
        (Labels.from_frame(new), "4 labels unknown to the model were ignored (in 3 documents): 'x"),
        (Labels.from_tags([["q"]]), "1 label unknown to the model was ignored (in 1 document): 'q"),
        (Labels.from_tags([[f"n{i:02}" for i in range(13)]]), "'n09' and 3 more"),
    ):
        with pytest.warns(hdsp.UnknownLabelWarning, match=re.escape(message)):
            design = schema.encode(labels)
        assert design.nnz == 2 * ("4 labels" in message)


@pytest.mark.filterwarnings("error")
def test_unknown_labels_that_no_document_carries_are_silent(schema):
    labels = Labels.from_tags([["u"], ["q"]])
    assert entries(schema.encode(labels[:1])) == [(0, 3, 1.0)]
    assert schema.encode(Labels.empty(2)).shape == (2, 6)


def test_a_schema_without_labels():
    schema = LabelSchema.of(Labels.empty(2))
    assert schema.names == ()
    assert schema.slices() == {}
    assert schema.encode(Labels.empty(3)).shape == (3, 0)
    assert schema.read(np.array([[1.0, 2.5]]), 1, "f").shape == (1, 2)


class TestRead:
    def test_columns_are_converted_where_nothing_is_lost(self):
        schema = LabelSchema.of(Labels.from_frame(pd.DataFrame({"c": ["1", "2"], "n": [1, 2]})))
        new = pd.DataFrame({"n": ["2", None], "c": [2, 1], "other": ["x", "y"]})
        for frame in (new, pl.from_pandas(new)):
            labels = schema.read(frame, 2, "HDSP.transform")
            assert {b.name: (b.kind, b.columns) for b in labels.blocks} == {
                "c": ("category", ("1", "2")),
                "n": ("number", ("n",)),
            }
            assert entries(schema.encode(labels)) == [(0, 1, 1.0), (0, 2, 1.0), (1, 0, 1.0)]

    @pytest.mark.filterwarnings("error")
    def test_missing_and_unknown_columns(self, schema):
        labels = schema.read(pd.DataFrame({"rating": [3], "unknown": [{}]}), 1, "f")
        assert entries(schema.encode(labels)) == [(0, 5, 0.0)]
        assert schema.read(None, 2, "f").shape == (2, 0)

    def test_a_table_without_any_known_column_is_worth_a_warning(self, schema):
        message = "`labels` of f has no column that the model knows, so every label is missing."
        with pytest.warns(hdsp.LabelDataWarning, match=re.escape(message)):
            labels = schema.read(pd.DataFrame({"Rating": [3]}), 1, "f")
        assert schema.encode(labels).nnz == 0

    def test_columns_that_training_saw_empty_may_hold_anything(self):
        schema = LabelSchema.of(Labels.from_frame(pd.DataFrame({"c": [None, None], "n": [1, 2]})))
        labels = schema.read(pd.DataFrame({"c": [["a"], 1], "n": [1, 2]}), 2, "f")
        assert [block.name for block in labels.blocks] == ["n"]

    @pytest.mark.parametrize(
        ("frame", "message"),
        [
            ({"rating": ["good"]}, "must hold numbers or dates in column 'rating'. Got 'good'"),
            ({"tags": ["u"]}, "must hold a list of tags in each row of 'tags'. Got 'u' at row 0."),
            ({"dept": [["a"]]}, "Got a list at row 0, column 'dept'."),
        ],
    )
    def test_columns_that_cannot_be_converted(self, schema, frame, message):
        with pytest.raises(TypeError, match=re.escape(message)):
            schema.read(pd.DataFrame(frame), 1, "HDSP.transform")

    @pytest.mark.parametrize("train", [np.asarray, csr_array])
    @pytest.mark.parametrize("test", [np.asarray, csr_array, np.ndarray.tolist])
    def test_a_number_stays_a_number_in_dense_and_sparse(self, train, test):
        seen = Labels.from_matrix(train(np.array([[0, 1.0, 3.0], [1.0, 2.0, 0]])))
        schema = LabelSchema.of(seen)
        labels = schema.read(test(np.array([[1.0, 1.0, 0.0], [np.nan, 0.0, 1.0]])), 2, "f")
        assert [(b.name, b.kind, b.columns, b.centred) for b in labels.blocks] == [
            (b.name, b.kind, b.columns, b.centred) for b in seen.blocks
        ]
        centred = train is np.asarray
        expected = [[1.0, -1.0, -1.0], [0, -3.0, -1 / 3]]
        if not centred:
            expected = [[1.0, 1 / np.sqrt(2.5), 0], [0, 0, 1 / 3]]
        np.testing.assert_allclose(schema.encode(labels).toarray(), expected)

    def test_wrong_matrices(self, schema):
        message = (
            "`labels` of f must be of the form that training saw: category 'dept', tags 'tags', "
            "number 'rating'. Got a matrix of 6 columns. Pass a table or Labels with these names,"
        )
        with pytest.raises(ValueError, match=re.escape(message)):
            schema.read(np.zeros((1, 6)), 1, "f")
        of_matrix = LabelSchema.of(Labels.from_matrix([[0, 0.5], [1, 2]]))
        message = "training saw: tags 'labels', number 'label_1'. Got a matrix of 1 column."
        for matrix in (np.zeros((1, 1)), [[0]], csr_array((1, 1))):
            with pytest.raises(ValueError, match=re.escape(message)):
                of_matrix.read(matrix, 1, "f")
        with pytest.raises(ValueError, match="'labels' of tags must store ones only"):
            of_matrix.read([[0, 1], [2, 1]], 2, "f")

    def test_labels_of_another_kind(self, schema):
        message = "must be of the kinds that training saw. Got 'tags' as number, which was tags."
        number = Labels((LabelBlock("tags", "number", ("tags",), csr_array([[1.0]])),), 1)
        for method in (lambda x: schema.read(x, 1, "f"), schema.encode):
            with pytest.raises(ValueError, match=re.escape(message)):
                method(number)
        message = "Got 'dept' as tags, which was category. Convert it, or train again."
        with pytest.raises(ValueError, match=re.escape(message)):
            schema.read(Labels.from_tags([["a", "b"]], name="dept"), 1, "f")
        one_each = Labels.from_tags([["a"], ["b"]], name="dept")
        assert entries(schema.encode(schema.read(one_each, 2, "f"))) == [(0, 0, 1.0), (1, 1, 1.0)]

    def test_labels_of_a_matrix_whose_kinds_were_guessed_otherwise(self):
        schema = LabelSchema.of(Labels.from_matrix([[0, 0.5], [1, 2]]))
        labels = schema.read(Labels.from_matrix([[0, 1]]), 1, "f")
        with pytest.warns(hdsp.UnknownLabelWarning, match="'label_1'"):
            assert schema.encode(labels).nnz == 0

    def test_the_length_is_checked(self, schema):
        message = "`labels` of f must have one row for each of the 3 documents. Got 4 rows."
        with pytest.raises(ValueError, match=re.escape(message)):
            schema.read(FRAME, 3, "f")
