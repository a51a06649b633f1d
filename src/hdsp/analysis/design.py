"""Labels in linear regressions: contrasts that are asked for, and the design matrix."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from hdsp.analysis.softmax import group_rows
from hdsp.checks import check_known, quoted
from hdsp.corpus import LabelSchema
from hdsp.corpus.columns import level_name, parse_number
from hdsp.corpus.schema import BlockSchema
from hdsp.exceptions import LabelDataWarning, warn_caller
from hdsp.numerics import BoolArray, FloatArray, IntArray
from hdsp.scaling.design import LabelDesign
from hdsp.scaling.functions import LogLinear, Product
from hdsp.scaling.terms import Factor, Interaction, Ordered, Pooled, Spline, Term

if TYPE_CHECKING:
    from hdsp.analysis.effects import TopicRegression

# Of more columns than this, or than half of the documents, only the most frequent labels are
# regressed jointly: a tenth as many as documents.
_MOST_JOINTLY, _SHARE_JOINTLY = 1_000, 10
_WRITTEN = {Ordered: "o({})", Factor: "factor({})", Spline: "s({})", Pooled: "(1 | {})"}
# A smaller total is that of a document without any.
_NOTHING = 1e-9
# In standard deviations; beyond it, single precision overflows.
_FARTHEST = 1e30
# Numeric labels are compared between these percentiles.
PERCENTILES = (10.0, 90.0)


class Setting(NamedTuple):
    """A label at a value that all documents get: 1 for levels and tags, 0 for no tag.

    Numbers are in standard units; `alone` takes the column's other tags away.
    """

    label: int
    value: float = 1.0
    alone: bool = False


@dataclass(frozen=True)
class Contrast:
    """One comparison of two settings of a label column; `first` None is its other levels."""

    label: str
    description: str
    block: str
    second: Setting
    first: Setting | None

    @property
    def labels(self) -> list[int]:
        """The positions of the labels that are compared."""
        return sorted({self.second.label, (self.first or self.second).label})


def make_contrasts(
    regression: "TopicRegression", labels: Any, contrast: Any, owner: str
) -> list[Contrast]:
    """The contrasts of named labels that have effects, in the order of the schema.

    Numbers are compared between percentiles; of exclusive columns, documents have exactly one
    label.
    """
    schema, used = regression._space.schema, regression._used
    ends, names = regression._ends, schema.names
    chosen = _choose_labels(schema, labels, owner)
    if chosen and not used[chosen].any():
        raise ValueError(
            f"`labels` of {owner}: {quoted(names[j] for j in chosen[:5])} has no effects: "
            "it is not in the formula, it names groups of documents, or no document has it."
        )
    if contrast is not None:
        return [_make_pair(schema, chosen, contrast, owner)]
    contrasts = []
    for block in schema.blocks:
        for place, j in enumerate(range(*schema.slices()[block.name].indices(schema.n_labels))):
            if not used[j] or (chosen is not None and j not in chosen):
                continue
            first: Setting | None = Setting(j, 0.0)
            second, description = Setting(j), "with - without"
            if block.kind == "number":
                first, second = (Setting(j, float(end)) for end in ends[j])
                values = ends[j][::-1] * block.scale[place] + block.mean[place]
                description = " - ".join(f"{value:.6g}" for value in values)
            elif block.name in regression._design.exclusive:
                first, second = None, Setting(j, alone=True)
                description = f"{block.columns[place]} - other {block.name}"
            contrasts.append(Contrast(names[j], description, block.name, second, first))
    return contrasts


def _choose_labels(schema: LabelSchema, labels: Any, owner: str) -> list[int] | None:
    """Positions of labels by their names, or those of their columns; None is all."""
    if labels is None:
        return None
    whole = {name: range(own.start, own.stop) for name, own in schema.slices().items()}
    columns = [name for block in schema.blocks for name in block.columns]
    known = whole | {
        name: range(j, j + 1) for names in (columns, schema.names) for j, name in enumerate(names)
    }
    known |= whole
    wanted = labels if isinstance(labels, Iterable) and not isinstance(labels, str) else [labels]
    positions: set[int] = set()
    for name in wanted:
        check_known(name, known, "labels", owner, "names of labels, or of columns of labels")
        positions.update(known[name])
    return sorted(positions)


def _make_pair(
    schema: LabelSchema, chosen: list[int] | None, contrast: Any, owner: str
) -> Contrast:
    """The contrast between two levels of a category, or two values of a numeric label."""
    if not isinstance(contrast, (tuple, list)) or len(contrast) != 2:
        what = "two levels of a category, or two values of a numeric label"
        raise ValueError(f"`contrast` of {owner} must be {what}, got {contrast!r}.")
    slices = schema.slices()
    whole = {tuple(range(own.start, own.stop)): name for name, own in slices.items()}
    name = whole.get(tuple(chosen or ()), "")
    if not name or schema.kind(name) == "tags" or len(schema.block(name).mean) > 1:
        raise ValueError(
            f"`contrast` of {owner} needs `labels` to name one category or one numeric label."
        )
    block, start = schema.block(name), slices[name].start
    low, high = (_setting_of(block, start, value, owner) for value in contrast)
    return Contrast(name, f"{contrast[1]} - {contrast[0]}", name, high, low)


def _setting_of(block: BlockSchema, start: int, value: Any, owner: str) -> Setting:
    """A level of a category, or a number or date in the standard units of a numeric label."""
    if block.kind != "number":
        level = level_name(value)
        check_known(level, block.columns, "contrast", owner, f"two levels of {block.name!r}")
        return Setting(start + block.columns.index(str(level)), alone=True)
    number = parse_number(value)
    if number is None or not abs(number) <= _FARTHEST * block.scale[0]:
        raise ValueError(
            f"`contrast` of {owner} must be two finite numbers or dates, since {block.name!r} is "
            f"numeric, got {value!r}."
        )
    return Setting(start, float((number - block.mean[0]) / block.scale[0]))


def contrast_matrix(
    schema: LabelSchema, contrasts: Sequence[Contrast], carriers: FloatArray
) -> tuple[list[Setting], FloatArray]:
    """The settings that contrasts of one column compare, and their weights [C, S].

    Other levels are weighted by `carriers` [n_labels]; rows without other levels are NaN.
    """
    sides = (side for row in contrasts for side in (row.second, row.first) if side is not None)
    settings = dict.fromkeys(sides)
    if any(row.first is None for row in contrasts):
        columns = schema.slices()[contrasts[0].block]
        levels = range(columns.start, columns.stop)
        settings |= dict.fromkeys(Setting(j, alone=True) for j in levels if carriers[j] > 0)
    place = {setting: number for number, setting in enumerate(settings)}
    frequency = carriers[[setting.label for setting in settings]]
    weights = np.zeros((len(contrasts), len(settings)))
    for row, contrast in zip(weights, contrasts, strict=True):
        if contrast.first is None:
            others = np.where(np.arange(len(row)) == place[contrast.second], 0.0, frequency)
            row -= others / (others.sum() or np.nan)
        else:
            row[place[contrast.first]] -= 1.0
        row[place[contrast.second]] += 1.0
    return list(settings), weights


def set_label(values: csr_array, schema: LabelSchema, setting: Setting) -> csr_array:
    """Values of labels [M, n_labels] in which all documents have a setting."""
    label, value, alone = setting
    name, columns = next(
        (name, own) for name, own in schema.slices().items() if own.start <= label < own.stop
    )
    kind, entries = schema.kind(name), values.tocoo()
    if not (alone or kind == "category"):
        columns = slice(label, label + 1)
    kept = (entries.col < columns.start) | (entries.col >= columns.stop)
    rows = np.arange(0 if kind == "tags" and value == 0.0 else values.shape[0])
    data = np.concatenate([entries.data[kept], np.full(len(rows), value)])
    place = (
        np.concatenate([entries.row[kept], rows]),
        np.concatenate([entries.col[kept], np.full(len(rows), label)]),
    )
    return csr_array((data, place), shape=values.shape)


def column_numbers(values: csr_array, column: int) -> FloatArray:
    """The stored values of a column, NaN for others, [M]."""
    stored = csr_array(values[:, [column]]).tocoo()
    numbers = np.full(values.shape[0], np.nan)
    numbers[stored.row] = stored.data
    return numbers


def percentile_ends(values: csr_array, schema: LabelSchema) -> dict[int, FloatArray]:
    """The 10th and 90th percentiles of numeric labels, or lowest and highest if these are equal.

    In standard units, by position; labels without values are left out.
    """
    ends: dict[int, FloatArray] = {}
    by_label = values.tocsc()
    for name, columns in schema.slices().items():
        for j in range(columns.start, columns.stop) if schema.kind(name) == "number" else ():
            known = by_label.data[by_label.indptr[j] : by_label.indptr[j + 1]]
            if len(known):
                ends[j] = np.percentile(known, PERCENTILES, method="inverted_cdf")
                if ends[j][0] == ends[j][1]:
                    ends[j] = np.array([known.min(), known.max()])
    return ends


def regression_space(space: LabelDesign, values: csr_array) -> LabelDesign:
    """The label space of regressions: numbers inside custom functions enter as splines."""
    if not space.curved.any():
        return space
    terms: list[Term] = []
    for term, columns in zip(space.terms, space.columns, strict=True):
        name = term.columns[0]
        if space.curved[columns].any() and space.schema.kind(name) == "number":
            seen = csr_array(values[:, space.schema.slices()[name]])
            own = Spline(*term.columns)
            learned = own.bound(term.sources).learn([seen], space.schema.block(name).scale[0])
            term = own.bound(term.sources, learned)
        terms.append(term)
    return _with_terms(space, terms)


def _with_indicators(space: LabelDesign) -> tuple[LabelDesign, list[str]]:
    """The same space with an indicator for each value of an ordered label, and column names.

    Indicators span what the columns of ordered labels span, and a summary can show them.
    """
    names = {name: space.schema.names[own] for name, own in space.schema.slices().items()}
    terms: list[Term] = []
    shown = list(space.schema.names)
    for term in space.terms:
        sources = [names[name] for name in term.columns]
        fitted, own = term.fitted, None
        if isinstance(term, Ordered):
            basis = np.eye(len(fitted["values"])).ravel().tolist()
            fitted = {**fitted, "basis": basis}
            own = term.value_names(space.schema.block(term.columns[0]))
        term = term.bound(sources, fitted)
        own = own or term.names
        if term.main and own:
            names[term.columns[0]] = (*sources[0], *own) if term.with_values else own
        terms.append(term)
        shown += own
    return _with_terms(space, terms), shown


def formula_of(space: LabelDesign) -> str:
    """The formula of a label space, as R writes it."""
    parts = [
        _WRITTEN.get(type(term), "{}").format(":".join(term.columns))
        for term, own in zip(space.terms, space.columns, strict=True)
        if space.used[own].any()
    ]
    return f"~ {' + '.join(parts) or '1'}"


def _with_terms(space: LabelDesign, terms: Sequence[Term]) -> LabelDesign:
    """A log-linear space of other terms, each used if the one in its place was."""
    changed = LabelDesign(space.schema, tuple(terms), LogLinear())
    used = [space.used[columns].any() for columns in space.columns]
    columns = [places for places, chosen in zip(changed.columns, used, strict=True) if chosen]
    split = [np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *columns]))]
    return replace(changed, scaling=Product(LogLinear(), split=split))


def partial_columns(space: LabelDesign) -> list[BoolArray]:
    """The columns of documents of which one label, or none, is known; tags are never missing."""
    tags = {block.name for block in space.schema.blocks if block.kind == "tags"}
    others = [{block.name} for block in space.schema.blocks if block.name not in tags]
    kept = [own | tags for own in (*others, set())] if others else []
    masks = [np.zeros(space.n_columns, dtype=np.bool_) for _ in kept]
    for term, columns in zip(space.terms, space.columns, strict=True):
        for own, known in zip(kept, masks, strict=True):
            known[columns] = set(term.columns) <= own
    return masks


def pooled_groups(space: LabelDesign, values: csr_array) -> IntArray | None:
    """The clusters that ``(1 | g)`` of a formula makes, [M]; -1 is missing, None without any."""
    slices = space.schema.slices()
    levels = [
        row_levels(csr_array(values[:, slices[term.columns[0]]]))
        for term in space.terms
        if is_cluster(term)
    ]
    # Of nested clusters, the larger ones.
    return min(levels, key=lambda own: own.max(initial=-1), default=None)


def row_levels(values: csr_array) -> IntArray:
    """A number for the level or the value of each document, [M]; -1 if it is missing."""
    stored, numbers = values.tocoo(), np.full(values.shape[0], -1, dtype=np.int64)
    keys = stored.col if values.shape[1] > 1 else stored.data
    numbers[stored.row] = np.unique(keys, return_inverse=True)[1]
    return numbers


@dataclass(frozen=True, eq=False)
class DesignMatrix:
    """The columns of a linear regression on labels.

    `matrix` [M, 1 + p] has an intercept, the columns `columns` [p] of the space, and indicators of
    missing labels; `names` and `terms` are theirs, without the intercept. `rows` [M] are the
    documents that are regressed, `values` [M, n_labels] their labels and `weights` [M] their
    weights. `rare` are columns of labels too rare to be regressed jointly.
    """

    space: LabelDesign
    matrix: FloatArray
    columns: IntArray
    names: list[str]
    terms: list[str]
    rows: IntArray
    rare: IntArray
    n_incomplete: int
    values: csr_array
    weights: FloatArray

    @cached_property
    def carriers(self) -> FloatArray:
        """Documents with each label, [n_labels]."""
        return np.bincount(self.values.indices, minlength=self.values.shape[1]).astype(np.float64)

    @cached_property
    def is_rare(self) -> BoolArray:
        """Labels that are too rare to be regressed jointly, [n_labels]."""
        return np.isin(np.arange(self.space.schema.n_labels), self.rare)

    @cached_property
    def exclusive(self) -> set[str]:
        """Categories, and tags of which each document has exactly one."""
        slices = self.space.schema.slices()
        return {
            block.name
            for block in self.space.schema.blocks
            if block.kind == "category"
            or (block.kind == "tags" and has_one_each(self.values[:, slices[block.name]]))
        }

    @cached_property
    def _documents(self) -> tuple[csr_array, FloatArray]:
        """The different values of labels [U, n_labels], and their shares of weights."""
        first, group = group_rows(self.values)
        share = np.bincount(group, self.weights)
        return csr_array(self.values[first]), share / share.sum()

    def means_at(self, places: Sequence[Sequence[Setting]], block: str | None) -> csr_array:
        """Mean rows of the space's design with documents in settings, one after another, [S, J].

        Of a label without interactions, rows of a document without other labels, which differ
        between settings as means do.
        """
        schema, terms = self.space.schema, self.space.terms
        alone = block is not None and len(self.space.depends(block)) == 1
        if alone and not any(getattr(term, "parents", None) for term in terms):
            is_tag = schema.kind(str(block)) == "tags"
            known = [setting.value != 0.0 or not is_tag for (setting,) in places]
            labels, data = np.array([setting[:2] for (setting,) in places])[known].T
            entries = data, (np.flatnonzero(known), labels.astype(np.int64))
            shape = len(places), schema.n_labels
            return csr_array(self.space.regressors(csr_array(entries, shape=shape)))
        values, share = self._documents
        means = []
        for place in places:
            changed = values
            for setting in place:
                changed = set_label(changed, schema, setting)
            means.append(csr_array(csr_array(share[None, :]) @ self.space.regressors(changed)))
        return csr_array(vstack(means, format="csr"))

    def contrast(self, rows: csr_array) -> FloatArray:
        """Rows of differences of the space's design as contrasts of the matrix, [C, 1 + p].

        NaN with labels that are too rare to be regressed jointly.
        """
        contrasts = np.zeros((rows.shape[0], self.matrix.shape[1]))
        contrasts[:, 1 : 1 + len(self.columns)] = rows[:, self.columns].toarray()
        contrasts[np.diff(csr_array(rows[:, self.rare]).indptr) > 0] = np.nan
        return contrasts


def make_design(
    space: LabelDesign, values: csr_array, usable: BoolArray, weights: FloatArray
) -> DesignMatrix:
    """The design matrix of usable [M] documents with these labels [M, n_labels] and weights [M].

    Documents that lack a label of the formula are left out, unless these are more than half: then
    each label column gets a column that says where it is missing.
    """
    space, shown = _with_indicators(space)
    usable = usable & (weights > 0)
    missing = _missing_labels(space, values)
    complete = usable & ~np.any([np.zeros(len(usable)), *missing.values()], axis=0)
    n_usable, indicators = int(usable.sum()), list[str]()
    if complete.sum() < n_usable / 2.0:
        indicators = [name for name, lacking in missing.items() if lacking[usable].any()]
        warn_caller(
            f"Only {int(complete.sum()):,} of {n_usable:,} documents have all labels of the "
            f"formula ({quoted(indicators)} are missing in others): all documents are used, with "
            "an indicator of missing values, which can bias effects.",
            LabelDataWarning,
        )
        complete = usable
    rows = np.flatnonzero(complete)
    if len(rows) < 3:
        raise ValueError(
            f"TopicRegression needs at least 3 documents with words and labels, got {len(rows)}."
        )
    values = csr_array(values[rows])
    design = csr_array(csr_array(space.regressors(values), dtype=np.float64).tocsc().tocsr())
    ones = np.ones(len(rows))
    absent = np.column_stack([ones, *(missing[name][rows] for name in indicators)])
    chosen, term_of = _choose_columns(space, design, absent)
    frequency = np.diff(csr_array(design[:, chosen]).tocsc().indptr)
    joint = _jointly(frequency, _may_be_rare(space)[chosen], len(rows))
    chosen, rare = chosen[joint], chosen[~joint]
    matrix = np.column_stack([ones, design[:, chosen].toarray(), absent[:, 1:]])
    if matrix.shape[1] >= len(rows):
        raise ValueError(
            f"TopicRegression has {matrix.shape[1]} columns for {len(rows)} documents: leave "
            "labels out."
        )
    labels = [f"{name} (missing)" for name in indicators]
    names = [shown[c] for c in chosen] + labels
    terms = [term_of[int(c)] for c in chosen] + labels
    own = values, weights[rows]
    return DesignMatrix(space, matrix, chosen, names, terms, rows, rare, n_usable - len(rows), *own)


def _missing_labels(space: LabelDesign, values: csr_array) -> dict[str, BoolArray]:
    """Where categories and numbers of the formula that some document has are missing, [M] each."""
    filled, slices = space.filled(values), space.schema.slices()
    return {
        block.name: np.diff(csr_array(filled[:, slices[block.name]]).indptr) == 0
        for block in space.schema.blocks
        if block.kind != "tags"
        and not all(map(is_cluster, space.depends(block.name)))
        and space.used_labels[slices[block.name]].any()
        and csr_array(values[:, slices[block.name]]).nnz
    }


def is_cluster(term: object) -> bool:
    """Whether a term is ``(1 | g)``, which has clusters instead of columns."""
    return isinstance(term, Pooled) and term.exclusive


def _choose_columns(
    space: LabelDesign, design: csr_array, absent: FloatArray
) -> tuple[IntArray, dict[int, str]]:
    """Columns without those that follow from the other columns of their own term.

    Of a category this is the most frequent level, the reference. Products with it follow, too.
    """
    by_column = design.tocsc()
    alive = space.used & ((abs(by_column) > _NOTHING).sum(axis=0) > 0)
    chosen: list[int] = []
    reference: set[int] = set()
    term_of: dict[int, str] = {}
    for term, own in zip(space.terms, space.columns, strict=True):
        name = repr(term) if not term.main else term.columns[0]
        if isinstance(term, Interaction):
            first, second = map(space.columns_of, term.columns)
            name = ":".join(term.columns)
            pairs = [(int(first[i]), int(second[j])) for i, j in term.products]
            known = [not ({*pair} & reference) and alive[[*pair]].all() for pair in pairs]
            own = own[np.array(known, dtype=np.bool_)]
            # An empty cell stays, to be dropped with its name.
        elif is_cluster(term):
            continue
        else:
            own = own[alive[own]]
            one_each = term.exclusive or space.schema.kind(term.columns[0]) == "number"
            one_each = one_each or has_one_each(by_column[:, own])
            if one_each and len(own) and _is_redundant(by_column, own, absent):
                most = own[np.argmax(np.diff(by_column.indptr)[own])]
                reference.add(int(most))
                own = own[own != most]
        chosen += own.tolist()
        term_of |= dict.fromkeys(own.tolist(), name)
    return np.array(chosen, dtype=np.int64), term_of


def has_one_each(values: csr_array) -> bool:
    """Whether each document has exactly one of several tags, which are then levels."""
    return values.shape[1] > 1 and bool((np.diff(csr_array(values).indptr) == 1).all())


def _is_redundant(by_column: csr_array, own: IntArray, absent: FloatArray) -> bool:
    """Whether a term's columns, such as levels, add up to the intercept, less missing values."""
    total = np.asarray(by_column[:, own].sum(axis=1)).ravel()
    known = total[np.abs(total) > _NOTHING]
    complete = len(known) == len(total) or absent.shape[1] > 1
    return complete and len(known) > 0 and bool(np.ptp(known) < _NOTHING)


def _may_be_rare(space: LabelDesign) -> BoolArray:
    """Columns that are tags or levels of labels without interactions, [J]."""
    rare = np.zeros(space.n_columns, dtype=np.bool_)
    for name, columns in space.schema.slices().items():
        rare[columns] = len(space.depends(name)) == 1 and space.schema.kind(name) != "number"
    return rare


def _jointly(frequency: IntArray, may_be_rare: BoolArray, n_documents: int) -> BoolArray:
    """Columns that are regressed jointly: all, or of labels the most frequent, ties included."""
    joint = ~may_be_rare
    if len(frequency) <= min(n_documents // 2, _MOST_JOINTLY) or joint.all():
        return np.ones(len(frequency), dtype=np.bool_)
    most = min(max(n_documents // _SHARE_JOINTLY, 1), _MOST_JOINTLY, int(may_be_rare.sum()))
    least = np.sort(frequency[may_be_rare])[-most]
    ties = may_be_rare & (frequency >= least)
    return np.asarray(joint | (ties if ties.sum() <= 2 * most else ties & (frequency > least)))
