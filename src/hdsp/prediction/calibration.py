"""Proportions from labels by penalised multinomial regression, fitted once after inference.

The weights of a scaling function match moments of rho pi, not of the proportions themselves;
with several labels on a document that is not the same. Regressing the tokens that documents give
to topics on their labels predicts held-out words much better.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from hdsp import kernels
from hdsp.kernels import Threads, sparse_product
from hdsp.numerics.softmax import normalised_exp
from hdsp.numerics.types import BoolArray, FloatArray
from hdsp.scaling import Design

# Penalties on squared coefficients to choose from, in tokens, heaviest first.
_RIDGES = (300.0, 100.0, 30.0, 10.0, 3.0)
# Of the documents, one in this many is held out while the penalty is chosen.
_HELD_OUT = 4
# More label sets than this say no more about the penalty.
_MOST_TO_CHOOSE = 4_000
_SWEEPS = 40
_SWEEPS_TO_CHOOSE = 8
# Keeps the logarithm finite for a topic that holds nothing.
_SMALLEST_COUNT = 1e-3


@dataclass(frozen=True, eq=False)
class Calibration:
    """theta_k proportional to exp(intercept_k + r . coefficients_k).

    Attributes
    ----------
    intercept : [T]
    coefficients : [J, T]
    """

    intercept: FloatArray
    coefficients: FloatArray

    def proportions(self, design: Design) -> FloatArray:
        """Expected proportions given labels, [M, T]; rows sum to 1."""
        return normalised_exp(np.asarray(design @ self.coefficients) + self.intercept)


@dataclass(frozen=True, eq=False)
class LabelSets:
    """Documents grouped by their labels, some held out to choose the penalty with.

    Documents with the same labels have the same proportions, so nothing is lost by adding up
    their tokens; with categories alone, few groups are left.

    Attributes
    ----------
    design : [G, J] the labels of each group
    held_out : [G] whether it is one of held-out documents
    member : [G, M] ones where a document belongs to a group
    """

    design: Design
    held_out: BoolArray
    member: csr_array


def label_sets(design: Design, most: int | None = None) -> LabelSets:
    """Group documents [M, J]; `most` groups at most, drawn at random, bound the memory."""
    rng = np.random.default_rng(0)
    n_documents = design.shape[0]
    held_out = rng.permutation(n_documents) % _HELD_OUT == 0
    # Equal rows have equal projections, and others differ in one of two. As complex numbers,
    # which NumPy sorts by both parts, and much faster than rows.
    directions = rng.normal(size=(design.shape[1], 2))
    projected = csr_array(design, dtype=np.float64) @ directions
    keys = projected[:, 0] + 1j * projected[:, 1]
    # Shifted apart by more than they span, so that held-out documents have groups of their own.
    keys += held_out * (1.0 + 2.0 * np.ptp(projected[:, 0]))
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    # Groups in the order of their first documents: where all labels differ, a group is a document.
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    first, group = np.sort(first), rank[group]
    member = csr_array(
        (
            np.ones(n_documents, dtype=np.float32),
            np.argsort(group, kind="stable").astype(np.int32),
            np.concatenate([[0], np.cumsum(np.bincount(group))]),
        ),
        shape=(len(first), n_documents),
    )
    if most is None or len(first) <= most:
        return LabelSets(design[first], held_out[first], member)
    chosen = np.sort(rng.permutation(len(first))[:most])
    return LabelSets(design[first[chosen]], held_out[first[chosen]], member[chosen])


def fit_calibration(
    sets: LabelSets, tokens: FloatArray, n_topics: int, threads: Threads
) -> Calibration:
    """Regress the tokens of topics on labels, with the penalty that predicts best.

    Parameters
    ----------
    tokens : [G, K] n_gk, the tokens that topic k is expected to hold in group g; K may be more
        than `n_topics`, padded with zeros. Overwritten: it may be as large as all else
    """
    ridge = choose_ridge(sets, tokens, threads) if sets.design.nnz else _RIDGES[0]
    found = regress(sets.design, tokens, threads, ridge, overwrite=True)
    return Calibration(found.intercept[:n_topics], found.coefficients[:, :n_topics].copy())


def choose_ridge(sets: LabelSets, tokens: FloatArray, threads: Threads) -> float:
    """The penalty under which held-out documents' topics are most probable given their labels."""
    spoken = tokens.sum(axis=1) > 0
    shuffled = np.random.default_rng(0).permutation(len(tokens))
    chosen = np.sort(shuffled[spoken[shuffled]][:_MOST_TO_CHOOSE])
    held_out = sets.held_out[chosen]
    fitted, scored = chosen[~held_out], chosen[held_out]
    if len(fitted) == 0 or len(scored) == 0:
        return _RIDGES[len(_RIDGES) // 2]
    path = regression_path(sets.design[fitted], tokens[fitted], threads, _RIDGES)
    scores = np.array(
        [
            (tokens[scored] * np.log(calibration.proportions(sets.design[scored]))).sum(axis=1)
            for calibration in path
        ]
    )
    best = int(scores.sum(axis=1).argmax())
    # The heaviest that is not surely worse: topics were found with the labels in view, which
    # flatters light penalties.
    loss = scores[best] - scores
    unsure = np.sqrt(len(scored)) * loss.std(axis=1)
    return _RIDGES[int(np.argmax(loss.sum(axis=1) <= unsure))]


def regress(
    design: Design,
    tokens: FloatArray,
    threads: Threads,
    ridge: float,
    n_sweeps: int = _SWEEPS,
    overwrite: bool = False,
) -> Calibration:
    """The maximum of sum_gk n_gk ln theta_gk - ridge / 2 |coefficients|^2."""
    return next(regression_path(design, tokens, threads, (ridge,), n_sweeps, overwrite))


def regression_path(
    design: Design,
    tokens: FloatArray,
    threads: Threads,
    ridges: Iterable[float],
    n_sweeps: int = _SWEEPS_TO_CHOOSE,
    overwrite: bool = False,
) -> Iterator[Calibration]:
    """`regress` for one penalty after another, each going on from the one before.

    Coordinate descent, one label after another, `n_sweeps` sweeps for each penalty. `overwrite`
    takes `tokens` for working space.
    """
    observed_total = tokens.sum(axis=0, dtype=np.float64) + _SMALLEST_COUNT
    intercept = np.log(observed_total / observed_total.sum())
    n_topics = tokens.shape[1]
    if design.nnz == 0:
        for _ in ridges:
            yield Calibration(intercept, np.zeros((design.shape[1], n_topics)))
        return
    lengths = tokens.sum(axis=1)
    # Documents without words say nothing, and have no proportions to scale.
    spoken = lengths > 0
    if not spoken.all():
        design, tokens, lengths = design[spoken], tokens[spoken], lengths[spoken]
    lengths = lengths.astype(np.float32)
    by_label = csr_array(csr_array(design, dtype=np.float32).T)
    tokens = tokens.astype(np.float32, copy=False)
    observed = sparse_product(by_label, tokens, threads)
    share = np.exp(intercept).astype(np.float32)
    expected = np.multiply(lengths[:, None], share, out=tokens if overwrite else None)
    coefficients = np.zeros((design.shape[1], n_topics), dtype=np.float32)
    for ridge in ridges:
        for _ in range(n_sweeps):
            kernels.sweep_softmax_weights(
                by_label.indptr,
                by_label.indices,
                by_label.data,
                lengths,
                observed,
                ridge,
                expected,
                coefficients,
            )
            # The intercept is a label that every document carries, without a penalty.
            total = expected.sum(axis=0, dtype=np.float64) + _SMALLEST_COUNT
            step = np.log(observed_total / total)
            intercept = intercept + step
            expected *= np.exp(step).astype(np.float32)
            expected *= (lengths / np.maximum(expected.sum(axis=1), 1e-30))[:, None]
        yield Calibration(intercept, coefficients.astype(np.float64))
