"""What single figures are made of."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from hdsp import Labels
from hdsp_studies.reproduction import STUDIES
from hdsp_studies.reproduction.embedding import unfold
from hdsp_studies.reproduction.studies.figure_9 import thinned


def two_kinds(n_documents=60):
    """Five tags and a number, of which some are zero, for every document."""
    tags = Labels.from_tags([["a", "b", "c", "d", "e"]] * n_documents)
    numbers = Labels.from_frame(pd.DataFrame({"number": np.arange(n_documents) % 3.0}))
    return Labels((*tags.blocks, *numbers.blocks), n_documents)


def held(labels):
    """Where a block has a value, and which."""
    return [
        {(row, column): value for row, column, value in zip(m.row, m.col, m.data, strict=True)}
        for m in (block.values.tocoo() for block in labels.blocks)
    ]


def test_fewer_labels_are_part_of_more():
    labels = two_kinds()
    shares = [0.0, 0.2, 0.6, 1.0]
    parts = [thinned(labels, share, seed=1) for share in shares]
    for small, large in pairwise(parts):
        for few, many in zip(held(small), held(large), strict=True):
            assert few.items() <= many.items()
            assert len(few) < len(many)
    assert held(parts[-1]) == held(labels)
    for part, share in zip(parts, shares, strict=True):
        # 300 tags: four standard deviations.
        assert abs(part.blocks[0].values.nnz / 300 - share) < 0.12
        assert [block.columns for block in part.blocks] == [b.columns for b in labels.blocks]


def test_another_seed_removes_other_labels():
    labels = two_kinds()
    assert held(thinned(labels, 0.5, seed=1)) == held(thinned(labels, 0.5, seed=1))
    assert held(thinned(labels, 0.5, seed=1)) != held(thinned(labels, 0.5, seed=2))


def test_unfolding_finds_places_with_these_distances():
    rng = np.random.default_rng(3)
    places, others = rng.normal(size=(6, 2)), rng.normal(size=(5, 2))
    wanted = np.linalg.norm(places[:, None] - others[None], axis=2)
    rows, columns, stress = unfold(wanted, rng)
    found = np.linalg.norm(rows[:, None] - columns[None], axis=2)
    assert stress < 0.02
    np.testing.assert_allclose(found, wanted, atol=0.1)


def test_fits_of_one_start_are_measured_together():
    settings = {
        "models": ["HDP", "HDSP", "L-LDA"],
        "models_of": {"two": ["wHDSP"]},
        "corpora": ["one", "two"],
        "topic_priors": [0.1, 1.0],
        "others_topic_priors": [1.0],
        "fits": ["published", "converged"],
        "seeds": [0],
    }
    groups = {}
    study = STUDIES["figure-4"]
    for unit in study.units(settings):
        groups.setdefault(study.group(unit), []).append(unit["model"])
    # Fits until convergence have the first eta alone.
    assert sorted(groups.values()) == [
        ["HDP", "HDP", "HDSP", "HDSP"],
        ["HDP", "HDSP"],
        ["L-LDA"],
        ["wHDSP"],
        ["wHDSP", "wHDSP"],
    ]


@pytest.mark.parametrize("n_runs", [1, 3, 5, 7])
def test_figure_3_is_drawn_of_unfinished_sides(n_runs):
    """Two runs a side, the last side with one."""
    study = STUDIES["figure-3"]
    measures = {"error": 0.5, "rho": 0.6, "rho by label": 0.7, "distance": 0.1}
    measures |= {"rho recovered": 0.6, "topics found": 8.0}
    fit = {"fit": "published"}
    rows = [
        {"side": 1 + i // 2, "seed": i % 2, **fit, **{k: v + i / 10 for k, v in measures.items()}}
        for i in range(n_runs)
    ]
    low, high = study.draw(rows).axes[0].get_ylim()
    assert low == 0.0 < high
    assert len(study.findings(rows)) == 2
