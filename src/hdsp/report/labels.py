"""Labels as the report shows them, and the regression that gives their expected topics."""

from collections.abc import Iterator, Mapping
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
    ends = percentile_ends(fitted.reading.values, schema)
    blocks, of_block = [], []
    for number, block in enumerate(schema.blocks):
        columns = schema.slices()[block.name]
        of_block += [number] * len(block.columns)
        entry: dict[str, Any] = {
            "name": block.name,
            "kind": block.kind,
            "start": columns.start,
            "stop": columns.stop,
            "alone": len(space.depends(block.name)) == 1,
        }
        if block.kind == "number":
            single = space.single_values(block.name)
            entry["numbers"] = [
                _number(_values(fitted, j), ends.get(j), single, block.mean[i], block.scale[i])
                for i, j in enumerate(range(columns.start, columns.stop))
            ]
        blocks.append(entry)
    return {
        "names": list(schema.names),
        "plain": [column for block in schema.blocks for column in block.columns],
        "block": of_block,
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
    ends = percentile_ends(fitted.reading.values, space.schema)
    tables: dict[int, Any] = {}
    products: list[list[int]] = []
    for term, columns in zip(space.terms, space.columns, strict=True):
        for column, (i, j) in zip(columns, term.products, strict=False):
            first, second = map(space.columns_of, term.columns)
            products.append([int(first[i]), int(second[j]), int(column)])
        if term.main and term.names:
            labels = space.schema.slices()[term.columns[0]]
            for label, values, made in _tables(fitted, term, labels, ends):
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


def _tables(
    fitted: FittedModel, term: Term, labels: slice, ends: Mapping[int, FloatArray]
) -> Iterator[tuple[int, FloatArray, FloatArray]]:
    """Each of a term's labels, values of it, and the term's columns there."""
    if fitted.schema.kind(term.columns[0]) == "number":
        values = _values(fitted, labels.start)
        if labels.stop == labels.start + 1 and len(values):
            # Values that effects compare are exact, and those between them nearly so.
            single = fitted.regression_space.single_values(term.columns[0])
            points = term.points(float(values[0]), float(values[-1])) if single is None else single
            points = np.union1d(points, ends.get(labels.start, ()))
            n = len(points)
            stored = csr_array((points, np.zeros(n, dtype=np.int64), np.arange(n + 1)), (n, 1))
            yield labels.start, points, term.expand([stored]).toarray()
        return
    rows = term.expand([csr_array(np.eye(labels.stop - labels.start))]).toarray()
    for level, row in enumerate(rows, start=labels.start):
        yield level, np.array([0.0, 1.0]), np.array([0.0 * row, row])


def _values(fitted: FittedModel, label: int) -> FloatArray:
    """The values of a numeric label in documents, in standard units and in order."""
    return np.sort(csr_array(fitted.reading.values[:, [label]]).data)


def _number(
    values: FloatArray,
    ends: FloatArray | None,
    single: FloatArray | None,
    mean: float,
    scale: float,
) -> dict[str, Any]:
    """The range of a numeric label, two values to compare, and its only values, if it has few."""
    found: dict[str, Any] = {"mean": mean, "scale": scale}
    if not len(values) or ends is None:
        return found | {"low": mean, "high": mean, "middle": mean, "ends": [mean, mean]}
    middle = values[(len(values) - 1) // 2]
    places = {"low": values[0], "high": values[-1], "middle": middle}
    found |= {name: float(value * scale + mean) for name, value in places.items()}
    found["ends"] = (ends * scale + mean).tolist()
    return found if single is None else {**found, "values": (single * scale + mean).tolist()}
