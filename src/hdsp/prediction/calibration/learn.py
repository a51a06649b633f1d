"""The regression of topics on a design, its penalties and the variance of its coefficients."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import repeat
from typing import NamedTuple

import numpy as np

from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction.calibration.clusters import (
    Clusters,
    Leverage,
    clustered_dispersion,
    mean_dispersion,
    measure_leverage,
    scores_by_group,
)
from hdsp.prediction.calibration.coefficients import Calibration, Joint
from hdsp.prediction.calibration.functions import Forms
from hdsp.prediction.calibration.joint import (
    block_information,
    block_score,
    joint_blocks,
    joint_factors,
    own_block,
)
from hdsp.prediction.calibration.low_rank import InnerProducts, variance_groups
from hdsp.prediction.calibration.regression import Observed, Regression, regression_path
from hdsp.prediction.calibration.shrinkage import prior_deviations
from hdsp.prediction.calibration.tangent import measure_tangent, tangent_scores
from hdsp.prediction.calibration.variance import (
    TYPICAL_VARIANCE,
    OwnColumns,
    information,
    mean_information,
    overdispersion,
    own_shares,
    total_information,
)
from hdsp.scaling import Design, LabelSpace

# Penalties are learned in so many rounds of so many sweeps, from the first.
_ROUNDS, _SWEEPS_PER_ROUND, _LAST_SWEEPS = 4, 8, 16
_FIRST_PENALTY = 40.0
_SMALLEST_INFORMATION = 1e-12
# With more columns outside of a block that is drawn together, what they explain stays in it.
_MOST_OTHERS = 2_000


@dataclass(frozen=True, eq=False)
class Documents:
    """What a regression is learned from: the topics of documents, and the design.

    Attributes
    ----------
    design : sparse array of shape [G, J]
        The design of documents, or of groups of documents with equal labels.
    observed : Observed
        Sums of their tokens by topic, padded.
    room : float array of shape [G, K]
        Working space, overwritten.
    single_design : sparse array of shape [S, J]
        The design of single documents.
    single : float array of shape [S, T]
        Their tokens by topic.
    clusters : Clusters or None, default=None
        The documents in groups, if they are not independent.
    forms : Forms or None, default=None
        Functions that are not log-linear, with the tokens of topics.
    """

    design: Design
    observed: Observed
    room: FloatArray
    single_design: Design
    single: FloatArray
    clusters: Clusters | None = None
    forms: Forms | None = None


class Start(NamedTuple):
    """Where a regression begins: coefficients, padded, their penalties [J, K] and middle [J, T]."""

    regression: Regression
    penalty: FloatArray
    middle: FloatArray


class Learned(NamedTuple):
    """What was learned, and where a similar regression may begin."""

    calibration: Calibration
    end: Start


def learn(
    documents: Documents,
    space: LabelSpace,
    measured_feedback: Callable[[Regression], FloatArray],
    start: Start | None = None,
) -> Learned:
    """The regression of topics on a design, and the variance of its coefficients.

    With the information H_jk about a coefficient, its estimate without penalty would be
    v_jk (1 + penalty_jk / H_jk). The estimate has the variance of equation 23; the coefficients of
    a group themselves vary by tau^2. The two variances decide the penalty, and it decides the
    regression.

    What other columns explain of a column is not known of its own coefficients. It widens their
    variance, but takes no part in tau: labels that go together share an effect, and each has the
    size of its part.

    Parameters
    ----------
    documents : Documents
        The documents' topics and design.
    space : LabelSpace
        What the columns of the design are.
    measured_feedback : callable
        Takes the regression, and returns the feedback R [J, T].
    start : Start or None, default=None
        The end of a similar regression, from which fewer sweeps are needed.
    """
    lengths, n_topics = documents.observed.lengths, documents.single.shape[1]
    # Columns that only pad the array have a penalty too, so that nothing is divided by zero.
    penalty = np.full(documents.observed.by_column.shape, _FIRST_PENALTY)
    if start is not None:
        penalty[:] = start.penalty
    # A view, which every round changes; the next one reads the whole array again.
    own_penalty = penalty[:, :n_topics]
    sweeps = [_SWEEPS_PER_ROUND] * (_ROUNDS if start is None else 1) + [_LAST_SWEEPS]
    # Estimates of C levels sum nearly to 0, as if C - 1 of them were free; two levels are to be
    # shrunk as much as one tag.
    n_levels = space.n_levels
    free = np.where(n_levels > 1, n_levels / np.maximum(n_levels - 1, 1), 1.0)[:, None]
    shares: tuple[FloatArray, FloatArray, OwnColumns] | None = None
    clusters: Clusters | None = documents.clusters
    leverage: Leverage | None = None
    amplified: FloatArray | None = None
    path = regression_path(
        documents.design,
        documents.observed,
        repeat(penalty, len(sweeps)),
        sweeps,
        documents.room,
        start and start.regression,
        documents.forms,
    )
    products = InnerProducts.of(space, documents.observed.by_column[:, :n_topics])
    middle: FloatArray = np.zeros(own_penalty.shape)
    if start is not None and products:
        middle += start.middle
        products.draw_to(middle, own_penalty)
    groups = variance_groups(space, n_topics)
    for padded in path:
        intercept, coefficients = padded.intercept[:n_topics], padded.coefficients[:, :n_topics]
        found = replace(padded, intercept=intercept, coefficients=coefficients.copy())
        about_all, label_tokens = information(found, documents.design, lengths)
        if amplified is None:
            amplified = (1.0 - measured_feedback(found)) ** -2
        dispersion = overdispersion(found, documents.single_design, documents.single)
        if shares is None:
            ridge = float(dispersion.mean()) / TYPICAL_VARIANCE / mean_information(found)
            shares = own_shares(documents.design, lengths, n_levels > 0, ridge)
        centred, alone, own_columns = shares
        centred, alone = centred[:, None], alone[:, None]
        noise = amplified * dispersion
        if clusters is not None:
            if leverage is None:
                leverage = measure_leverage(clusters, own_columns)
            noise = amplified * clustered_dispersion(
                found, clusters, own_columns, leverage, dispersion
            )
        if found.functions:
            centred, alone = (np.tile(share, n_topics) for share in (centred, alone))
        blocks: list[tuple[IntArray, FloatArray, FloatArray]] = []
        for part in found.functions:
            tangent = measure_tangent(
                found, part, documents.design, lengths, n_levels > 0, ridge, _MOST_OTHERS
            )
            columns = part.columns
            score: FloatArray = dispersion[:, None, None] * tangent.block
            about_all[columns] = tangent.about
            centred[columns], alone[columns] = tangent.centred, tangent.alone
            if clusters is not None:
                scores = tangent_scores(found, clusters, tangent)
                score = block_score(scores, tangent.block, dispersion)
                diagonals = (np.einsum("kjj->jk", one) for one in (score, tangent.block + 1e-300))
                noise[columns] = amplified[columns] * np.divide(*diagonals)
            if len(columns) > 1:
                blocks.append((columns, tangent.block, score))
        about = np.maximum(centred * about_all, _SMALLEST_INFORMATION)
        estimate = middle + (found.coefficients - middle) * (1.0 + own_penalty / about)
        deviation = prior_deviations(free * estimate**2, noise / about, groups)[:, None]
        own = np.maximum(alone * about_all, _SMALLEST_INFORMATION)
        variance = 1.0 / (own / noise + 1.0 / deviation**2)
        own_penalty[:] = noise / deviation**2
        if products:
            level = Regression(found.intercept, np.zeros_like(middle))
            typical = (about + centred * information(level, documents.design, lengths)[0]) / 2
            middle = products.learn(found.coefficients, label_tokens, typical, noise, deviation)
            products.draw_to(middle, own_penalty)
    assert amplified is not None  # there is a round
    for columns in joint_blocks(space)[len(blocks) :]:
        own_part = own_block(documents.design, lengths, columns, ridge, _MOST_OTHERS)
        about_block = block_information(found, documents.design, lengths, own_part)
        score = dispersion[:, None, None] * about_block
        if clusters is not None:
            scores = scores_by_group(found, clusters, own_part)
            score = block_score(scores, about_block, dispersion)
        blocks.append((columns, about_block, score))
    joint = []
    for columns, about_block, score in blocks:
        factor = joint_factors(
            about_block, score, amplified[columns], own_penalty[columns], deviation[columns, 0]
        )
        joint.append(Joint(columns, factor))
    # The mean document is known as well as all documents together, whatever their labels.
    about_mean = total_information(found, documents.design, lengths)
    apart = dispersion if clusters is None else mean_dispersion(found, clusters, dispersion)
    calibration = Calibration(
        found.intercept,
        found.coefficients,
        variance=variance,
        indicator=space.indicator,
        label_tokens=label_tokens,
        degrees=None if leverage is None else _degrees(leverage, found),
        joint=tuple(joint),
        mean_variance=_mean(amplified) * apart / np.maximum(about_mean, _SMALLEST_INFORMATION),
        functions=found.functions,
    )
    return Learned(calibration, Start(padded, penalty, middle))


def _degrees(leverage: Leverage, found: Regression) -> FloatArray:
    """The degrees of freedom of columns; a function's weights have those of its labels."""
    degrees = leverage.degrees.copy()
    for _, columns in found.functions:
        degrees[columns] = degrees[columns].max()
    return degrees


def _mean(amplified: FloatArray) -> FloatArray:
    """By how much feedback raises the variance of all columns together, [T]."""
    return np.asarray(amplified.mean(axis=0)) if len(amplified) else np.ones(amplified.shape[1])
