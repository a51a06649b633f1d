"""What is lost on the way is computed again, to the same bits, or named in one clear error."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from distributed import Client

import hdsp
from hdsp.exceptions import ClusterError, ReadError
from hdsp.execution.dask import DaskExecutor, connect
from hdsp.execution.executor import InProcess, make_executor
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
    path = folder / "shard-000005.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    problem, state = make_problem(damaged)
    message = re.escape(f"{path}: this file of the corpus is damaged: its checksum is wrong")
    for executor in (InProcess(2), DaskExecutor(client)):
        with pytest.raises(ReadError, match=message):
            fit(executor, problem, state, passes=1)
    wait_until(lambda: n_tasks(client) == 0)


def test_an_interrupted_pass_leaves_no_tasks(corpus, client, tmp_path):
    def interrupt(pids):
        assert n_tasks(client) > 0
        os.kill(os.getpid(), signal.SIGINT)
        wait_until(lambda: n_tasks(client) == 0)

    executor = Disturbed(DaskExecutor(client), tmp_path, interrupt, in_pass=1)
    with pytest.raises(KeyboardInterrupt):
        fit(executor, *make_problem(corpus))


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


@pytest.mark.parametrize("address", ["", "foo://x", "processes", "ucx://a:1", "dsak"])
def test_addresses_of_other_kinds(address):
    with pytest.raises(ValueError, match=f"addresses begin with tcp://, .* Got '{address}'"):
        make_executor(address, None)


def test_dask_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "hdsp.execution.dask", None)
    with pytest.raises(ImportError, match=r"executor='dask' needs dask.distributed: install hdsp"):
        make_executor("dask", None)
