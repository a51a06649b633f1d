"""Formulas such as ``"~ ideology * s(day) + (1 | blog)"``: scaling functions, written short."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NoReturn

from hdsp.checks import quoted
from hdsp.corpus import Kind
from hdsp.scaling.functions import Categorical, Constant, LogLinear, ScalingFunction
from hdsp.scaling.terms import Factor, Interaction, Ordered, Pooled, Spline, Term

_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>`[^`]*`)|(?P<name>[^\W\d][\w.]*)|(?P<number>\d+(?:\.\d*)?(?:e[+-]?\d+)?)"
    r"|(?P<sign>\S))",
    re.IGNORECASE,
)
_LONGEST = 2_000
_GRAMMAR = "write terms such as a + b, a * b, a:b, s(day), o(rating), factor(year) and (1 | author)"


@dataclass(frozen=True)
class _Token:
    """A part of a formula: its kind, its text, and its position from 1."""

    kind: str
    text: str
    position: int

    @property
    def shown(self) -> str:
        return "nothing" if self.kind == "end" else repr(self.text)


@dataclass(frozen=True)
class _Label:
    """A label column as a formula writes it: plain, or by a term."""

    name: str
    written: str
    position: int
    term: Term | None = None


@dataclass
class _Parser:
    """The parser of one formula."""

    text: str
    kinds: Mapping[str, Kind] | None
    tokens: list[_Token] = field(default_factory=list)
    place: int = 0
    labels: dict[str, _Label] = field(default_factory=dict)
    products: dict[frozenset[str], Interaction] = field(default_factory=dict)

    def refuse(self, position: int, what: str, remedy: str) -> NoReturn:
        shown = self.text if len(self.text) <= 80 else f"{self.text[:77]}..."
        raise ValueError(f"The formula {shown!r} has {what} at position {position}: {remedy}.")

    def split(self) -> None:
        """Make tokens, and one that ends them."""
        if len(self.text) > _LONGEST:
            raise ValueError(
                f"A formula must have at most {_LONGEST} characters. Got {len(self.text)}."
            )
        end = 0
        for found in _TOKEN.finditer(self.text):
            kind, end = str(found.lastgroup), found.end()
            self.tokens.append(_Token(kind, found[kind], found.start(kind) + 1))
        self.tokens.append(_Token("end", "", max(len(self.text), end) + 1))

    @property
    def next(self) -> _Token:
        return self.tokens[self.place]

    def take(self, sign: str) -> bool:
        """Go past a sign if it comes next."""
        found = self.next.kind == "sign" and self.next.text == sign
        self.place += found
        return found

    def expect(self, sign: str, within: str) -> None:
        if not self.take(sign):
            found = self.next
            what = f"no {sign!r} in {within}" if found.kind == "end" else repr(found.text)
            self.refuse(found.position, what, f"{within} needs {sign!r} here")

    def parse(self) -> ScalingFunction:
        self.split()
        if not self.take("~"):
            self.refuse(1, "no '~'", "a formula begins with '~' and says nothing before it")
        self.term()
        while self.take("+"):
            self.term()
        if (found := self.next).kind != "end":
            self.refuse(found.position, repr(found.text), _GRAMMAR)
        return self.scaling()

    def term(self) -> None:
        """An intercept, a pooled category, a label, or the product of two."""
        found = self.next
        if found.kind == "number" and found.text == "1":
            self.place += 1
            return
        if self.take("("):
            self.pooled(found.position)
            return
        first = self.label()
        signs = ("*", ":")
        if not any(map(self.take, signs)):
            return
        second = self.label()
        if first.name == second.name:
            self.refuse(found.position, f"{first.name!r} multiplied with itself", "name two labels")
        third = self.next
        if any(map(self.take, signs)):
            what = f"a product of three labels, {self.text[found.position - 1 : third.position]!r}"
            self.refuse(found.position, what, "only two labels can be multiplied")
        pair = Interaction(first.name, second.name)
        self.products.setdefault(frozenset(pair.columns), pair)

    def pooled(self, position: int) -> None:
        """A category after an opening bracket."""
        one = self.next
        if one.kind != "number" or one.text != "1":
            remedy = "brackets hold (1 | author) and nothing else, so write products one by one"
            self.refuse(position, "a bracket", remedy)
        self.place += 1
        if self.next.text in ("+", "*", ":"):
            self.refuse(position, "slopes that differ", "only (1 | author) is possible")
        self.expect("|", "(1 | author)")
        name = self.name("(1 | author)")
        self.expect(")", "(1 | author)")
        written = f"(1 | {name})"
        self.check_kind(name, written, position, ("tags", "category"))
        self.add(_Label(name, written, position, Pooled(name)))

    def label(self) -> _Label:
        """A name, or a function of one."""
        found = self.next
        if found.kind == "name" and self.tokens[self.place + 1].text == "(":
            return self.add(self.function())
        if found.kind not in ("name", "quoted"):
            remedy = "names of other characters are written `between backticks`"
            self.refuse(found.position, found.shown, f"{_GRAMMAR}; {remedy}")
        name = self.name("a term")
        return self.add(_Label(name, name, found.position))

    def name(self, within: str) -> str:
        found = self.next
        if found.kind not in ("name", "quoted"):
            self.refuse(found.position, found.shown, f"{within} needs the name of a label here")
        self.place += 1
        name = found.text.strip("`") if found.kind == "quoted" else found.text
        if self.kinds is not None and name not in self.kinds:
            near = get_close_matches(name, self.kinds, n=3, cutoff=0.5)
            known = f"did you mean {quoted(near)}" if near else f"there are {quoted(self.kinds)}"
            remedy = known if self.kinds else "there are no labels"
            self.refuse(found.position, f"{name!r}, which no label is called,", remedy)
        return name

    def function(self) -> _Label:
        """s(day, 8, period=7), o(rating) or factor(year)."""
        found = self.next
        if found.text not in ("s", "o", "factor"):
            remedy = "there are s() for curves, o() for ordered values and factor() for categories"
            self.refuse(found.position, f"{found.text}()", f"{remedy}, so compute others before")
        self.place += 2
        within = f"{found.text}()"
        name = self.name(within)
        settings = self.settings(within) if found.text == "s" else {}
        self.expect(")", within)
        written = f"{found.text}({name})"
        if found.text == "factor":
            if self.kinds is not None and self.kinds[name] != "number":
                return _Label(name, name, found.position)
            return _Label(name, written, found.position, Factor(name))
        allowed: tuple[Kind, ...] = ("number",) if found.text == "s" else ("number", "category")
        self.check_kind(name, written, found.position, allowed)
        if found.text == "o":
            return _Label(name, written, found.position, Ordered(name))
        n_knots, period = settings.get("n_knots", 5), settings.get("period")
        try:
            whole = int(n_knots) if float(n_knots).is_integer() else n_knots
            term = Spline(name, n_knots=whole, period=period)  # type: ignore[arg-type]
        except ValueError as error:
            self.refuse(found.position, written, str(error).rstrip(".").replace(". Got", ", not"))
        return _Label(name, repr(term), found.position, term)

    def settings(self, within: str) -> dict[str, float]:
        """Numbers after the name in s(), of which the first may be the number of knots."""
        settings: dict[str, float] = {}
        while self.take(","):
            found, key = self.next, "n_knots"
            if found.kind == "name":
                key = found.text
                self.place += 1
                self.expect("=", within)
            if key not in ("n_knots", "period") or key in settings:
                remedy = "s() takes a number of knots and period=, each once"
                self.refuse(found.position, repr(found.text), remedy)
            number = self.next
            if number.kind != "number":
                self.refuse(number.position, number.shown, f"{key} needs a number here")
            self.place += 1
            settings[key] = float(number.text)
        return settings

    def check_kind(self, name: str, written: str, position: int, allowed: tuple[Kind, ...]) -> None:
        if self.kinds is not None and (kind := self.kinds[name]) not in allowed:
            self.refuse(
                position,
                written,
                f"it takes a {' or '.join(allowed)}, and {name!r} is "
                f"{'a ' if kind != 'tags' else ''}{kind}",
            )

    def add(self, label: _Label) -> _Label:
        """A label has one form in all terms."""
        known = self.labels.setdefault(label.name, label)
        if known.term != label.term:
            self.refuse(
                label.position,
                f"{label.written} beside {known.written}",
                f"write {label.name!r} in one way throughout",
            )
        return known

    def scaling(self) -> ScalingFunction:
        """Categories in one factor, and everything else in another."""
        categories: list[str | Term] = []
        others: list[str | Term] = []
        for label in self.labels.values():
            term = label.name if label.term is None else label.term
            category = self.kinds is not None and self.kinds[label.name] != "number"
            inside = category and (label.term is None or label.term.kinds <= Categorical.kinds)
            (categories if inside else others).append(term)
        others += self.products.values()
        if not categories:
            return LogLinear(*others) if others else Constant()
        function = Categorical(*categories)
        return function * LogLinear(*others) if others else function


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
    LogLinear('ideology', Spline('day', n_knots=5), Interaction('ideology', 'day'), variance=1.0)
    >>> parse_formula("~ dept + rating", {"dept": "category", "rating": "number"})
    Categorical('dept', weight_shape=1.0, weight_rate=1.0) * LogLinear('rating', variance=1.0)
    """
    return _Parser(text, kinds).parse()
