"""Labels as the report shows them, and what their expected topics follow from."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.labels import Table, Term
from hdsp.numerics.types import FloatArray
from hdsp.prediction import FittedModel
from hdsp.report.packing import pack_exact
from hdsp.scaling import FunctionColumns


def label_view(fitted: FittedModel) -> dict[str, Any]:
    """The label space: one entry for every block, and one for every label."""
    schema = fitted.schema
    blocks, of_block = [], []
    for number, block in enumerate(schema.blocks):
        columns = schema.slices()[block.name]
        of_block += [number] * len(block.columns)
        entry: dict[str, Any] = {
            "name": block.name,
            "kind": block.kind,
            "start": columns.start,
            "stop": columns.stop,
        }
        if block.kind == "number":
            entry["numbers"] = [
                _number(fitted, block.name, columns.start + i, block.mean[i], block.scale[i])
                for i in range(len(block.columns))
            ]
        blocks.append(entry)
    return {
        "names": list(schema.names),
        "plain": [column for block in schema.blocks for column in block.columns],
        "block": of_block,
        "carriers": fitted.training.carriers.tolist(),
        "blocks": blocks,
    }


def form_view(fitted: FittedModel) -> dict[str, Any]:
    """Intercept and coefficients of the fit's topics, from which a page computes expected ones.

    Each label has a column of the design. The columns of a number's curve follow from a table, and
    those of an interaction are products of two others. A function of one number has a column of its
    table for each direction in which topics' curves differ; one of several labels is left out.
    Coefficients are in single precision: they enter as exponents of a few units, where its error of
    1e-7 moves no proportion by 1e-6.
    """
    space, regression = fitted.space, fitted.calibration
    placed = list(zip(space.terms, space.slices, strict=True))
    column_of = {term.columns[0]: part.start for term, part in placed if term.main}
    tables: dict[int, Any] = {}
    products: list[list[int]] = []
    for term, part in placed:
        for column, (i, j) in enumerate(term.products, start=part.start):
            first, second = (column_of[name] for name in term.columns)
            products.append([first + i, second + j, column])
        if term.main and len(term.names) > len(term.sources[0]):
            labels = space.schema.slices()[term.columns[0]]
            for label, table in _tables(fitted, term, labels):
                tables[label] = _packed(table)
    own, coefficients = space.own.copy(), np.asarray(regression.coefficients).copy()
    for function in regression.functions:
        found = _function_table(fitted, function)
        coefficients[function.columns] = 0.0
        if found is not None:
            label, table, turn = found
            own[label] = len(coefficients)
            coefficients = np.vstack([coefficients, turn])
            tables[label] = _packed(table)
    topic_of = {own: k for k, members in enumerate(fitted.groups.members) for own in members}
    return {
        "column": own.tolist(),
        "tables": tables,
        "products": products,
        "intercept": pack_exact(np.asarray(regression.intercept), "float64"),
        "coefficients": pack_exact(coefficients, "float32"),
        "topic_of": [topic_of[k] for k in range(len(topic_of))],
    }


def _packed(table: Table) -> dict[str, Any]:
    return {
        "values": pack_exact(table.values, "float64"),
        "columns": pack_exact(table.columns, "float32"),
    }


def _function_table(
    fitted: FittedModel, function: FunctionColumns
) -> tuple[int, Table, FloatArray] | None:
    """The label of a function of one number, a table of its curves, and topics' coefficients.

    Curves are sums of a few columns, as many as there are directions in which topics differ.
    """
    space, columns = fitted.space, function.columns
    label = int(np.flatnonzero(space.own == columns[0])[0])
    term = next(
        term
        for term, part in zip(space.terms, space.slices, strict=True)
        if part.start == columns[0]
    )
    values = fitted.training.values[label][0] if label in fitted.training.values else np.zeros(0)
    table = term.table(float(values[0]), float(values[-1])) if len(values) else None
    if table is None or table.columns.shape[1] != len(columns):
        return None
    weights = fitted.calibration.coefficients[columns].T
    curves = function.function.log_scale(weights, csr_array(table.columns))
    axes, size, turn = np.linalg.svd(curves, full_matrices=False)
    kept = size > 1e-7 * size[0]
    # A page takes the first column for the number itself.
    found = np.column_stack([table.values, axes[:, kept] * size[kept]])
    return label, Table(table.values, found), np.vstack([0.0 * turn[:1], turn[kept]])


def _tables(fitted: FittedModel, term: Term, labels: slice) -> Iterator[tuple[int, Table]]:
    """Tables of the columns of each of a term's labels, from the label's own column on."""
    if fitted.space.schema.kind(term.columns[0]) == "number":
        values = fitted.training.values[labels.start][0]
        table = term.table(float(values[0]), float(values[-1])) if len(values) else None
        if table is not None:
            yield labels.start, table
        return
    n_labels = labels.stop - labels.start
    there = term.expand([csr_array(np.eye(n_labels))]).toarray()
    for level in range(n_labels):
        # Of a level that is absent nothing, and of one that is present its row.
        row = there[level, level:]
        yield labels.start + level, Table(np.array([0.0, 1.0]), np.array([0.0 * row, row]))


def _number(
    fitted: FittedModel, name: str, column: int, mean: float, scale: float
) -> dict[str, Any]:
    """How a number is standardised, the values it had in training, and those that alone count."""
    values, counts = fitted.training.values[column]
    if len(values) == 0:
        return {"mean": mean, "scale": scale, "low": mean, "high": mean, "middle": mean}
    single = fitted.space.single_values(name)
    middle = values[np.searchsorted(np.cumsum(counts), counts.sum() / 2.0)]
    if single is not None:
        middle = single[np.abs(single - middle).argmin()]
    low, middle, high = (float(value) * scale + mean for value in (values[0], middle, values[-1]))
    found = {"mean": mean, "scale": scale, "low": low, "high": high, "middle": middle}
    return found if single is None else {**found, "values": (single * scale + mean).tolist()}
