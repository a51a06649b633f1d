"""Which code results come from, and whether it is still the same."""

import subprocess

import pytest

from hdsp_studies.comparison import CorpusFolder
from hdsp_studies.reproduction import provenance, run_study, runner
from hdsp_studies.reproduction.page import claims_by_study
from hdsp_studies.reproduction.provenance import UNCOMMITTED, code_commit, is_stale
from hdsp_studies.reproduction.results import read_rows
from studies.tests.reproduction.fakes import CONFIG, Squares

CODE = '"""What it is."""\n\n\ndef step(x):\n    """One step."""\n    return x + 1\n'


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A repository with one file that decides results, and one that does not."""
    top = tmp_path / "checkout"
    for name in ("src/hdsp/fit/step.py", "src/hdsp/report/page.py"):
        (top / name).parent.mkdir(parents=True)
        (top / name).write_text(CODE)
    git(top, "init", "-q")
    commit_all(top)
    monkeypatch.setattr(provenance, "_checkout", lambda: top)
    is_stale.cache_clear()
    yield top
    is_stale.cache_clear()


def git(top, *command):
    own = ["-c", "user.name=A", "-c", "user.email=a@b.c"]
    run = subprocess.run(
        ["git", "-C", str(top), *own, *command], check=True, capture_output=True, text=True
    )
    return run.stdout.strip()


def commit_all(top):
    git(top, "add", "-A")
    git(top, "commit", "-qm", "Add code")


def test_a_clean_checkout_is_named_by_its_commit(checkout):
    assert code_commit() == git(checkout, "rev-parse", "--short=10", "HEAD")
    (checkout / "src/hdsp/report/page.py").write_text("pass\n")
    assert code_commit() == git(checkout, "rev-parse", "--short=10", "HEAD")
    (checkout / "src/hdsp/fit/step.py").write_text(CODE.replace("1", "2"))
    assert code_commit() == UNCOMMITTED


def test_results_are_stale_once_code_changes_and_not_its_words(checkout):
    first = code_commit()
    assert not is_stale(first)
    words = CODE.replace("One step", "A step").replace("return", "# Why.\n    return")
    (checkout / "src/hdsp/fit/step.py").write_text(words)
    is_stale.cache_clear()
    assert not is_stale(first)
    commit_all(checkout)
    (checkout / "src/hdsp/fit/step.py").write_text(words.replace("+ 1", "+ 1.01"))
    is_stale.cache_clear()
    assert is_stale(first)
    (checkout / "src/hdsp/fit/step.py").unlink()
    is_stale.cache_clear()
    assert is_stale(first)


def test_rows_of_unknown_commits_are_refused_and_stale_ones_say_so(checkout, tmp_path, monkeypatch):
    folder, first = tmp_path / "squares", code_commit()
    folder.mkdir()
    (folder / "config.toml").write_text(CONFIG)
    monkeypatch.setattr(runner, "code_commit", code_commit)
    monkeypatch.setattr(Squares, "claims", ("They grow",))
    study = Squares()
    assert run_study(study, folder, CorpusFolder()) == 6
    assert {row["commit"] for row in read_rows(folder / "results.csv")} == {first}
    assert "stale" not in claims_by_study({"squares": study}, tmp_path, "..")
    (checkout / "src/hdsp/fit/step.py").write_text(CODE.replace("1", "2"))
    is_stale.cache_clear()
    assert run_study(study, folder, CorpusFolder()) == 0
    note = f"(stale: the code has changed since {first})"
    assert note in claims_by_study({"squares": study}, tmp_path, "..")
    with pytest.raises(ValueError, match="uncommitted changes"):
        run_study(study, folder, CorpusFolder(), again=True)
    text = (folder / "results.csv").read_text()
    (folder / "results.csv").write_text(text.replace(first, "0123456789"))
    with pytest.raises(ValueError, match="the commit '0123456789', which git does not know"):
        run_study(study, folder, CorpusFolder())
    # Of quick runs, which nobody publishes, it may be anything.
    (folder / "results.csv").write_text(
        text.replace(first, "0123456789").replace(",full,", ",quick,")
    )
    assert len(read_rows(folder / "results.csv")) == 18


def test_outside_a_checkout_the_version_is_all_there_is(monkeypatch):
    monkeypatch.setattr(provenance, "_git", lambda *_: None)
    assert code_commit().startswith("version ")
    assert not is_stale("0123456789")
