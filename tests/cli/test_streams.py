"""Standard streams that are closed or full, and names that cannot steer a terminal."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from hdsp import HDSP, ModelFileError
from tests.cli.commands import PROGRAM, hdsp, reviews


@pytest.fixture
def model(tmp_path):
    # Not in the folder of another user.
    tmp_path.chmod(0o755)
    counts = np.random.default_rng(0).poisson(1.0, size=(20, 5))
    HDSP(2, tol=1e9, random_state=0).fit(counts).save(tmp_path / "model.hdsp")
    return tmp_path / "model.hdsp"


def shell(redirection, *arguments, env=None):
    command = f'"$0" -c "$1" {" ".join(map(str, arguments))} {redirection}'
    return subprocess.run(
        ["/bin/sh", "-c", command, sys.executable, PROGRAM],
        capture_output=True,
        text=True,
        env={**os.environ, **(env or {})},
    )


def test_a_closed_standard_output_is_no_failure(model):
    found = shell(">&-", "topics", model)
    assert (found.returncode, found.stderr) == (0, "")


def test_work_that_prints_nothing_needs_no_standard_output(model, tmp_path):
    found = shell(">&-", "topics", model, "-o", tmp_path / "topics.csv")
    assert found.returncode == 0
    assert re.fullmatch(r"hdsp: wrote \S+topics.csv\.\n", found.stderr)
    assert (tmp_path / "topics.csv").exists()
    found = shell("", "topics", model, "-q", "-o", tmp_path / "topics.csv")
    assert (found.stdout, found.stderr) == ("", "")


def test_a_full_standard_output_is_one_sentence(model):
    found = shell(">/dev/full", "topics", model)
    assert found.returncode == 1
    assert found.stderr.splitlines() == ["hdsp: [Errno 28] No space left on device"]


def test_a_closed_standard_error_is_no_failure(model):
    found = shell("2>&-", "topics", model)
    assert found.returncode == 0
    assert "words" in found.stdout


def test_a_file_that_may_not_be_read_is_not_of_another_format(model, monkeypatch):
    model.chmod(0)
    if os.geteuid() == 0:
        # Nothing is forbidden to root.
        def forbidden(*_):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(type(model), "open", forbidden)
    with pytest.raises(ModelFileError, match=r"it cannot be read \(Permission denied\)"):
        HDSP.load(model)


def test_letters_that_standard_output_cannot_show_are_one_sentence(model):
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    plain = HDSP.load(model)
    plain.name_topics({0: "Größe"})
    plain.save(model)
    found = shell("", "topics", model, env=env)
    assert found.returncode == 2
    assert found.stderr == (
        "hdsp: 'ascii' codec can't encode characters in position 9-10: ordinal not in range(128). "
        "Set PYTHONUTF8=1 in the environment, or write to a file with -o.\n"
    )
    assert shell("", "topics", model, env={"LC_ALL": "C"}).returncode == 0


WICKED = "sho\x1b[2Jes\r\n\x9b31m\u202e"


def test_no_output_holds_what_steers_a_terminal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table, model = "reviews \x1b[2J.parquet", "model \x1b[2J.hdsp"
    frame = reviews(60)
    frame["department"] = frame["department"].replace("shoes", WICKED)
    tags = [[*tags, f"tag {WICKED}"] if n % 3 else tags for n, tags in enumerate(frame["labels"])]
    frame["labels"] = tags
    frame["rating\x1b[2J"] = frame["rating"]
    frame.to_parquet(table)
    labels = "--tags labels --categories department --numeric 'rating\x1b[2J' --n-components 4"
    shown = [hdsp(f"fit '{table}' {labels} --max-iter 3 -o '{model}'")]
    documents = f"'{model}' '{table}'"
    for line, status in {
        f"topics '{model}'": 0,
        f"stability {documents} --n-fits 1": 0,
        f"effects '{model}'": 0,
        f"effects '{model}' --label department --contrast '{WICKED}' bags": 0,
        f"effects '{model}' --label 'nothing {WICKED}'": 2,
        f"transform {documents}": 0,
        f"predict {documents} --target department": 0,
        f"predict {documents} --target labels": 0,
        f"evaluate {documents}": 0,
        f"report {documents} -o '{model}.html'": 0,
    }.items():
        shown.append(hdsp(line, status, terminal=True))
        assert shown[-1].out or "\\x1b" in shown[-1].err, line
    text = "".join(part for ran in shown for part in ran)
    assert "sho\\x1b[2Jes\\r\\n\\x9b31m\\u202e" in text
    assert not set(text) & set(map(chr, [*range(10), *range(11, 32), *range(127, 160), 0x202E]))
    # A file or another program gets all characters.
    out = hdsp(f"predict {documents} --target department -o -").out
    assert WICKED.replace("\r\n", "\n") in out.replace("\r\n", "\n")
