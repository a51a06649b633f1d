"""Corpora drawn from the model, recovered (the paper's section 5.1)."""

import numpy as np

from tests.inference.studies import first_study, second_study


def test_topics_and_the_order_of_scales_are_recovered():
    # Over six seeds the mean distance was 0.05 to 0.08 and rho 0.55 to 0.90 (mean 0.79); topics
    # that are merged or split are 0.4 and more away.
    runs = [first_study(seed) for seed in range(3)]
    for distance, hdp_distance, _, _ in runs:
        assert distance.mean() < 0.12
        assert hdp_distance.mean() < 0.12
    assert np.mean([rho for _, _, rho, _ in runs]) > 0.6


def test_order_survives_as_scales_and_their_error_grow():
    # Five topics' worth of noise in 1,000 documents of 20 words: rho was 0.46 to 0.69 (mean 0.60)
    # over six seeds, and 0.80 to 0.87 with 3,000 documents.
    near = [second_study(seed, side=1.0) for seed in range(2)]
    far = [second_study(seed, side=20.0) for seed in range(2)]
    for (distance, _, rho, error), (_, _, far_rho, far_error) in zip(near, far, strict=True):
        assert distance.mean() < 0.25
        assert rho > 0.4
        assert abs(far_rho - rho) < 0.1
        assert far_error > 5.0 * error


def test_more_documents_recover_the_order_better():
    _, _, rho, _ = second_study(0, side=20.0, n_documents=3_000)
    assert rho > 0.7
