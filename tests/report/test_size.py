"""A model of two thousand labels and two hundred topics."""

import numpy as np
import pytest

from hdsp.report import View, make_view, render
from hdsp.report.packing import pack_exact, pack_rounded, rounded

N_LABELS, N_TOPICS, N_WORDS = 2_000, 200, 100


@pytest.fixture(scope="module")
def large(model):
    """The view of a small model with arrays as large as those of a large one."""
    rng = np.random.default_rng(0)
    data = dict(make_view(model).model)
    small = {name: set(data[name]) for name in ("topics", "words", "labels", "effects", "map")}
    share = np.sort(rng.dirichlet(np.ones(N_TOPICS)))[::-1]
    effect = rng.normal(scale=0.01, size=(N_LABELS, N_TOPICS))
    vocabulary = [f"word{i:05}" for i in range(10_000)]
    data["topics"] = {
        "n": N_TOPICS,
        "in_use": N_TOPICS,
        "weight": rounded(share),
        "share": rounded(share),
        "coherence": rounded(rng.random(N_TOPICS)),
        "distinctive": ["ten words or so that a topic has"] * N_TOPICS,
        "junk": "",
    }
    data["words"] = {
        "words": vocabulary,
        "overall": rounded(rng.dirichlet(np.ones(10_000))),
        "topics": [
            {
                "words": rng.permutation(10_000)[:N_WORDS].tolist(),
                "p": rounded(rng.dirichlet(np.ones(N_WORDS))),
            }
            for _ in range(N_TOPICS)
        ],
    }
    data["labels"] = {
        "names": [f"label of some length, number {j}" for j in range(N_LABELS)],
        "plain": [f"label of some length, number {j}" for j in range(N_LABELS)],
        "block": [0] * N_LABELS,
        "carriers": rng.integers(1, 100, size=N_LABELS).tolist(),
        "used": list(range(N_LABELS)),
        "blocks": [{"name": "tags", "kind": "tags", "start": 0, "stop": N_LABELS, "alone": True}],
    }
    data["form"] = {
        "topic_of": list(range(N_TOPICS)),
        "column": list(range(N_LABELS)),
        "tables": {},
        "products": [],
        "intercept": pack_exact(rng.normal(size=N_TOPICS), "float64"),
        "coefficients": pack_exact(rng.normal(size=(N_LABELS, N_TOPICS))),
    }
    data["effects"] = {
        "level": 0.9,
        "labels": list(range(N_LABELS)),
        "contrasts": ["with - without"] * N_LABELS,
        "effect": pack_rounded(effect),
        "half": pack_rounded(np.full(effect.shape, 0.01)),
        "comparisons": {},
        "problem": "",
    }
    data["curves"] = []
    data["map"] = {
        "topics": rng.uniform(-1, 1, size=(N_TOPICS, 2)).round(4).tolist(),
        "labels": rng.uniform(-1, 1, size=(N_LABELS, 2)).round(4).tolist(),
    }
    data["order"] = {
        "topics": rng.permutation(N_TOPICS).tolist(),
        "labels": rng.permutation(N_LABELS).tolist(),
    }
    # Nothing that a real view has may be missing here.
    assert {name: set(data[name]) for name in small} == small
    return View(data, None)


def test_the_page_is_below_ten_megabytes(large):
    size = len(render(large).encode())
    assert 4e6 < size < 10e6


@pytest.mark.parametrize("view", ["topics", "explorer", "effects", "map", "heat"])
def test_every_view_of_a_large_page_opens(large, open_page, tmp_path, view):
    """How long that takes is in benchmarks/report.py."""
    path = tmp_path / "report.html"
    path.write_text(render(large), encoding="utf-8")
    page = open_page(path).show(f"#view={view}")
    page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    assert page.locator(f"#view-{view}").is_visible()
