"""What commands show of long work: on a terminal, in a pipe, and with --quiet."""

import re
import signal
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
DEMO = ("demo", "--topics", "10")
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


def test_a_fit_on_a_terminal_has_one_live_display(folder):
    with (folder / "out").open("w") as out:
        status, screens, _ = run_on_terminal(PROGRAM, *FIT, folder=folder, stdout=out)
    assert status == 0
    # What a quick fit shows depends on when the screen is drawn: that it shows something does not.
    fitting = [screen for screen in screens if screen.startswith("Fitting topics")]
    assert fitting
    assert all(len(screen.splitlines()) <= 2 for screen in fitting)
    # Nothing is left but warnings; the result is on standard output.
    assert all(line.startswith("hdsp: warning: ") for line in screens[-1].splitlines())
    assert (folder / "out").read_text().startswith("model.hdsp: ")


def test_the_demo_on_a_terminal(tmp_path):
    with (tmp_path / "out").open("w") as out:
        status, screens, _ = run_on_terminal(PROGRAM, *DEMO, folder=tmp_path, stdout=out)
    assert status == 0
    assert any("Reading docstrings  " in screen for screen in screens)
    assert any(re.search(r"Fitting topics .*\n  topics 10, pass \d+", text) for text in screens)
    assert "Fitting" not in (tmp_path / "out").read_text()


def test_ctrl_c_ends_a_fit_and_leaves_the_terminal_clean(folder):
    send = ("trying", signal.SIGINT)
    status, screens, raw = run_on_terminal(PROGRAM, *FIT, folder=folder, send=send)
    assert status == 0
    assert "\x1b[?25l" not in raw
    assert "was interrupted after pass" in screens[-1]
    assert "━" not in screens[-1]


def test_a_fit_in_a_pipe_writes_plain_lines(folder):
    status, out, err = run(folder, SLOW, *FIT)
    assert status == 0
    assert out.startswith("model.hdsp: ")
    assert "\x1b" not in err
    lines = err.splitlines()
    assert any(
        re.fullmatch(r"Reading reviews.parquet: documents 4,000, took \d:\d\d", line)
        for line in lines
    )
    assert any(
        re.match(r"Fitting topics: trying 32 topics \(1 of about 5\), ", line) for line in lines
    )


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


def test_refits_show_the_fits_inside(folder):
    assert run(folder, PROGRAM, *FIT, "--topics", "4", "--fixed-number", "-q")[0] == 0
    asked = ("topics", "model.hdsp", "--stable", "reviews.parquet", "--fits", "2")
    status, _, err = run(folder, SLOW, *asked)
    assert status == 0
    assert re.search(
        r"^Fitting with other seeds: 0 of 2 done, .*; Fitting topics: topics 4, pass 2", err, re.M
    )
    assert re.search(r"^Fitting with other seeds: 2 of 2 done, topics found 4, 4, took", err, re.M)
