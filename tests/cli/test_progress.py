"""What commands show of long work: on a terminal, in a pipe, and with --quiet."""

import re
import signal

import pytest

from hdsp.cli.main import make_parser
from tests.cli.test_commands import PROGRAM, reviews, run
from tests.progress.terminals import run_on_terminal

# A terminal on which every change is drawn, and nothing takes long enough for a line that stays;
# a search waits with its first trial until it is seen.
LIVE = (
    """
import signal
from hdsp.progress import displays

def changed(self, task):
    self._live.refresh()
    if waits and "trying" in task.sentence:
        waits.clear()
        signal.sigwait([signal.SIGUSR1])

waits = WAITS
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
displays.FLICKER_SECONDS = 0.0
displays.Live.line_seconds = 1e9
displays.Live.changed = changed
"""
    + PROGRAM
)
DRAWN, HALTED = LIVE.replace("WAITS", "[]"), LIVE.replace("WAITS", "[1]")
DEMO = ("demo", "--topics", "10")
FIT = ("fit", "reviews.parquet", "--category", "department", "-o", "model.hdsp")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("progress")
    reviews(1200).to_parquet(path / "reviews.parquet")
    return path


def test_a_fit_on_a_terminal_has_one_live_display(folder):
    with (folder / "out").open("w") as out:
        status, screens, _ = run_on_terminal(DRAWN, *FIT, folder=folder, stdout=out)
    assert status == 0
    fitting = [screen for screen in screens if screen.startswith("Fitting topics")]
    assert fitting
    assert all(len(screen.splitlines()) <= 2 for screen in fitting)
    # Nothing is left but warnings; the result is on standard output.
    assert all(line.startswith("hdsp: warning: ") for line in screens[-1].splitlines())
    assert (folder / "out").read_text().startswith("model.hdsp: ")


def test_the_demo_on_a_terminal(tmp_path):
    """On the real docstrings, which `test_demo.py` does without."""
    with (tmp_path / "out").open("w") as out:
        status, screens, _ = run_on_terminal(DRAWN, *DEMO, folder=tmp_path, stdout=out)
    assert status == 0
    assert any("Reading docstrings  " in screen for screen in screens)
    assert any(re.search(r"Fitting topics .*\n  topics 10, pass \d+", text) for text in screens)
    assert screens[-1] == ""
    printed = (tmp_path / "out").read_text()
    assert "Fitting" not in printed
    assert "labels: category 'module'" in printed
    assert "largest of 10 topics in use" in printed
    assert "scipy.stats" in printed
    assert "Perplexity of held-out docstrings" in printed
    assert printed.splitlines()[-1].endswith(f"open {tmp_path / 'report.html'}")
    assert '"name":"scipy.stats.' in (tmp_path / "report.html").read_text()


def test_ctrl_c_ends_a_fit_and_leaves_the_terminal_clean(folder):
    send = [("trying", signal.SIGINT), ("trying", signal.SIGUSR1)]
    status, screens, raw = run_on_terminal(HALTED, *FIT, folder=folder, send=send)
    assert status == 0
    assert "\x1b[?25l" not in raw
    assert "was interrupted after pass" in screens[-1]
    assert "━" not in screens[-1]


def test_a_fit_in_a_pipe_writes_plain_lines(folder, every_line):
    status, out, err = run(folder, *FIT)
    assert status == 0
    assert out.startswith("model.hdsp: ")
    assert "\x1b" not in err
    lines = err.splitlines()
    assert any(
        re.fullmatch(r"Reading reviews.parquet: documents 1,200, took \d:\d\d", line)
        for line in lines
    )
    assert any(
        re.match(r"Fitting topics: trying 32 topics \(1 of about 5\), ", line) for line in lines
    )


def test_quiet_shows_nothing(folder, every_line):
    status, out, err = run(folder, *FIT, "--quiet")
    assert status == 0
    assert out.startswith("model.hdsp: ")
    assert all(line.startswith("hdsp: warning: ") for line in err.splitlines())
    status, screens, _ = run_on_terminal(DRAWN, *FIT, "--quiet", folder=folder)
    assert status == 0
    assert not any("Reading" in screen or "Fitting" in screen for screen in screens)


def test_json_shows_nothing(folder, every_line):
    status, _, err = run(folder, *FIT, "--json")
    assert status == 0
    assert all(line.startswith("hdsp: warning: ") for line in err.splitlines())


def test_every_command_can_be_quiet():
    (action,) = [a for a in make_parser()._actions if a.dest == "command"]
    for name, parser in action.choices.items():
        assert "--quiet" in parser.format_help(), name


def test_reading_shows_how_far_it_is(tmp_path, every_line):
    frame = reviews(200)
    frame["text"] *= 60
    frame.to_csv(tmp_path / "large.csv", index=False)
    assert (tmp_path / "large.csv").stat().st_size > 1 << 20
    asked = ("--max-iter", "1", "--topics", "3", "--fixed-number", "-o", "model.hdsp")
    _, _, err = run(tmp_path, "fit", "large.csv", *asked)
    counts = re.findall(r"^Reading large.csv: (documents [\d,]+), ", err, re.M)
    assert counts[-1] == "documents 200"
    status, _, err = run(tmp_path, "fit", "nothing.csv", *asked)
    assert status == 2
    assert len(err.splitlines()) == 1


def test_refits_show_the_fits_inside(folder, every_line):
    assert run(folder, *FIT, "--topics", "4", "--fixed-number", "-q")[0] == 0
    asked = ("topics", "model.hdsp", "--stable", "reviews.parquet", "--fits", "2")
    status, _, err = run(folder, *asked)
    assert status == 0
    assert re.search(
        r"^Fitting with other seeds: 0 of 2 done, .*; Fitting topics: topics 4, pass 2", err, re.M
    )
    assert re.search(r"^Fitting with other seeds: 2 of 2 done, topics found 4, 4, took", err, re.M)
