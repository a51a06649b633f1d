"""A page of two thousand labels and two hundred topics."""

import numpy as np
import pytest

from hdsp.report import make_view, render
from hdsp.report.packing import pack_exact, pack_rounded
from tests.report.conftest import each_view

N_LABELS, N_TOPICS = 2_000, 200


@pytest.fixture(scope="module")
def large(model, tmp_path_factory):
    """The page of a small model, with its topics repeated and many tags."""
    rng = np.random.default_rng(0)
    view, shape = make_view(model), (N_LABELS, N_TOPICS)
    names = [f"label of some length, number {j}" for j in range(N_LABELS)]
    tags = {"name": "tags", "kind": "tags", "start": 0, "stop": N_LABELS, "alone": True}

    def repeated(data):
        return {name: own * 25 if len(own) == 8 else own for name, own in data.items()}

    topics = {name: own for name, own in view["topics"].items() if isinstance(own, list)}
    positions, form = list(range(N_LABELS)), pack_exact(rng.normal(size=shape))
    changes = {
        "topics": repeated(topics) | {"n": N_TOPICS, "in_use": N_TOPICS},
        "words": repeated(view["words"]),
        "labels": {
            **dict.fromkeys(("names", "plain"), names),
            **{"block": [0] * N_LABELS, "carriers": [9] * N_LABELS, "used": positions},
            "blocks": [tags],
        },
        "form": {
            **{"topic_of": list(range(N_TOPICS)), "tables": {}, "coefficients": form},
            "intercept": pack_exact(rng.normal(size=N_TOPICS), "float64"),
        },
        "effects": {
            **{"labels": positions, "contrasts": names},
            "effect": pack_rounded(rng.normal(scale=0.01, size=shape)),
            "half": pack_rounded(np.full(shape, 0.01)),
        },
        "map": {"topics": rng.random((N_TOPICS, 2)), "labels": rng.random((N_LABELS, 2))},
        "order": {"topics": rng.permutation(N_TOPICS), "labels": rng.permutation(N_LABELS)},
    }
    view |= {name: view[name] | own for name, own in changes.items()}
    path = tmp_path_factory.mktemp("large") / "report.html"
    path.write_text(render(view), encoding="utf-8")
    return path


def test_the_page_is_below_ten_megabytes_and_every_view_opens(large, open_page):
    assert 4e6 < large.stat().st_size < 10e6
    page = open_page(large).show()
    for view in each_view(page, ("topics", "explorer", "effects", "map", "heat")):
        page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        assert page.locator(f"#view-{view}").is_visible()
