"""Several seeds: intervals, and verdicts that count them."""

import numpy as np
import pytest
from scipy import stats

from hdsp_studies.comparison import CorpusFolder
from hdsp_studies.reproduction import Finding, Study, drawing, run_study
from hdsp_studies.reproduction.intervals import interval, with_interval
from hdsp_studies.reproduction.page import still_to_come
from hdsp_studies.reproduction.results import units_of, with_seeds
from hdsp_studies.reproduction.study import Settings, graded, mean

HOLDS, PART, NOT = "holds", "holds in part", "does not hold here"
CONFIG = '[full]\nseeds = [0]\ncorpora = ["one", "two"]\n'


class Heights(Study):
    """A claim about numbers that the seed decides."""

    name, title, about = "heights", "Heights", "Of seeds."
    claims = ("They are above 1",)
    spans = ("corpora",)

    def units(self, settings):
        return [
            {"corpus": corpus, "seed": seed, "model": model}
            for seed in settings["seeds"]
            for corpus in settings["corpora"]
            for model in ("fast", "slow")
        ]

    def measure(self, unit, settings, corpora):
        return [{"value": unit["seed"]}]

    def draw(self, rows):
        return drawing.axes(1, 1, 2.0, 2.0)[0]

    def assess(self, rows):
        height = mean([row["value"] for row in rows])
        return [Finding(self.claims[0], graded(height > 1, height > 0))]


@pytest.fixture
def folder(tmp_path):
    """The folder of the study of heights, with its corpora's files."""
    (tmp_path / "config.toml").write_text(CONFIG)
    for corpus in ("one", "two"):
        (tmp_path / f"{corpus}.parquet").touch()
    return tmp_path


def test_few_seeds_have_a_range_and_more_a_t_interval():
    rng = np.random.default_rng(0)
    assert interval([3.0, 1.0, 2.0]) == (1.0, 3.0)
    assert np.isnan(interval([])).all()
    values = rng.normal(size=6)
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    np.testing.assert_allclose(interval(list(values)), expected)
    assert with_interval([2.0]) == "2.00"
    assert with_interval([1000.0, 2000.0], ",.0f") == "1,500 (1,000 to 2,000)"


@pytest.mark.parametrize(
    ("verdict", "by_seed", "conclusion"),
    [
        (HOLDS, (), HOLDS),
        (HOLDS, (HOLDS,), "holds (1 seed)"),
        (HOLDS, (HOLDS, HOLDS, HOLDS), "holds (3 seeds)"),
        (HOLDS, (HOLDS, NOT, HOLDS), "holds in 2 of 3 seeds"),
        (NOT, (NOT, PART, HOLDS), "holds in 1 of 3 seeds"),
        (PART, (NOT, PART, NOT), "holds in part in 1 of 3 seeds"),
        # The means hold, and no seed by itself.
        (HOLDS, (PART, PART), "holds in part (2 seeds)"),
        (PART, (NOT, NOT), "does not hold here (2 seeds)"),
        # A test over all seeds fails that one seed cannot make.
        (PART, (HOLDS, HOLDS), "holds in part (2 seeds)"),
        ("not yet run", (), "not yet run"),
    ],
)
def test_a_verdict_says_how_many_seeds_agree(verdict, by_seed, conclusion):
    assert Finding("claim", verdict, by_seed=by_seed).conclusion == conclusion


def test_only_seeds_with_every_corpus_are_counted():
    rows = [{"corpus": c, "seed": s, "value": s} for c in ("one", "two") for s in (0, 1, 2)]
    assert Heights().findings(rows)[0].by_seed == (NOT, PART, HOLDS)
    (found,) = Heights().findings(rows[:-1])
    assert found.by_seed == (NOT, PART)


def test_seeds_are_added_and_slow_models_have_fewer():
    settings = Settings(study="heights", seeds=[3, 0], corpora=["one"], most_seeds={"slow": 1})
    assert with_seeds(settings, 1)["seeds"] == [3, 0]
    more = with_seeds(settings, 4, [{"seed": 7}])
    assert more["seeds"] == [3, 0, 7, 1]
    found = [(unit["model"], unit["seed"]) for unit in units_of(Heights(), more)]
    assert found == [("fast", 3), ("slow", 3), ("fast", 0), ("fast", 7), ("fast", 1)]


def test_a_page_says_how_many_seeds_there_are_and_what_measured_them(folder, commit):
    source = CorpusFolder(folder)
    assert run_study(Heights(), folder, source) == 4
    page = (folder / "README.md").read_text()
    assert page.endswith(f"Seeds: 1. Commit: {commit}.\n")
    assert "| They are above 1 | does not hold here (1 seed) |" in page
    (folder / "config.toml").write_text(f"{CONFIG}[full.most_seeds]\nslow = 2\n")
    assert run_study(Heights(), folder, source, n_seeds=3) == 6
    page = (folder / "README.md").read_text()
    assert "| They are above 1 | holds in 1 of 3 seeds |" in page
    assert "Seeds: 3; slow models fewer: slow 2." in page


def test_each_fit_has_a_verdict_of_its_own():
    fits = {"published": 2, "converged": 0, "": 2}
    rows = [{"seed": 0, "fit": fit, "value": value} for fit, value in fits.items()]
    assert Heights().findings(rows)[0].conclusion == "holds (1 seed)"
    assert Heights().findings(rows, "converged")[0].conclusion == "holds in part (1 seed)"
    assert Heights().findings(rows[:1], "converged")[0].verdict == "not yet run"


def test_what_is_still_to_come_is_named_by_seed():
    missing = [{"corpus": "one", "seed": s, "model": m} for s in (1, 2) for m in "ab"]
    assert still_to_come(missing) == "one (seeds 1, 2)"
    assert still_to_come([{"seed": 1}, {"seed": 2}]) == "2"
