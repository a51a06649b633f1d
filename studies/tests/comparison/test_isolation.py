"""A cell's process: that it ends in time, and with the one that started it."""

import os
import pickle
import select
import signal
import subprocess
import sys

import pytest

import hdsp
from hdsp_studies.comparison import compare, split_corpus
from hdsp_studies.comparison.isolation import Job, run_isolated
from hdsp_studies.peers import FitSettings

UNIGRAM = "studies.tests.comparison.fakes:Unigram"
LINGERS = "studies.tests.comparison.fakes:Lingers"
PARENT = """\
import pickle, sys
from hdsp_studies.comparison.isolation import run_isolated
run_isolated(pickle.load(open(sys.argv[1], "rb")))
"""


@pytest.fixture(scope="module")
def corpus():
    tags = [["north"], ["south"]] * 10
    return hdsp.simulate(tags, n_topics=2, n_words=10, document_length=9, random_state=0)[0]


def test_what_takes_too_long_is_a_failure_and_tried_again(corpus, tmp_path):
    # No interpreter starts as fast as that.
    (late,) = compare({"small": corpus}, [UNIGRAM], tmp_path, seeds=1, most_seconds=0.006)
    assert late.error == "it took more than 0.0001 minutes"
    assert not late.measures
    (cell,) = compare({"small": corpus}, [UNIGRAM], tmp_path, seeds=1, most_seconds=600)
    assert cell.error is None
    assert cell.determined_by == late.determined_by
    # The limit has no part in a result: with another, it is the same cell.
    assert compare({"small": corpus}, [UNIGRAM], tmp_path, seeds=1, most_seconds=0.006) == [cell]


def test_minutes_in_words(corpus, monkeypatch):
    truly_wait = subprocess.Popen.wait

    def wait(self, timeout=None):
        if timeout is not None:
            raise subprocess.TimeoutExpired("worker", timeout)
        return truly_wait(self)

    monkeypatch.setattr(subprocess.Popen, "wait", wait)
    job = Job(UNIGRAM, FitSettings(), *split_corpus(corpus, 0.2, 0))
    assert run_isolated(job, 60).error == "it took more than 1 minute"
    assert run_isolated(job, 5400).error == "it took more than 90 minutes"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_it_ends_with_its_parent(corpus, tmp_path, number):
    """At Ctrl-C, and where the parent has no time for anything; and its own children with it."""
    pipe, file = tmp_path / "pipe", tmp_path / "job"
    os.mkfifo(pipe)
    file.write_bytes(pickle.dumps(Job(LINGERS, FitSettings(), *split_corpus(corpus, 0.2, 0))))
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(file)],
        env=os.environ | {"LINGERS": str(pipe), "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.DEVNULL,
    )
    try:
        # Not to wait for ever where nobody comes to write.
        with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)) as reader:
            assert select.select([reader], [], [], 100)[0]
            os.set_blocking(reader.fileno(), True)
            assert reader.readline() == "here\n"
            parent.send_signal(number)
            assert reader.read() == ""
    finally:
        parent.kill()
        parent.wait()
