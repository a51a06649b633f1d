import subprocess
from pathlib import Path

import pytest

from hdsp_studies.reproduction import runner
from studies.tests.reproduction.stand_ins import write_corpora


@pytest.fixture(scope="session")
def corpora(tmp_path_factory):
    """The folder of corpora that stand in for the real ones."""
    return write_corpora(tmp_path_factory.mktemp("corpora"))


@pytest.fixture(scope="session")
def commit():
    """The last commit, which git knows whatever has changed since."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=10", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(autouse=True)
def _committed(monkeypatch, commit):
    """Runs are of a commit, also while somebody works on the code."""
    monkeypatch.setattr(runner, "code_commit", lambda: commit)
