"""Formulas: what they stand for, and how they are refused."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdsp import Categorical, Constant, Factor, Interaction, LogLinear, Ordered, Pooled, Spline
from hdsp.scaling.formula import parse_formula

KINDS = {
    **dict.fromkeys(("ideology", "blog", "first name", "class"), "category"),
    **dict.fromkeys(("day", "rating", "é.b"), "number"),
    "tags": "tags",
}


@pytest.mark.parametrize(
    ("text", "scaling"),
    [
        ("~ 1", Constant()),
        ("~ day", LogLinear("day")),
        ("~ ideology + tags", Categorical("ideology", "tags")),
        ("~1+ideology+day", Categorical("ideology") * LogLinear("day")),
        (
            "~ ideology * s(day) + (1 | blog)",
            Categorical("ideology", Pooled("blog"))
            * LogLinear(Spline("day"), Interaction("ideology", "day")),
        ),
        (
            "~ rating:ideology + ideology",
            Categorical("ideology") * LogLinear("rating", Interaction("rating", "ideology")),
        ),
        ("~ day:rating + rating * day", LogLinear("day", "rating", Interaction("day", "rating"))),
        ("~ s(day, 5)", LogLinear(Spline("day", n_knots=5))),
        ("~ s(day, period=7)", LogLinear(Spline("day", period=7))),
        ("~ s(day, n_knots = 12, period=0.5)", LogLinear(Spline("day", n_knots=12, period=0.5))),
        ("~ o(rating) + factor(day)", LogLinear(Ordered("rating"), Factor("day"))),
        ("~ factor(blog)", Categorical("blog")),
        ("~ `first name`", Categorical("first name")),
        ("\n ~ (blog)\n + class", Categorical("blog", "class")),
        (
            "~ é.b:`first name`",
            Categorical("first name") * LogLinear("é.b", Interaction("é.b", "first name")),
        ),
    ],
)
def test_what_formulas_stand_for(text, scaling):
    assert parse_formula(text, KINDS) == scaling


def test_without_kinds_everything_is_log_linear():
    assert parse_formula("~ ideology + (1 | blog)") == LogLinear("ideology", Pooled("blog"))
    with pytest.raises(ValueError, match="at position 3: there are no labels"):
        parse_formula("~ day", {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y ~ day", "has no '~' at position 1: a formula begins with '~'"),
        ("~", "has nothing at position 2: write terms such as a + b"),
        ("~ day +", "has nothing at position 8: write terms such as a + b"),
        ("~ day rating", "has 'rating' at position 7: write terms such as a + b"),
        ("~ day - 1", "has 'day - 1' at position 3: write terms such as a + b"),
        ("~ 0 + day", "has '0' at position 3: write terms"),
        ("~ day ^ 2", "has '^' at position 7: write terms"),
        ("~ day # of birth", "has '#' at position 7: write terms"),
        ("~ log(day)", "has 'log(day)' at position 3: there are s(day) for curves"),
        ("~ s(day", "has '(' at position 4: write terms"),
        ("~ s(day] + rating", "has ']' at position 8: write terms"),
        ("~ s()", "has 's()' at position 3: there are s(day) for curves"),
        ("~ o(rating, 3)", "'o(rating, 3)' at position 3: o() takes the name of a label and noth"),
        ("~ s(day, knots=3)", "'s(day, knots=3)' at position 3: s() takes a number of knots and"),
        ("~ s(day, 3, 4)", "has 's(day, 3, 4)' at position 3: s() takes a number of knots and"),
        ("~ s(day, period=x)", "at position 3: s() takes a number of knots and period=, each once"),
        ("~ s(day, 0)", "'s(day, 0)' at position 3: `n_knots` of Spline must be 1 to 100, not 0."),
        ("~ (1 + day | blog)", "'1 + day | blog' at position 4: slopes cannot differ, only (1 |"),
        ("~ (1 | blog/day)", "has '/' at position 12: write terms"),
        ("~ (day + rating) * blog", "has 'day + rating' at position 4: write terms such as a + b"),
        ("~ day * rating * blog", "has 'day * rating' at position 3: write terms such as a + b"),
        ("~ day:day", "has 'day:day' at position 3: a product needs two different labels."),
        ("~ day + s(day)", "has 's(day)' at position 9: write 'day' in one way throughout."),
        ("~ ideologi", "'ideologi', which no label is called, at position 3: did you mean"),
        ("~ xyzw", "'xyzw', which no label is called, at position 3: there are 'ideology'"),
        ("~ tags.é + class", "'tags.é', which no label is called, at position 3: did you mean 't"),
        ("~ `first", "has '`' at position 3: write terms"),
        ("~" + "(" * 900 + "day" + ")" * 900, "has '(' at position"),
        ("~ " + "day + " * 1000, "A formula must have at most 2000 characters. Got 6002."),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_formula(text, KINDS)


WORDS = "~ + * : ( ) | , = ` 1 2.5 s( o( factor( period day rating ideology blog é __import__ - ²"
PARTS = st.sampled_from([*WORDS.split(), " ", "\n"])


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(max_size=40), st.lists(PARTS, max_size=14).map("".join)))
def test_nothing_but_a_sentence_comes_of_any_text(text):
    for kinds in (KINDS, None):
        try:
            parse_formula(f"~{text}", kinds)
        except ValueError as error:
            message = str(error)
            assert message.endswith(".")
            assert "\n" not in message
