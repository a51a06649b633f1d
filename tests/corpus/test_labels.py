import pickle
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from hdsp.corpus import LabelBlock, Labels


@pytest.fixture
def labels():
    stored = csr_array((np.array([0.0, 2.0, 0.0]), np.array([0, 0, 0]), np.array([0, 1, 1, 2, 3])))
    return Labels(
        (
            LabelBlock("tags", "tags", ("a", "b"), csr_array(np.array([[1, 0], [1, 1]] * 2))),
            LabelBlock("x", "number", ("x",), stored),
        ),
        4,
    )


def test_shape_names_and_repr(labels):
    assert len(labels) == 4
    assert labels.shape == (4, 3)
    assert labels.names == ("a", "b", "x")
    assert repr(labels) == "Labels(4 documents: tags 'tags' 2, number 'x')"
    assert repr(Labels.empty(1)) == "Labels(1 document: none)"


def test_names_are_qualified_where_they_would_not_be_unique():
    def block(name, *columns):
        return LabelBlock(name, "tags", columns, csr_array((1, len(columns))))

    one = Labels((block("u", "a", "b"), block("v", "a", "c")), 1)
    assert one.names == ("u=a", "b", "v=a", "c")
    # A plain value must not look like another's qualified name.
    two = Labels((block("u", "a"), block("v", "a", "u=a")), 1)
    assert two.names == ("u=a", "v=a", "v=u=a")


KEYS = [slice(1, 4), slice(None, None, -2), np.array([3, 0, 0]), [2, -1], [], ...]
KEYS += [np.array([False, True, True, False]), [True, False, False, True]]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_indexing_is_that_of_arrays_and_keeps_stored_zeros(labels, key):
    rows = np.arange(4)[np.array([], dtype=int) if isinstance(key, list) and not key else key]
    for selected in (labels[key], labels[key, ...]):
        assert len(selected) == len(rows)
        for block, whole in zip(selected.blocks, labels.blocks, strict=True):
            np.testing.assert_array_equal(block.values.toarray(), whole.values.toarray()[rows])
            stored = np.diff(whole.values.indptr)[rows]
            np.testing.assert_array_equal(np.diff(block.values.indptr), stored)


def test_one_integer_selects_one_document(labels):
    assert labels[-1].shape == (1, 3)
    assert [len(one) for one in labels] == [1, 1, 1, 1]


@given(st.lists(st.sampled_from([None, 0.0, -1.5, 3.0]), min_size=1, max_size=8), st.data())
def test_a_stored_zero_survives_every_selection(values, data):
    numbers = Labels.from_frame(pd.DataFrame({"n": values}), numeric="n")
    rows = data.draw(st.lists(st.integers(0, len(values) - 1), max_size=10))
    selected = numbers[rows].block("n").values
    observed = [values[row] for row in rows if values[row] is not None]
    assert selected.data.tolist() == observed
    assert np.diff(selected.indptr).tolist() == [values[row] is not None for row in rows]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ((0, 1), "An index of Labels must select documents only. Got (0, 1)."),
        ([True], "Labels has 4 documents: boolean index did not match indexed array"),
        ([0.5], "arrays used as indices must be of integer (or boolean) type."),
        ("x", "arrays used as indices must be of integer (or boolean) type."),
        ([[0], [1]], "An index of Labels must select documents only."),
        (4, "Labels has 4 documents: index 4 is out of bounds"),
    ],
)
def test_wrong_indices(labels, key, message):
    with pytest.raises(IndexError, match=re.escape(message)):
        labels[key]


def test_blocks_are_found_selected_and_left_out(labels):
    assert labels.block("x") is labels.blocks[1]
    assert [b.name for b in labels.select("x").blocks] == ["x"]
    assert [b.name for b in labels.select(["x", "tags"]).blocks] == ["tags", "x"]
    assert [b.name for b in labels.without(["x"]).blocks] == ["tags"]
    for method in (labels.block, labels.select, labels.without):
        message = "Labels has no block 'y'. Choose from its blocks: 'tags', 'x'."
        with pytest.raises(ValueError, match=re.escape(message)):
            method("y")


def test_blocks_do_not_share_memory_with_the_caller_and_are_read_only():
    mine = csr_array(np.eye(2))
    block = LabelBlock("t", "tags", ("a", "b"), mine)
    mine.data[:] = 7
    assert block.values.data.tolist() == [1, 1]
    with pytest.raises(ValueError, match="read-only"):
        block.values.data[0] = 2
    with pytest.raises(AttributeError):
        block.name = "u"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("b", "text", ("a",), [[1]]), "must be of a known kind. Got 'text'. Use one of 'tags'"),
        (("b", "tags", ("a", "c"), [[1]]), "must name each of its 1 columns. Got 2 names."),
        (("b", "tags", ("a", "a"), [[1, 0]]), "must have unique columns. Got 'a' more than once."),
        (("b", "number", ("a",), [[np.nan]]), "must store finite values. Got NaN or an infinity."),
        (("b", "tags", ("a",), [[2]]), "Block 'b' of tags must store ones only. Got 2.0."),
        (("b", "category", ("a", "c"), [[0, 1], [1, 1]]), "must have at most one level per docume"),
    ],
)
def test_wrong_blocks(arguments, message):
    *rest, values = arguments
    with pytest.raises(ValueError, match=re.escape(message)):
        LabelBlock(*rest, csr_array(np.array(values, dtype=float)))


def test_wrong_labels(labels):
    message = "`blocks` of Labels must have unique block names. Got 'x' more than once."
    with pytest.raises(ValueError, match=re.escape(message)):
        Labels((labels.blocks[1], labels.blocks[1]), 4)
    message = "Block 'x' of Labels must have one row for each of the 3 documents. Got 4 rows."
    with pytest.raises(ValueError, match=re.escape(message)):
        Labels((labels.blocks[1],), 3)


def test_labels_can_be_pickled(labels):
    again = pickle.loads(pickle.dumps(labels))
    assert again.names == labels.names
    assert again.block("x").values.data.tolist() == [0.0, 2.0, 0.0]
