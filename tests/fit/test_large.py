"""Stochastic and sharded fits through the estimator: interruptions, checkpoints, executors."""

import numpy as np
import pytest
from distributed import Client, LocalCluster

import hdsp
from hdsp.fit import stochastic
from hdsp.fit.passes import Documents
from hdsp.model.data import Problem
from tests.execution.fits import check_same_state

SETTINGS = {"n_components": 6, "random_state": 0}


class KilledInAStep(Exception):
    pass


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    corpus, _ = hdsp.simulate(
        [["news"], ["sport"], ["art", "news"]] * 200, n_topics=5, random_state=0
    )
    folder = tmp_path_factory.mktemp("corpora") / "corpus"
    corpus.write(folder, shard_size=100)
    return hdsp.open_corpus(folder)


def same(one, other):
    check_same_state(one._model.state, other._model.state)


@pytest.fixture
def every_pass(monkeypatch):
    """A checkpoint is due after every pass and step."""
    monkeypatch.setattr("hdsp.persistence.checkpoint.SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr("hdsp.persistence.checkpoint._SHARE_OF_TIME", 1e9)


def count_steps(patch, stop_after=None):
    """Stochastic steps as they are made; after so many the process is killed."""
    made, original = [], stochastic.stochastic_step

    def step(*arguments):
        if len(made) == stop_after:
            raise KilledInAStep
        made.append(1)
        return original(*arguments)

    patch.setattr(stochastic, "stochastic_step", step)
    return made


@pytest.mark.parametrize("n_steps", [1, 5, 8])
@pytest.mark.filterwarnings("ignore")
def test_a_stochastic_fit_goes_on_in_the_midst_of_a_pass(
    stored, tmp_path, monkeypatch, every_pass, n_steps
):
    settings = {**SETTINGS, "inference": "stochastic", "batch_size": 100}
    settings |= {"max_iter": 2, "tol": 0.0}
    whole = hdsp.HDSP(**settings).fit(stored)
    with monkeypatch.context() as patch:
        count_steps(patch, n_steps)
        with pytest.raises(KilledInAStep):
            hdsp.HDSP(**settings, checkpoint=tmp_path).fit(stored)
    assert [file.name for file in tmp_path.iterdir()] == ["checkpoint.hdsp"]
    made = count_steps(monkeypatch)
    again = hdsp.HDSP(**settings, checkpoint=tmp_path).fit(stored)
    assert len(made) == 2 * 6 - n_steps
    same(whole, again)
    assert [row["bound"] for row in whole.history_] == [row["bound"] for row in again.history_]
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_of_shards_goes_on_after_its_last_pass(
    stored, tmp_path, monkeypatch, every_pass
):
    settings = {**SETTINGS, "checkpoint": tmp_path, "tol": 1e-4}
    passes, ends = [], [4]

    def die_in_the_fourth(documents, *arguments):
        # Not those of trials and of reading.
        if not isinstance(documents.problem, Problem):
            passes.append(1)
            if len(passes) in ends:
                raise KilledInAStep
        return original(documents, *arguments)

    original = Documents.fit
    monkeypatch.setattr(Documents, "fit", die_in_the_fourth)
    with pytest.raises(KilledInAStep):
        hdsp.HDSP(**settings).fit(stored)
    passes, ends = [], []
    model = hdsp.HDSP(**settings).fit(stored)
    # The three passes that were made are not made again.
    assert len(passes) == len(model.history_) - 3 > 0
    whole = hdsp.HDSP(**{**settings, "checkpoint": None}).fit(stored)
    found, expected = ([row["bound"] for row in m.history_] for m in (model, whole))
    assert found[:3] == expected[:3]
    # The documents, which shards do not keep, start afresh once more.
    assert found[-1] == pytest.approx(expected[-1], rel=2e-3)


@pytest.fixture(scope="module")
def doubled(stored):
    """Topics of the corpus, two of which are there twice."""
    topics = hdsp.HDSP(**{**SETTINGS, "n_components": 4}).fit(stored[:]).components_
    return np.concatenate([topics, topics[:2]])


def test_topics_that_are_there_twice_are_merged(stored, doubled):
    settings = {"max_components": 6, "init": doubled, "random_state": 0}
    memory = hdsp.HDSP(**settings).fit(stored[:])
    here = hdsp.HDSP(**settings, n_jobs=1).fit(stored)
    assert len(here.topic_weight_) == len(memory.topic_weight_) < 6
    assert sum(row.get("merges", 0) for row in here.history_) == 6 - len(here.topic_weight_)
    assert here.history_[-1]["bound"] == pytest.approx(memory.history_[-1]["bound"], rel=1e-3)


@pytest.mark.filterwarnings("ignore")
def test_shards_begin_where_documents_in_memory_do(stored):
    settings = {"n_components": 12, "random_state": 3, "max_iter": 1}
    one, other = (hdsp.HDSP(**settings).fit(corpus) for corpus in (stored[:], stored))
    assert [row["topics"] for row in one.search_] == [row["topics"] for row in other.search_]
    bounds = [model.history_[0]["bound"] for model in (one, other)]
    assert bounds[1] == pytest.approx(bounds[0], rel=1e-5)


def test_a_model_knows_its_stages(stored, tmp_path):
    one, other = (
        hdsp.HDSP(max_components=12, random_state=0, inference=inference).fit(corpus)
        for corpus, inference in ((stored[:], "batch"), (stored, "stochastic"))
    )
    stages = [row["stage"] for row in one.stages_]
    assert stages == ["search", "start", "passes", "merges", "reading"]
    stages = [row["stage"] for row in other.stages_]
    assert stages == ["sample", "search", "start", "passes", "reading"]
    assert all(row["seconds"] > 0 for row in one.stages_ + other.stages_)
    one.save(tmp_path / "m.hdsp")
    assert hdsp.HDSP.load(tmp_path / "m.hdsp").stages_ == one.stages_


@pytest.mark.filterwarnings("ignore")
def test_an_active_client_is_taken_and_left_open(stored, doubled):
    with (
        LocalCluster(1, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        model = hdsp.HDSP(**SETTINGS, executor="dask", max_iter=3).fit(stored)
        same(model, hdsp.HDSP(**SETTINGS, n_jobs=1, max_iter=3).fit(stored))
        merging = {"max_components": 6, "init": doubled, "random_state": 0}
        same(*(hdsp.HDSP(**merging, executor=name).fit(stored) for name in ("dask", None)))
        assert client.status == "running"
        # Documents in memory travel with the tasks.
        memory = hdsp.HDSP(**SETTINGS, executor=cluster.scheduler_address, max_iter=3)
        memory.fit(stored[:])
    assert model.n_documents_ == memory.n_documents_ == 600
