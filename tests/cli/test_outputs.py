"""Where results go: checked before the work, and written as a whole."""

import errno
import os
import signal
import stat
import threading
from pathlib import Path

import pytest

from hdsp import HDSP
from hdsp.cli import main
from hdsp.cli.output import write_pieces
from hdsp.fit.run import Run
from tests.cli.test_commands import reviews


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outputs")
    reviews(60).to_parquet(folder / "reviews.parquet")
    assert fit(folder, folder / "model.hdsp") == 0
    return folder


def fit(folder, output):
    options = ["--categories", "department", "--n-components", "3", "--tol", "1"]
    return main(["fit", str(folder / "reviews.parquet"), *options, "-o", str(output)])


def no_work(*_, **__):
    raise AssertionError("The output is checked before the work.")


def commands(folder, output):
    table, model = str(folder / "reviews.parquet"), str(folder / "model.hdsp")
    yield ["fit", table, "-o", output]
    yield ["topics", model, "-o", output]
    yield ["effects", model, "-o", output]
    yield ["transform", model, table, "-o", output]
    yield ["predict", model, table, "--target", "department", "-o", output]
    yield ["report", model, "-o", output]


def test_a_folder_that_cannot_be_written_to_is_found_first(files, monkeypatch, capsys):
    monkeypatch.setattr("hdsp.cli.fit.read_file", no_work)
    monkeypatch.setattr(HDSP, "load", no_work)
    for command in commands(files, "/proc/results.csv"):
        assert main(command) == 2, command
        assert "folder '/proc' cannot be written to" in capsys.readouterr().err


def test_a_folder_in_place_of_a_file_is_found_first(files, monkeypatch, capsys):
    monkeypatch.setattr("hdsp.cli.fit.read_file", no_work)
    monkeypatch.setattr(HDSP, "load", no_work)
    for command in commands(files, str(files)):
        assert main(command) == 2
        assert "is a folder: name a file to write." in capsys.readouterr().err


def test_an_unknown_format_is_found_first(files, monkeypatch, capsys):
    monkeypatch.setattr(HDSP, "load", no_work)
    for command in list(commands(files, str(files / "table.xls")))[1:5]:
        assert main(command) == 2
        assert "does not specify a format" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["new.csv", "new.jsonl", "new.parquet"])
@pytest.mark.parametrize("command", ["transform", "predict"])
def test_a_full_disk_leaves_the_table_that_was_there(
    files, tmp_path, monkeypatch, capsys, command, name
):
    output = tmp_path / name
    target = ["--target", "department"] if command == "predict" else []
    arguments = [command, str(files / "model.hdsp"), str(files / "reviews.parquet"), *target]
    assert main([*arguments, "-o", str(output)]) == 0
    before = output.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert main([*arguments, "-o", str(output)]) == 1
    assert "No space left on device" in capsys.readouterr().err
    assert output.read_bytes() == before
    assert list(tmp_path.iterdir()) == [output]


def test_a_device_is_written_to_and_not_replaced(files, tmp_path, capsys):
    pipe = tmp_path / "model.hdsp"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    table = {"topic": [0, 1]}
    named = tmp_path / "pipe.csv"
    os.mkfifo(named)
    other = os.open(named, os.O_RDONLY | os.O_NONBLOCK)
    try:
        HDSP.load(files / "model.hdsp").save(pipe)
        write_pieces([table], str(named))
        assert len(os.read(reader, 100)) == 100
        assert os.read(other, 100) == b"topic\n0\n1\n"
    finally:
        os.close(reader)
        os.close(other)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)
    assert stat.S_ISFIFO(os.stat(named).st_mode)


@pytest.fixture
def pressed(monkeypatch):
    """Ctrl-C in the first pass of a fit."""
    record, passes = Run.record, []

    def record_and_interrupt(self, *arguments):
        record(self, *arguments)
        passes.append(1)
        if len(passes) == 1:
            # As the terminal's signal, it wakes the main thread, whatever that waits for.
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    monkeypatch.setattr(Run, "record", record_and_interrupt)
    running = set(threading.enumerate())
    yield passes
    # Fits that were cut short end with their pass, and must not meet the next test's Ctrl-C.
    for thread in set(threading.enumerate()) - running:
        thread.join()


def test_an_interrupt_ends_a_loop_over_fits(files, pressed, capsys):
    table, model = str(files / "reviews.parquet"), str(files / "model.hdsp")
    assert main(["stability", model, table, "--n-fits", "3"]) == 130
    shown = capsys.readouterr()
    assert shown.err.splitlines()[-1] == "hdsp: interrupted."
    assert shown.out == ""
    assert len(pressed) == 1


def test_an_interrupt_ends_stability(files, pressed):
    model = HDSP.load(files / "model.hdsp")
    counts = model.simulate(n_documents=30, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.stability(counts, seeds=3)
    assert len(pressed) == 1


def test_an_interrupt_of_one_fit_still_leaves_its_model(files, pressed, tmp_path, capsys):
    assert fit(files, tmp_path / "model.hdsp") == 0
    assert Path(tmp_path / "model.hdsp").exists()
    assert "was interrupted after pass 1" in capsys.readouterr().err


def test_texts_are_no_formulas_of_a_spreadsheet(tmp_path, capsys):
    table = {"=name": ["=1+1", "-cmd", "@a", "+3.5", "plain"], "value": [-1.5, 2, None, -0.0, 1]}
    listed = {"tags": [["=x", "y"], []]}
    for suffix in ("csv", "tsv"):
        path = tmp_path / f"a.{suffix}"
        write_pieces([table], str(path))
        first, *rows = path.read_text().splitlines()
        assert first.startswith("'=name")
        assert [row[:4] for row in rows] == ["'=1+", "'-cm", "'@a" + first[6], "+3.5", "plai"]
        assert rows[0].endswith("-1.5")
        write_pieces([table], str(path), formulas=True)
        assert path.read_text().splitlines()[1].startswith("=1+1")
    write_pieces([listed], "-")
    assert capsys.readouterr().out.splitlines() == ["tags", "'=x;y", '""']
    write_pieces([table], str(tmp_path / "a.jsonl"))
    assert '"=1+1"' in (tmp_path / "a.jsonl").read_text()
