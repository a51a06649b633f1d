"""Effects of labels on topics, with intervals.

An effect is a difference of expected proportions, averaged over documents: each with a label and
without it, at one level of a category and at the others, with a number moved. Its interval comes
from draws of the coefficients.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtri, stdtrit

from hdsp import progress
from hdsp.kernels import run_ranges
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction.calibration import Calibration, Regression, design_scores
from hdsp.prediction.groups import TopicGroups
from hdsp.prediction.sides import Contrast, expected_sides, make_sides
from hdsp.scaling import LabelSpace

# In parts, since all draws of many labels take much memory.
DRAWS, _DRAWS_AT_ONCE = 200, 20
# Intervals are averages over fewer documents than the effects themselves.
_DOCUMENTS_PER_DRAW = 250
_CONTRASTS_AT_ONCE, _EFFECTS_AT_ONCE = 500, 200_000
# Limits of a higher level than this would rest on a handful of draws; they are those of this level,
# as many times wider as they were if draws were normal.
_HIGHEST_LEVEL = 0.9


@dataclass(frozen=True, eq=False)
class Effects:
    """Expected proportions on both sides of contrasts, [C, T]; limits and errors of differences."""

    otherwise: FloatArray
    expected: FloatArray
    lower: FloatArray
    upper: FloatArray
    error: FloatArray

    @property
    def effect(self) -> FloatArray:
        """The change of the expected proportion, [C, T]."""
        return np.asarray(self.expected - self.otherwise)


# Takes columns of the design [n], and yields parts of the draws of their coefficients,
# [draws, n, T] in single precision: the same draws whichever columns are asked for.
Draw = Callable[[IntArray], Iterator[FloatArray]]


def draws_of(calibration: Calibration, space: LabelSpace, seed: int) -> Draw:
    """Draws of coefficients, independent between columns except where they are drawn together."""
    blocks = {int(j): block for block in calibration.joint for j in block.columns}

    def stream_of(column: int) -> np.random.Generator:
        # By names, so that the order of labels does not matter.
        return np.random.default_rng([seed, zlib.crc32(space.names[column].encode())])

    def parts(columns: IntArray) -> Iterator[FloatArray]:
        wanted = [int(j) for j in columns]
        alone = {j: stream_of(j) for j in wanted if j not in blocks}
        together = {int(blocks[j].columns[0]): blocks[j] for j in wanted if j in blocks}
        streams = {first: stream_of(first) for first in together}
        for _ in range(0, DRAWS, _DRAWS_AT_ONCE):
            drawn = {j: calibration.draw(j, stream, _DRAWS_AT_ONCE) for j, stream in alone.items()}
            for first, block in together.items():
                own = calibration.draw_joint(block, streams[first], _DRAWS_AT_ONCE)
                drawn |= {int(j): own[:, i] for i, j in enumerate(block.columns)}
            yield np.stack([drawn[j] for j in wanted], axis=1).astype(np.float32)

    return parts


def label_effects(
    regression: Regression,
    draw: Draw,
    space: LabelSpace,
    documents: csr_array,
    contrasts: list[Contrast],
    level: float,
    groups: TopicGroups | None = None,
) -> Effects:
    """Effects of contrasts on topics, with intervals.

    Parameters
    ----------
    regression : Regression
        Intercept and coefficients at their posterior means.
    draw : callable
        Draws coefficients from their posterior.
    space : LabelSpace
        The labels of training.
    documents : sparse array of shape [S, n_labels]
        Values of labels in the documents to average over.
    contrasts : list of Contrast
        The C contrasts.
    level : float
        The probability that an interval contains the effect.
    groups : TopicGroups or None, default=None
        Topics that are sums of the regression's; intervals are of the sums of the same draws.
    """
    groups = groups or TopicGroups.single(len(regression.intercept))
    otherwise, expected = map(groups.sum, expected_sides(regression, space, documents, contrasts))
    effect = expected - otherwise
    lower, upper, error = np.empty((3, *effect.shape))
    if not contrasts:
        return Effects(otherwise, expected, lower, upper, error)
    changes = _Changes(regression, draw, space, spread_documents(documents))
    n_drawn = 0
    with progress.task("Drawing intervals", len(contrasts), unit="labels") as drawing:

        def fill(first: int, last: int) -> None:
            nonlocal n_drawn
            part = slice(first, last)
            drawn = groups.sum(changes.of(contrasts[part]))
            # Quantiles of what is sorted take next to no time.
            drawn.sort(axis=0)
            limits = drawn_limits(drawn, level)
            error[part] = drawn_error(drawn)
            # Draws average over fewer documents, which could move a limit past what is possible.
            lower[part] = np.maximum(effect[part] + limits[0], -1.0)
            upper[part] = np.minimum(effect[part] + limits[1], 1.0)
            n_drawn += last - first
            drawing.update(n_drawn)

        at_once = max(min(_CONTRASTS_AT_ONCE, _EFFECTS_AT_ONCE // effect.shape[1]), 1)
        run_ranges(fill, len(contrasts), at_once)
    return Effects(otherwise, expected, lower, upper, error)


def spread_documents(documents: csr_array) -> csr_array:
    """Some documents, fewer where there are many, for draws to average over.

    Spread over all documents: corpora are often sorted by a label, which the first would share.
    """
    n_fewer = min(documents.shape[0], _DOCUMENTS_PER_DRAW)
    rows = np.linspace(0, documents.shape[0] - 1, n_fewer).round().astype(np.int64)
    return csr_array(documents[rows])


def drawn_limits(drawn: FloatArray, level: float) -> FloatArray:
    """Limits [2, ...] of changes [DRAWS, ...] that hold `level` of them, and no change at all.

    Of labels of single documents, draws of many coefficients may all lie on one side of the
    estimate: an interval holds it all the same.
    """
    low, high = _middle(drawn, level)
    return np.array([np.minimum(low, 0.0), np.maximum(high, 0.0)])


def drawn_error(drawn: FloatArray) -> FloatArray:
    """The standard error of draws [DRAWS, ...], by their middle nine tenths."""
    low, high = _middle(drawn, _HIGHEST_LEVEL)
    return np.asarray((high - low) / (2.0 * ndtri((1.0 + _HIGHEST_LEVEL) / 2.0)))


def _middle(drawn: FloatArray, level: float) -> FloatArray:
    drawn_level = min(level, _HIGHEST_LEVEL)
    wider = ndtri((1.0 + level) / 2.0) / ndtri((1.0 + drawn_level) / 2.0)
    tail = (1.0 - drawn_level) / 2.0
    return np.asarray(wider * np.quantile(drawn, [tail, 1.0 - tail], axis=0))


def over_refits(effects: Effects, sides: FloatArray, level: float) -> Effects:
    """The same effects, with intervals that include how much they differ between refits.

    As in Rubin's rules for imputed data, with topics in the place of what is imputed: the variance
    given topics plus that of topics. The latter is the mean squared difference from the effect on
    the fitted topics, and not from the refits' mean: topics of refits also go on where a fit has
    stopped.

    Parameters
    ----------
    effects : Effects
        The effects on the topics as they were fitted.
    sides : float array of shape [R, 2, C, T]
        The sides of the contrasts by each refit.
    level : float
        The probability that an interval contains the effect.
    """
    n_refits = len(sides)
    change = sides[:, 1] - sides[:, 0] - effects.effect
    among = (change**2).mean(axis=0)
    wider = stdtrit(n_refits, (1.0 + level) / 2.0) ** 2 * among
    below = np.sqrt((effects.effect - effects.lower) ** 2 + wider)
    above = np.sqrt((effects.upper - effects.effect) ** 2 + wider)
    return replace(
        effects,
        lower=np.maximum(effects.effect - below, -1.0),
        upper=np.minimum(effects.effect + above, 1.0),
        error=np.sqrt(effects.error**2 + among),
    )


class _Changes:
    """How draws of the coefficients change the effects of contrasts.

    Coefficients of all labels are drawn, also of those that are not asked for, since documents have
    them: what is said of a label does not depend on which others are asked for. The scores of the
    documents are drawn once, for all contrasts.
    """

    def __init__(
        self, regression: Regression, draw: Draw, space: LabelSpace, documents: csr_array
    ) -> None:
        self.draw, self.space, self.documents = draw, space, documents
        self.functions = regression.functions
        self.coefficients = regression.coefficients.astype(np.float32)
        intercept = regression.intercept.astype(np.float32)
        design = csr_array(space.design(documents), dtype=np.float32)
        self.typical = design_scores(design, self.coefficients, self.functions) + intercept
        # Functions need all of their weights.
        carried = np.arange(space.n_columns) if self.functions else np.unique(design.indices)
        carried_design = csr_array(design[:, carried])
        if not len(carried):
            self.scores = np.tile(self.typical, (DRAWS, 1, 1))
            return
        self.scores = np.array(
            [
                design_scores(carried_design, coefficients, self.functions) + intercept
                for part in draw(carried)
                for coefficients in part
            ]
        )

    def of(self, contrasts: list[Contrast]) -> FloatArray:
        """The changes of effects in each draw, [DRAWS, C, T]."""
        found = np.empty((DRAWS, len(contrasts), self.typical.shape[1]), dtype=np.float32)
        for numbers, sides in make_sides(self.space, self.documents, contrasts, self.functions):
            before, after = sides(self.typical, self.coefficients[sides.columns])
            typical = after.astype(np.float32) - before.astype(np.float32)
            coefficients = (one for part in self.draw(sides.columns) for one in part)
            for number, (score, own) in enumerate(zip(self.scores, coefficients, strict=True)):
                before, after = sides(score, own)
                change = after.astype(np.float32) - before.astype(np.float32)
                found[number, numbers] = change - typical
        return found
