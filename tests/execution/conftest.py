import asyncio
from contextlib import suppress

import pytest
from distributed import Client, LocalCluster

from tests.execution.fits import write_corpus


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpora") / "corpus")


@pytest.fixture(scope="session")
def local_cluster():
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    yield cluster
    # distributed may look for a worker that was killed.
    with suppress(KeyError):
        cluster.close()


@pytest.fixture
def client(local_cluster):
    """A client of a cluster of two processes."""
    with Client(local_cluster, set_as_default=False) as client:
        scale(local_cluster, client, 2)
        yield client


def scale(cluster, client, n_workers):
    """Start or stop workers, and wait until so many are there."""
    cluster.scale(n_workers)
    client.wait_for_workers(n_workers)
    while len(client.nthreads()) > n_workers:
        client.sync(asyncio.sleep, 0.05)
