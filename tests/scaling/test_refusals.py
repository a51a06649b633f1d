"""What terms, scaling functions and their products refuse, and what they say."""

import re
import sys

import numpy as np
import pandas as pd
import pytest

from hdsp import Categorical, Custom, LogLinear, Monotone, Softplus
from hdsp.scaling.terms import Factor, Interaction, Ordered, Pooled, Spline
from tests.problems import bind


def line(labels, weights):
    return -sum(weights[j] * labels[j] for j in range(len(labels)))


def learned(spline, knots):
    return spline.bound([["x"]], {"knots": knots, "coefficients": [1.0] * 5})


CALLS = [
    (lambda: Spline(), "Spline must name 1 label column. Got ()."),
    (lambda: Spline("a", n_knots=0), "`n_knots` of Spline must be 1 to 100. Got 0."),
    (lambda: Spline("a").bound([["x", "y"]]), "Spline takes a single number. 'a' has 2 columns."),
    (lambda: learned(Spline("a"), [1.0, *[0.0] * 8]), "Knots must be in a non-decreasing order"),
    (lambda: learned(Spline("x", period=12), [0.0] * 9), "Need at least two internal knots"),
    *(
        (lambda period=period: Spline("x", period=period), "`period` of Spline must be a number")
        for period in (0, -1.0, float("inf"), "12", True)
    ),
    (lambda: Spline("x", n_knots=2, period=12), "with a period needs `n_knots` of 3 or more"),
    *(
        (lambda levels=levels: Ordered("x", levels=levels), "`levels` of Ordered must be a list")
        for levels in ("abc", ["a"], ["a", "a"], [1, 2])
    ),
    (lambda: Pooled("x", parents="x"), "`parents` of Pooled must be another label column"),
    (lambda: Categorical(parents="venue"), "Categorical must name what is nested in 'venue'"),
    (lambda: Factor("x").bound([["a", "b"]]), "Factor takes a single number. 'x' has 2 columns."),
    (
        lambda: Factor("x").bound([["x"]], {"values": [1.0, 2.0], "basis": [1.0, 2.0, 3.0]}),
        "cannot reshape array of size 3",
    ),
    *(
        (lambda names=names: Interaction(*names), "Interaction must name 2 label columns. Got ('a'")
        for names in ("a", "aa", "abc")
    ),
    (lambda: LogLinear(3), "LogLinear takes names of label columns and terms. Got 3."),
    (lambda: LogLinear("rating") * 3, "unsupported operand"),
    (lambda: Spline("day") * Ordered("rating") * 3, "unsupported operand"),
    (lambda: Categorical(weight_shape=0.0), "`weight_shape` of Categorical must be a number"),
    (lambda: LogLinear(variance=np.inf), "`variance` of LogLinear must be a number"),
    (lambda: Softplus(variance=-1.0), "`variance` of Softplus must be a number"),
    (lambda: (Categorical("a") * LogLinear("b")).initial(2, 3), "is not bound to label columns"),
    (lambda: Monotone("price", "year"), "Monotone takes the name of one number. Got"),
    (lambda: Monotone("price", n_knots=0), "`n_knots` of Ramps must be 1 to 100. Got 0"),
    (lambda: Custom(log_scale="exp"), "`log_scale` of Custom must be a function"),
    (lambda: Custom(log_scale=line, gradient="autograd"), "such a function, 'jax' or None. Got"),
    (lambda: Custom(log_scale=line, n_weights=0), "`n_weights` of Custom must be"),
    (lambda: Custom(log_scale=line, variance=0), "`variance` of Custom must be"),
    (
        lambda: Custom(log_scale=line, n_weights=9).initial(2, 4),
        "`n_weights` of Custom must be at most 4, as there are columns. Got 9.",
    ),
    (
        lambda: Custom(log_scale=lambda r, w: r[0] * (1.0 + w[0])).initial(2, 1),
        "`log_scale` of Custom must not depend on labels (at 1, it is 1 more than at 0)",
    ),
    (
        lambda: Custom(log_scale=lambda r, w: w[0] * np.tanh(w[1] * r[0])).initial(2, 2),
        "and must change with some weight: write exp(w)",
    ),
    (
        lambda: Custom(log_scale=lambda r, w: r[0][:, 0] * w[0, 0]).initial(2, 1),
        "`log_scale` of Custom must return numbers [M, T] = [3, 2] for",
    ),
    (
        lambda: Custom(log_scale=line, gradient=lambda r, w: [r[0]]).initial(2, 2),
        "`gradient` of Custom must return one array for each of 2 weights. Got 1",
    ),
]


@pytest.mark.parametrize(("call", "message"), CALLS)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        call()


def test_jax_is_missing_in_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ImportError, match=r"needs JAX: pip install 'hdsp\[jax\]', or leave"):
        Custom(log_scale=line, gradient="jax")


MIXED = {"tags": [["x", "y"], ["x"]], "kind": ["a", "b"], "rating": [1.0, 2.0]}
SIZES = {"x": ["high", "low", "medium"]}
NESTED = Categorical("x", parents="y")
LABELS = [
    (MIXED, Categorical("nope"), "made of label columns: 'tags', 'kind', 'rating'. Got 'nope'"),
    (MIXED, LogLinear(Spline("hour")), "must be made of label columns"),
    (MIXED, Categorical("kind") * LogLinear("kind"), "names the label column 'kind' twice"),
    (MIXED, LogLinear("rating", Spline("rating")), "names the label column 'rating' twice"),
    (MIXED, Categorical("rating"), "category and tags columns. Use LogLinear('rating') instead."),
    (MIXED, Categorical(Spline("rating")), "Use LogLinear(Spline('rating')) instead."),
    (MIXED, LogLinear(Spline("kind")), "Spline takes number columns. 'kind' is of kind category."),
    (MIXED, "~ s(kind)", "Spline takes number columns. 'kind' is of kind category."),
    (MIXED, "~ o(tags)", "Ordered takes category and number columns. 'tags' is of kind tags."),
    (MIXED, "~ (1 | rating)", "Pooled takes category and tags columns. 'rating' is of kind number"),
    (MIXED, LogLinear() * LogLinear(), "no label is left for"),
    ({"rating": [1.0, 2.0]}, Categorical(), "no label is left for"),
    (MIXED, LogLinear("rating", Interaction("kind", "rating")), "without 'kind' by itself: name"),
    (MIXED, LogLinear, "must be 'auto', a formula such as"),
    (MIXED, "automatic", "must be 'auto', a formula such as '~ department"),
    (MIXED, 3, "Categorical('tags') * LogLinear('rating'). Got 3."),
    ({"x": range(60)}, Ordered("x"), "at most 50 different values. 'x' has 60: use Spline('x')"),
    ({"x": map(str, range(60))}, Ordered("x"), "'x' has 60: use Categorical('x') instead."),
    (SIZES, Ordered("x"), "Ordered needs the order of all levels of 'x': write Ordered('x', lev"),
    (SIZES, Ordered("x", levels=["low", "high"]), "needs the order of all levels of 'x'"),
    ({"x": ["a", "b"], "y": [1, 2]}, NESTED, "category and tags columns. 'y' is of kind number."),
    ({"x": ["a", "b"]}, NESTED, "must be made of label columns: 'x'. Got 'y'"),
]


@pytest.mark.parametrize(("columns", "scaling", "message"), LABELS)
def test_scaling_that_does_not_go_with_labels_is_refused(columns, scaling, message):
    frame = pd.DataFrame({name: list(values) for name, values in columns.items()})
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        bind(frame, scaling)
