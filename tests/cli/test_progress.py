"""What commands show of long work: on a terminal, in a pipe, and with --quiet."""

import re
import subprocess
import sys

import pytest

from hdsp.cli.main import make_parser
from tests.cli.test_commands import reviews
from tests.progress.terminals import run_on_terminal

PROGRAM = "import sys; from hdsp.cli import main; sys.exit(main())"
# As if everything took long enough for a line of its own.
SLOW = (
    "from hdsp.progress.displays import Lines; Lines.line_seconds = Lines.line_share = 0.0; "
    + PROGRAM
)
FIT = ("fit", "reviews.parquet", "--category", "department", "-o", "model.hdsp")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("progress")
    reviews(4000).to_parquet(path / "reviews.parquet")
    return path


def run(folder, program, *arguments):
    found = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return found.returncode, found.stdout, found.stderr


def test_quiet_shows_nothing(folder):
    status, out, err = run(folder, SLOW, *FIT, "--quiet")
    assert status == 0
    assert out.startswith("model.hdsp: ")
    assert all(line.startswith("hdsp: warning: ") for line in err.splitlines())
    status, screens, _ = run_on_terminal(PROGRAM, *FIT, "--quiet", folder=folder)
    assert status == 0
    assert not any("Reading" in screen or "Fitting" in screen for screen in screens)


def test_json_shows_nothing(folder):
    status, _, err = run(folder, SLOW, *FIT, "--json")
    assert status == 0
    assert all(line.startswith("hdsp: warning: ") for line in err.splitlines())


def test_every_command_can_be_quiet():
    (action,) = [a for a in make_parser()._actions if a.dest == "command"]
    for name, parser in action.choices.items():
        assert "--quiet" in parser.format_help(), name


def test_reading_shows_how_far_it_is(folder, tmp_path):
    frame = reviews(200)
    frame["text"] *= 60
    frame.to_csv(tmp_path / "large.csv", index=False)
    assert (tmp_path / "large.csv").stat().st_size > 1 << 20
    asked = ("--max-iter", "1", "--topics", "3", "--fixed-number", "-o", "model.hdsp")
    _, _, err = run(tmp_path, SLOW, "fit", "large.csv", *asked)
    counts = re.findall(r"^Reading large.csv: (documents [\d,]+), ", err, re.M)
    assert counts[-1] == "documents 200"
    status, _, err = run(tmp_path, SLOW, "fit", "nothing.csv", *asked)
    assert status == 2
    assert len(err.splitlines()) == 1


def test_refits_are_counted(folder):
    assert run(folder, PROGRAM, *FIT, "--topics", "4", "--fixed-number", "-q")[0] == 0
    asked = ("topics", "model.hdsp", "--stable", "reviews.parquet", "--fits", "2")
    status, _, err = run(folder, SLOW, *asked)
    assert status == 0
    assert re.search(r"^Fitting with other seeds: 1 of 2 done, topics found 4, ", err, re.M)
    assert re.search(r"^Fitting with other seeds: 2 of 2 done, topics found 4, 4, took", err, re.M)


def test_a_reproduction_is_counted(tmp_path):
    pytest.importorskip("matplotlib", reason="figures are drawn by matplotlib")
    asked = ("reproduce", "figure-2", "--quick", "--jobs", "1", "--output", str(tmp_path))
    status, _, err = run(tmp_path, SLOW, *asked)
    assert status == 0
    assert re.search(r"^Reproducing figure-2: 1 of 1 done, last seed 0, ", err, re.M)
