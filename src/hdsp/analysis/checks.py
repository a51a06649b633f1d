"""Whether documents with some labels have the topics that their labels lead one to expect.

In each cell of labels, the mean of found minus expected proportions has an error of its own. It
should exceed its error by no more than chance: in bins of a number it shows a curve that a line
misses, at pairs of labels an interaction, and in parts of time a drift.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtri, stdtr

from hdsp.analysis.documents import label_values
from hdsp.analysis.new_documents import check_corpus
from hdsp.analysis.topics import Columns, topic_part
from hdsp.checks import check_known
from hdsp.corpus import Corpus, StoredCorpus, as_groups, group_numbers
from hdsp.corpus.columns import parse_number
from hdsp.numerics import FloatArray, IntArray
from hdsp.scaling.design import LabelDesign

# Means of fewer documents, or of fewer groups of them, are not normal.
_FEWEST = 20
# Bins of a number or of time by itself, and of a number and of time in pairs; and the most labels
# of a column, the commonest, by themselves and in pairs.
_BINS, _PAIR_BINS, _TIME_PAIR_BINS = 8, 3, 2
_MOST_LABELS, _MOST_IN_PAIRS, _MOST_CELLS = 50, 8, 400
# If all is right, one corpus of so many has a cell beyond the limit.
_CHANCE = 0.05
ORDER = "order"

# Documents by the value of a label.
_Parts = list[tuple[str, IntArray]]


@dataclass(frozen=True)
class Cell:
    """Some documents: the label columns that choose them, in words, and what it shows."""

    label: str
    cell: str
    shows: str
    rows: IntArray


def make_cells(
    space: LabelDesign, values: csr_array, time: FloatArray | None = None, time_name: str = ""
) -> list[Cell]:
    """Cells of labels that enough documents are in.

    Parameters
    ----------
    space : LabelDesign
        The labels, and which of them the model takes.
    values : sparse array of shape [M, n_labels]
        The documents' labels.
    time : float array of shape [M] or None, default=None
        The documents' time or order, NaN where it is not known.
    time_name : str, default=""
        Its name, which may be one of the labels.
    """
    in_pairs: dict[str, _Parts] = {}
    found: list[tuple[str, str, _Parts]] = []
    for block in space.schema.blocks:
        name, columns = block.name, space.schema.slices()[block.name]
        own = csr_array(values[:, columns]).tocsc()
        if not space.used_labels[columns].all() or (block.kind == "number" and own.shape[1] > 1):
            continue
        if block.kind == "number":
            number = np.full(values.shape[0], np.nan)
            number[own.indices] = own.data * block.scale[0] + block.mean[0]
            found.append((name, "curvature", _bins(number, _BINS)))
            in_pairs[name] = _bins(number, _PAIR_BINS)
        else:
            rows = np.split(own.indices, own.indptr[1:-1])
            order = np.argsort(-np.diff(own.indptr), kind="stable")[:_MOST_LABELS]
            levels = [(block.columns[j], rows[j]) for j in order]
            found.append((name, "level", levels))
            in_pairs[name] = levels[:_MOST_IN_PAIRS]
        if block.kind == "tags":
            pairs = _cross(combinations(in_pairs[name], 2))
            found.append((f"{name} × {name}", "interaction", pairs))
    if time is not None and time_name not in in_pairs:
        found.append((time_name, "drift", _bins(time, _BINS)))
        in_pairs[time_name] = _bins(time, _TIME_PAIR_BINS)
    for (first, one), (second, other) in combinations(in_pairs.items(), 2):
        shows = "drift" if time_name in (first, second) else "interaction"
        found.append((f"{first} × {second}", shows, _cross(product(one, other))))
    cells = [Cell(label, name, shows, rows) for label, shows, own in found for name, rows in own]
    return [cell for cell in cells if len(cell.rows) >= _FEWEST][:_MOST_CELLS]


def _cross(pairs: Iterable[tuple[tuple[str, IntArray], ...]]) -> _Parts:
    """Documents that are in both parts of each pair."""
    return [
        (f"{one}, {other}", np.intersect1d(rows, others)) for (one, rows), (other, others) in pairs
    ]


def _bins(number: FloatArray, n_bins: int) -> _Parts:
    """Documents by a number: one bin for each of few values, otherwise bins of equal size."""
    known = np.flatnonzero(~np.isnan(number))
    different = np.unique(number[known])
    n_bins = max(min(n_bins, len(known) // _FEWEST), 2)
    edges = different[1:]
    if len(different) > n_bins:
        edges = np.quantile(number[known], np.arange(1, n_bins) / n_bins)
    bin_of = np.searchsorted(edges, number[known], side="right")
    parts: _Parts = []
    for one in np.unique(bin_of):
        rows = known[bin_of == one]
        ends = dict.fromkeys(f"{own:.6g}" for own in (number[rows].min(), number[rows].max()))
        parts.append((" to ".join(ends), rows))
    return parts


def measure_misfit(
    cells: Sequence[Cell],
    found: FloatArray,
    expected: FloatArray,
    weight: FloatArray,
    groups: IntArray | None = None,
) -> FloatArray:
    """Mean proportions in cells, expected ones, their difference, its error and z, [5, C, T].

    Parameters
    ----------
    cells : sequence of Cell
        The C cells.
    found, expected : float array of shape [M, T]
        The proportions of documents.
    weight : float array of shape [M]
        Their weights in means.
    groups : int array of shape [M] or None, default=None
        Groups of documents that are not independent.
    """
    misfit = np.zeros((5, len(cells), found.shape[1]))
    residuals = found - expected
    variance = (residuals**2).mean(axis=0)
    for number, cell in enumerate(cells):
        share = weight[cell.rows] / max(weight[cell.rows].sum(), 1e-300)
        mean = share @ found[cell.rows]
        difference = share @ residuals[cell.rows]
        own = share[:, None] * (residuals[cell.rows] - difference)
        if groups is not None:
            _, member = np.unique(groups[cell.rows], return_inverse=True)
            own = csr_array((np.ones(len(own)), (member, np.arange(len(own))))) @ own
        freedom = max(len(own) - 1, 1)
        # As of intervals, the wider of a robust and a classical error counts.
        square = (own**2).sum(axis=0) * len(own) / freedom
        error = np.sqrt(np.maximum(square, variance * (share**2).sum()))
        # As large as a normal variable would be: means of few groups vary more.
        tail = stdtr(freedom, -np.abs(difference) / np.maximum(error, 1e-300))
        z = -np.sign(difference) * ndtri(np.maximum(tail, 1e-300)) * (len(own) > 1)
        misfit[:, number] = mean, mean - difference, difference, error, z
    return misfit


def cell_columns(regression: Any, time: FloatArray | None = None, time_name: str = "") -> Columns:
    """The columns of `HDSP.check_labels` for a `TopicRegression`: the largest misfit first."""
    reading = regression._reading
    rows, expected, residuals = regression._fitted_values
    time = None if time is None else time[rows]
    cells = make_cells(regression._space, csr_array(reading.values[rows]), time, time_name)
    weight = reading.document_weights(regression.weight)[rows]
    misfit = measure_misfit(cells, expected + residuals, expected, weight, regression._clusters)
    n_topics = misfit.shape[2]
    misfit = misfit.reshape(5, -1)
    order = np.argsort(-np.abs(misfit[-1]), kind="stable")
    chosen = [cells[c] for c in order // n_topics]
    # No cell exceeds this in 95% of corpora, if all is right (Bonferroni).
    limit = -ndtri(_CHANCE / 2.0 / max(len(order), 1))
    shown = zip(chosen, np.abs(misfit[-1, order]) > limit, strict=True)
    names = ("found", "expected", "difference", "error", "z")
    return {
        "label": [cell.label for cell in chosen],
        "cell": [cell.cell for cell in chosen],
        "n_documents": [len(cell.rows) for cell in chosen],
        **topic_part(regression._model, order % n_topics),
        **dict(zip(names, misfit[:, order].tolist(), strict=True)),
        "verdict": [cell.shows if beyond else "" for cell, beyond in shown],
    }


_SHOWN = {
    "curvature": "the line or curve of {} misses a bend",
    "interaction": "labels act together in {}",
    "drift": "effects change with {}",
    "level": "documents of {} differ from what is expected",
}


def check_sentence(columns: Columns) -> str:
    """What a table of cells says, in one sentence."""
    labels, verdicts = columns["label"], columns["verdict"]
    if not labels:
        return "There is no cell of labels with enough documents to check."
    bad = [row for row, verdict in enumerate(verdicts) if verdict]
    if not bad:
        n_cells = len(set(zip(labels, columns["cell"], strict=True)))
        return (
            f"No deviation is significant in {n_cells} cells of labels, after adjusting for "
            f"{len(labels)} comparisons."
        )
    worst = bad[0]
    shown = "; ".join(
        list(dict.fromkeys(_SHOWN[verdicts[row]].format(labels[row]) for row in bad))[:3]
    )
    points = 100.0 * columns["difference"][worst]
    return (
        f"{shown[0].upper()}{shown[1:]}: for example topic {columns['topic'][worst]} is "
        f"{abs(points):.1f} points {'above' if points > 0 else 'below'} its expected share in "
        f"documents with {labels[worst]} {columns['cell'][worst]}."
    )


def in_memory(corpus: Any, owner: str) -> Corpus:
    """A corpus whose documents are in memory."""
    check_corpus(corpus, owner)
    return corpus[:] if isinstance(corpus, StoredCorpus) else corpus


def read_groups(corpus: Corpus, groups: object, owner: str) -> IntArray | None:
    """The groups of documents by number: of a column, of an array, or those of the corpus."""
    if isinstance(groups, str):
        values = column_values(corpus, groups, "groups", owner)
        groups = [None if value is None else str(value) for value in values]
    names = corpus.groups if groups is None else as_groups(groups, len(corpus), owner)
    return None if names is None else group_numbers(names)


def column_values(corpus: Corpus, name: str, parameter: str, owner: str) -> list[Any]:
    """The values of a category or number of a corpus, one per document; None where missing."""
    known = [
        block.name
        for block in corpus.labels.blocks
        if block.kind == "category" or (block.kind == "number" and len(block.columns) == 1)
    ]
    what = "one value per document, or name a category or a number of the corpus"
    check_known(name, known, parameter, owner, what)
    (found,) = label_values(corpus.labels.select([name])).values()
    return [None if value != value else value for value in found]


def time_of(corpus: Corpus, time: Any, owner: str) -> tuple[FloatArray | None, str]:
    """The documents' time as numbers, NaN where it is missing, and what it is called."""
    if time is None:
        return None, ""
    if not isinstance(time, str):
        return read_times(time, len(corpus), owner), "time"
    if time == ORDER:
        return np.arange(float(len(corpus))), ORDER
    return read_times(column_values(corpus, time, "time", owner), len(corpus), owner), time


def read_times(time: Iterable[Any], n_documents: int, owner: str) -> FloatArray:
    """Numbers or dates as numbers, NaN where they are missing."""
    numbers = np.array([parse_number(value) for value in time], dtype=np.float64)
    if len(numbers) != n_documents or np.isnan(numbers).all():
        raise ValueError(
            f"`time` of {owner} must name a number or date of the corpus, be 'order', or have one "
            "number or date per document."
        )
    return numbers
