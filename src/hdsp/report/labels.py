"""Labels as the report shows them, and the regression that gives their expected topics."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.analysis.contrasts import percentile_ends
from hdsp.analysis.fitted import FittedModel
from hdsp.numerics import FloatArray
from hdsp.report.packing import pack_exact
from hdsp.scaling.terms import Term


def label_view(fitted: FittedModel) -> dict[str, Any]:
    """The label space: one entry for every block, and one for every label."""
    schema, space = fitted.schema, fitted.regression_space
    blocks = []
    for block in schema.blocks:
        columns = schema.slices()[block.name]
        entry: dict[str, Any] = {
            "name": block.name,
            "kind": block.kind,
            "start": columns.start,
            "stop": columns.stop,
            "alone": len(space.depends(block.name)) == 1,
        }
        if block.kind == "number":
            entry["numbers"] = [
                _number(fitted, columns.start + i, space.single_values(block.name), mean, scale)
                for i, (mean, scale) in enumerate(zip(block.mean, block.scale, strict=True))
            ]
        blocks.append(entry)
    return {
        "names": list(schema.names),
        "plain": [column for block in schema.blocks for column in block.columns],
        "block": [number for number, block in enumerate(schema.blocks) for _ in block.columns],
        "carriers": fitted.carriers.tolist(),
        "used": np.flatnonzero(space.used_labels & (fitted.carriers > 0)).tolist(),
        "blocks": blocks,
    }


def form_view(fitted: FittedModel) -> dict[str, Any]:
    """The softmax regression, from which a page computes expected topics.

    Each label has a column of the design, and some have more. The columns of a numeric curve follow
    from a table, and those of an interaction are products of two others. Coefficients are in single
    precision: they enter as exponents of a few units, where its error of 1e-7 moves no proportion
    by 1e-6.
    """
    space = fitted.regression_space
    weights = fitted.expected_regression("documents").weights
    tables: dict[int, Any] = {}
    products: list[list[int]] = []
    for term, columns in zip(space.terms, space.columns, strict=True):
        for column, (i, j) in zip(columns, term.products, strict=False):
            first, second = map(space.columns_of, term.columns)
            products.append([int(first[i]), int(second[j]), int(column)])
        if term.main and term.names:
            for label, values, made in _tables(fitted, term):
                tables[label] = {
                    "start": int(columns[-len(term.names)]),
                    "values": pack_exact(values, "float64"),
                    "columns": pack_exact(made, "float32"),
                }
    topic_of = {own: k for k, members in enumerate(fitted.groups.members) for own in members}
    return {
        "tables": tables,
        "products": products,
        "intercept": pack_exact(weights[0], "float64"),
        "coefficients": pack_exact(weights[1:], "float32"),
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
