"""Formulas such as ``"~ ideology * s(day) + (1 | blog)"``: scaling functions, written short."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NoReturn

from hdsp.checks import quoted
from hdsp.corpus import Kind
from hdsp.scaling.functions import Categorical, Constant, LogLinear, ScalingFunction
from hdsp.scaling.terms import Factor, Interaction, Ordered, Pooled, Spline, Term

_NAME = re.compile(r"`[^`]*`|(?<![\w.])[^\W\d][\w.]*")
# Whatever else a formula may have, once names are underscores.
_STRAY = re.compile(r"[^\s0-9_.eE+*:()|,=-]")
_LONGEST = 2_000
_GRAMMAR = (
    "write terms such as a + b, a * b, a:b, s(day), o(rating), factor(year) and (1 | author), "
    "and names of other characters `between backticks`"
)
_FUNCTIONS = ("s", "o", "factor")


@dataclass
class _Reader:
    """A formula as Python's parser sees it; the text tells names and positions."""

    text: str
    kinds: Mapping[str, Kind] | None
    start: int = 0
    labels: dict[str, Term | None] = field(default_factory=dict)
    products: dict[frozenset[str], Interaction] = field(default_factory=dict)

    def refuse(self, place: int | ast.expr, what: str, remedy: str) -> NoReturn:
        """Raise at a position from 0, or at an expression."""
        position = place if isinstance(place, int) else self.start + place.col_offset
        shown = self.text if len(self.text) <= 80 else f"{self.text[:77]}..."
        raise ValueError(f"The formula {shown!r} has {what} at position {position + 1}: {remedy}.")

    def refuse_node(self, node: ast.expr, remedy: str) -> NoReturn:
        self.refuse(node, repr(self.written(node)), remedy)

    def written(self, node: ast.expr | ast.keyword) -> str:
        end = node.end_col_offset or node.col_offset
        return self.text[self.start + node.col_offset : self.start + end]

    def parse(self) -> ast.expr:
        """The expression after the tilde, each name in it as many underscores."""
        if len(self.text) > _LONGEST:
            raise ValueError(
                f"A formula must have at most {_LONGEST} characters. Got {len(self.text)}."
            )
        if not is_formula(self.text):
            self.refuse(0, "no '~'", "a formula begins with '~' and says nothing before it")
        # Python's own words and names of other characters are then names like any other.
        plain = _NAME.sub(lambda name: "_" * len(name[0]), self.text).replace("~", " ", 1)
        if stray := _STRAY.search(plain):
            self.refuse(stray.start(), repr(stray[0]), _GRAMMAR)
        source = re.sub(r"\s", " ", plain).replace(":", "*").strip()
        self.start = len(plain) - len(plain.lstrip())
        try:
            return ast.parse(source, mode="eval").body
        except (SyntaxError, RecursionError, MemoryError) as error:
            # A formula that ends too early has no place of its own.
            place = self.start + (getattr(error, "offset", None) or len(source) + 1) - 1
            rest = self.text[place:].strip()
            token = _NAME.match(rest)
            what = repr(token[0] if token else rest[0]) if rest else "nothing"
            self.refuse(place, what, _GRAMMAR)

    def scaling(self) -> ScalingFunction:
        """Categories in one factor, and everything else in another."""
        for node in _summands(self.parse()):
            self.term(node)
        categories: list[str | Term] = []
        others: list[str | Term] = []
        for name, term in self.labels.items():
            category = self.kinds is not None and self.kinds[name] != "number"
            inside = category and (term is None or term.kinds <= Categorical.kinds)
            (categories if inside else others).append(name if term is None else term)
        others += self.products.values()
        if not categories:
            return LogLinear(*others) if others else Constant()
        function = Categorical(*categories)
        return function * LogLinear(*others) if others else function

    def term(self, node: ast.expr) -> None:
        """An intercept, a pooled category, a label, or the product of two."""
        match node:
            case ast.Constant(value=1):
                pass
            case ast.BinOp(left=ast.Constant(value=1), op=ast.BitOr(), right=grouping):
                name = self.name(grouping)
                self.add(name, Pooled(name), node)
            case ast.BinOp(op=ast.BitOr()):
                self.refuse_node(node, "slopes cannot differ, only (1 | author) is possible")
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                first, second = self.label(left), self.label(right)
                if first == second:
                    self.refuse_node(node, "a product needs two different labels")
                pair = Interaction(first, second)
                self.products.setdefault(frozenset(pair.columns), pair)
            case _:
                self.label(node)

    def label(self, node: ast.expr) -> str:
        """A name, or a function of one: s(day, 8, period=7), o(rating) or factor(year)."""
        if not isinstance(node, ast.Call):
            return self.add(self.name(node), None, node)
        function = self.written(node.func)
        if function not in _FUNCTIONS or not node.args:
            remedy = "there are s(day) for curves, o(rating) for ordered values and factor(year)"
            self.refuse_node(node, f"{remedy} for categories, so compute others before")
        name = self.name(node.args[0])
        if function == "s":
            return self.add(name, self.curve(name, node), node)
        if len(node.args) > 1 or node.keywords:
            self.refuse_node(node, f"{function}() takes the name of a label and nothing else")
        if function == "o":
            return self.add(name, Ordered(name), node)
        category = self.kinds is not None and self.kinds[name] != "number"
        return self.add(name, None if category else Factor(name), node)

    def curve(self, name: str, node: ast.Call) -> Spline:
        """s(day, 8, period=7)."""
        given = [("n_knots", value) for value in node.args[1:]]
        given += [(self.written(own).split("=")[0].strip(), own.value) for own in node.keywords]
        settings = {key: own.value for key, own in given if isinstance(own, ast.Constant)}
        if len(settings) < len(given) or not settings.keys() <= {"n_knots", "period"}:
            self.refuse_node(node, "s() takes a number of knots and period=, each once, a number")
        try:
            return Spline(name, **settings)  # type: ignore[arg-type]
        except ValueError as error:
            self.refuse_node(node, str(error).rstrip(".").replace(". Got", ", not"))

    def name(self, node: ast.expr) -> str:
        """The name of a label."""
        if not isinstance(node, ast.Name):
            self.refuse_node(node, _GRAMMAR)
        name = self.written(node).strip("`")
        if self.kinds is not None and name not in self.kinds:
            near = get_close_matches(name, self.kinds, n=3, cutoff=0.5)
            known = f"did you mean {quoted(near)}" if near else f"there are {quoted(self.kinds)}"
            what = f"{name!r}, which no label is called,"
            self.refuse(node, what, known if self.kinds else "there are no labels")
        return name

    def add(self, name: str, term: Term | None, node: ast.expr) -> str:
        """A label has one form in all terms."""
        if self.labels.setdefault(name, term) != term:
            self.refuse_node(node, f"write {name!r} in one way throughout")
        return name


def _summands(node: ast.expr) -> Iterator[ast.expr]:
    """The terms of a sum, from left to right."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            waiting += [node.right, node.left]
        else:
            yield node


def is_formula(value: object) -> bool:
    """Whether a value is meant as a formula."""
    return isinstance(value, str) and value.lstrip().startswith("~")


def parse_formula(text: str, kinds: Mapping[str, Kind] | None = None) -> ScalingFunction:
    """The scaling function that a formula describes.

    Terms are joined by ``+``: a label by its name, ``s(day)`` for a `Spline`, ``s(month,
    period=12)``, ``o(rating)`` for `Ordered`, ``factor(year)`` for a number as a category and
    ``(1 | author)`` for a category whose levels share a variance. ``a * b`` and ``a:b`` both stand
    for two labels and their `Interaction`: products without the labels themselves would depend on
    where numbers have their zero. Names of other characters are written between backticks.

    Parameters
    ----------
    text : str
        The formula, which begins with ``~``.
    kinds : mapping of str to str or None, default=None
        The kind of each label column, ``"tags"``, ``"category"`` or ``"number"``. With it names are
        checked, and categories are `Categorical`; otherwise everything is `LogLinear`.

    Returns
    -------
    ScalingFunction
        The scaling function.

    Examples
    --------
    >>> parse_formula("~ ideology * s(day)")
    LogLinear('ideology', Spline('day'), Interaction('ideology', 'day'))
    >>> parse_formula("~ dept + rating", {"dept": "category", "rating": "number"})
    Categorical('dept') * LogLinear('rating')
    """
    return _Reader(text, kinds).scaling()
