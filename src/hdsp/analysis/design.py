"""The design matrix of a linear regression on labels: columns, references, missing labels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, vstack

from hdsp.analysis.contrasts import Setting, set_label
from hdsp.analysis.softmax import group_rows
from hdsp.checks import quoted
from hdsp.exceptions import LabelDataWarning, warn_caller
from hdsp.numerics import BoolArray, FloatArray, IntArray
from hdsp.scaling.design import LabelDesign
from hdsp.scaling.functions import LogLinear, Product
from hdsp.scaling.terms import Factor, Interaction, Ordered, Pooled, Spline, Term

# Of more columns than this, or than half of the documents, only the most frequent labels are
# regressed jointly: a tenth as many as documents.
_MOST_JOINTLY, _SHARE_JOINTLY = 1_000, 10
_WRITTEN = {Ordered: "o({})", Factor: "factor({})", Spline: "s({})", Pooled: "(1 | {})"}
# A smaller total is that of a document without any.
_NOTHING = 1e-9


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
