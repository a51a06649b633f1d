"""Labels in the report: their effects on topics, curves, and any two values compared."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import stdtrit

from hdsp.analysis.design import percentile_ends
from hdsp.analysis.effects import TopicRegression
from hdsp.analysis.fitted import FittedModel
from hdsp.analysis.label_effects import effect_columns, own_regression
from hdsp.analysis.levels import curve_columns
from hdsp.corpus.schema import BlockSchema
from hdsp.numerics import FloatArray, IntArray
from hdsp.report.packing import pack_exact, pack_rounded, rounded
from hdsp.scaling.terms import Term

# Points of a curve; intervals of pairs of a label's values on a page; values of a number between
# which degrees of freedom are computed.
_POINTS, _MOST, _GRID = 9, 1_500_000, 12


class EffectTable(NamedTuple):
    """Effects by label and topic.

    Attributes
    ----------
    labels : int array of shape [C]
        Positions in the label space.
    contrasts : list of str
        The two values that are compared, for display.
    effect : float array of shape [C, T]
        Changes of expected proportions.
    lower, upper : float array of shape [C, T]
        Interval limits.
    """

    labels: IntArray
    contrasts: list[str]
    effect: FloatArray
    lower: FloatArray
    upper: FloatArray


def effect_table(model: Any, level: float = 0.9, labels: Any = None) -> EffectTable:
    """``HDSP.label_effects`` as matrices."""
    table = effect_columns(model._model, labels, None, level)
    n_topics = len(model.components_)
    position = {name: j for j, name in enumerate(model.label_names_)}
    chosen = np.array([position[name] for name in table["label"][::n_topics]], dtype=np.int64)
    numbers = [np.reshape(table[name], (-1, n_topics)) for name in ("effect", "lower", "upper")]
    return EffectTable(chosen, table["contrast"][::n_topics], *numbers)


def report_effects(model: Any, level: float) -> tuple[EffectTable, str]:
    """The estimable effects of a model, and why there are none, if so."""
    try:
        labels, contrasts, *numbers = effect_table(model, level)
    except ValueError as error:
        nothing = np.zeros((3, 0, len(model.components_)))
        return EffectTable(np.zeros(0, dtype=np.int64), [], *nothing), str(error)
    kept = np.flatnonzero(~np.isnan(numbers[0]).all(axis=1))
    known = [contrasts[row] for row in kept]
    return EffectTable(labels[kept], known, *(part[kept] for part in numbers)), ""


def label_view(fitted: FittedModel, effects: EffectTable, level: float) -> dict[str, Any]:
    """The label space: one entry for every block, and one for every label."""
    blocks, space = fitted.schema.blocks, fitted.regression_space
    known = set(effects.labels.tolist())
    return {
        "names": fitted.schema.names,
        "plain": [column for block in blocks for column in block.columns],
        "block": [number for number, block in enumerate(blocks) for _ in block.columns],
        "carriers": fitted.carriers,
        "used": np.flatnonzero(space.used_labels & (fitted.carriers > 0)),
        "blocks": [_block_view(fitted, block, known, level) for block in blocks],
    }


def _block_view(
    fitted: FittedModel, block: BlockSchema, known: set[int], level: float
) -> dict[str, Any]:
    """A column of labels, with the curve and the comparisons of those that have effects."""
    space, columns = fitted.regression_space, fitted.schema.slices()[block.name]
    alone = len(space.depends(block.name)) == 1
    entry: dict[str, Any] = {"name": block.name, "kind": block.kind, "alone": alone}
    entry |= {"start": columns.start, "stop": columns.stop}
    points = [j for j in range(columns.start, columns.stop) if j in known]
    values, few = [block.columns[j - columns.start] for j in points], True
    if block.kind == "number":
        single, moments = space.single_values(block.name), zip(block.mean, block.scale, strict=True)
        numbers = [_number(fitted, j, single, *own) for j, own in enumerate(moments, columns.start)]
        entry["numbers"] = numbers
        if len(numbers) > 1 or not points:
            return entry
        entry["curve"] = _curve(fitted, block.name, level)
        grid = np.linspace(numbers[0]["low"], numbers[0]["high"], _GRID)
        few = "values" in numbers[0]
        points = values = numbers[0].get("values", np.unique([*grid, *numbers[0]["ends"]]).tolist())
    if block.kind != "tags" and alone and len(points) > 1:
        compared = _compare(own_regression(fitted), block.name, values, few, level)
        entry["comparison"] = compared and compared | {"points": points}
    return entry


def _number(
    fitted: FittedModel, label: int, single: FloatArray | None, mean: float, scale: float
) -> dict[str, Any]:
    """The range of a numeric label, two values to compare, and its only values, if it has few."""
    values = _values(fitted, label)
    # Without values, all are the mean.
    places = values[[0, -1, (len(values) - 1) // 2]] if len(values) else np.zeros(3)
    low, high, middle = (places * scale + mean).tolist()
    ends = (_ends(fitted).get(label, np.zeros(2)) * scale + mean).tolist()
    found = {"mean": mean, "scale": scale, "low": low, "high": high, "middle": middle, "ends": ends}
    if single is not None and len(values):
        found["values"] = (single * scale + mean).tolist()
    return found


def _curve(fitted: FittedModel, name: str, level: float) -> dict[str, Any]:
    """The curve of a numeric label, as `TopicRegression.curve` returns it."""
    columns = curve_columns(own_regression(fitted), name, None, _POINTS, level)
    values = list(dict.fromkeys(columns["value"]))
    limits = np.array([columns[name] for name in ("expected", "lower", "upper")])
    expected, lower, upper = limits.reshape(3, len(values), -1)
    # Limits are cut at 0 and 1.
    half = np.maximum(expected - lower, upper - expected)
    found = {"values": rounded(values, 9), "expected": pack_rounded(expected)}
    return found | {"half": None if np.isnan(half).any() else pack_rounded(half)}


def _compare(
    regression: TopicRegression, name: str, values: list[Any], few: bool, level: float
) -> dict[str, Any] | None:
    """What gives the effect of any two values of a label, with its interval; None without one.

    Of few values (levels, or the values of an ordered label) effects against the first, and half
    widths for all pairs. Of other numbers the coefficients of their columns, rows of both
    covariances up to the diagonal, and quantiles of Student's t for pairs of some values, then of
    the classical covariance.
    """
    pairs = [(a, b) for j, b in enumerate(values) for a in values[:j]]
    if len(pairs) * len(regression._model.groups) > _MOST or len(regression._design.rare):
        return None
    estimates = regression._estimate([regression._contrasts(name, pair)[0] for pair in pairs])
    own = None if few else regression._covariance(name)
    if np.isnan(estimates.value).any() or (own is None and not few):
        return None
    if own is None:
        later = np.arange(1, len(values))
        against_first = estimates.value[later * (later - 1) // 2]
        return {
            "coefficients": pack_rounded(np.pad(against_first, ((1, 0), (0, 0)))),
            "half": pack_rounded(estimates.half_width(level)),
        }
    degrees = [*estimates.degrees.ravel(), own["classical_degrees"]]
    rows, columns = np.tril_indices(len(own["columns"]))
    return {
        "columns": own["columns"],
        "coefficients": pack_exact(own["coefficients"]),
        "robust": pack_exact(own["robust"][:, rows, columns]),
        "classical": pack_exact(own["classical"][:, rows, columns]),
        "quantiles": rounded(stdtrit(degrees, (1.0 + level) / 2.0)),
    }


def form_view(fitted: FittedModel) -> dict[str, Any]:
    """The softmax regression, from which a page computes expected topics.

    Each label has a column of the design, and some have more. The columns of a numeric curve follow
    from a table, and those of an interaction are products of two others. Coefficients are in single
    precision: they enter as exponents of a few units, where its error of 1e-7 moves no proportion
    by 1e-6.
    """
    space, weights = fitted.regression_space, fitted.expected_regression("documents").weights
    tables: dict[int, Any] = {}
    products: list[list[int]] = []
    for term, columns in zip(space.terms, space.columns, strict=True):
        for column, (i, j) in zip(columns, term.products, strict=False):
            first, second = map(space.columns_of, term.columns)
            products.append([int(first[i]), int(second[j]), int(column)])
        if term.main and term.names:
            for label, values, made in _tables(fitted, term):
                table = {"values": pack_exact(values, "float64"), "columns": pack_exact(made)}
                tables[label] = {"start": int(columns[-len(term.names)]), **table}
    topic_of = {own: k for k, members in enumerate(fitted.groups.members) for own in members}
    return {
        "tables": tables,
        "products": products,
        "intercept": pack_exact(weights[0], "float64"),
        "coefficients": pack_exact(weights[1:]),
        "topic_of": [topic_of[k] for k in range(len(topic_of))],
    }


def _tables(fitted: FittedModel, term: Term) -> Iterator[tuple[int, FloatArray, FloatArray]]:
    """Each of a term's labels, values of it, and the term's columns there."""
    name = term.columns[0]
    labels = fitted.schema.slices()[name]
    if fitted.schema.kind(name) != "number":
        rows = term.expand([csr_array(np.eye(labels.stop - labels.start))]).toarray()
        for level, row in enumerate(rows, start=labels.start):
            yield level, np.array([0.0, 1.0]), np.array([0.0 * row, row])
        return
    values = _values(fitted, labels.start)
    if labels.stop == labels.start + 1 and len(values):
        # Values that effects compare are exact, and those between them nearly so.
        points = fitted.regression_space.single_values(name)
        if points is None:
            points = term.points(float(values[0]), float(values[-1]))
        points = np.union1d(points, _ends(fitted).get(labels.start, ()))
        n = len(points)
        stored = csr_array((points, np.zeros(n, dtype=np.int64), np.arange(n + 1)), (n, 1))
        yield labels.start, points, term.expand([stored]).toarray()


def _values(fitted: FittedModel, label: int) -> FloatArray:
    """The values of a numeric label in documents, in standard units and in order."""
    return np.sort(csr_array(fitted.reading.values[:, [label]]).data)


def _ends(fitted: FittedModel) -> dict[int, FloatArray]:
    return percentile_ends(fitted.reading.values, fitted.schema)
