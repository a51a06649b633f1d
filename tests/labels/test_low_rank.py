"""Labels whose effects are inner products of few dimensions."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from hdsp import HDSP, Corpus, LogLinear, LowRank, Pooled
from hdsp.prediction.calibration.low_rank import _posterior, factorise
from hdsp.prediction.calibration.regression import Observed, observe, regression_path
from tests.reference import low_rank as plain

T, V, J = 20, 200, 250


def draw(seed=0, n_documents=700, rank=2):
    """Documents with two of many labels each, and weights of few dimensions."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(J, rank)) @ rng.normal(size=(rank, T)) * 0.6
    tags = [sorted(rng.choice(J, size=2, replace=False)) for _ in range(n_documents)]
    score = np.array([weights[own].sum(axis=0) for own in tags])
    share = rng.gamma(np.exp(score - score.mean(axis=1, keepdims=True)))
    share /= share.sum(axis=1, keepdims=True)
    topics = rng.dirichlet(np.full(V, 0.05), size=T)
    counts = np.array([rng.multinomial(60, row @ topics) for row in share]).astype(float)
    named = [[f"author {j}" for j in own] for own in tags]
    return Corpus(counts, labels=named), topics, weights


def fit(corpus, topics, scaling, **options):
    model = HDSP(T, fixed_number=True, init=topics, scaling=scaling, random_state=0, **options)
    return model.fit(corpus)


@pytest.fixture(scope="module")
def drawn():
    return draw()


def test_vectors_are_those_of_the_plain_twin_and_raise_the_bound():
    rng = np.random.default_rng(0)
    estimate, error = rng.normal(size=(7, 5)), rng.gamma(2.0, size=(7, 5))
    topics, topic_spread = rng.normal(size=(5, 3)), np.tile(0.1 * np.eye(3), (5, 1, 1))
    scale, ones = np.array([1.0, 0.5, 0.1]), np.ones(3)
    last = -np.inf
    for _ in range(4):
        labels, label_spread = _posterior(estimate, 1.0 / error, topics, topic_spread, ones)
        wanted = plain.posterior(estimate, error, topics, topic_spread, ones)
        np.testing.assert_allclose(labels, wanted[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(label_spread, wanted[1], rtol=1e-9, atol=1e-12)
        topics, topic_spread = _posterior(
            estimate.T, 1.0 / error.T, labels, label_spread, 1.0 / scale
        )
        scale = (topics**2 + np.einsum("krr->kr", topic_spread)).mean(axis=0)
        now = plain.bound(estimate, error, labels, label_spread, topics, topic_spread, scale)
        assert now >= last - 1e-9
        last = now


def test_the_rank_is_learned():
    rng = np.random.default_rng(1)
    truth = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 40))
    error = np.full(truth.shape, 1.0)
    labels, topics = factorise(truth + rng.normal(size=truth.shape), error, 12)
    assert topics.shape[1] in (3, 4)
    left = labels @ topics.T - truth
    # Each of 340 vectors of three numbers is learned from 40 or 300 estimates.
    assert (left**2).mean() < 0.15
    labels, topics = factorise(truth, error, 2)
    assert topics.shape == (40, 2)


def test_penalties_draw_coefficients_to_the_middle():
    rng = np.random.default_rng(2)
    values = csr_array((rng.random((50, 3)) < 0.5).astype(np.float32))
    tokens = rng.gamma(1.0, size=(50, 4)).astype(np.float32) * 20
    middle, penalty = rng.normal(size=(3, 4)), np.full((3, 4), 1e5)
    seen = observe(values, tokens)
    moved = Observed(
        seen.lengths, (seen.by_column + penalty * middle).astype(np.float32), seen.total
    )
    found = next(regression_path(values, moved, (penalty,), (40,)))
    np.testing.assert_allclose(found.coefficients, middle, atol=5e-3)


def test_a_full_rank_is_log_linear(drawn):
    corpus, topics, _ = drawn
    own = fit(corpus, topics, LogLinear("tags"))
    for rank in (T, 1_000):
        full = fit(corpus, topics, LowRank("tags", rank=rank))
        for name in ("coefficients", "variance"):
            np.testing.assert_array_equal(
                getattr(full._model.calibration, name), getattr(own._model.calibration, name)
            )
        assert full.history_[-1]["bound"] == own.history_[-1]["bound"]


def test_inference_never_lowers_the_bound(drawn):
    corpus, topics, _ = drawn
    bound = np.array([row["bound"] for row in fit(corpus, topics, LowRank("tags")).history_])
    assert (np.diff(bound) > -1e-4 * np.abs(bound[1:])).all()


def test_weights_of_few_dimensions_are_found_better(drawn):
    corpus, topics, weights = drawn
    errors = {}
    for scaling in (LogLinear("tags"), Pooled("tags"), LowRank("tags"), LowRank("tags", rank=2)):
        model = fit(corpus, topics, scaling)
        order = [int(name.rsplit(" ", 1)[1]) for name in model.label_schema_.block("tags").columns]
        found = model._model.calibration.coefficients
        near = np.abs(model.components_[:, None] / model.components_.sum(1)[:, None, None] - topics)
        match = near.sum(axis=2).argmin(axis=1)
        assert len(set(match)) == T
        truth = weights[order][:, match]
        left = found - found.mean(axis=1, keepdims=True)
        left -= truth - truth.mean(axis=1, keepdims=True)
        errors[repr(scaling)] = float((left**2).mean())
    plain_error, pooled, learned, two = errors.values()
    assert learned < 0.9 * min(plain_error, pooled)
    assert two < 0.9 * min(plain_error, pooled)


def test_a_model_file_keeps_it(drawn, tmp_path):
    corpus, topics, _ = drawn
    model = fit(corpus, topics, LowRank("tags", rank=3), max_iter=20, tol=0.1)
    model.save(tmp_path / "model.hdsp")
    again = HDSP.load(tmp_path / "model.hdsp")
    assert again.scaling == LogLinear(LowRank("tags", rank=3))
    np.testing.assert_array_equal(
        again.expected_topics(corpus.labels), model.expected_topics(corpus.labels)
    )


@pytest.mark.parametrize("rank", [0, -1, 2.5, True, "all"])
def test_a_wrong_rank_is_refused(rank):
    with pytest.raises(ValueError, match=r"`rank` of LowRank must be a whole number from 1"):
        LowRank("tags", rank=rank)
