"""Effects of labels on topics, with intervals.

An effect is a difference of expected proportions, averaged over documents: each with a label and
without it, at one level of a category and at the others, with a number moved. All of them follow
from the log-linear form of the expected proportions, ``theta_mk ~ exp(u_k + r_m . v_k)``: setting
a label multiplies theta by exp(v) and normalises again, so that the average over S documents for
J labels is two products of matrices, S x T by T x J and back.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array
from scipy.special import stdtrit

from hdsp.corpus import LabelSchema
from hdsp.numerics.softmax import normalised_exp
from hdsp.numerics.types import FloatArray
from hdsp.prediction.groups import TopicGroups
from hdsp.prediction.regression import Regression
from hdsp.scaling import Design

# In parts, since all draws of many labels take much memory.
_DRAWS, _DRAWS_AT_ONCE = 200, 20
# Intervals are averages over fewer documents than the effects themselves.
_DOCUMENTS_PER_DRAW = 250
_CONTRASTS_AT_ONCE = 500


@dataclass(frozen=True)
class Contrast:
    """One comparison of two values of a label.

    Attributes
    ----------
    label : str
        The label's name.
    description : str
        The two values, for display.
    block : str
        The block of the schema that the label belongs to.
    second : int
        The column of the design of the level, tag or number.
    first : int or None, default=None
        The column of the level that it is compared with; None is the label's absence, or the
        category's other levels.
    start : float or None, default=None
        A number's first value, in the units of the design; None is each document's own value.
    stop : float, default=1.0
        A number's second value; what is added to each document's own value if `start` is None.
    """

    label: str
    description: str
    block: str
    second: int
    first: int | None = None
    start: float | None = None
    stop: float = 1.0


@dataclass(frozen=True, eq=False)
class Effects:
    """Expected proportions on both sides of contrasts, [C, T], and limits of their differences."""

    otherwise: FloatArray
    expected: FloatArray
    lower: FloatArray
    upper: FloatArray

    @property
    def effect(self) -> FloatArray:
        """The change of the expected proportion, [C, T]."""
        return np.asarray(self.expected - self.otherwise)


# Takes a stream of random numbers for each label and the number of draws, and returns draws of all
# coefficients, [n_draws, J, T].
Draw = Callable[[list[np.random.Generator], int], FloatArray]


def label_effects(
    regression: Regression,
    draw: Draw,
    schema: LabelSchema,
    documents: Design,
    contrasts: list[Contrast],
    level: float,
    seed: int,
    groups: TopicGroups | None = None,
) -> Effects:
    """Effects of contrasts on topics, with intervals.

    Parameters
    ----------
    regression : Regression
        Intercept and coefficients at their posterior means.
    draw : callable
        Draws coefficients of labels from their posterior.
    schema : LabelSchema
        The labels of training.
    documents : sparse array of shape [S, J]
        Labels of the documents to average over.
    contrasts : list of Contrast
        The C contrasts.
    level : float
        The probability that an interval contains the effect.
    seed : int
        Equal seeds give equal intervals.
    groups : TopicGroups or None, default=None
        Topics that are sums of the regression's; intervals are of the sums of the same draws.
    """
    groups = groups or TopicGroups.single(len(regression.intercept))
    otherwise, expected = map(groups.sum, expected_sides(regression, schema, documents, contrasts))
    effect = expected - otherwise
    lower, upper = np.empty((2, *effect.shape))
    # Spread over all documents: corpora are often sorted by a label, which the first would share.
    n_fewer = min(documents.shape[0], _DOCUMENTS_PER_DRAW)
    fewer = documents[np.linspace(0, documents.shape[0] - 1, n_fewer).round().astype(np.int64)]
    for first in range(0, len(contrasts), _CONTRASTS_AT_ONCE):
        part = slice(first, first + _CONTRASTS_AT_ONCE)
        drawn = groups.sum(_drawn_changes(regression, draw, schema, fewer, contrasts[part], seed))
        tail = (1.0 - level) / 2.0
        limits = np.quantile(drawn, [tail, 1.0 - tail], axis=0)
        # Draws average over fewer documents, which could move a limit past what is possible.
        lower[part] = np.maximum(effect[part] + limits[0], -1.0)
        upper[part] = np.minimum(effect[part] + limits[1], 1.0)
    return Effects(otherwise, expected, lower, upper)


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
    wider = stdtrit(n_refits, (1.0 + level) / 2.0) ** 2 * (change**2).mean(axis=0)
    below = np.sqrt((effects.effect - effects.lower) ** 2 + wider)
    above = np.sqrt((effects.upper - effects.effect) ** 2 + wider)
    return replace(
        effects,
        lower=np.maximum(effects.effect - below, -1.0),
        upper=np.minimum(effects.effect + above, 1.0),
    )


def _drawn_changes(
    regression: Regression,
    draw: Draw,
    schema: LabelSchema,
    documents: Design,
    contrasts: list[Contrast],
    seed: int,
) -> FloatArray:
    """How draws of the coefficients of all labels change the effects of contrasts, [draws, C, T].

    Also those of labels that are not asked for, since documents have them: what is said of a label
    does not depend on which others are asked for.
    """
    # Streams are seeded by the names of labels, so that their order does not matter.
    streams = [np.random.default_rng([seed, _key(name)]) for name in schema.names]
    n_topics = len(regression.intercept)
    small = Regression(
        regression.intercept.astype(np.float32), regression.coefficients.astype(np.float32)
    )
    documents = csr_array(documents, dtype=np.float32)
    before, after = expected_sides(small, schema, documents, contrasts)
    typical = after - before
    changes = np.empty((_DRAWS, len(contrasts), n_topics), dtype=np.float32)
    for first in range(0, _DRAWS, _DRAWS_AT_ONCE):
        for number, coefficients in enumerate(draw(streams, _DRAWS_AT_ONCE), start=first):
            small.coefficients[:] = coefficients
            before, after = expected_sides(small, schema, documents, contrasts)
            changes[number] = after - before - typical
    return changes


def expected_sides(
    regression: Regression, schema: LabelSchema, documents: Design, contrasts: list[Contrast]
) -> tuple[FloatArray, FloatArray]:
    """Mean expected proportions [C, T] on the first and on the second side of each contrast."""
    n_topics = len(regression.intercept)
    first, second = np.empty((2, len(contrasts), n_topics), dtype=regression.intercept.dtype)
    by_block: dict[str, list[int]] = {}
    for number, contrast in enumerate(contrasts):
        by_block.setdefault(contrast.block, []).append(number)
    score = np.asarray(documents @ regression.coefficients) + regression.intercept
    slices = schema.slices()
    for name, numbers in by_block.items():
        chosen = [contrasts[number] for number in numbers]
        columns = np.arange(slices[name].start, slices[name].stop)
        kind = schema.kind(name)
        if kind == "tags":
            sides = _tag_sides(score, regression, documents, chosen)
        elif kind == "category":
            sides = _level_sides(score, regression, documents, columns, chosen)
        else:
            sides = _number_sides(score, regression, documents, chosen)
        first[numbers], second[numbers] = sides
    return first, second


def _tag_sides(
    score: FloatArray, regression: Regression, documents: Design, contrasts: list[Contrast]
) -> tuple[FloatArray, FloatArray]:
    """Without each tag, and with it; other labels unchanged."""
    tags = np.array([contrast.second for contrast in contrasts])
    share = normalised_exp(score)
    factor = _factors(regression.coefficients[tags])
    carried = csr_array(documents[:, tags])
    # Documents that lack the tag gain it: theta f / (theta . f). Those that carry it stay.
    weight = 1.0 / (share @ factor.T)
    rows = np.repeat(np.arange(carried.shape[0]), np.diff(carried.indptr))
    weight[rows, carried.indices] = 0.0
    held = carried.T @ share
    second = factor * (weight.T @ share) + held
    # Documents that carry the tag lose it: theta / f, normalised.
    without = share[rows] / factor[carried.indices]
    without /= without.sum(axis=1, keepdims=True)
    entry = csr_array(
        (np.ones(len(rows)), carried.indices, np.arange(len(rows) + 1)),
        shape=(len(rows), len(tags)),
    )
    first = share.sum(axis=0) - held + entry.T @ without
    return first / len(share), second / len(share)


def _level_sides(
    score: FloatArray,
    regression: Regression,
    documents: Design,
    columns: FloatArray,
    contrasts: list[Contrast],
) -> tuple[FloatArray, FloatArray]:
    """All documents at another level, or at the others by frequency; and at the contrast's own."""
    own = documents[:, columns]
    coefficients = regression.coefficients[columns]
    share = normalised_exp(score - own @ coefficients)
    factor = _factors(coefficients)
    at_level = factor * ((1.0 / (share @ factor.T)).T @ share) / len(share)
    frequency = np.asarray(own.sum(axis=0), dtype=np.float64)
    first, second = np.empty((2, len(contrasts), len(regression.intercept)))
    for number, contrast in enumerate(contrasts):
        second[number] = at_level[contrast.second - columns[0]]
        if contrast.first is not None:
            first[number] = at_level[contrast.first - columns[0]]
            continue
        others = frequency.copy()
        others[contrast.second - columns[0]] = 0.0
        if others.sum() > 0:
            first[number] = (others / others.sum()) @ at_level
        else:
            first[number] = share.mean(axis=0)
    return first, second


def _number_sides(
    score: FloatArray, regression: Regression, documents: Design, contrasts: list[Contrast]
) -> tuple[FloatArray, FloatArray]:
    """Each number unchanged and moved, or at one value and at another."""
    first, second = np.empty((2, len(contrasts), len(regression.intercept)))
    for number, contrast in enumerate(contrasts):
        slope = regression.coefficients[contrast.second]
        before = score
        if contrast.start is not None:
            column = documents[:, [contrast.second]].toarray()
            before = score + (contrast.start - column) * slope
        first[number] = normalised_exp(before).mean(axis=0)
        moved = contrast.stop - (contrast.start or 0.0)
        second[number] = normalised_exp(before + moved * slope).mean(axis=0)
    return first, second


def _factors(coefficients: FloatArray) -> FloatArray:
    """exp(v), each row up to a constant factor, which cancels."""
    return np.asarray(np.exp(coefficients - coefficients.max(axis=1, keepdims=True)))


def _key(name: str) -> int:
    return zlib.crc32(name.encode())
