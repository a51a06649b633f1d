"""The space of labels: what a user writes (`scaling=`), bound to the label columns of training."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array, hstack

from hdsp.checks import check_known, quoted
from hdsp.corpus.labels import Labels
from hdsp.corpus.schema import BlockSchema, LabelSchema
from hdsp.exceptions import UnknownLabelWarning, warn_caller
from hdsp.numerics import BoolArray, FloatArray, IntArray
from hdsp.scaling.formula import is_formula, parse_formula
from hdsp.scaling.functions import (
    Categorical,
    Constant,
    Design,
    LogLinear,
    Product,
    ScalingFunction,
    as_function,
)
from hdsp.scaling.terms import PLAIN, Factor, Ordered, Pooled, Term

# In standard deviations; single precision changes values by less.
_SAME_VALUE = 1e-4
# A numeric label with three to this many different values, all of them whole, is ordered by
# default. Two values make a line.
_MOST_ORDERED = 10
# Levels of a category with versions of topics.
MOST_LEVELS = 50
# What a user may write: "auto", a formula, or an expression.
Scaling: TypeAlias = str | ScalingFunction | Term
# What terms have learned; None is to be learned anew.
Learned: TypeAlias = Mapping[Term, Mapping[str, list[float]] | None]


@dataclass(frozen=True, eq=False)
class LabelDesign:
    """How labels become a design, and what its columns do to topics.

    The design has the values of all labels, and beside them the columns that terms make of these.

    Attributes
    ----------
    schema : LabelSchema
        The label columns of training.
    terms : tuple of Term
        The bound terms: the main terms of all label columns first, in their order.
    scaling : ScalingFunction
        The scaling function, bound to the design's columns.
    """

    schema: LabelSchema
    terms: tuple[Term, ...]
    scaling: ScalingFunction

    @classmethod
    def fit(
        cls,
        scaling: Scaling,
        schema: LabelSchema,
        values: csr_array | None = None,
        learned: Learned | None = None,
    ) -> "LabelDesign":
        """The design in which a scaling function scales topics.

        `scaling` is ``"auto"`` (`Categorical` on tags and categories times `LogLinear` on numbers,
        of which those with few whole values are `Ordered`), a formula, an expression or a term.
        Terms learn from the `values` of training documents or of a sample, unless they have
        `learned` already. Factors that name columns or terms take those; then each factor without
        any, the one that takes fewer kinds first (`Categorical` before `LogLinear`), takes what is
        left of its kinds. The design's own schema does not standardise numbers that a factor takes
        raw (`LabelSchema.restate`).
        """
        auto = isinstance(scaling, str) and scaling == "auto"
        values = csr_array((0, schema.n_labels)) if values is None else values
        factors = _default_factors(schema, values, learned) if auto else _factors(scaling, schema)
        taken = _take_terms(factors, schema)
        raw = schema.raw(_raw_numbers(factors, taken))
        values, schema = raw.restate(values, schema), raw
        unbound = cls._with_terms(schema, [term for own in taken for term in own], values, learned)
        chosen: list[ScalingFunction] = []
        split: list[IntArray] = []
        for factor, terms in zip(factors, taken, strict=True):
            if terms:
                own = [unbound.columns[unbound.terms.index(term)] for term in terms]
                chosen.append(factor)
                split.append(np.concatenate(own))
            elif factor.kinds and not auto and (len(factors) > 1 or schema.blocks):
                raise ValueError(
                    f"`scaling` of HDSP has a factor {factor!r} that no label is left for: name "
                    f"columns of {quoted(schema.slices()) or 'labels'}, or leave it out."
                )
        return replace(unbound, scaling=Product(*chosen, split=split)) if chosen else unbound

    @classmethod
    def _with_terms(
        cls, schema: LabelSchema, given: Sequence[Term], values: csr_array, learned: Learned | None
    ) -> "LabelDesign":
        """The design with these terms, and with what they learn."""
        main = {term.columns[0]: term for term in given if term.main}

        def bound(term: Term, names: Sequence[Sequence[str]], parts: Sequence[csr_array]) -> Term:
            fitted = (learned or {}).get(term)
            if fitted is None:
                (*_, unit) = (1.0, *schema.block(term.columns[0]).scale)
                fitted = term.bound(names).learn(parts, unit)
            return term.bound(names, fitted)

        terms: list[Term] = []
        parts = _by_block(values, schema)
        for name, columns in schema.slices().items():
            term = main.get(name, PLAIN[schema.kind(name)](name))
            own = [parts[source] for source in term.learns_from]
            terms.append(bound(term, [schema.names[columns]], own))
        first = cls(schema, tuple(terms), Constant())
        design = first._beside(values)
        for term in (term for term in given if not term.main):
            acting = [first.columns_of(name) for name in term.columns]
            names = [[first.names[c] for c in own] for own in acting]
            terms.append(bound(term, names, [csr_array(design[:, own]) for own in acting]))
        return cls(schema, tuple(terms), Constant())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the J columns of the design."""
        return (*self.schema.names, *(name for term in self.terms for name in term.names))

    @property
    def n_columns(self) -> int:
        """The number J of columns of the design."""
        return len(self.names)

    @cached_property
    def columns(self) -> tuple[IntArray, ...]:
        """The columns of each term that act: the label's values if these do, and its own."""
        slices, start, found = self.schema.slices(), self.schema.n_labels, []
        for term in self.terms:
            own = np.arange(start, start + len(term.names))
            start += len(own)
            if term.main and (term.with_values or not len(own)):
                own = np.r_[slices[term.columns[0]], own]
            found.append(own)
        return tuple(found)

    def columns_of(self, name: str) -> IntArray:
        """The columns by which a label acts."""
        return self.columns[[*self.schema.slices()].index(name)]

    @cached_property
    def used(self) -> BoolArray:
        """Which columns of the design the scaling function takes, [J]."""
        return self._taken(curved=False)

    @property
    def curved(self) -> BoolArray:
        """Which columns act through a function that is not log-linear, [J]."""
        return self._taken(curved=True)

    def _taken(self, curved: bool) -> BoolArray:
        found = np.zeros(self.n_columns, dtype=np.bool_)
        if isinstance(self.scaling, Product):
            for factor, columns in zip(self.scaling.factors, self.scaling.split or (), strict=True):
                found[columns] |= not (curved and factor.log_linear)
        return found

    @cached_property
    def used_labels(self) -> BoolArray:
        """Which labels the scaling function takes, one per label."""
        found = np.zeros(self.schema.n_labels, dtype=np.bool_)
        for name, columns in self.schema.slices().items():
            found[columns] = self.used[self.columns_of(name)].any()
        return found

    @cached_property
    def plain(self) -> bool:
        """Whether the design has the values of labels and nothing else."""
        return self.n_columns == self.schema.n_labels

    def depends(self, name: str) -> list[Term]:
        """The terms that are made from a label column, its main term first."""
        return [term for term in self.terms if name in term.columns]

    def single_values(self, name: str) -> FloatArray | None:
        """The only values of a number that have effects, in standard units; None if all have."""
        term = self.depends(name)[0]
        return term.values if isinstance(term, Factor) else None

    def encode(self, labels: Labels, warn: bool = True) -> Design:
        """The design [M, J] of labels; unknown ones are ignored, with a warning.

        Unknown values of an ordered label count as the nearest one, with a warning.
        """
        values, slices = self.schema.encode(labels, warn), self.schema.slices()
        for term in self.terms if warn else ():
            if isinstance(term, Ordered) and not term.has_levels and len(term.values):
                block = self.schema.block(term.columns[0])
                own = np.unique(csr_array(values[:, slices[block.name]]).data)
                far = own[np.abs(own[:, None] - term.values).min(axis=1) > _SAME_VALUE]
                if len(far):
                    numbers = np.round(far[:5] * block.scale[0] + block.mean[0], 9) + 0.0
                    unknown = ", ".join(f"{number:.6g}" for number in numbers)
                    warn_caller(
                        f"{block.name!r} was not {unknown} in training: the nearest of "
                        f"{', '.join(term.value_names(block))} is used.",
                        UnknownLabelWarning,
                    )
        return self.design(values)

    def design(self, values: csr_array) -> Design:
        """The design [M, J] of documents with these values of labels.

        Values of labels that the scaling function does not take are left out.
        """
        return self._beside(_only(self.filled(values), self.used_labels))

    def regressors(self, values: csr_array) -> Design:
        """The columns of the design that act, [M, J]; the others are empty."""
        return _only(self.design(values), self.used)

    def values(self, design: Design) -> csr_array:
        """The values of labels in documents with this design, one column per label."""
        return design if self.plain else csr_array(csr_array(design)[:, : self.schema.n_labels])

    def _beside(self, values: csr_array) -> csr_array:
        """Values of labels, and beside them the columns of all terms."""
        if self.plain:
            return values
        parts, made = _by_block(values, self.schema), [values]
        for term in self.terms:
            made.append(term.expand([parts[name] for name in term.columns]))
            if term.main and term.names:
                (name,) = term.columns
                acting = [parts[name], made[-1]] if term.with_values else [made[-1]]
                parts[name] = csr_array(hstack(acting, format="csr"))
        design = csr_array(hstack(made, format="csr"))
        design.sort_indices()
        return design

    def filled(self, values: csr_array) -> csr_array:
        """Values of labels, with the parents that nested levels imply where they are missing."""
        for term in self.terms:
            if isinstance(term, Pooled) and term.parents is not None:
                parts = _by_block(values, self.schema)
                parents = parts[term.parents]
                parts[term.parents] = term.implied(parts[term.columns[0]], parents)
                if parts[term.parents] is not parents:
                    values = csr_array(hstack([*parts.values()], format="csr"))
        return values

    def grown(self, schema: LabelSchema, scaling: Scaling) -> "LabelDesign":
        """The design of a schema with further labels; what terms have learned stays."""
        return LabelDesign.fit(scaling, schema, learned={term: term.fitted for term in self.terms})

    def positions_in(self, grown: "LabelDesign") -> IntArray:
        """The column in a grown design of each column here, [J]: labels grow at their end."""
        start = {name: part.start for name, part in grown.schema.slices().items()}
        found = [start[block.name] + np.arange(len(block.columns)) for block in self.schema.blocks]
        widths = [len(term.names) for term in grown.terms]
        first = dict(zip(grown.terms, grown.n_columns - np.cumsum(widths[::-1])[::-1], strict=True))
        for term in self.terms:
            (later,) = (other for other in grown.terms if other == term)
            place = {pair: i for i, pair in enumerate(later.products)}
            own = [place[pair] for pair in term.products] or range(len(term.names))
            found.append(first[term] + np.array(own, dtype=np.int64))
        return np.concatenate([np.zeros(0, dtype=np.int64), *found])


def _by_block(values: csr_array, schema: LabelSchema) -> dict[str, csr_array]:
    """The columns of each label, by its name."""
    return {name: csr_array(values[:, columns]) for name, columns in schema.slices().items()}


def _only(values: csr_array, columns: BoolArray) -> csr_array:
    """The stored entries of some columns."""
    if columns.all():
        return values
    kept = columns[values.indices]
    indptr = np.concatenate([[0], np.cumsum(kept)])[values.indptr]
    return csr_array((values.data[kept], values.indices[kept], indptr), shape=values.shape)


def _default_factors(
    schema: LabelSchema, values: csr_array, learned: Learned | None
) -> tuple[ScalingFunction, ...]:
    """The factors of ``"auto"``: which labels are ordered is decided once, by the first values."""

    def is_ordered(block: BlockSchema) -> bool:
        """Whether a numeric label has three to ten different values, all of them whole."""
        if learned is not None or len(block.columns) > 1:
            return learned is not None and Ordered(block.name) in learned
        own = np.unique(csr_array(values[:, schema.slices()[block.name]]).data)
        numbers = own * block.scale[0] + block.mean[0]
        far = np.abs(numbers - np.round(numbers)).max(initial=0.0)
        return 3 <= len(own) <= _MOST_ORDERED and bool(far < _SAME_VALUE * block.scale[0])

    numbers = [block for block in schema.blocks if block.kind == "number"]
    terms = [Ordered(block.name) if is_ordered(block) else block.name for block in numbers]
    return (Categorical(), LogLinear(*terms)) if terms else (Categorical(),)


def _factors(scaling: Scaling, schema: LabelSchema) -> tuple[ScalingFunction, ...]:
    """The factors of a scaling function, or of a formula."""
    if is_formula(scaling):
        scaling = parse_formula(str(scaling), {block.name: block.kind for block in schema.blocks})
    if not isinstance(scaling, ScalingFunction | Term):
        raise ValueError(
            "`scaling` of HDSP must be 'auto', a formula such as '~ department + s(day)', or a "
            f"scaling function such as Categorical('tags') * LogLinear('rating'). Got {scaling!r}."
        )
    function = as_function(scaling)
    return function.factors if type(function) is Product else (function,)


def _take_terms(factors: Sequence[ScalingFunction], schema: LabelSchema) -> list[list[Term]]:
    """The terms of each factor: plain ones of the label columns that it takes as they are."""
    plain: dict[str, Term] = {one.name: PLAIN[one.kind](one.name) for one in schema.blocks}
    terms = [term for factor in factors for term in factor.terms]
    named = [name for factor in factors for name in factor.columns]
    for name in (*named, *(name for term in terms for name in term.learns_from)):
        check_known(name, plain, "scaling", "HDSP", "made of label columns")
    named += [term.columns[0] for term in terms if term.main]
    for name in named:
        if named.count(name) > 1:
            raise ValueError(f"`scaling` of HDSP names the label column {name!r} twice.")
    taken: list[list[Term]] = []
    for factor in factors:
        # Parents have effects of their own, beside their children's if nothing else is said.
        sources = {n for term in factor.terms for n in term.learns_from if n not in term.columns}
        parents = [name for name in plain if name in sources and name not in named]
        named += parents
        taken.append([*(plain[name] for name in (*factor.columns, *parents)), *factor.terms])
    # The function of fewer kinds chooses first: LogLinear() would leave Categorical() nothing.
    for factor, own in sorted(
        zip(factors, taken, strict=True), key=lambda pair: len(pair[0].kinds)
    ):
        if not own:
            free = [term for name, term in plain.items() if name not in named]
            own += [term for term in free if term.kinds <= factor.kinds]
            named += [term.columns[0] for term in own]
        for term in (*factor.terms, *own):
            _check_term(term, factor, schema)
    for term in terms:
        if missing := [name for name in term.columns if name not in named]:
            raise ValueError(
                f"`scaling` of HDSP has {term!r} without {missing[0]!r} by itself: name it in a "
                "factor too."
            )
    return taken


def _raw_numbers(
    factors: Sequence[ScalingFunction], taken: Sequence[Sequence[Term]]
) -> Iterator[str]:
    """The label columns whose numbers a factor takes without standardisation."""
    for factor, terms in zip(factors, taken, strict=True):
        if isinstance(factor, LogLinear) and not factor.standardize:
            for term in terms:
                yield from term.columns


def _check_term(term: Term, factor: ScalingFunction, schema: LabelSchema) -> None:
    """Raise unless a factor takes a term, and the term its label columns."""
    if not term.kinds <= factor.kinds:
        written = repr(term if term in factor.terms else term.columns[0])
        raise ValueError(
            f"{type(factor).__name__} takes {' and '.join(sorted(factor.kinds))} columns. "
            f"Use LogLinear({written}) instead."
        )
    for name in term.learns_from:
        if (kind := schema.kind(name)) not in term.kinds:
            raise ValueError(
                f"{type(term).__name__} takes {' and '.join(sorted(term.kinds))} columns. "
                f"{name!r} is of kind {kind}."
            )


def content_columns(space: LabelDesign, name: str | None) -> IntArray:
    """The columns of the design that tell the groups of documents, [G]; none without a name."""
    if name is None:
        return np.empty(0, dtype=np.int64)
    schema = space.schema
    check_known(name, schema.slices(), "content", "HDSP", "a column of the labels")
    if (kind := schema.kind(name)) != "category":
        raise ValueError(
            f"`content` of HDSP must be a category. {name!r} is of kind {kind}: pass it as a "
            "column of strings."
        )
    columns = schema.slices()[name]
    if (n_levels := columns.stop - columns.start) > MOST_LEVELS:
        raise ValueError(
            f"`content` of HDSP must have at most {MOST_LEVELS} levels. {name!r} has {n_levels}: "
            "join levels that speak alike."
        )
    if not space.used_labels[columns].all():
        raise ValueError(
            f"`content` of HDSP must be in `scaling`, too, because groups that speak differently "
            f"may also speak of other things. Add {name!r}."
        )
    return np.arange(columns.start, columns.stop)
