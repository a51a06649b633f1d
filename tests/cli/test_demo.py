import numpy as np
import pandas as pd
import pytest

from hdsp import Corpus, simulate
from tests.cli.commands import hdsp


def small_corpus():
    """A stand-in for the docstrings: the same label columns, few documents."""
    rng = np.random.default_rng(0)
    package = rng.choice(["numpy", "scipy"], size=120)
    table = pd.DataFrame(
        {
            "package": package,
            "module": [f"{name}.{rng.choice(['linalg', 'fft'])}" for name in package],
            "kind": rng.choice(["function", "class"], size=120),
            "n_parameters": rng.integers(0, 40, size=120).astype(float),
        }
    )
    corpus, _ = simulate(table, n_topics=5, n_words=60, document_length=40, random_state=1)
    return Corpus(corpus.counts, words=[f"word{i}" for i in range(60)], labels=corpus.labels)


@pytest.fixture
def small(monkeypatch, tmp_path):
    corpus = small_corpus()
    frame = pd.DataFrame({"name": [f"f{i}" for i in range(120)], "text": "word1"})
    monkeypatch.setattr(
        "hdsp.datasets.load_docstrings", lambda *, as_frame=False: frame if as_frame else corpus
    )
    monkeypatch.chdir(tmp_path)
    return corpus


def test_the_demo_prints_topics_and_the_strongest_effects(small):
    out, err = hdsp("demo --n-components 6")
    assert err == ""
    lines = out.splitlines()
    # A module is of one package, which is left out.
    assert lines[0] == repr(small).replace("category 'package' 2, ", "")
    start = lines.index("The largest of 6 topics:") + 2
    topics = [line.split() for line in lines[start : start + 6]]
    assert [int(topic) for topic, *_ in topics] == list(range(6))
    assert all(line[1].endswith("%") and line[3].startswith("word") for line in topics)
    for module in ("numpy.linalg", "numpy.fft", "scipy.linalg", "scipy.fft"):
        start = next(i for i, line in enumerate(lines) if line.startswith(f"{module} ("))
        points = [float(line.split()[1]) for line in lines[start + 2 : start + 6]]
        assert points == sorted(points, reverse=True)
        assert points[0] > 0 > points[-1]
    assert any("given their labels, " in line for line in lines)


def test_a_seed_gives_the_same_output_again(small):
    first, again, other = (hdsp(f"demo --n-components 6 --random-state {n}").out for n in (3, 3, 4))
    assert first == again != other


def test_an_interrupt_ends_with_status_130(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("hdsp.datasets.load_docstrings", interrupted)
    assert hdsp("demo", status=130).err == "hdsp: interrupted.\n"
