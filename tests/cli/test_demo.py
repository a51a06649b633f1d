import numpy as np
import pandas as pd
import pytest

from hdsp import Corpus, simulate
from hdsp.cli import main


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


def test_the_demo_prints_topics_and_the_strongest_effects(small, capsys):
    assert main(["demo", "--n-components", "6"]) == 0
    out, err = capsys.readouterr()
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


def test_a_seed_gives_the_same_output_again(small, capsys):
    main(["demo", "--n-components", "6", "--random-state", "3"])
    first = capsys.readouterr().out
    main(["demo", "--n-components", "6", "--random-state", "3"])
    assert capsys.readouterr().out == first
    main(["demo", "--n-components", "6", "--random-state", "4"])
    assert capsys.readouterr().out != first


@pytest.mark.parametrize("arguments", [["demo", "--colour"], ["dance"], []])
def test_a_bad_option_ends_with_status_2(arguments, capsys):
    assert main(arguments) == 2
    assert "--help." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--n-components", "0"], "must be an int in the range"),
        (["--random-state", "-1"], "--random-state must be"),
        (["--n-components", "many"], "--n-components must be"),
    ],
)
def test_bad_values_end_with_status_2_and_one_sentence(small, arguments, sentence, capsys):
    assert main(["demo", *arguments]) == 2
    err = capsys.readouterr().err
    assert err.startswith("hdsp: ")
    assert sentence in err
    assert len(err.splitlines()) == 1


def test_an_interrupt_ends_with_status_130(monkeypatch, capsys):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("hdsp.datasets.load_docstrings", interrupted)
    assert main(["demo"]) == 130
    assert capsys.readouterr().err == "hdsp: interrupted.\n"
