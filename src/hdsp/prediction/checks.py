"""Whether documents with some labels have the topics that their labels lead one to expect.

In each cell of labels, the mean of found minus expected proportions has an error of its own. It
should exceed its error by no more than chance: in bins of a number it shows a curve that a line
misses, at pairs of labels an interaction, and in parts of time a drift.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtri, stdtr

from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction.calibration import Calibration
from hdsp.prediction.effects import draws_of
from hdsp.scaling import LabelSpace

# Means of fewer documents, or of fewer groups of them, are not normal.
_FEWEST = 20
# Bins of a number by itself, beside another label, and of time; and the most labels of a column,
# the commonest, by themselves and in pairs.
_BINS, _PAIR_BINS, _TIME_BINS = 8, 3, 8
_MOST_LABELS, _MOST_IN_PAIRS, _MOST_CELLS = 50, 8, 400
# If all is right, one corpus of so many has a cell beyond the limit.
_CHANCE = 0.05
# For the error of what is expected of other documents than those of training.
_MOST_DRAWN, _DRAWS = 2_000, 40


@dataclass(frozen=True)
class Cell:
    """Some documents: the label columns that choose them, in words, and what it shows."""

    label: str
    cell: str
    shows: str
    rows: IntArray


@dataclass(frozen=True, eq=False)
class Misfit:
    """What was found in cells and what is expected, their difference and its error; [C, T] each."""

    found: FloatArray
    expected: FloatArray
    error: FloatArray
    z: FloatArray

    @property
    def limit(self) -> float:
        """The z that no cell exceeds in 95 % of corpora, if all is right (Bonferroni)."""
        return float(-ndtri(_CHANCE / 2.0 / max(self.z.size, 1)))


def make_cells(
    space: LabelSpace, values: csr_array, time: FloatArray | None = None, time_name: str = "time"
) -> list[Cell]:
    """Cells of labels that enough documents are in.

    Parameters
    ----------
    space : LabelSpace
        The labels, and which of them the model takes.
    values : sparse array of shape [M, n_labels]
        The documents' labels.
    time : float array of shape [M] or None, default=None
        The documents' time or order, NaN where it is not known.
    time_name : str, default="time"
        What it is called.
    """
    parts: dict[str, list[tuple[str, IntArray]]] = {}
    found: list[Cell] = []
    for block in space.schema.blocks:
        columns = space.schema.slices()[block.name]
        if not space.used_labels[columns].all():
            continue
        own = csr_array(values[:, columns]).tocsc()
        if block.kind == "number":
            if own.shape[1] > 1:
                continue
            number = np.full(values.shape[0], np.nan)
            number[own.indices] = own.data * block.scale[0] + block.mean[0]
            found += [Cell(block.name, *one) for one in _named(_bins(number, _BINS), "curvature")]
            parts[block.name] = list(_bins(number, _PAIR_BINS))
            continue
        commonest = np.argsort(-np.diff(own.indptr), kind="stable")[:_MOST_LABELS]
        levels = [
            (block.columns[j], own.indices[own.indptr[j] : own.indptr[j + 1]]) for j in commonest
        ]
        found += [Cell(block.name, *one) for one in _named(levels, "level")]
        parts[block.name] = levels[:_MOST_IN_PAIRS]
        if block.kind == "tags":
            for place, tag in enumerate(parts[block.name]):
                later = parts[block.name][place + 1 :]
                found += _crossed(f"{block.name} × {block.name}", [tag], later, "interaction")
    for (first, one), (second, other) in combinations(parts.items(), 2):
        found += _crossed(f"{first} × {second}", one, other, "interaction")
    if time is not None:
        found += [Cell(time_name, *one) for one in _named(_bins(time, _TIME_BINS), "drift")]
        for name, own_parts in parts.items():
            halves = list(_bins(time, 2))
            found += _crossed(f"{name} × {time_name}", own_parts, halves, "drift")
    return [cell for cell in found if len(cell.rows) >= _FEWEST][:_MOST_CELLS]


def _named(
    parts: Iterable[tuple[str, IntArray]], shows: str
) -> Iterator[tuple[str, str, IntArray]]:
    return ((name, shows, rows) for name, rows in parts)


def _crossed(
    label: str,
    first: Sequence[tuple[str, IntArray]],
    second: Sequence[tuple[str, IntArray]],
    shows: str,
) -> list[Cell]:
    return [
        Cell(label, f"{one}, {other}", shows, np.intersect1d(rows, others))
        for one, rows in first
        for other, others in second
    ]


def _bins(number: FloatArray, n_bins: int) -> Iterator[tuple[str, IntArray]]:
    """Documents by a number: one bin for each of few values, otherwise bins of equal size."""
    known = np.flatnonzero(~np.isnan(number))
    different = np.unique(number[known])
    n_bins = max(min(n_bins, len(known) // _FEWEST), 2)
    if len(different) <= n_bins:
        for value in different:
            yield f"{value:.6g}", np.flatnonzero(number == value)
        return
    edges = np.quantile(number[known], np.arange(1, n_bins) / n_bins)
    bin_of = np.searchsorted(np.unique(edges), number[known], side="right")
    for one in np.unique(bin_of):
        rows = known[bin_of == one]
        yield f"{number[rows].min():.6g} to {number[rows].max():.6g}", rows


def measure_misfit(
    cells: Sequence[Cell],
    found: FloatArray,
    expected: FloatArray,
    weight: FloatArray,
    groups: IntArray | None = None,
    error_of_expected: FloatArray | None = None,
) -> Misfit:
    """Means of documents in cells against what is expected of them.

    Parameters
    ----------
    cells : sequence of Cell
        The C cells.
    found, expected : float array of shape [M, T]
        The proportions of documents.
    weight : float array of shape [M]
        Their weights in means.
    groups : int array of shape [M] or None, default=None
        Groups of documents that are not independent; -1 is a document of its own.
    error_of_expected : float array of shape [C, T] or None, default=None
        Errors of the mean expected proportions, where documents were not in training.
    """
    shape = (len(cells), found.shape[1])
    means, wanted, error, z = np.zeros((4, *shape))
    # Where a topic is rare, most cells show too little of how documents differ: none has a smaller
    # variance than documents of all cells, by what is expected of them.
    possible = expected * (1.0 - expected)
    typical = ((found - expected) ** 2).mean(axis=0) / np.maximum(possible.mean(axis=0), 1e-300)
    for number, cell in enumerate(cells):
        share = weight[cell.rows] / max(weight[cell.rows].sum(), 1e-300)
        means[number], wanted[number] = share @ found[cell.rows], share @ expected[cell.rows]
        difference = means[number] - wanted[number]
        residual = share[:, None] * (found[cell.rows] - expected[cell.rows] - difference)
        n_apart = len(cell.rows)
        if groups is not None:
            own = groups[cell.rows]
            own = np.where(own < 0, -1 - np.arange(len(own)), own)
            _, member = np.unique(own, return_inverse=True)
            n_apart = int(member.max()) + 1
            by_group = csr_array(
                (np.ones(len(own)), (member, np.arange(len(own)))), shape=(n_apart, len(own))
            )
            residual = by_group @ residual
        square = (residual**2).sum(axis=0) * n_apart / max(n_apart - 1, 1)
        square = np.maximum(square, typical * (share**2 @ possible[cell.rows]))
        if error_of_expected is not None:
            square = square + error_of_expected[number] ** 2
        error[number] = np.sqrt(square)
        ratio = difference / np.maximum(error[number], 1e-300)
        # As large as a normal variable would be: means of few groups vary more.
        z[number] = _as_normal(ratio, max(n_apart - 1, 1)) if n_apart > 1 else 0.0
    return Misfit(means, wanted, error, z)


def _as_normal(ratio: FloatArray, freedom: int) -> FloatArray:
    tail = np.maximum(stdtr(freedom, -np.abs(ratio)), 1e-300)
    return np.asarray(-np.sign(ratio) * ndtri(tail))


def expected_errors(
    calibration: Calibration, space: LabelSpace, values: csr_array, cells: Sequence[Cell]
) -> FloatArray:
    """Errors of the mean expected proportions of cells, from draws of coefficients, [C, T]."""
    rows = np.linspace(0, values.shape[0] - 1, min(values.shape[0], _MOST_DRAWN)).astype(np.int64)
    design = csr_array(space.design(csr_array(values[rows])))
    columns = np.unique(design.indices)
    if calibration.functions:
        columns = np.arange(space.n_columns)
    middle = np.asarray(design.mean(axis=0))[columns]
    away = csr_array(design[:, columns])
    typical = calibration.proportions(design)
    place = np.full(values.shape[0], -1)
    place[rows] = np.arange(len(rows))
    inside = [place[cell.rows][place[cell.rows] >= 0] for cell in cells]
    own, n_draws = calibration.coefficients[columns], 0
    square = np.zeros((len(cells), typical.shape[1]))
    stream = np.random.default_rng(0)
    for part in draws_of(calibration, space, 0)(columns):
        linear = part - own
        for _, function_columns in calibration.functions:
            linear[:, function_columns] = 0.0
        further = calibration.function_moves(design, part)
        further = further - further.mean(axis=1, keepdims=True)
        for number, errors in enumerate(linear):
            shift = calibration.draw_mean(stream, 1) - middle @ errors
            shift = shift + further[number]
            moved = typical * np.exp(np.asarray(away @ errors) + shift)
            moved /= moved.sum(axis=1, keepdims=True)
            change = moved - typical
            for total, one in zip(square, inside, strict=True):
                total += change[one].sum(axis=0) ** 2 / max(len(one), 1) ** 2
            n_draws += 1
        if n_draws >= _DRAWS:
            break
    return np.asarray(np.sqrt(square / max(n_draws, 1)))
