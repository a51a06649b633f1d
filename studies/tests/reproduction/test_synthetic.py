"""Simulated corpora, recovered (the paper's section 5.1)."""

import numpy as np
import pytest

from hdsp_studies.reproduction.synthetic import first_corpus, recover, second_corpus

pytestmark = pytest.mark.filterwarnings("ignore::hdsp.exceptions.UnreliableTopicsWarning")


def test_large_topics_and_the_order_of_their_scales_are_recovered():
    # Over four seeds the distance was 0.02 to 0.08 and rho 0.46 to 0.70 (mean 0.58); topics that
    # are merged or split are 0.4 and more away.
    order = []
    for seed in range(3):
        drawn = first_corpus(seed)
        large = drawn.truth.topic_weight >= 0.1
        found = recover(drawn, seed)
        assert found.distance[large].mean() < 0.12
        assert recover(drawn, seed, "HDP").distance[large].mean() < 0.12
        order.append(found.rho_recovered)
    assert np.mean(order) > 0.4


def test_weights_of_topics_break_a_stick():
    # With alpha = 1 the first weight is uniform, and the others share the rest.
    weights = np.array([first_corpus(seed, 2).truth.topic_weight for seed in range(300)])
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    # Standard errors: sqrt(1 / 12 / 300) = 0.017.
    assert weights[:, 0].mean() == pytest.approx(0.5, abs=0.07)
    assert weights[:, 1].mean() == pytest.approx(0.25, abs=0.06)


def test_order_survives_as_scales_and_their_error_grow():
    near, far = (recover(second_corpus(1, side=side), 1) for side in (1.0, 20.0))
    assert abs(far.rho - near.rho) < 0.1
    assert near.rho_recovered > 0.5
    assert far.error > 5.0 * near.error
