"""Where results go: checked before the work, and written as a whole."""

import errno
import os
import re
import stat
from pathlib import Path

import pytest

from hdsp import HDSP
from hdsp.cli.output import write_pieces
from tests.cli.commands import check_refused, hdsp

COMMANDS = (
    "topics model.hdsp",
    "effects model.hdsp",
    "transform model.hdsp reviews.parquet",
    "predict model.hdsp reviews.parquet --target department",
    "report model.hdsp",
    "fit reviews.parquet",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_outputs_are_checked_before_the_work(here, command, monkeypatch):
    def no_work(*_, **__):
        raise AssertionError("The output is checked before the work.")

    monkeypatch.setattr("hdsp.cli.fit.read_file", no_work)
    monkeypatch.setattr(HDSP, "load", no_work)
    check_refused(f"{command} -o /proc/r.csv", "folder '/proc' cannot be written to")
    check_refused(f"{command} -o letters", "is a folder: name a file to write.")
    if not command.startswith(("report", "fit")):
        check_refused(f"{command} -o table.xls", "does not specify a format")


@pytest.mark.parametrize("name", ["new.csv", "new.jsonl", "new.parquet"])
@pytest.mark.parametrize("command", COMMANDS[2:4])
def test_a_full_disk_leaves_the_table_that_was_there(here, tmp_path, monkeypatch, command, name):
    output = tmp_path / name
    hdsp(f"{command} -o {output}")
    before = output.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert "No space left on device" in hdsp(f"{command} -o {output}", status=1).err
    assert output.read_bytes() == before
    assert list(tmp_path.iterdir()) == [output]


def test_a_device_is_written_to_and_not_replaced(here, tmp_path):
    readers = {}
    for name in ("model.hdsp", "pipe.csv"):
        os.mkfifo(tmp_path / name)
        readers[name] = os.open(tmp_path / name, os.O_RDONLY | os.O_NONBLOCK)
    try:
        HDSP.load("l.hdsp").save(tmp_path / "model.hdsp")
        write_pieces([{"topic": [0, 1]}], str(tmp_path / "pipe.csv"))
        assert len(os.read(readers["model.hdsp"], 100)) == 100
        assert os.read(readers["pipe.csv"], 100) == b"topic\n0\n1\n"
    finally:
        for name, reader in readers.items():
            os.close(reader)
            assert stat.S_ISFIFO(os.stat(tmp_path / name).st_mode)


def test_an_interrupt_ends_a_loop_over_fits(here, pressed):
    out, err = hdsp("stability model.hdsp reviews.parquet --n-fits 3", status=130)
    assert err.splitlines()[-1] == "hdsp: interrupted."
    assert out == ""
    assert len(pressed) == 1


def test_an_interrupt_ends_stability(here, pressed):
    model = HDSP.load("model.hdsp")
    counts = model.simulate(n_documents=30, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.stability(counts, seeds=3)
    assert len(pressed) == 1


def test_an_interrupt_of_one_fit_still_leaves_its_model(here, pressed, tmp_path):
    fit = f"fit new.csv --n-components 3 --tol 1 -o {tmp_path}/model.hdsp"
    assert "was interrupted after pass 1" in hdsp(fit).err
    assert Path(tmp_path / "model.hdsp").exists()


def test_a_fit_says_what_it_found(here, tmp_path):
    fit = f"fit new.csv --categories department --max-components 4 -o {tmp_path}/m.hdsp"
    out, err = hdsp(f"{fit} --quiet")
    summary = r"m\.hdsp: \d topics in use, 3 labels, \d+ passes, [\d.]+ s \(longest: "
    stages = r"(?:[a-z -]+ [\d.]+, ){3}[a-z -]+ [\d.]+\)\. See them: hdsp topics "
    assert re.search(summary + stages, out)
    assert all(line.startswith("hdsp: warning: ") for line in err.splitlines())
    assert "n_components" not in err
    found = hdsp(f"{fit} --json").json
    assert (found["documents"], found["model"]) == (20, f"{tmp_path}/m.hdsp")
