"""Coefficients of terms with several columns are drawn together."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from hdsp import HDSP, LogLinear
from hdsp.corpus import LabelSchema, as_labels
from hdsp.labels import Interaction, Spline
from hdsp.prediction.calibration import joint_blocks
from hdsp.prediction.calibration.clusters import Clusters, scores_by_group
from hdsp.prediction.calibration.joint import (
    block_information,
    block_score,
    joint_factors,
    own_block,
)
from hdsp.prediction.effects import draws_of
from hdsp.scaling import bind_labels
from tests.prediction.test_calibration_twins import documents
from tests.reference import calibration as twin

SEEDS = st.integers(0, 2**32 - 1)
BLOCK = np.array([1, 4])


def frame(n_documents=300, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "day": rng.uniform(size=n_documents),
            "side": np.where(rng.random(n_documents) < 0.2, "few", "many"),
            "size": rng.normal(size=n_documents),
        }
    )


def space_of(scaling):
    labels = as_labels(frame(), 300, "a test")
    schema = LabelSchema.of(labels)
    return bind_labels(scaling, schema, schema.encode(labels))


def test_blocks_are_terms_that_share_labels():
    assert joint_blocks(space_of("auto")) == []
    assert joint_blocks(space_of(LogLinear("day", "side", "size"))) == []
    curved = space_of(LogLinear(Spline("day"), "side", "size"))
    (block,) = joint_blocks(curved)
    assert {curved.names[j].split(" ")[0] for j in block} == {"day"}
    assert len(block) > 3
    both = space_of(LogLinear(Spline("day"), "side", "size", Interaction("day", "side")))
    (block,) = joint_blocks(both)
    assert len(block) == both.n_columns - 1
    assert both.names.index("size") not in block


def test_blocks_of_very_many_columns_are_drawn_one_by_one(monkeypatch):
    monkeypatch.setattr("hdsp.prediction.calibration.joint._MOST_COLUMNS", 5)
    assert joint_blocks(space_of(LogLinear(Spline("day"), "side", "size"))) == []


@given(seed=SEEDS, ridge=st.sampled_from([1e-3, 5.0]))
def test_the_information_of_a_block(seed, ridge):
    design, tokens, regression = documents(seed)
    lengths = tokens.sum(axis=1)
    own = own_block(csr_array(design), lengths, BLOCK, ridge, 100)
    expected = twin.block_columns(design, lengths, BLOCK, ridge)
    np.testing.assert_allclose(own.of(csr_array(design)), expected, rtol=1e-6, atol=1e-8)
    found = block_information(regression, csr_array(design), lengths, own)
    for k in range(4):
        by_hand = twin.block_information(regression, design, lengths, expected, k)
        np.testing.assert_allclose(found[k], by_hand, rtol=1e-6, atol=1e-8)


@given(seed=SEEDS)
def test_the_score_of_a_block_in_groups(seed):
    design, tokens, regression = documents(seed, 30)
    lengths, groups = tokens.sum(axis=1), np.random.default_rng(seed).integers(6, size=30)
    own = own_block(csr_array(design), lengths, BLOCK, 1.0, 100)
    about = block_information(regression, csr_array(design), lengths, own)
    clusters = Clusters.of(csr_array(design), tokens, groups)
    single = np.full(4, 1.5)
    found = block_score(scores_by_group(regression, clusters, own), about, single)
    left = own.of(csr_array(design))
    for k in range(4):
        expected = twin.block_score(regression, design, tokens, groups, left, single, k)
        np.testing.assert_allclose(found[k], expected, rtol=1e-7)


@given(seed=SEEDS)
def test_the_covariance_of_a_block(seed):
    rng = np.random.default_rng(seed)
    axes = rng.normal(size=(2, 3, 3))
    information = axes @ axes.transpose(0, 2, 1)
    deviation, o, returned = rng.uniform(0.1, 2.0, size=3), rng.uniform(1, 5, size=2), 0.3
    amplified = np.full((3, 2), (1 - returned) ** -2)
    penalty = amplified * o / deviation[:, None] ** 2
    factor = joint_factors(
        information, o[:, None, None] * information, amplified, penalty, deviation
    )
    for k in range(2):
        found = factor[k] @ factor[k].T
        noise = amplified[0, k] * o[k]
        plain = np.linalg.inv(information[k] / noise + np.diag(deviation**-2))
        np.testing.assert_allclose(found, plain, rtol=1e-6)
        expected = twin.joint_covariance(
            information[k], noise * information[k], penalty[:, k], deviation
        )
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def fitted(groups=None):
    rng = np.random.default_rng(0)
    labels = frame(600)
    slope = np.where(labels["side"] == "few", -1.5, 1.5) * (labels["day"] - 0.5)
    score = 0.7 * rng.normal(size=(600, 4)) + np.outer(slope, [1.0, -1.0, 0.0, 0.0])
    share = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    topics = rng.dirichlet(np.full(60, 0.1), size=4)
    counts = np.array([rng.multinomial(60, row @ topics) for row in share])
    scaling = LogLinear("day", "side", "size", Interaction("day", "side"))
    model = HDSP(4, fixed_number=True, scaling=scaling, random_state=0, n_jobs=1)
    return model.fit(counts, labels=labels, groups=groups)


def within(model, groups=None):
    """Draws of the slope of each topic within a side, [draws, 2, T], and of a single column."""
    space, calibration = model._model.space, model._model.calibration
    drawn = np.concatenate(list(draws_of(calibration, space, 0)(np.arange(space.n_columns))))
    place = {name: j for j, name in enumerate(space.names)}
    sides = [drawn[:, place["day"]] + drawn[:, place[f"day × {side}"]] for side in ("many", "few")]
    return np.stack(sides, axis=1), drawn[:, place["day"]]


def test_a_subgroup_s_slope_is_surer_than_its_parts():
    """The slope and its difference overlap: only their sum is known."""
    slopes, alone = within(fitted())
    many, few = slopes.std(axis=0)
    assert (many < 0.5 * alone.std(axis=0)).all()
    assert (few > many).all()


def test_draws_do_not_depend_on_which_columns_are_asked_for(tmp_path):
    model = fitted(groups=np.arange(600) // 10)
    model.save(tmp_path / "model.hdsp")
    again = HDSP.load(tmp_path / "model.hdsp")
    space, calibration = model._model.space, model._model.calibration
    every = np.concatenate(list(draws_of(calibration, space, 0)(np.arange(space.n_columns))))
    some = np.array([4, 0])
    held = again._model.calibration
    for one in (calibration, held):
        found = np.concatenate(list(draws_of(one, space, 0)(some)))
        np.testing.assert_array_equal(found, every[:, some])
    pd.testing.assert_frame_equal(model.label_effects(), again.label_effects())
    # Those outside of a block are drawn as ever.
    size = space.names.index("size")
    assert all(size not in block.columns for block in calibration.joint)
    (block,) = calibration.joint
    assert block.factor.shape == (4, len(block.columns), len(block.columns))
    assert calibration.degrees[block.columns].min() == pytest.approx(
        held.degrees[block.columns].min()
    )
