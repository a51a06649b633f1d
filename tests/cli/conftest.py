"""The files that tests of commands share, and a clock that writes no lines."""

import contextlib
import json
import signal
import threading

import numpy as np
import pandas as pd
import pytest

from hdsp.fit.run import Run
from hdsp.progress import Lines
from tests.cli.commands import hdsp, reviews


@pytest.fixture(autouse=True)
def slow_machine(monkeypatch):
    """On a slow machine, too, nothing here takes so long that it would leave a line."""
    monkeypatch.setattr(Lines, "seconds", 1e9)


@pytest.fixture
def every_line(monkeypatch):
    """Every update of a task is a line."""
    monkeypatch.setattr(Lines, "seconds", 0.0)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Every file that the examples of the help name."""
    path = tmp_path_factory.mktemp("commands")
    frame = reviews()
    # Many tags, one of which depends on the words.
    tags = [[f"tag{n % 10}"] if n % 10 < 9 else [] for n in range(len(frame))]
    walking = (frame["department"] == "shoes") & (frame.index % 8 > 0)
    tags = [[*own, "walking"] if walks else own for own, walks in zip(tags, walking, strict=True)]
    frame["labels"] = [[*own, *more] for own, more in zip(frame["labels"], tags, strict=True)]
    frame["id"] = [f"review {n}" for n in range(len(frame))]
    frame["key"] = range(len(frame))
    frame.to_parquet(path / "reviews.parquet")
    reviews(60, seed=2).to_parquet(path / "questions.parquet")
    posts = frame.assign(
        ideology=np.resize(["left", "right"], len(frame)),
        day=pd.date_range("2020-01-01", periods=len(frame)).strftime("%Y-%m-%d"),
        blog=[f"blog {n % 12}" for n in range(len(frame))],
    )
    posts.drop(columns="labels").to_csv(path / "posts.csv", index=False)
    new = reviews(20, seed=1)
    new.to_parquet(path / "test.parquet")
    new.drop(columns=["labels", "rating"]).to_csv(path / "new.csv", index=False)
    new.to_json(path / "new.jsonl", orient="records", lines=True)
    papers = frame.rename(columns={"text": "abstract"})
    papers["keywords"] = frame["labels"].map(";".join)
    papers.drop(columns="labels").to_csv(path / "papers.csv", index=False)
    write_names(path / "topic-names.json", {"0": "first"})
    (path / "seeds.json").write_text(json.dumps({"cloth": ["silk", "skirt"]}))
    (path / "letters").mkdir()
    for number, text in enumerate(frame["text"][:40]):
        (path / "letters" / f"{number:02d}.txt").write_text(text)
    sender = pd.DataFrame({"id": [f"{n:02d}.txt" for n in range(40)]})
    sender["sender"] = frame["department"][:40].replace("shoes", "Smith, John; Jr.")
    sender.to_csv(path / "letters.csv", index=False)
    for name in ("data", "new"):
        (path / name).mkdir()
        for number in range(2):
            reviews(40, seed=number).to_parquet(path / name / f"{number}.parquet")
    with contextlib.chdir(path):
        hdsp("prepare reviews.parquet --tags labels --max-features 20 -o corpus")
        labels = "--tags labels --categories department --numeric rating"
        hdsp(f"fit reviews.parquet {labels} --n-components 8 -o model.hdsp")
        sides = "--categories department --content department"
        hdsp(f"fit reviews.parquet {sides} --n-components 4 -o sides.hdsp")
        hdsp("fit letters --metadata letters.csv --categories sender --max-components 2 -o l.hdsp")
    return path


def write_names(path, names):
    path.write_text(json.dumps({"format": "hdsp-names-1", "names": names}))


@pytest.fixture
def here(folder, monkeypatch):
    """The working directory is that of the files."""
    monkeypatch.chdir(folder)
    return folder


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
