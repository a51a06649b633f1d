"""`TopicRegression`: effects of labels on topics, by a linear regression of proportions."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import compress, groupby, product
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.analysis.design import (
    Contrast,
    DesignMatrix,
    contrast_matrix,
    formula_of,
    is_cluster,
    make_contrasts,
    make_design,
    percentile_ends,
    pooled_groups,
    regression_space,
)
from hdsp.analysis.fitted import FittedModel
from hdsp.analysis.levels import curve_columns, level_columns, rows_by_topic, shown_values
from hdsp.analysis.reading import Reading, Weight
from hdsp.analysis.regression import Estimates, LinearRegression, adjust_p, stack_estimates
from hdsp.analysis.softmax import SoftmaxRegression
from hdsp.analysis.topics import Columns, top_words
from hdsp.checks import check_share, count_of, listed, quoted
from hdsp.corpus import make_frame
from hdsp.exceptions import IntervalWarning, LabelDataWarning, warn_caller
from hdsp.execution.executor import make_executor
from hdsp.numerics import BoolArray, FloatArray, IntArray
from hdsp.scaling.design import LabelDesign
from hdsp.scaling.terms import Spline

# Values are the same up to so many standard deviations. A contrast may go so far beyond those of
# training, as a share of their range.
_SAME, _BEYOND = 1e-6, 0.05
# Values of a numeric label at which its effects are tested if it has interactions.
_TESTED_VALUES = 12
# Labels that a warning names.
_NAMED = 5
# With fewer groups, a warning is given.
_FEW_GROUPS = 10
_SUMMARY_WORDS = 5
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
    >>> regression = model.estimate_effects("~ tags")
    >>> regression.label_names
    ('news', 'sport')
    >>> regression.effects("news")["contrast"].unique().tolist()
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
        if space is fitted.space and reading is fitted.reading:
            self._space = fitted.regression_space
        else:
            self._space = regression_space(space, reading.values)
        self.formula, self.weight = formula or formula_of(space), weight

    @cached_property
    def _design(self) -> DesignMatrix:
        reading = self._reading
        weights = reading.document_weights(self.weight)
        return make_design(self._space, reading.values, reading.read, weights)

    @cached_property
    def _clusters(self) -> IntArray | None:
        """The groups of the documents that are regressed; a document of its own has another."""
        groups = self._reading.groups
        if groups is None:
            groups = pooled_groups(self._space, self._reading.values)
        if groups is None:
            return None
        groups = groups[self._design.rows]
        return np.where(groups < 0, -1 - np.arange(len(groups)), groups)

    @cached_property
    def _linear(self) -> LinearRegression:
        """The linear regression, with a sentence on designs that are bad."""
        if self.n_groups == 1:
            raise ValueError(
                "All documents are in one group, so effects have no standard errors: pass "
                "other groups, or none."
            )
        if self.n_groups is not None and self.n_groups < _FEW_GROUPS:
            warn_caller(
                f"The documents come in {count_of(self.n_groups, 'group')}: with fewer than "
                f"{_FEW_GROUPS}, the effect of a label can hardly be separated from "
                "differences between groups, and intervals are wide and approximate.",
                IntervalWarning,
            )
        design = self._design
        weights = None if np.allclose(design.weights, design.weights[0]) else design.weights
        linear = LinearRegression(design.matrix, self._proportions, weights, self._clusters)
        if len(linear.dropped):
            names = ["(Intercept)", *design.names]
            warn_caller(
                f"Dropped {quoted(names[c] for c in linear.dropped)}: linear combinations of other "
                "labels. Effects that need them cannot be estimated, so leave one of these out.",
                LabelDataWarning,
            )
        return linear

    @property
    def _proportions(self) -> FloatArray:
        """Proportions of the documents that are regressed, [M, T]."""
        rows = self._design.rows
        return self._model.groups.sum(self._reading.proportions[rows].astype(np.float64))

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
    def _used(self) -> BoolArray:
        """Labels of the formula that documents have, and that are not clusters, [n_labels]."""
        used = self._space.used_labels & (self._design.carriers > 0)
        for term in filter(is_cluster, self._space.terms):
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

    @cached_property
    def _ends(self) -> dict[int, FloatArray]:
        return percentile_ends(csr_array(self._reading.values), self._space.schema)

    def _contrasts(
        self, labels: Any, contrast: Any, owner: str = "TopicRegression.effects"
    ) -> list[Contrast]:
        """The contrasts of labels that have effects."""
        contrasts = make_contrasts(self, labels, contrast, owner)
        if contrast is not None and self._space.schema.kind(contrasts[0].block) == "number":
            self._check_values(contrasts[0], contrast, owner)
        return contrasts

    def _estimate(self, contrasts: Sequence[Contrast]) -> Estimates:
        """Estimates of contrasts, [C, T]; NaN if only one document has a label."""
        design, linear = self._design, self._linear
        rare = [len(row.labels) == 1 and design.is_rare[row.second.label] for row in contrasts]
        jointly = [row for row, alone in zip(contrasts, rare, strict=True) if not alone]
        parts = [linear.estimate(self._contrast_rows(jointly))] if jointly or not any(rare) else []
        if any(rare):
            labels = [row.second.label for row in compress(contrasts, rare)]
            with make_executor(None, None):
                parts.append(linear.estimate_added(csr_array(design.values.tocsc()[:, labels])))
        estimates = stack_estimates(parts).take(np.argsort(np.argsort(rare, kind="stable")))
        single = np.array([self._is_single(row) for row in contrasts], dtype=np.bool_)
        for part in (estimates.value, estimates.robust, estimates.classical):
            part[single] = np.nan
        return estimates

    def _is_single(self, contrast: Contrast) -> bool:
        """Whether only one document has a label that is compared."""
        number = self._space.schema.kind(contrast.block) == "number"
        return not number and bool(self._design.carriers[contrast.labels].min() < 2)

    @cached_property
    def _compared(self) -> FloatArray:
        """Documents with the labels that others are compared with, [n_labels]."""
        return np.where(self._design.is_rare, 0.0, self._design.carriers)

    def _contrast_rows(self, contrasts: Sequence[Contrast]) -> FloatArray:
        """Contrasts of the design matrix, [C, 1 + p]."""
        design = self._design
        rows: list[FloatArray] = [np.zeros((0, design.matrix.shape[1]))]
        for block, group in groupby(contrasts, lambda row: row.block):
            settings, weights = contrast_matrix(self._space.schema, list(group), self._compared)
            means = design.means_at([(setting,) for setting in settings], block)
            rows.append(design.contrast(csr_array(csr_array(weights) @ means)))
            rows[-1][np.isnan(weights).any(axis=1)] = np.nan
        return np.concatenate(rows)

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
        estimates = self._estimate(contrasts)
        values = interval_values(estimates, level, "effect")
        if most is not None and most < len(contrasts):
            ratio = np.abs(estimates.value) / np.maximum(estimates.error(), 1e-12)
            order = np.argsort(-np.nan_to_num(ratio).max(axis=1), kind="stable")
            strongest = np.sort(order[:most])
            contrasts = [contrasts[row] for row in strongest]
            values = {name: own[strongest] for name, own in values.items()}
        carriers = [int(self._design.carriers[row.labels].sum()) for row in contrasts]
        values["n_documents"] = np.array(carriers, dtype=np.int64)[:, None]
        wanted = [labels] if isinstance(labels, str) else labels or ()
        is_named = any(name not in self._space.schema.slices() for name in wanted)
        lost = np.flatnonzero(np.isnan(values["effect"]).all(axis=1))
        unknown = [contrasts[n] for n in lost.tolist()]
        unknown = [row for row in unknown if is_named or not self._is_single(row)]
        if unknown:
            warn_caller(
                f"The effects of {quoted(dict.fromkeys(row.label for row in unknown), _NAMED)} "
                "cannot be estimated: only one document has each, or the documents do not "
                "separate them from other labels.",
                IntervalWarning,
            )
        names = {
            "label": [row.label for row in contrasts],
            "contrast": [row.description for row in contrasts],
        }
        return rows_by_topic(self, names, values)

    def _check_values(self, contrast: Contrast, asked: Any, owner: str) -> None:
        """Warn of values beyond those of training; raise if no others have an effect."""
        block = self._space.schema.block(contrast.block)
        places = np.array([side.value for side in (contrast.first, contrast.second) if side])
        known = self._space.single_values(block.name)
        if known is not None:
            if np.abs(known[:, None] - places).min(axis=0).max() > _SAME:
                shown = [f"{value:.6g}" for value in known * block.scale[0] + block.mean[0]]
                raise ValueError(
                    f"`contrast` of {owner} must be two values of {block.name!r}: {listed(shown)}, "
                    f"got {asked!r}."
                )
            return
        known = csr_array(self._reading.values[:, [contrast.second.label]]).data
        low, high, main = known.min(), known.max(), self._space.depends(block.name)[0]
        beyond = np.maximum(low - places, places - high) > _BEYOND * (high - low)
        if beyond.any() and not (isinstance(main, Spline) and main.period is not None):
            low, high = np.array([low, high]) * block.scale[0] + block.mean[0]
            warn_caller(
                f"`contrast` of {owner} goes to {quoted(compress(asked, beyond))}, and "
                f"{block.name!r} runs from {low:.6g} to {high:.6g} in the documents: the effect "
                "is extrapolated.",
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
        return self._table(level_columns(self, label, level))

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
        return self._table(curve_columns(self, label, by, n, level))

    @cached_property
    def softmax(self) -> SoftmaxRegression:
        """The softmax regression of topics on the labels."""
        return self._model.regress(self._space, self._reading, self.weight)

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
        blocks = {first[0].block, second[0].block}
        if {row.block for row in first} & {row.block for row in second}:
            raise ValueError(f"`by` of {owner} must be another label than `label`, got {by!r}.")
        if not any(blocks <= set(term.columns) for term in self._space.terms):
            raise ValueError(
                f"The formula {self.formula!r} has no interaction of {label!r} and {by!r}, so the "
                f"effects do not differ: write `{label} * {by}`."
            )
        schema, design = self._space.schema, self._design
        (inner, weights), (outer, others) = (
            contrast_matrix(schema, rows, self._compared) for rows in (first, second)
        )
        means = design.means_at(list(product(inner, outer)), None)
        estimates = self._linear.estimate(
            design.contrast(csr_array(csr_array(np.kron(weights, others)) @ means))
        )
        columns = {
            "label": [row.label for row in first for _ in second],
            "contrast": [row.description for row in first for _ in second],
            "by": [other.description for _ in first for other in second],
        }
        values = interval_values(estimates, level, "difference")
        return self._table(rows_by_topic(self, columns, values))

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
        terms = list(dict.fromkeys(self._design.terms))
        tests = [self._linear.test(self._term_contrasts(term)) for term in terms]
        n_topics = len(self._model.groups)
        statistics, p = np.array([one[1:] for one in tests]).reshape(-1, 2, n_topics).swapaxes(0, 1)
        df = np.array([one[0] for one in tests], dtype=np.int64)[:, None]
        values = {"df": df, "F": statistics, "p": p, "q": adjust_p(p)}
        return self._table(rows_by_topic(self, {"term": terms}, values))

    def _term_contrasts(self, term: str) -> FloatArray:
        """Contrasts of the design matrix that a term without effect has as 0, [C, 1 + p]."""
        design, schema = self._design, self._space.schema
        if term not in schema.slices() or len(self._space.depends(term)) == 1:
            columns = np.flatnonzero(np.array(design.terms) == term) + 1
            return np.eye(design.matrix.shape[1])[columns]
        block = schema.block(term)
        if block.kind == "tags":
            return self._contrast_rows(self._contrasts(term, None))
        # More values than a spline has columns; the regression drops those that follow from others.
        places = [value.settings for value in shown_values(self, block, _TESTED_VALUES)]
        rows = design.contrast(design.means_at(places, term))
        return np.asarray(rows[1:] - rows[0])

    @property
    def _fitted_values(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """The documents that are regressed [M], their fitted proportions and residuals [M, T]."""
        expected = self._design.matrix @ self._linear.coefficients
        return self._design.rows, expected, self._proportions - expected

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
            time = read_times(time, n_documents, "TopicRegression.check")
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
        n_topics = len(self._model.groups)
        chosen = range(n_topics) if topics is None else np.atleast_1d(np.asarray(topics))
        if not all(0 <= k < n_topics for k in chosen):
            raise ValueError(f"`topics` must be numbers from 0 to {n_topics - 1}, got {topics!r}.")
        design = self._design
        estimates = self._linear.estimate(np.eye(design.matrix.shape[1]))
        names = ["(Intercept)", *design.names]
        groups = "" if self.n_groups is None else f", clustered in {self.n_groups} groups"
        lines = [f"Formula: {self.formula}", f"Documents: {self.n_documents:,}{groups}"]
        if design.n_incomplete:
            lines.append(f"({design.n_incomplete:,} documents left out because labels are missing)")
        if kept := self._reading.kept_whole:
            numbers = ", ".join(map(str, kept))
            lines.append(f"(topics that few documents hold, read with their own words: {numbers})")
        words = top_words(self._model, _SUMMARY_WORDS)
        for k in chosen:
            lines += ["", f"Topic {k} ({' '.join(words[k])}):", "", "Coefficients:"]
            lines += _coefficient_lines(names, estimates, int(k))
        lines += ["", "Signif. codes: 0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1"]
        return Summary("\n".join(lines))

    def _covariance(self, block: str) -> dict[str, Any] | None:
        """Coefficients and covariances of a label's own columns, for pages that compare values.

        None if the label has interactions, or columns that the regression does not have.
        """
        design = self._design
        columns, shown = (space.columns_of(block) for space in (design.space, self._space))
        # Of ordered labels, the design has an indicator for each value.
        if len(self._space.depends(block)) != 1 or len(columns) != len(shown):
            return None
        places = np.flatnonzero(np.isin(design.columns, columns))
        contrasts = np.eye(design.matrix.shape[1])[1 + places]
        if (
            not len(places)
            or np.isin(design.rare, columns).any()
            or not self._linear.is_estimable(contrasts).all()
        ):
            return None
        estimates = self._linear.estimate(contrasts)
        robust, classical = self._linear.covariance(contrasts)
        return {
            "columns": [int(shown[columns == c][0]) for c in design.columns[places]],
            "coefficients": estimates.value,
            "robust": robust,
            "classical": classical,
            "degrees": float(estimates.degrees.min()),
            "classical_degrees": estimates.classical_degrees,
        }

    def _table(self, columns: Columns) -> Any:
        return make_frame(columns, self._model.source.frames)


class Summary(str):
    """A text that a console shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _coefficient_lines(names: Sequence[str], estimates: Estimates, topic: int) -> Iterator[str]:
    """The lines of a topic's coefficients in a summary."""
    wide = max(map(len, names))
    yield f"{'':{wide}}  {'Estimate':>10} {'Std. Error':>10} {'t value':>8} Pr(>|t|)"
    columns = (part[:, topic] for part in (estimates.value, estimates.error(), estimates.p))
    for name, value, error, p in zip(names, *columns, strict=True):
        if np.isnan(value):
            yield f"{name:{wide}}  {'NA':>10} {'NA':>10} {'NA':>8}       NA"
            continue
        stars = next((mark for limit, mark in _STARS if p < limit), "")
        chance = "<0.0001" if p < 1e-4 else f"{p:.4f}"
        ratio = value / max(error, 1e-300)
        line = f"{name:{wide}}  {value:10.5f} {error:10.5f} {ratio:8.2f} {chance:>8} {stars}"
        yield line.rstrip()


def interval_values(
    estimates: Estimates, level: float, name: str
) -> dict[str, FloatArray | IntArray]:
    """The columns of estimates [C, T], named, with their intervals and tests."""
    half = estimates.half_width(level)
    return {
        name: estimates.value,
        "lower": estimates.value - half,
        "upper": estimates.value + half,
        "standard_error": estimates.error(level),
        "p": estimates.p,
        "q": adjust_p(estimates.p),
    }
