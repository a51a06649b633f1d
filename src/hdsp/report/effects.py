"""Label effects on topics, numeric curves, and what a page needs to compare any two values."""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from hdsp.analysis.effects import TopicRegression
from hdsp.analysis.label_effects import effect_columns, own_regression
from hdsp.analysis.levels import curve_columns
from hdsp.numerics import FloatArray, IntArray
from hdsp.report.packing import pack_exact, pack_rounded, rounded

# Points of a curve, and the largest number of curves on a page.
_POINTS = 9
_MOST_CURVES = 12
# Bytes of all comparisons on a page, and values of a number between which degrees of freedom are
# computed.
_MOST_BYTES, _GRID = 3_000_000, 12


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
        nothing = np.zeros((0, len(model.components_)))
        return EffectTable(np.zeros(0, dtype=np.int64), [], nothing, nothing, nothing), str(error)
    kept = np.flatnonzero(~np.isnan(numbers[0]).all(axis=1))
    known = [contrasts[row] for row in kept]
    return EffectTable(labels[kept], known, *(part[kept] for part in numbers)), ""


def effect_view(
    model: Any, labels: dict[str, Any], effects: EffectTable, level: float
) -> dict[str, Any]:
    """The table for a page; numbers to a 30,000th of a label's largest effect.

    Intervals are symmetric: `half` is half of their width. Comparisons of any two values are by
    block; labels with interactions or very many levels are left out.
    """
    comparisons = {}
    if len(effects.labels):
        regression, n_left = own_regression(model._model), _MOST_BYTES
        known = set(effects.labels.tolist())
        for number, block in enumerate(labels["blocks"]):
            points, few = _points(block, known)
            size = _size(regression, block, len(points), few)
            if not block["alone"] or len(points) < 2 or size > n_left:
                continue
            values = points
            if block["kind"] != "number":
                values = [labels["plain"][j] for j in points]
            if compared := _compare(regression, block["name"], values, few, level):
                comparisons[number] = compared | {"points": points}
                n_left -= size
    return {
        "level": level,
        "labels": effects.labels.tolist(),
        "contrasts": effects.contrasts,
        "effect": pack_rounded(effects.effect),
        "half": pack_rounded((effects.upper - effects.lower) / 2.0),
        "comparisons": comparisons,
    }


def _size(regression: TopicRegression, block: dict[str, Any], n_points: int, few: bool) -> int:
    """The bytes of a comparison."""
    n_columns = len(regression._space.columns_of(block["name"]))
    numbers = n_points * (n_points - 1) if few else 4 * n_columns * (n_columns + 1)
    return numbers * len(regression._model.groups)


def _compare(
    regression: TopicRegression, name: str, values: list[Any], few: bool, level: float
) -> dict[str, Any] | None:
    """What gives the effect of any two values of a label, with its interval.

    Of few values (levels, or the values of an ordered label) effects against the first, and half
    widths for all pairs. Of other numbers the coefficients of their columns, rows of both
    covariances up to the diagonal, and quantiles of Student's t for pairs of some values, then of
    the classical covariance.
    """
    if len(regression._design.rare):
        return None
    pairs = [(a, b) for j, b in enumerate(values) for a in values[:j]]
    estimates = regression._estimate([regression._contrasts(name, pair)[0] for pair in pairs])
    if np.isnan(estimates.value).any():
        return None
    if few:
        later = np.arange(1, len(values))
        against_first = estimates.value[later * (later - 1) // 2]
        return {
            "coefficients": pack_rounded(np.vstack([0.0 * against_first[:1], against_first])),
            "half": pack_rounded(estimates.half_width(level)),
        }
    if (own := regression._covariance(name)) is None:
        return None
    degrees = [*estimates.degrees.ravel(), own["classical_degrees"]]
    rows, columns = np.tril_indices(len(own["columns"]))
    return {
        "columns": own["columns"],
        "coefficients": pack_exact(own["coefficients"]),
        "robust": pack_exact(own["robust"][:, rows, columns]),
        "classical": pack_exact(own["classical"][:, rows, columns]),
        "quantiles": rounded(stdtrit(degrees, (1.0 + level) / 2.0)),
    }


def _points(block: dict[str, Any], known: set[int]) -> tuple[list[Any], bool]:
    """Levels of a category, or values along a number, and whether there are no others."""
    if block["kind"] == "category":
        return [j for j in range(block["start"], block["stop"]) if j in known], True
    if len(block.get("numbers", ())) != 1 or block["start"] not in known:
        return [], True
    (number,) = block["numbers"]
    if "values" in number:
        return list(number["values"]), True
    grid = np.linspace(number["low"], number["high"], _GRID)
    return np.unique([*grid, *number["ends"]]).tolist(), False


def curve_views(
    model: Any, labels: dict[str, Any], effects: EffectTable, level: float
) -> list[dict[str, Any]]:
    """The curves of numeric labels that have effects, as `TopicRegression.curve` returns them."""
    used = set(effects.labels.tolist())
    single = [
        block
        for block in labels["blocks"]
        if block["start"] in used and len(block.get("numbers", ())) == 1
    ]
    result: list[dict[str, Any]] = []
    for block in single[:_MOST_CURVES]:
        columns = curve_columns(own_regression(model._model), block["name"], None, _POINTS, level)
        values = list(dict.fromkeys(columns["value"]))
        expected, lower, upper = (
            np.reshape(columns[name], (len(values), -1)) for name in ("expected", "lower", "upper")
        )
        # Limits are cut at 0 and 1.
        half = np.maximum(expected - lower, upper - expected)
        result.append(
            {
                "label": block["start"],
                "values": rounded(values, 9),
                "expected": pack_rounded(expected),
                "half": None if np.isnan(half).any() else pack_rounded(half),
            }
        )
    return result
