"""Effects of labels on topics, and the curves of numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hdsp.answers.label_effects import effect_columns
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction import make_contrasts
from hdsp.report.packing import pack_rounded, rounded

# Points of a curve. A page holds the curves of so many numbers at most.
_POINTS = 9
_MOST_CURVES = 12
_NUMBERS = ("effect", "lower", "upper", "expected")


@dataclass(frozen=True, eq=False)
class EffectTable:
    """Effects by label and topic.

    Attributes
    ----------
    labels : int array of shape [C]
        Positions in the label space.
    contrasts : list of str
        What is compared, in words.
    effect : float array of shape [C, T]
        Changes of expected proportions.
    lower, upper : float array of shape [C, T]
        Limits of the intervals.
    expected : float array of shape [C, T]
        Proportions after the change.
    """

    labels: IntArray
    contrasts: list[str]
    effect: FloatArray
    lower: FloatArray
    upper: FloatArray
    expected: FloatArray


def effect_table(model: Any, level: float = 0.9, labels: Any = None) -> EffectTable:
    """``HDSP.label_effects`` as matrices."""
    table = effect_columns(model._model, level, labels, n_jobs=model.n_jobs)
    n_topics = len(model.components_)
    position = {name: j for j, name in enumerate(model.label_names_)}
    chosen = [position[name] for name in table["label"][::n_topics]]
    columns = {name: np.reshape(table[name], (-1, n_topics)) for name in _NUMBERS}
    return EffectTable(np.array(chosen, dtype=np.int64), table["contrast"][::n_topics], **columns)


def effect_view(effects: EffectTable, level: float) -> dict[str, Any]:
    """The table for a page; numbers to a 30,000th of a label's largest effect."""
    return {
        "level": level,
        "labels": effects.labels.tolist(),
        "contrasts": effects.contrasts,
        **{name: pack_rounded(getattr(effects, name)) for name in _NUMBERS},
    }


@dataclass(frozen=True, eq=False)
class Curve:
    """Expected proportions along a number, averaged over the training documents.

    Attributes
    ----------
    values : float array of shape [G]
        Values of the number.
    reference : float
        The value that intervals are against.
    expected : float array of shape [G, T]
        Expected proportions at the values.
    lower, upper : float array of shape [G, T]
        Limits of the change from `reference`, around the expected proportion there.
    """

    values: FloatArray
    reference: float
    expected: FloatArray
    lower: FloatArray
    upper: FloatArray


def number_curve(model: Any, label: str, number: Mapping[str, Any], level: float = 0.9) -> Curve:
    """The curve of one number, of `label_view`, between its lowest and highest value."""
    reference = number["middle"]
    values = number.get("values", np.linspace(number["low"], number["high"], _POINTS))
    grid = np.unique([*values, reference])
    fitted = model._model
    contrasts = [
        contrast
        for value in grid.tolist()
        for contrast in make_contrasts(fitted.schema, fitted.used, label, (reference, value))
    ]
    found = fitted.effects(contrasts, level, "calibrated", seed=0)
    # Nothing changes between the reference and itself.
    moved = (grid != reference)[:, None]
    lower, upper = (found.otherwise + moved * limit for limit in (found.lower, found.upper))
    return Curve(grid, reference, found.expected, lower, upper)


def curve_views(
    model: Any, labels: dict[str, Any], effects: EffectTable, level: float
) -> list[dict[str, Any]]:
    """The curves of the model's numbers, of blocks with one number each.

    Parameters
    ----------
    model : HDSP
        A fitted model.
    labels : dict
        The label space, of `label_view`.
    effects : EffectTable
        The model's effects: a number has a curve where it has one.
    level : float
        The probability that an interval contains the effect.
    """
    used = set(effects.labels.tolist())
    result: list[dict[str, Any]] = []
    for block in labels["blocks"]:
        if block["kind"] != "number" or len(block["numbers"]) != 1:
            continue
        (number,) = block["numbers"]
        if number["low"] == number["high"] or block["start"] not in used:
            continue
        if len(result) == _MOST_CURVES:
            break
        curve = number_curve(model, block["name"], number, level)
        result.append(
            {
                "label": block["start"],
                "values": rounded(curve.values, 9),
                "reference": curve.reference,
                "expected": pack_rounded(curve.expected),
                "lower": pack_rounded(curve.lower),
                "upper": pack_rounded(curve.upper),
            }
        )
    return result
