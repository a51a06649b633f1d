"""What is lost on the way is computed again, to the same bits, or named in one clear error."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
import pytest
from distributed import Client
from joblib.externals.loky import get_reusable_executor

import hdsp
from hdsp.cli.main import main
from hdsp.exceptions import ClusterError, ReadError
from hdsp.execution import InProcess, Processes, make_executor
from hdsp.execution.dask import DaskExecutor, connect
from hdsp.execution.executor import Step
from tests.execution.conftest import scale
from tests.execution.disturbed import Disturbed
from tests.execution.fits import check_same, fit, make_problem

PASSES = 6


@pytest.fixture(scope="module")
def expected(corpus):
    return fit(InProcess(1), *make_problem(corpus), passes=PASSES)


def kill(pids):
    os.kill(pids[0], signal.SIGKILL)


def wait_until(condition):
    while not condition():
        time.sleep(0.02)


def n_tasks(client):
    return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))


def test_a_killed_worker(corpus, client, expected, tmp_path):
    executor = Disturbed(DaskExecutor(client), tmp_path, kill, in_pass=PASSES - 1)
    check_same(fit(executor, *make_problem(corpus), passes=PASSES), expected)
    wait_until(lambda: n_tasks(client) == 0)


def test_a_killed_process(corpus, expected, tmp_path):
    executor = Disturbed(Processes(2), tmp_path, kill, in_pass=PASSES - 1)
    check_same(fit(executor, *make_problem(corpus), passes=PASSES), expected)


def test_processes_that_die_again_and_again(corpus):
    problem, _ = make_problem(corpus)
    message = r"died in 2 attempts.*use fewer \(`n_jobs`\)"
    with Processes(2) as executor, pytest.raises(ClusterError, match=message):
        executor.run(Dies(), problem.blocks[:1])


@pytest.mark.parametrize("keep_documents", [True, False])
def test_a_worker_that_joins_late(corpus, local_cluster, client, tmp_path, keep_documents):
    scale(local_cluster, client, 1)

    def join(pids):
        scale(local_cluster, client, 2)

    executor = Disturbed(DaskExecutor(client), tmp_path, join, in_pass=2)
    problem, state = make_problem(corpus)
    got = fit(executor, problem, state, passes=3, keep_documents=keep_documents)
    assert len(executor.pids()) == 2
    check_same(got, fit(InProcess(1), problem, state, passes=3, keep_documents=keep_documents))


def test_a_killed_scheduler(corpus, tmp_path):
    address = tmp_path / "scheduler.json"
    call = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    options = ["--port", "0", "--no-dashboard", "--scheduler-file", str(address)]
    scheduler = subprocess.Popen([*call, *options], stderr=subprocess.DEVNULL)
    wait_until(address.exists)
    call = [sys.executable, "-m", "distributed.cli.dask_worker"]
    options = ["--scheduler-file", str(address), "--no-nanny", "--no-dashboard", "--nthreads", "2"]
    worker = subprocess.Popen([*call, *options], stderr=subprocess.DEVNULL)
    try:
        with Client(scheduler_file=str(address), set_as_default=False, timeout=300) as client:
            # How long it looks for the scheduler that is gone.
            client._timeout = 1
            executor = Disturbed(
                DaskExecutor(client), tmp_path, lambda pids: scheduler.kill(), in_pass=2
            )
            message = r"The cluster at tcp://.* was lost .*: a fit with `checkpoint` goes on"
            with pytest.raises(ClusterError, match=message):
                fit(executor, *make_problem(corpus), passes=3)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()


def test_a_damaged_shard_is_named(corpus, client, tmp_path):
    folder = tmp_path / "corpus"
    shutil.copytree(corpus.folder, folder)
    damaged = hdsp.open_corpus(folder)
    path = damaged.shards[5].path
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    problem, state = make_problem(damaged)
    message = re.escape(f"{path}: this shard of the corpus is damaged: its checksum is wrong")
    for executor in (InProcess(2), Processes(2), DaskExecutor(client)):
        for keep_documents in (True, False):
            with pytest.raises(ReadError, match=message):
                fit(executor, problem, state, passes=1, keep_documents=keep_documents)
    wait_until(lambda: n_tasks(client) == 0)


def test_an_interrupted_pass_leaves_no_tasks(corpus, client, tmp_path):
    def interrupt(pids):
        assert n_tasks(client) > 0
        os.kill(os.getpid(), signal.SIGINT)
        wait_until(lambda: n_tasks(client) == 0)

    executor = Disturbed(DaskExecutor(client), tmp_path, interrupt, in_pass=1)
    with pytest.raises(KeyboardInterrupt):
        fit(executor, *make_problem(corpus))


def test_nothing_is_left_on_disk(corpus, monkeypatch, tmp_path):
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    problem, _ = make_problem(corpus)
    with Processes(2) as executor:
        kept, total = executor.run(Count(), problem.blocks)
        first = set(tmp_path.glob("hdsp-*/*/*"))
        assert len(first) == len(kept)
        kept, total = executor.run(Count(), problem.blocks, kept)
        assert total == 2 * corpus.n_documents
        assert not any(path.exists() for path in first)
    assert not list(tmp_path.glob("hdsp-*"))


def test_a_full_disk(corpus):
    problem, _ = make_problem(corpus)
    message = r"What a pass keeps .* cannot be written .*File too large.*JOBLIB_TEMP_FOLDER"
    try:
        with pytest.raises(OSError, match=message), Processes(2) as executor:
            executor.run(FillsDisk(), problem.blocks)
    finally:
        get_reusable_executor().shutdown(wait=True, kill_workers=True)


def test_clusters_that_are_not_there():
    with pytest.raises(ValueError, match=r"there is none: make one with dask.distributed.Client"):
        connect("dask")
    for address, reason in [
        ("tcp://127.0.0.1:1", "Connection refused"),
        ("tcp://", "missing port number"),
        ("ws://127.0.0.1:1", "Connection refused"),
        ("tls://127.0.0.1:1", "no certificate"),
    ]:
        with pytest.raises(ClusterError, match=rf"answers at '{address}' \(.*{reason}"):
            connect(address)


@pytest.mark.parametrize("address", ["", "foo://x", "ucx://a:1", "inproc://a"])
def test_addresses_of_other_kinds(address):
    with pytest.raises(ValueError, match=f"addresses begin with tcp://, .* Got '{address}'"):
        make_executor(address, None)


def test_a_cluster_that_is_not_there_is_one_sentence_of_the_command_line(tmp_path, capsys):
    path = tmp_path / "texts.csv"
    path.write_text("text\n" + "silk gown\nboot sole\n" * 20)
    command = ["fit", str(path), "-o", str(tmp_path / "m.hdsp"), "--min-df", "1", "--quiet"]
    assert main([*command, "--dask", "tcp://127.0.0.1:1"]) == 1
    assert capsys.readouterr().err.startswith("hdsp: No Dask scheduler answers at")
    assert main([*command, "--dask", "foo://x"]) == 2
    assert capsys.readouterr().err.startswith("hdsp: --dask must be None, 'processes'")


def test_dask_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "hdsp.execution.dask", None)
    with pytest.raises(ImportError, match=r"executor='dask' needs dask.distributed: install hdsp"):
        make_executor("dask", None)


@dataclass(frozen=True)
class Dies(Step):
    def __call__(self, block, kept):
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Count(Step):
    def __call__(self, block, kept):
        n_documents = block.n_documents + (kept or 0)
        return n_documents, n_documents


@dataclass(frozen=True)
class FillsDisk(Step):
    def __call__(self, block, kept):
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
        return np.zeros(10_000), 1
