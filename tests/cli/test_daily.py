"""Seeds, names and merges of topics on the command line."""

import json

from hdsp import HDSP
from tests.cli.test_commands import reviews, run

SEEDS = {"cloth": ["silk"], "walk": ["sole"]}


def test_the_command_reads_seeds(tmp_path):
    reviews(120).to_parquet(tmp_path / "reviews.parquet")
    (tmp_path / "seeds.json").write_text(json.dumps(SEEDS))
    fit = ["fit", str(tmp_path / "reviews.parquet"), "-o", str(tmp_path / "m.hdsp")]
    run(tmp_path, *fit, "--topics", "5", "--fixed-number", "--seeds", str(tmp_path / "seeds.json"))
    assert set(HDSP.load(tmp_path / "m.hdsp").topic_names_.values()) == set(SEEDS)
    for text, message in (
        ("{", "is no JSON"),
        ("[]", "must hold names of topics"),
        ('{"a": "b"}', "--seeds must map names of topics to lists of words"),
    ):
        (tmp_path / "seeds.json").write_text(text)
        status, _, error = run(tmp_path, *fit, "--seeds", str(tmp_path / "seeds.json"))
        assert status == 2
        assert message in error
