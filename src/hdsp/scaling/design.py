"""The space of labels: what a user writes (`scaling=`), bound to the label columns of training."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import csr_array, hstack

from hdsp.checks import check_known, quoted
from hdsp.corpus.labels import Labels
from hdsp.corpus.schema import LabelSchema
from hdsp.exceptions import UnknownLabelWarning
from hdsp.numerics import BoolArray, FloatArray, IntArray
from hdsp.scaling.formula import is_formula, parse_formula
from hdsp.scaling.functions import (
    Categorical,
    Constant,
    Design,
    LogLinear,
    Product,
    ScalingFunction,
    of_terms,
)
from hdsp.scaling.links import FUNCTIONS
from hdsp.scaling.terms import Factor, Ordered, Pooled, Term, TermProduct, plain_term

# In standard deviations; single precision changes values by less.
_SAME_VALUE = 1e-4
# A numeric label with three to this many different values, all of them whole, is ordered by
# default. Two values make a line.
_MOST_ORDERED = 10
# What a user may write: "auto", a formula, or an expression.
Scaling: TypeAlias = str | ScalingFunction | Term | TermProduct


class FunctionColumns(NamedTuple):
    """A scaling function that is not log-linear, and the design's columns that it takes."""

    function: ScalingFunction
    columns: IntArray


@dataclass(frozen=True, eq=False)
class LabelDesign:
    """How labels become a design, and what its columns do to topics.

    Attributes
    ----------
    schema : LabelSchema
        The label columns of training.
    terms : tuple of Term
        The bound terms, in the order of the design's columns: the main terms of all label columns
        first.
    scaling : ScalingFunction
        The scaling function, bound to the design's columns.
    """

    schema: LabelSchema
    terms: tuple[Term, ...]
    scaling: ScalingFunction

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the J columns of the design."""
        return tuple(name for term in self.terms for name in term.names)

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """The columns of each term."""
        ends = np.cumsum([len(term.names) for term in self.terms]).tolist()
        return tuple(
            slice(end - len(term.names), end) for term, end in zip(self.terms, ends, strict=True)
        )

    @property
    def n_columns(self) -> int:
        """The number J of columns of the design."""
        return len(self.names)

    @cached_property
    def used(self) -> BoolArray:
        """Which columns of the design the scaling function takes, [J]."""
        used = np.zeros(self.n_columns, dtype=np.bool_)
        if isinstance(self.scaling, Product) and self.scaling.split is not None:
            used[np.concatenate(self.scaling.split)] = True
        return used

    @cached_property
    def functions(self) -> tuple[FunctionColumns, ...]:
        """The factors whose columns do not act by themselves, but through the function's scale."""
        if not isinstance(self.scaling, Product) or self.scaling.split is None:
            return ()
        pairs = zip(self.scaling.factors, self.scaling.split, strict=True)
        return tuple(FunctionColumns(*pair) for pair in pairs if not pair[0].log_linear)

    @cached_property
    def own(self) -> IntArray:
        """The column of the design that holds the values of each label, one per label."""
        starts = (
            np.arange(part.start, part.start + len(block.columns))
            for block, part in zip(self.schema.blocks, self.slices, strict=False)
        )
        return np.concatenate([np.zeros(0, dtype=np.int64), *starts])

    @cached_property
    def own_scale(self) -> FloatArray:
        """What the values of each label are multiplied by in its own column, one per label."""
        mains = zip(self.schema.blocks, self.terms, strict=False)
        scales = [np.full(len(block.columns), term.value_scale) for block, term in mains]
        return np.concatenate([np.zeros(0), *scales])

    @property
    def used_labels(self) -> BoolArray:
        """Which labels the scaling function takes, one per label."""
        return np.asarray(self.used[self.own])

    @cached_property
    def plain(self) -> bool:
        """Whether the design holds the values of labels and nothing else."""
        return self.n_columns == self.schema.n_labels

    @cached_property
    def indicator(self) -> BoolArray:
        """Which columns hold only 0 and 1, [J]."""
        parts = [term.indicator for term in self.terms]
        return np.concatenate([np.zeros(0, dtype=np.bool_), *parts])

    @cached_property
    def n_levels(self) -> IntArray:
        """For columns that exclude each other, how many of them there are; 0 for others, [J]."""
        sizes = [len(term.names) if term.exclusive else 0 for term in self.terms]
        widths = [len(term.names) for term in self.terms]
        return np.repeat(np.array(sizes, dtype=np.int64), widths)

    def depends(self, name: str) -> list[Term]:
        """The terms that are made from a label column, its main term first."""
        return [term for term in self.terms if name in term.columns]

    def single_values(self, name: str) -> FloatArray | None:
        """The only values of a number that have effects, in standard units; None if all have."""
        term = self.depends(name)[0]
        return np.asarray(term.fitted["values"]) if isinstance(term, Factor) else None

    def encode(self, labels: Labels, warn: bool = True) -> Design:
        """The design [M, J] of labels; unknown ones are ignored, with a warning.

        Unknown values of an ordered label count as the nearest one, with a warning.
        """
        values = self.schema.encode(labels, warn)
        for term in self.terms if warn else ():
            known = np.asarray(term.fitted.get("values", ()))
            if isinstance(term, Ordered) and not term.has_levels and len(known):
                own = np.unique(csr_array(values[:, self.schema.slices()[term.columns[0]]]).data)
                block = self.schema.block(term.columns[0])
                far = np.abs(own[:, None] - known).min(axis=1) > _SAME_VALUE
                if far.any():
                    unknown, trained = (
                        [f"{round(x, 9) + 0.0:.6g}" for x in part * block.scale[0] + block.mean[0]]
                        for part in (own[far][:5], known)
                    )
                    warnings.warn(
                        f"{block.name!r} was not {', '.join(unknown)} in training: the nearest of "
                        f"{', '.join(trained)} is used.",
                        UnknownLabelWarning,
                        stacklevel=4,
                    )
        return self.design(values)

    def design(self, values: csr_array) -> Design:
        """The design [M, J] of documents with these values of labels.

        Columns that the scaling function does not take are empty.
        """
        values = self._with_parents(values)
        design = values
        if not self.plain:
            parts = {
                name: csr_array(values[:, columns])
                for name, columns in self.schema.slices().items()
            }
            made = []
            for term in self.terms:
                made.append(term.expand([parts[name] for name in term.columns]))
                if term.main:
                    parts[term.columns[0]] = made[-1]
            design = csr_array(hstack(made, format="csr"))
            design.sort_indices()
        return design if self.used.all() else csr_array(design.multiply(self.used))

    def values(self, design: Design) -> csr_array:
        """The values of labels in documents with this design, one column per label."""
        if self.plain:
            return design
        found = csr_array(csr_array(design)[:, self.own])
        return found if (self.own_scale == 1.0).all() else _divided(found, self.own_scale)

    def of_labels(self, sums: FloatArray) -> FloatArray:
        """Sums over documents of the design's columns times something, [J, n], those of labels."""
        return np.asarray(sums[self.own] / self.own_scale[:, None])

    def _with_parents(self, values: csr_array) -> csr_array:
        """Values of labels, with the parents that nested levels imply where they are missing."""
        slices = self.schema.slices()
        for term in self.terms:
            if isinstance(term, Pooled) and term.parents is not None:
                place = slices[term.parents]
                own, parents = (
                    csr_array(values[:, columns]) for columns in (slices[term.columns[0]], place)
                )
                filled = term.implied(own, parents)
                if filled is not parents:
                    sides = [values[:, : place.start], filled, values[:, place.stop :]]
                    values = csr_array(hstack(sides, format="csr"))
        return values

    def grown(self, schema: LabelSchema, scaling: Scaling) -> "LabelDesign":
        """The space of a schema with further labels; what terms have learned stays."""
        learned = {term: term.fitted for term in self.terms}
        return bind_labels(scaling, schema, learned=learned)

    def positions_in(self, grown: "LabelDesign") -> IntArray:
        """The column in a grown space of each column here, [J]: label columns grow at their end."""
        found = []
        places = dict(zip(grown.terms, zip(grown.terms, grown.slices, strict=True), strict=True))
        for term in self.terms:
            later, part = places[term]
            place = {pair: i for i, pair in enumerate(later.products)}
            own = [place[pair] for pair in term.products] or _grown_places(term, later)
            found.append(part.start + np.array(own, dtype=np.int64))
        return np.concatenate([np.zeros(0, dtype=np.int64), *found])


def _divided(values: csr_array, scale: FloatArray) -> csr_array:
    """Stored values, each divided by the scale of its column."""
    return csr_array(
        (values.data / scale[values.indices], values.indices, values.indptr), values.shape
    )


def _grown_places(term: Term, later: Term) -> list[int]:
    """The columns of a main term among those of one with more values: these come first."""
    n_values, n_later = len(term.sources[0]), len(later.sources[0])
    return [i if i < n_values else i + n_later - n_values for i in range(len(term.names))]


def bind_labels(
    scaling: Scaling,
    schema: LabelSchema,
    values: csr_array | None = None,
    learned: Mapping[Term, Mapping[str, list[float]] | None] | None = None,
) -> LabelDesign:
    """The space of labels in which a scaling function scales topics.

    Parameters
    ----------
    scaling : str, ScalingFunction or Term
        ``"auto"`` is `Categorical` on tags and categories times `LogLinear` on numbers, of which
        those with few whole values are `Ordered`; a formula begins with ``~``.
    schema : LabelSchema
        The label columns and their kinds.
    values : sparse array or None, default=None
        The encoded labels of training documents or of a sample, from which terms learn.
    learned : mapping of Term to mapping, or None, default=None
        What terms have learned already.

    Notes
    -----
    Factors that name columns or terms take those; then each factor without any, the one that takes
    fewer kinds first (`Categorical` before `LogLinear`), takes what is left of its kinds.
    """
    if isinstance(scaling, str) and scaling == "auto":
        factors, required = _default_factors(schema, values, learned), False
    else:
        factors, required = _factors(scaling, schema), True
    slices, known = schema.slices(), dict(learned or {})
    _check_names(factors, schema)
    taken = _take_columns(factors, schema)
    main = {term.columns[0]: term for factor in factors for term in factor.terms if term.main}
    derived = [term for factor in factors for term in factor.terms if not term.main]
    wanted = [
        *(main.get(block.name, plain_term(block.name, block.kind)) for block in schema.blocks),
        *derived,
    ]
    names = {name: schema.names[columns] for name, columns in slices.items()}
    parts = {}
    if values is not None:
        parts = {name: csr_array(values[:, columns]) for name, columns in slices.items()}
    bound: list[Term] = []
    for term in wanted:
        sources, fitted = [names[name] for name in term.columns], known.get(term)
        if fitted is None and parts:
            (*_, unit) = (1.0, *schema.block(term.columns[0]).scale)
            seen = [parts[name] for name in term.learns_from]
            fitted = term.bound(sources).learn(seen, unit)
        bound.append(term.bound(sources, fitted))
        if term.main:
            (name,) = term.columns
            names[name] = bound[-1].names
            if parts:
                parts[name] = bound[-1].expand([parts[name]])
    unbound = LabelDesign(schema, tuple(bound), Constant())
    place = dict(zip(wanted, unbound.slices, strict=True))
    of_column = dict(zip(slices, unbound.slices, strict=False))
    chosen: list[ScalingFunction] = []
    split: list[list[int]] = []
    for factor, own in zip(factors, taken, strict=True):
        columns = [*(of_column[name] for name in own), *(place[term] for term in factor.terms)]
        if columns:
            chosen.append(factor)
            split.append([c for part in columns for c in range(part.start, part.stop)])
        elif factor.kinds and required and (len(factors) > 1 or schema.blocks):
            raise ValueError(
                f"`scaling` of HDSP has a factor {factor!r} that no label is left for. "
                f"The labels are: {quoted(slices) or 'none'}. Name the columns of each factor, or "
                "leave this one out."
            )
    if not chosen:
        return unbound
    bound_scaling = Product(*chosen, split=split, n_labels=unbound.n_columns)
    return LabelDesign(schema, unbound.terms, bound_scaling)


def _default_factors(
    schema: LabelSchema, values: csr_array | None, learned: Mapping[Term, object] | None
) -> tuple[ScalingFunction, ...]:
    """The factors of ``"auto"``: which labels are ordered is decided once, by the first values."""
    numbers: list[str | Term] = []
    for block in schema.blocks if values is not None or learned else ():
        if block.kind == "number":
            ordered = Ordered(block.name)
            if learned is not None:
                chosen = ordered in learned
            else:
                chosen = values is not None and _has_few_values(schema, block.name, values)
            numbers.append(ordered if chosen else block.name)
    return (Categorical(), LogLinear(*numbers))


def _has_few_values(schema: LabelSchema, name: str, values: csr_array) -> bool:
    """Whether a numeric label has three to ten different values, all of them whole."""
    block = schema.block(name)
    if len(block.columns) > 1:
        return False
    own = np.unique(csr_array(values[:, schema.slices()[name]]).data)
    if not 3 <= len(own) <= _MOST_ORDERED:
        return False
    numbers = own * block.scale[0] + block.mean[0]
    return bool(np.abs(numbers - np.round(numbers)).max() < _SAME_VALUE * block.scale[0])


def _factors(scaling: Scaling, schema: LabelSchema) -> tuple[ScalingFunction, ...]:
    """The factors of a scaling function, or of a formula."""
    if isinstance(scaling, str):
        if not is_formula(scaling):
            raise ValueError(
                "`scaling` of HDSP must be 'auto', a formula such as '~ department + s(day)' or a "
                "scaling function such as Categorical('tags') * LogLinear('rating'). "
                f"Got {scaling!r}."
            )
        kinds = {block.name: block.kind for block in schema.blocks}
        scaling = parse_formula(scaling, kinds)
    function = of_terms(scaling)
    if isinstance(function, ScalingFunction):
        return function.factors if isinstance(function, Product) else (function,)
    raise TypeError(
        "`scaling` of HDSP must be 'auto', a formula, a scaling function or a term. "
        f"Got {type(scaling).__name__}."
    )


def _check_names(factors: Sequence[ScalingFunction], schema: LabelSchema) -> None:
    """Raise unless factors name columns that the labels have, each once, of kinds they take."""
    slices = schema.slices()
    named: set[str] = set()
    for factor in factors:
        main = [term for term in factor.terms if term.main]
        of_terms = (name for term in factor.terms for name in term.learns_from)
        for name in (*factor.columns, *of_terms):
            check_known(name, slices, "scaling", "HDSP", "made of label columns")
        for name in (*factor.columns, *(term.columns[0] for term in main)):
            if name in named:
                raise ValueError(
                    f"`scaling` of HDSP names the label column {name!r} twice. Factors of a "
                    "product take different columns."
                )
            named.add(name)
        for name in factor.columns:
            if (kind := schema.kind(name)) not in factor.kinds:
                plain = {name: one for name, one in FUNCTIONS.items() if one.log_linear}
                others = [other for other in plain if kind in plain[other].kinds]
                raise ValueError(
                    f"{type(factor).__name__} does not take a {kind} column such as {name!r}. "
                    f"Use {' or '.join(f'{other}({name!r})' for other in others)} instead."
                )
        for term in factor.terms:
            if not term.kinds <= factor.kinds:
                raise ValueError(
                    f"{type(factor).__name__} takes tags and categories, not terms such as "
                    f"{term!r}. Use LogLinear({term!r}) instead."
                )
            for name in term.learns_from:
                if (kind := schema.kind(name)) not in term.kinds:
                    raise ValueError(
                        f"{type(term).__name__} takes {' and '.join(sorted(term.kinds))} columns. "
                        f"{name!r} is of kind {kind}."
                    )


def _take_columns(factors: Sequence[ScalingFunction], schema: LabelSchema) -> list[list[str]]:
    """The label columns that each factor takes as they are."""
    taken: list[list[str]] = [list(factor.columns) for factor in factors]
    main = [term.columns[0] for factor in factors for term in factor.terms if term.main]
    named = {*main, *(name for factor in factors for name in factor.columns)}
    for number, factor in enumerate(factors):
        # Parents have effects of their own, beside their children's if nothing else is said.
        for term in factor.terms:
            for name in set(term.learns_from) - {*term.columns, *named}:
                taken[number].append(name)
                named.add(name)
    free = [name for name in schema.slices() if name not in named]
    # The function of fewer kinds chooses first: LogLinear() would leave Categorical() nothing.
    for number in sorted(range(len(factors)), key=lambda n: len(factors[n].kinds)):
        factor = factors[number]
        if not factor.columns and not factor.terms:
            taken[number] = [name for name in free if schema.kind(name) in factor.kinds]
            free = [name for name in free if name not in taken[number]]
    _check_main_effects(factors, {*main, *(name for names in taken for name in names)})
    return taken


def _check_main_effects(factors: Iterable[ScalingFunction], effective: set[str]) -> None:
    """Raise unless labels that act together also act by themselves."""
    for factor in factors:
        for term in factor.terms:
            missing = [name for name in term.columns if name not in effective]
            if missing:
                raise ValueError(
                    f"`scaling` of HDSP has {term!r} without {missing[0]!r} by itself: name it in "
                    "a factor too."
                )


MOST_LEVELS = 50


def content_columns(space: LabelDesign, name: str | None) -> IntArray:
    """The columns of the design that tell the groups of documents, [G]; none without a name.

    Parameters
    ----------
    space : LabelDesign
        The labels, and how they scale topics.
    name : str or None
        The category, the parameter `content` of HDSP.
    """
    if name is None:
        return np.empty(0, dtype=np.int64)
    schema = space.schema
    check_known(name, schema.slices(), "content", "HDSP", "a column of the labels")
    if (kind := schema.kind(name)) != "category":
        raise ValueError(
            f"`content` of HDSP takes a category, each of whose levels has its own version of "
            f"topics. {name!r} is of kind {kind}: pass it as a column of strings."
        )
    columns = schema.slices()[name]
    if (n_levels := columns.stop - columns.start) > MOST_LEVELS:
        raise ValueError(
            f"`content` of HDSP takes a category of at most {MOST_LEVELS} levels, each of which "
            f"has its own version of every topic. {name!r} has {n_levels}: join levels that speak "
            "alike."
        )
    if not space.used_labels[columns].all():
        raise ValueError(
            f"`content` of HDSP names the category {name!r}, which `scaling` leaves out. Add it to "
            "`scaling`: groups that speak differently may also speak of other things."
        )
    return np.asarray(space.own[columns], dtype=np.int64)
