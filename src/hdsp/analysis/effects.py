"""`TopicRegression`: effects of labels on topics, levels and curves."""

import warnings
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import stdtr, stdtrit

from hdsp.analysis.contrasts import (
    Contrast,
    Setting,
    compose,
    contrast_settings,
    label_setting,
    make_contrasts,
    percentile_ends,
)
from hdsp.analysis.design import (
    DesignMatrix,
    formula_of,
    has_one_each,
    level_space,
    make_design,
    pooled_groups,
    regression_space,
    warn_collinear,
)
from hdsp.analysis.fitted import FittedModel
from hdsp.analysis.reading import Reading, Weight
from hdsp.analysis.regression import Estimates, LinearRegression, adjust_p, stack_estimates
from hdsp.analysis.softmax import MOST_COLUMNS, SoftmaxRegression, group_rows, mean_expected
from hdsp.analysis.topics import Columns, topic_part
from hdsp.checks import check_known, check_share, check_whole, count_of, listed, quoted
from hdsp.corpus import make_frame
from hdsp.corpus.schema import BlockSchema
from hdsp.exceptions import IntervalWarning, LabelDataWarning, warn_caller
from hdsp.execution import make_executor
from hdsp.numerics import BoolArray, FloatArray, IntArray
from hdsp.scaling.design import LabelDesign
from hdsp.scaling.terms import Pooled, Spline

# A numeric label with more values is shown at these quantiles.
_MOST_VALUES, _QUANTILES = 10, (0.1, 0.25, 0.5, 0.75, 0.9)
# Values are the same up to so many standard deviations. A contrast may go so far beyond those of
# training, as a share of their range.
_SAME, _BEYOND = 1e-6, 0.05
# Values of a numeric label at which its effects are tested if it has interactions.
_TESTED_VALUES = 12
# Labels that a warning names.
_NAMED = 5
# With fewer groups, a warning is given.
_FEW_GROUPS = 10
# Bands of means over documents use so many of their different label sets at most.
_MOST_SETS = 200
_STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"), (0.1, "."))


class TopicRegression:
    """The regression of documents' topics on labels, which the fit need not have had.

    `HDSP.estimate_effects` makes it. Effects, differences and tests come from a linear regression
    of the proportions that were read in documents (`HDSP.proportions_`): the wider of robust and
    classical intervals. Levels and curves come from a softmax regression, which keeps them between
    0 and 1. All intervals are for the topics as they are.

    Parameters
    ----------
    fitted : FittedModel
        The model.
    reading : Reading
        The documents with their labels.
    space : LabelDesign
        The labels and the form of their effects.
    weight : str, default="documents"
        Whether each document weighs the same (``"documents"``), or each token (``"tokens"``).
    formula : str or None, default=None
        The labels and terms as a user wrote them.

    Attributes
    ----------
    n_documents : int
        The number of documents that are regressed.
    n_groups : int or None
        The number of groups of documents; None where documents are independent.
    label_names : tuple of str
        The labels that have effects.

    Examples
    --------
    >>> import hdsp
    >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 50, n_topics=4, random_state=0)
    >>> model = hdsp.HDSP(max_components=8, random_state=0).fit(corpus)
    >>> found = model.estimate_effects("~ tags")
    >>> found.label_names
    ('news', 'sport')
    >>> found.effects("news")["contrast"].unique().tolist()
    ['news - other tags']
    """

    def __init__(
        self,
        fitted: FittedModel,
        reading: Reading,
        space: LabelDesign,
        weight: Weight = "documents",
        formula: str | None = None,
    ) -> None:
        self._model, self._reading = fitted, reading
        own = space is fitted.space and reading is fitted.reading
        self._space = fitted.regression_space if own else regression_space(space, reading.values)
        self.formula, self.weight = formula or formula_of(space), weight
        self._groups = reading.groups
        if self._groups is None:
            self._groups = pooled_groups(space, reading.values)

    @cached_property
    def _design(self) -> DesignMatrix:
        return self._make_design(self._space)

    def _make_design(self, space: LabelDesign) -> DesignMatrix:
        reading = self._reading
        weights = reading.document_weights(self.weight)
        return make_design(space, reading.values, reading.read, weights, "TopicRegression")

    @cached_property
    def _clusters(self) -> IntArray | None:
        """The groups of the documents that are regressed; a document of its own has another."""
        if self._groups is None:
            return None
        groups = self._groups[self._design.rows]
        return np.where(groups < 0, -1 - np.arange(len(groups)), groups)

    @cached_property
    def _linear(self) -> LinearRegression:
        """The linear regression, with a sentence on designs that are bad."""
        design = self._design
        if self._clusters is not None:
            n_groups = len(np.unique(self._clusters))
            if n_groups < 2:
                raise ValueError(
                    "All documents are in one group, so effects have no standard errors: pass "
                    "other groups, or none."
                )
            if n_groups < _FEW_GROUPS:
                warn_caller(
                    f"The documents come in {count_of(n_groups, 'group')}: with fewer than "
                    f"{_FEW_GROUPS}, the effect of a label can hardly be separated from "
                    "differences between groups, and intervals are wide and approximate.",
                    IntervalWarning,
                )
        found = self._regress(design)
        warn_collinear(design, found.dropped)
        return found

    def _regress(self, design: DesignMatrix) -> LinearRegression:
        weights = self._reading.document_weights(self.weight)[design.rows]
        proportions = self._reading.proportions[design.rows].astype(np.float64)
        return LinearRegression(
            design.matrix,
            self._model.groups.sum(proportions),
            None if np.allclose(weights, weights[0]) else weights,
            self._clusters,
        )

    @cached_property
    def _carriers(self) -> FloatArray:
        """Documents of the regression with each label, [n_labels]."""
        values = csr_array(self._reading.values[self._design.rows])
        return np.bincount(values.indices, minlength=values.shape[1]).astype(np.float64)

    @cached_property
    def _rare(self) -> BoolArray:
        """Labels that are too rare to be regressed jointly, [n_labels]."""
        return np.isin(self._space.own, self._design.rare)

    @cached_property
    def _compared(self) -> FloatArray:
        """Documents with the labels that others are compared with, [n_labels]."""
        return np.where(self._rare, 0.0, self._carriers)

    @cached_property
    def _levels(self) -> set[str]:
        """Categories, and tags of which each document has exactly one."""
        values = csr_array(self._reading.values[self._design.rows])
        return {
            name
            for name, own in self._space.schema.slices().items()
            if self._space.schema.kind(name) == "category"
            or (self._space.schema.kind(name) == "tags" and has_one_each(values[:, own]))
        }

    @cached_property
    def _ends(self) -> dict[int, FloatArray]:
        return percentile_ends(csr_array(self._reading.values), self._space.schema)

    @property
    def n_documents(self) -> int:
        """The number of documents that are regressed."""
        return len(self._design.rows)

    @property
    def n_groups(self) -> int | None:
        """The number of groups of documents; None where documents are independent."""
        return None if self._clusters is None else len(np.unique(self._clusters))

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels that have effects."""
        return tuple(np.array(self._space.schema.names, dtype=object)[self._used].tolist())

    @cached_property
    def _used(self) -> Any:
        """Labels of the formula that documents have, and that are not clusters, [n_labels]."""
        used = self._space.used_labels & (self._carriers > 0)
        for term in self._space.terms:
            if isinstance(term, Pooled) and term.exclusive:
                used[self._space.schema.slices()[term.columns[0]]] = False
        return used

    def __repr__(self) -> str:
        groups = "" if self.n_groups is None else f" in {self.n_groups} groups"
        return f"TopicRegression({self.formula!r}, {self.n_documents} documents{groups})"

    def effects(
        self,
        labels: str | Sequence[str] | None = None,
        *,
        contrast: tuple[Any, Any] | None = None,
        level: float = 0.9,
    ) -> Any:
        """Effects of labels on topics, with intervals, as `HDSP.label_effects` returns them.

        Parameters
        ----------
        labels : str, list of str or None, default=None
            Names of labels, or of whole columns; None is all.
        contrast : tuple of two values or None, default=None
            Two levels of the category, or two values of the numeric label, that `labels` names.
        level : float, default=0.9
            The confidence level of the intervals.

        Returns
        -------
        table
            One row per label and topic: the columns of `HDSP.label_effects`.
        """
        return self._table(self._effect_columns(labels, contrast, level))

    def _contrasts(
        self, labels: Any, contrast: Any, owner: str = "TopicRegression.effects"
    ) -> list[Contrast]:
        """The contrasts of labels that have effects."""
        schema = self._space.schema
        found = make_contrasts(
            schema, self._used, labels, contrast, self._ends, self._levels, owner
        )
        if contrast is not None and schema.kind(found[0].block) == "number":
            self._check_values(found[0], contrast, owner)
        return found

    def _estimate(self, contrasts: Sequence[Contrast]) -> Estimates:
        """Estimates of contrasts, [C, T]."""
        design, linear = self._design, self._linear
        if not contrasts:
            return linear.estimate(np.zeros((0, design.matrix.shape[1])))
        added = np.array([self._rare[one.second] and one.first is None for one in contrasts])
        jointly = [one for one, alone in zip(contrasts, added, strict=True) if not alone]
        parts = []
        if jointly:
            parts.append(linear.estimate(np.array([self._contrast_row(one) for one in jointly])))
        if added.any():
            own = [one.second for one, alone in zip(contrasts, added, strict=True) if alone]
            columns = self._reading.values[design.rows].tocsc()[:, own]
            with make_executor(None, None):
                parts.append(linear.estimate_added(csr_array(columns)))
        order = np.concatenate([np.flatnonzero(~added), np.flatnonzero(added)])
        found = stack_estimates(parts).take(np.argsort(order))
        single = np.array([self._is_single(one) for one in contrasts])
        for part in (found.value, found.robust, found.classical):
            part[single] = np.nan
        return found

    def _is_single(self, contrast: Contrast) -> bool:
        """Whether only one document has a label that is compared."""
        compared = {contrast.second, contrast.second if contrast.first is None else contrast.first}
        number = self._space.schema.kind(contrast.block) == "number"
        return not number and bool(self._carriers[list(compared)].min() < 2)

    def _contrast_row(self, contrast: Contrast) -> FloatArray:
        """A contrast of the design matrix, [1 + p]."""
        schema, design = self._space.schema, self._design
        columns = schema.slices()[contrast.block]
        others = self._compared[columns].copy()
        others[contrast.second - columns.start] = 0.0
        if contrast.levels and contrast.first is None and not others.any():
            return np.full(design.matrix.shape[1], np.nan)
        plain = len(self._space.depends(contrast.block)) == 1 and self._space.plain
        if plain and schema.kind(contrast.block) != "number":
            # Of labels that are columns themselves: no rows of documents are needed.
            row = np.zeros(schema.n_labels)
            row[contrast.second] = 1.0
            if contrast.first is not None:
                row[contrast.first] = -1.0
            elif contrast.levels:
                row[columns] -= others / max(others.sum(), 1e-300)
            return np.asarray(design.contrast(csr_array(row[None, :]))[0])
        return design.mean_contrast(
            contrast_settings(schema, contrast, self._compared), contrast.block
        )

    def _effect_columns(
        self,
        labels: Any = None,
        contrast: Any = None,
        level: float = 0.9,
        owner: str = "TopicRegression.effects",
        most: int | None = None,
    ) -> Columns:
        """The columns of `effects`; of `most` labels at most, those with the strongest effects."""
        check_share(level, "level", owner)
        contrasts = self._contrasts(labels, contrast, owner)
        found = self._estimate(contrasts)
        q = adjust_p(found.p)
        if most is not None and most < len(contrasts):
            ratio = np.nan_to_num(np.abs(found.value) / np.maximum(found.error(), 1e-12))
            order = np.sort(np.argsort(-ratio.max(axis=1), kind="stable")[:most])
            contrasts, found, q = [contrasts[n] for n in order], found.take(order), q[order]
        columns = self._contrast_columns(contrasts)
        columns |= _interval_columns(found, level, "effect", q)
        columns["n_documents"] = self._contrast_sizes(contrasts)
        wanted = [labels] if isinstance(labels, str) else labels or ()
        named = any(name not in self._space.schema.slices() for name in wanted)
        self._warn_unknown(contrasts, found, named)
        return columns

    def _contrast_columns(self, contrasts: Sequence[Contrast]) -> Columns:
        """The columns that say what is compared, and in which topic."""
        n_topics = len(self._model.groups)
        return {
            "label": [c.label for c in contrasts for _ in range(n_topics)],
            "contrast": [c.description for c in contrasts for _ in range(n_topics)],
            **topic_part(self._model, list(range(n_topics)) * len(contrasts)),
        }

    def _contrast_sizes(self, contrasts: Sequence[Contrast]) -> list[int]:
        """Documents with the label, or with either of two levels, for each row of a table."""
        compared = [{c.second, c.second if c.first is None else c.first} for c in contrasts]
        carriers = [int(self._carriers[list(own)].sum()) for own in compared]
        return [n for n in carriers for _ in range(len(self._model.groups))]

    def _warn_unknown(self, contrasts: Sequence[Contrast], found: Estimates, named: bool) -> None:
        """Name labels whose effects are NaN; those of single documents only if they were named."""
        lost = [one for n, one in enumerate(contrasts) if np.isnan(found.value[n]).all()]
        single = [one for one in lost if named and self._is_single(one)]
        others = [one for one in lost if not self._is_single(one)]
        reasons = {
            "only one document has each of these labels": single,
            "the documents do not separate them from other labels": others,
        }
        for reason, own in reasons.items():
            if names := list(dict.fromkeys(one.label for one in own)):
                more = f" and {len(names) - _NAMED} others" if len(names) > _NAMED else ""
                warn_caller(
                    f"The effects of {quoted(names[:_NAMED])}{more} cannot be estimated: {reason}.",
                    IntervalWarning,
                )

    def levels(self, label: str, level: float = 0.9) -> Any:
        """Expected proportions at the values of a label, with intervals.

        Averages over documents at the observed values of their other labels.

        Parameters
        ----------
        label : str
            A category, whose levels are shown; tags, each in documents that have it; or a numeric
            label, at its values, or at some quantiles if it has many.
        level : float, default=0.9
            The confidence level of the intervals.

        Returns
        -------
        table
            One row per value and topic: `label`, `value`, `topic`, `name` if topics have names,
            `words`, `expected`, `lower`, `upper`; and the mean `observed` in the `n_documents`
            documents with this value, or with values nearest to it.
        """
        owner = "TopicRegression.levels"
        check_share(level, "level", owner)
        block = self._block(label, owner)
        return self._table(self._level_columns(block, self._points(block, None), None, level))

    def curve(self, label: str, by: str | None = None, n: int = 50, level: float = 0.9) -> Any:
        """Expected proportions along a numeric label, with pointwise bands.

        Parameters
        ----------
        label : str
            A numeric label.
        by : str or None, default=None
            A category: a curve for each of its levels.
        n : int, default=50
            The number of values, from the lowest to the highest. An ordered label, as in
            ``o(rating)``, is shown at its values.
        level : float, default=0.9
            The confidence level of the band.

        Returns
        -------
        table
            One row per value and topic: `label`, a column named as `by`, `value`, `topic`, `name`
            if topics have names, `words`, `expected`, `lower`, `upper`; and the mean `observed` in
            the `n_documents` documents nearest to the value, NaN where there are none.
        """
        return self._table(self._curve_columns(label, by, n, level))

    def _curve_columns(
        self, label: str, by: str | None = None, n: int = 50, level: float = 0.9
    ) -> Columns:
        """The columns of `curve`."""
        owner = "TopicRegression.curve"
        check_share(level, "level", owner)
        check_whole(n, "n", 2)
        block = self._block(label, owner)
        if block.kind != "number":
            raise ValueError(
                f"`label` of {owner} must be numeric. {label!r} is of kind {block.kind}: use "
                "`levels`."
            )
        other = None
        if by is not None:
            known = {one.name: one for one in self._space.schema.blocks if one.kind == "category"}
            check_known(by, known, "by", owner, "a category of the formula")
            other = known[by]
        return self._level_columns(block, self._points(block, n), other, level)

    def differences(self, label: str, by: str, level: float = 0.9) -> Any:
        """How effects of a label differ with another label, with intervals.

        Parameters
        ----------
        label : str
            A label or a column of labels, as in `effects`.
        by : str
            Another one: the effect at each of its levels minus that at its other levels, with a
            tag minus without it, or at the 90th minus at the 10th percentile of a numeric label.
        level : float, default=0.9
            The confidence level of the intervals.

        Returns
        -------
        table
            One row per pair of labels and topic: `label`, `contrast`, `by`, `topic`, `name` if
            topics have names, `words`, `difference`, `lower`, `upper`, `standard_error`, `p`, `q`.
        """
        owner = "TopicRegression.differences"
        check_share(level, "level", owner)
        first, second = (self._contrasts(name, None, owner) for name in (label, by))
        if {one.block for one in first} & {one.block for one in second}:
            raise ValueError(f"`by` of {owner} must be another label than `label`, got {by!r}.")
        blocks = {first[0].block, second[0].block}
        if not any(blocks <= set(term.columns) for term in self._space.terms):
            raise ValueError(
                f"The formula {self.formula!r} has no interaction of {label!r} and {by!r}, so the "
                f"effects do not differ: write `{label} * {by}`."
            )
        pairs = [(one, other) for one in first for other in second]
        schema, rows = self._space.schema, []
        for one, other in pairs:
            parts = [
                (v * w, compose(inner, outer))
                for w, inner in contrast_settings(schema, one, self._compared)
                for v, outer in contrast_settings(schema, other, self._compared)
            ]
            rows.append(self._design.mean_contrast(parts, None))
        found = self._linear.estimate(np.array(rows))
        columns = self._contrast_columns([one for one, _ in pairs])
        told = _repeat([other.description for _, other in pairs], len(self._model.groups))
        first_two = {name: columns.pop(name) for name in ("label", "contrast")}
        numbers = _interval_columns(found, level, "difference", adjust_p(found.p))
        return self._table({**first_two, "by": told, **columns, **numbers})

    def test(self) -> Any:
        """Wald tests of the terms of the formula, topic by topic.

        A label with interactions is tested by its effects, averaged over documents.

        Returns
        -------
        table
            One row per term and topic: `term`, `topic`, `name` if topics have names, `words`, the
            number `df` of coefficients that are tested to be 0, the statistic `F`, `p`, the larger
            of the robust and the classical one, and `q`, adjusted over all rows.
        """
        design, linear = self._design, self._linear
        terms = list(dict.fromkeys(design.terms))
        found = [linear.test(self._term_contrasts(term)) for term in terms]
        df, statistics, chances = zip(*found, strict=True) if found else ((), (), ())
        topics = list(range(len(self._model.groups)))
        columns: Columns = {"term": _repeat(terms, len(topics))}
        columns |= topic_part(self._model, topics * len(terms))
        columns["df"] = _repeat(df, len(topics))
        columns["F"] = [value for one in statistics for value in one.tolist()]
        columns["p"] = [value for one in chances for value in one.tolist()]
        columns["q"] = adjust_p(np.array(columns["p"])).tolist()
        return self._table(columns)

    def _term_contrasts(self, term: str) -> FloatArray:
        """Contrasts of the design matrix that a term without effect has as 0, [C, 1 + p]."""
        design, schema = self._design, self._space.schema
        if term not in schema.slices() or len(self._space.depends(term)) == 1:
            own = np.flatnonzero(np.array(design.terms) == term) + 1
            return np.eye(design.matrix.shape[1])[own]
        block = schema.block(term)
        if block.kind == "tags":
            return np.array([self._contrast_row(one) for one in self._contrasts(term, None)])
        # More values than a spline has columns; the regression drops those that follow from others.
        points = self._points(block, _TESTED_VALUES)
        rows = design.contrast(design.rows_at([self._setting(block, x) for x in points], term))
        return np.asarray(rows[1:] - rows[0])

    @property
    def _fitted_values(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """The documents that are regressed [M], their fitted proportions and residuals [M, T]."""
        rows, linear = self._design.rows, self._linear
        fitted = self._design.matrix @ linear.coefficients
        proportions = self._reading.proportions[rows].astype(np.float64)
        return rows, fitted, self._model.groups.sum(proportions) - fitted

    def check(self, time: Any = None) -> Any:
        """Whether documents have the topics that their labels lead one to expect.

        Parameters
        ----------
        time : sequence or None, default=None
            One number or date per document: its parts show whether effects drift.

        Returns
        -------
        table
            As `HDSP.check_labels` returns it.
        """
        from hdsp.analysis.checks import cell_columns, read_times

        if time is not None:
            reading = self._reading
            own = reading.rows is self._model.reading.rows
            n_documents = self._model.n_documents if own else len(reading)
            time = read_times(time, n_documents, "TopicRegression.check")[reading.rows]
        return self._table(cell_columns(self, time, "time"))

    def summary(self, topics: Sequence[int] | int | None = None) -> "Summary":
        """Coefficients of the linear regression by topic, as R's `summary` of `estimateEffect`.

        Categories are compared with their most frequent level, numeric labels are in standard
        deviations, and standard errors are the wider of robust and classical ones.

        Parameters
        ----------
        topics : int, list of int or None, default=None
            Numbers of topics; None is all.

        Returns
        -------
        Summary
            A text, which is printed.
        """
        _ = self._linear
        space, shown = level_space(self._space)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LabelDataWarning)
            design = self._make_design(space)
        linear = self._regress(design)
        n_topics = len(self._model.groups)
        chosen = range(n_topics) if topics is None else np.atleast_1d(np.asarray(topics))
        if not all(0 <= k < n_topics for k in chosen):
            raise ValueError(f"`topics` must be numbers from 0 to {n_topics - 1}, got {topics!r}.")
        found = linear.estimate(np.eye(design.matrix.shape[1]))
        error, p = found.error(), found.p
        own = [shown[c] for c in design.columns]
        names = ["(Intercept)", *own, *design.names[len(own) :]]
        wide = max(map(len, names))
        groups = "" if self.n_groups is None else f", clustered in {self.n_groups} groups"
        lines = [f"Formula: {self.formula}", f"Documents: {self.n_documents:,}{groups}"]
        if design.n_incomplete:
            lines.append(f"({design.n_incomplete:,} documents left out because labels are missing)")
        if self._reading.kept_whole:
            told = ", ".join(map(str, self._reading.kept_whole))
            lines.append(f"(topics that few documents hold, read with their own words: {told})")
        part = topic_part(self._model, range(n_topics))
        for k in chosen:
            lines += ["", f"Topic {k} ({part['words'][k]}):", "", "Coefficients:"]
            lines.append(
                f"{'':{wide}}  {'Estimate':>10} {'Std. Error':>10} {'t value':>8} Pr(>|t|)"
            )
            for c, name in enumerate(names):
                if np.isnan(found.value[c, k]):
                    lines.append(f"{name:{wide}}  {'NA':>10} {'NA':>10} {'NA':>8}       NA")
                    continue
                ratio = found.value[c, k] / max(error[c, k], 1e-300)
                stars = next((mark for limit, mark in _STARS if p[c, k] < limit), "")
                chance = "<0.0001" if p[c, k] < 1e-4 else f"{p[c, k]:.4f}"
                lines.append(
                    f"{name:{wide}}  {found.value[c, k]:10.5f} {error[c, k]:10.5f} {ratio:8.2f} "
                    f"{chance:>8} {stars}".rstrip()
                )
        lines += ["", "Signif. codes: 0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1"]
        return Summary("\n".join(lines))

    def _covariance(self, block: str) -> dict[str, Any] | None:
        """Coefficients and covariances of a label's own columns, for pages that compare values.

        None if the label has interactions, or columns that the regression does not have.
        """
        space = self._space
        if len(space.depends(block)) != 1:
            return None
        number = [term.columns for term in space.terms if term.main].index((block,))
        part = space.slices[number]
        place = {int(c): i for i, c in enumerate(self._design.columns)}
        own = [c for c in range(part.start, part.stop) if c in place]
        if not own or set(self._design.rare.tolist()) & set(range(part.start, part.stop)):
            return None
        contrasts = np.zeros((len(own), self._design.matrix.shape[1]))
        contrasts[range(len(own)), [1 + place[c] for c in own]] = 1.0
        if not self._linear.is_estimable(contrasts).all():
            return None
        found = self._linear.estimate(contrasts)
        robust, classical = self._linear.covariance(contrasts)
        return {
            "columns": [c - part.start for c in own],
            "coefficients": found.value,
            "robust": robust,
            "classical": classical,
            "degrees": float(found.degrees.min()),
            "classical_degrees": found.classical_degrees,
        }

    @cached_property
    def softmax(self) -> SoftmaxRegression:
        """The softmax regression of topics on the labels."""
        return self._model.regress(self._space, self._reading, self.weight)

    def _mean_expected(
        self, settings: Sequence[Setting], level: float
    ) -> tuple[FloatArray, FloatArray]:
        """Mean expected proportions of documents in settings and half widths, [S, T] each."""
        reading, rows = self._reading, self._design.rows
        weights = reading.document_weights(self.weight)[rows]
        values, topics = csr_array(reading.values[rows]), self._model.groups
        spread = np.linspace(0, len(rows) - 1, min(len(rows), _MOST_SETS)).astype(np.int64)
        found, places = [], []
        for setting in settings:
            design, share = _different(self._space.design(setting(values)), weights)
            found.append(topics.sum(share @ self.softmax.proportions(design)))
            if design.shape[0] > _MOST_SETS:
                some = csr_array(values[spread])
                design, share = _different(self._space.design(setting(some)), weights[spread])
            places.append((design, share))
        if self._space.n_columns > MOST_COLUMNS:
            return np.array(found), np.full((len(found), len(topics)), np.nan)
        lengths = reading.lengths[rows]
        known = mean_expected(
            self.softmax,
            csr_array(self._space.design(values)),
            reading.proportions[rows].astype(np.float64),
            weights,
            self.softmax.ridge / max(float((weights * lengths).sum() / weights.sum()), 1.0),
            self._clusters,
            places,
            topics,
        )
        half = known.half_width(level)
        return np.array(found), half

    def _level_columns(
        self, block: BlockSchema, points: FloatArray, by: BlockSchema | None, level: float
    ) -> Columns:
        """Expected proportions at values of a label, for all documents or each level of another."""
        schema = self._space.schema
        members = self._members(block, points)
        groups: list[tuple[str, Setting | None, IntArray | None]] = [("", None, None)]
        if by is not None:
            levels = self._points(by, None)
            groups = [
                (self._shown(by, levels)[i], label_setting(schema, int(j), 1.0), rows)
                for i, (j, rows) in enumerate(zip(levels, self._members(by, levels), strict=True))
            ]
        own = [self._setting(block, value) for value in points]
        settings = [
            one if outer is None else compose(one, outer) for _, outer, _ in groups for one in own
        ]
        expected, half = self._mean_expected(settings, level)
        shown, n_topics = self._shown(block, points), len(self._model.groups)
        columns: Columns = {"label": [block.name] * (len(settings) * n_topics)}
        if by is not None:
            columns[by.name] = _repeat([name for name, _, _ in groups for _ in shown], n_topics)
        columns["value"] = _repeat(shown * len(groups), n_topics)
        columns |= topic_part(self._model, list(range(n_topics)) * len(settings))
        columns["expected"] = expected.ravel().tolist()
        columns["lower"] = np.clip(expected - half, 0.0, 1.0).ravel().tolist()
        columns["upper"] = np.clip(expected + half, 0.0, 1.0).ravel().tolist()
        rows = [
            one if inside is None else np.intersect1d(one, inside)
            for _, _, inside in groups
            for one in members
        ]
        columns["observed"] = np.array([self._mean_found(one) for one in rows]).ravel().tolist()
        columns["n_documents"] = _repeat([len(one) for one in rows], n_topics)
        return columns

    def _observed_means(
        self, label: str, by: str | None, n: int
    ) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Mean values [B] and proportions [B, T] of documents in bins of a number, by level."""
        number = self._numbers(self._block(label, "hdsp.plots.curve"))
        groups: dict[str, IntArray] = {"": np.arange(len(number))}
        if by is not None:
            block = self._space.schema.block(by)
            levels = self._points(block, None)
            groups = dict(
                zip(self._shown(block, levels), self._members(block, levels), strict=True)
            )
        found = {}
        for name, own in groups.items():
            own = own[~np.isnan(number[own])]
            if self._space.single_values(label) is not None:
                bins = [own[number[own] == value] for value in np.unique(number[own])]
            else:
                order = own[np.argsort(number[own], kind="stable")]
                bins = [one for one in np.array_split(order, n) if len(one)]
            means = [self._mean_found(one) for one in bins]
            found[name] = np.array([number[one].mean() for one in bins]), np.array(means)
        return found

    def _block(self, label: str, owner: str) -> BlockSchema:
        schema = self._space.schema
        known = {
            block.name: block
            for block in schema.blocks
            if self._space.used_labels[schema.slices()[block.name]].any()
            and (block.kind != "number" or len(block.columns) == 1)
        }
        check_known(label, known, "label", owner, "a column of labels of the formula")
        return known[label]

    def _points(self, block: BlockSchema, n: int | None) -> FloatArray:
        """Positions of levels; or values of a number, some quantiles, or a grid of n."""
        start = self._space.schema.slices()[block.name].start
        if block.kind != "number":
            carried = self._carriers[start : start + len(block.columns)] > 0
            return np.asarray(start + np.flatnonzero(carried), dtype=np.float64)
        own = np.sort(csr_array(self._reading.values[:, [start]]).data)
        if not len(own):
            raise ValueError(f"Every value of {block.name!r} is missing.")
        single = self._space.single_values(block.name)
        if single is not None:
            return single
        values = np.unique(own)
        if n is not None:
            return np.linspace(values[0], values[-1], n)
        if len(values) > _MOST_VALUES:
            return np.unique(np.quantile(own, _QUANTILES, method="inverted_cdf"))
        return values

    def _setting(self, block: BlockSchema, point: float) -> Setting:
        schema = self._space.schema
        if block.kind != "number":
            return label_setting(schema, int(point), 1.0, only=block.name in self._levels)
        return label_setting(schema, schema.slices()[block.name].start, float(point))

    def _shown(self, block: BlockSchema, points: FloatArray) -> list[Any]:
        """Names of levels, or numbers in their own units."""
        if block.kind == "number":
            return [round(float(x * block.scale[0] + block.mean[0]), 9) + 0.0 for x in points]
        start = self._space.schema.slices()[block.name].start
        return [block.columns[int(j) - start] for j in points]

    def _members(self, block: BlockSchema, points: FloatArray) -> list[IntArray]:
        """The documents at each value, or nearest to it."""
        if block.kind != "number":
            carried = self._reading.values.tocsc()[:, points.astype(np.int64)]
            return list(np.split(carried.indices, carried.indptr[1:-1]))
        number = (self._numbers(block) - block.mean[0]) / block.scale[0]
        nearest = np.searchsorted((points[1:] + points[:-1]) / 2.0, number)
        nearest = np.where(np.isnan(number), -1, nearest)
        return [np.flatnonzero(nearest == one) for one in range(len(points))]

    def _numbers(self, block: BlockSchema) -> FloatArray:
        """The documents' values of a numeric label, in its own units, [M]; NaN if missing."""
        start = self._space.schema.slices()[block.name].start
        own = csr_array(self._reading.values[:, [start]])
        number = np.full(own.shape[0], np.nan)
        rows = np.repeat(np.arange(own.shape[0]), np.diff(own.indptr))
        number[rows] = own.data * block.scale[0] + block.mean[0]
        return number

    def _mean_found(self, rows: IntArray) -> FloatArray:
        """The mean proportions of some documents, [T]; NaN without documents."""
        share = self._reading.document_weights(self.weight)[rows]
        share = np.where(self._reading.read[rows], share, 0.0)
        if not share.sum():
            return np.full(len(self._model.groups), np.nan)
        found = np.nan_to_num(self._reading.proportions[rows].astype(np.float64))
        return self._model.groups.sum(np.asarray(share / share.sum() @ found))

    def _check_values(self, found: Contrast, asked: Any, owner: str) -> None:
        """Warn of values beyond those of training; raise where no others have an effect."""
        block = self._space.schema.block(found.block)
        single = self._space.single_values(block.name)
        known = csr_array(self._reading.values[:, [found.second]]).data
        known = np.asarray(known if single is None else single)
        places = np.array([found.start, found.stop])
        away, most = np.abs(known[:, None] - places).min(axis=0), _SAME
        if single is None:
            away = np.maximum(known.min() - places, places - known.max())
            most = _BEYOND * float(np.ptp(known))
        outside = [value for value, far in zip(asked, away > most, strict=True) if far]
        main = self._space.depends(block.name)[0]
        if not outside or (isinstance(main, Spline) and main.period is not None):
            return
        known = known * block.scale[0] + block.mean[0]
        if single is not None:
            raise ValueError(
                f"`contrast` of {owner} must be two values of {block.name!r}: "
                f"{listed([f'{value:.6g}' for value in known])}, got {quoted(outside)}."
            )
        warn_caller(
            f"`contrast` of {owner} goes to {quoted(outside)}, and {block.name!r} runs from "
            f"{known.min():.6g} to {known.max():.6g} in the documents: the effect is extrapolated.",
            IntervalWarning,
        )

    def _table(self, columns: Columns) -> Any:
        return make_frame(columns, self._model.source.frames)


class Summary(str):
    """A text that a console shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _interval_columns(found: Estimates, level: float, name: str, q: FloatArray) -> Columns:
    """The columns of estimates, named, with their intervals and tests."""
    half = found.half_width(level)
    numbers = {
        name: found.value,
        "lower": found.value - half,
        "upper": found.value + half,
        "standard_error": found.error(level),
        "p": found.p,
        "q": q,
    }
    return {one: values.ravel().tolist() for one, values in numbers.items()}


def _repeat(values: Iterable[Any], times: int) -> list[Any]:
    return [value for value in values for _ in range(times)]


def _different(design: csr_array, weights: FloatArray) -> tuple[csr_array, FloatArray]:
    """The different rows of a design, and their shares of the weights."""
    design = csr_array(design)
    first, group = group_rows(design)
    share = np.bincount(group, weights)
    return csr_array(design[first]), share / max(float(share.sum()), 1e-300)


def pool_refits(own: Estimates, values: FloatArray, level: float) -> tuple[FloatArray, ...]:
    """Rubin's rules: effects, half widths, errors and p values over refits, [C, T] each.

    Parameters
    ----------
    own : Estimates
        Those of the model, whose variance is that within refits.
    values : float array of shape [R, C, T]
        The effects in refits.
    level : float
        The confidence level.
    """
    n_refits = len(values)
    mean, between = values.mean(axis=0), values.var(axis=0, ddof=1)
    within = np.maximum(own.error(level), 1e-300) ** 2
    extra = (1.0 + 1.0 / n_refits) * between
    total = np.maximum(within + extra, 1e-300)
    # Barnard and Rubin (1999): few refits, and few documents.
    part = np.maximum(extra / total, 1e-12)
    refits = (n_refits - 1) / part**2
    robust = own.error(level) == own.robust
    complete = np.where(robust, own.degrees, own.classical_degrees)
    observed = (complete + 1.0) / (complete + 3.0) * complete * (1.0 - part)
    degrees = 1.0 / (1.0 / refits + 1.0 / np.maximum(observed, 1.0))
    error = np.sqrt(total)
    half = stdtrit(degrees, (1.0 + level) / 2.0) * error
    return mean, half, error, 2.0 * stdtr(degrees, -np.abs(mean) / error)
