"""Dataclasses as JSON and arrays."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from scipy.sparse import csr_array

from hdsp.analysis.fitted import FittedModel
from hdsp.fit.stream import Stream
from hdsp.numerics import BoolArray, FloatArray, IntArray
from hdsp.persistence import model_file
from hdsp.persistence.checkpoint import Progress
from hdsp.storage.codec import Decoder, InvalidContents, Limits, encode
from tests.zoo import assert_same


@dataclass(frozen=True, eq=False)
class Inner:
    rows: Annotated[csr_array, Limits("m V")]
    used: Annotated[BoolArray, Limits("m")]


@dataclass(frozen=True, eq=False)
class Outer:
    inner: Inner | None
    topics: Annotated[FloatArray, Limits("V T", least=0.0)]
    sticks: Annotated[FloatArray, Limits("T-1", missing=True)]
    words: Annotated[IntArray, Limits("n", below="V")]
    parts: Mapping[int, FloatArray]
    name: str | float | None
    kind: Literal["a", "b"]
    pair: tuple[int, float]
    texts: Annotated[tuple[str, ...], Limits("V")]
    flag: bool


def example(**changes):
    values = {
        "inner": Inner(csr_array(np.eye(3)), np.array([True, False, True])),
        "topics": np.asfortranarray(np.arange(6.0, dtype=np.float32).reshape(3, 2)),
        "sticks": np.array([np.nan]),
        "words": np.array([2, 0], dtype=np.int8),
        "parts": {7: np.ones(2, np.float16), -1: np.zeros((0, 2))},
        "name": 1.5,
        "kind": "b",
        "pair": (2, 3.0),
        "texts": ("\ud800", "naïve", ""),
        "flag": True,
    }
    return Outer(**values | changes)


def again(value):
    """A value after it was written and read."""
    arrays: dict = {}
    data = json.loads(json.dumps(encode(value, arrays)))
    return Decoder(arrays).decode(Outer, data)


@pytest.mark.parametrize("changes", [{}, {"inner": None, "name": None}, {"name": "x"}])
def test_what_is_written_is_read(changes):
    value = example(**changes)
    found = again(value)
    assert found.topics.flags.f_contiguous
    for field in fields(Outer):
        if field.name != "inner":
            assert_same(getattr(found, field.name), getattr(value, field.name))
    if value.inner is not None:
        assert_same(found.inner.rows.toarray(), value.inner.rows.toarray())
        assert_same(found.inner.used, value.inner.used)


@pytest.mark.parametrize(
    "changes",
    [
        {"inner": Inner(csr_array((3, 4)), np.ones(3, np.bool_))},
        {"inner": Inner(csr_array(np.eye(3)), np.ones(2, np.bool_))},
        {"inner": 3},
        {"topics": np.full((3, 2), -1.0)},
        {"topics": np.full((3, 2), np.nan)},
        {"topics": np.ones((3, 2), np.int64)},
        {"topics": np.ones((3, 3))},
        {"sticks": np.array([np.inf])},
        {"words": np.array([3])},
        {"words": np.array([-1])},
        {"words": np.array([[1]])},
        {"words": np.array([1.0])},
        {"parts": {0: np.array([1e300])}},
        {"name": True},
        {"kind": "c"},
        {"pair": (2,)},
        {"pair": (2.5, 1.0)},
        {"pair": (2**70, 1.0)},
        {"texts": ("a", "b")},
        {"texts": ("a", "b", 3)},
        {"flag": 1},
    ],
)
def test_what_the_hints_do_not_allow_is_refused(changes):
    with pytest.raises(InvalidContents):
        again(example(**changes))


def array_fields(kind, seen):
    """The fields of arrays in a dataclass and in those within, with their limits."""
    if get_origin(kind) is Annotated:
        return array_fields(get_args(kind)[0], seen)
    if not is_dataclass(kind):
        return [found for part in get_args(kind) for found in array_fields(part, seen)]
    if kind in seen:
        return []
    seen.add(kind)
    found = []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        text = str(hint)
        if "ndarray" in text or "csr_array" in text:
            found.append((f"{kind.__name__}.{name}", "Limits(shape='" in text))
        found += array_fields(hint, seen)
    return found


def test_every_array_of_a_file_has_a_shape():
    """Compiled code does not check shapes."""
    seen: set[Any] = {type(None)}
    for kind in (model_file.FittedModel, Stream, Progress, *model_file._ANSWERS.values()):
        found = dict(array_fields(kind, seen))
        # These are checked against the scaling function, and those are not stored.
        for name in ("GlobalState.scaling", "FittedModel.left_out"):
            found.pop(name, None)
        elsewhere = ("LabelDesign.", "LeftOut.", "Problem.", "Block.", "FunctionColumns.")
        missing = [n for n, shaped in found.items() if not shaped and not n.startswith(elsewhere)]
        assert missing == []
    assert FittedModel in seen
