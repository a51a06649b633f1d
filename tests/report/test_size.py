"""A model of two thousand labels and two hundred topics."""

import numpy as np
import pytest

from hdsp.report import make_view, render
from hdsp.report.packing import pack_exact, pack_rounded, rounded

N_LABELS, N_TOPICS, N_WORDS = 2_000, 200, 100


@pytest.fixture(scope="module")
def large(model, tmp_path_factory):
    """The page of a small model with arrays as large as those of a large one."""
    rng = np.random.default_rng(0)
    data = make_view(model)
    share = np.sort(rng.dirichlet(np.ones(N_TOPICS)))[::-1]
    shape = (N_LABELS, N_TOPICS)
    names = [f"label of some length, number {j}" for j in range(N_LABELS)]
    words = [
        {"words": rng.permutation(10_000)[:N_WORDS], "p": rounded(rng.dirichlet(np.ones(N_WORDS)))}
        for _ in range(N_TOPICS)
    ]
    changes = {
        "topics": {
            "n": N_TOPICS,
            "in_use": N_TOPICS,
            **dict.fromkeys(("weight", "share", "coherence"), rounded(share)),
            "distinctive": ["ten words or so that a topic has"] * N_TOPICS,
        },
        "words": {
            "words": [f"word{i:05}" for i in range(10_000)],
            "overall": rounded(rng.dirichlet(np.ones(10_000))),
            "topics": words,
        },
        "labels": {
            "names": names,
            "plain": names,
            "block": [0] * N_LABELS,
            "carriers": rng.integers(1, 100, size=N_LABELS),
            "used": list(range(N_LABELS)),
            "blocks": [
                {"name": "tags", "kind": "tags", "start": 0, "stop": N_LABELS, "alone": True}
            ],
        },
        "form": {
            "topic_of": list(range(N_TOPICS)),
            "tables": {},
            "intercept": pack_exact(rng.normal(size=N_TOPICS), "float64"),
            "coefficients": pack_exact(rng.normal(size=shape)),
        },
        "effects": {
            "labels": list(range(N_LABELS)),
            "contrasts": ["with - without"] * N_LABELS,
            "effect": pack_rounded(rng.normal(scale=0.01, size=shape)),
            "half": pack_rounded(np.full(shape, 0.01)),
            "comparisons": {},
        },
        "map": {
            "topics": rng.uniform(-1, 1, size=(N_TOPICS, 2)).round(4),
            "labels": rng.uniform(-1, 1, size=(N_LABELS, 2)).round(4),
        },
        "order": {"topics": rng.permutation(N_TOPICS), "labels": rng.permutation(N_LABELS)},
    }
    data |= {name: data[name] | own for name, own in changes.items()} | {"curves": []}
    path = tmp_path_factory.mktemp("large") / "report.html"
    path.write_text(render(data), encoding="utf-8")
    return path


def test_the_page_is_below_ten_megabytes_and_every_view_opens(large, open_page):
    assert 4e6 < large.stat().st_size < 10e6
    for view in ("topics", "explorer", "effects", "map", "heat"):
        page = open_page(large).show(f"#view={view}")
        page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        assert page.locator(f"#view-{view}").is_visible()
