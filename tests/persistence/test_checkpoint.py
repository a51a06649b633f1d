import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import hdsp
from hdsp import HDSP, Categorical
from hdsp.exceptions import ModelFileError
from hdsp.fit.passes import Documents
from hdsp.persistence import checkpoint
from hdsp.storage import container
from tests.persistence.forging import rewrite
from tests.persistence.runs import (
    N_PASSES,
    act_in_search,
    bits,
    data,
    finish,
    make,
    make_search,
    start,
    uninterrupted_search,
    wait_for,
)

pytestmark = pytest.mark.filterwarnings("ignore:HDSP stopped after max_iter")


class Killed(BaseException):
    """Stands in for the end of a process."""


@cache
def uninterrupted():
    return bits(make().fit(data()))


@pytest.fixture
def every_pass(monkeypatch):
    monkeypatch.setattr(checkpoint, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(checkpoint, "_SHARE_OF_TIME", 1e9)


def stop_after(monkeypatch, n_passes):
    """Let a fit end with its n-th pass, after its checkpoint."""
    write = checkpoint.Checkpoint.write

    def write_and_stop(self, trials, passes, **state):
        write(self, trials, passes, **state)
        if len(passes) == n_passes:
            raise Killed

    monkeypatch.setattr(checkpoint.Checkpoint, "write", write_and_stop)


def count_passes(monkeypatch):
    """The number of topics in each pass from here on."""
    passes = []

    def counted(fit):
        def fit_and_count(self, state, settings, *arguments, **named):
            # Passes that read documents after the fit need no bound.
            if settings.bound:
                passes.append(state.n_topics)
            return fit(self, state, settings, *arguments, **named)

        return fit_and_count

    monkeypatch.setattr(Documents, "fit", counted(Documents.fit))
    return passes


@pytest.fixture
def folder(tmp_path, monkeypatch, every_pass):
    """A folder with the checkpoint of a fit that ended with its seventh pass."""
    folder = tmp_path / "runs" / "one"
    with monkeypatch.context() as patch:
        stop_after(patch, 7)
        with pytest.raises(Killed):
            make(checkpoint=folder).fit(data())
    assert [file.name for file in folder.iterdir()] == ["checkpoint.hdsp"]
    return folder


def test_a_fit_that_ends_again_and_again_goes_on_to_the_same_bits(
    tmp_path, monkeypatch, every_pass
):
    # Early, at a restart of documents, and near the end.
    for n_passes in (1, 5, 33, N_PASSES - 10, N_PASSES):
        with monkeypatch.context() as patch:
            stop_after(patch, n_passes)
            with pytest.raises(Killed):
                make(checkpoint=tmp_path).fit(data())
    passes = count_passes(monkeypatch)
    # Threads, reports and types of settings may be others.
    settings = {"n_jobs": 2, "verbose": N_PASSES, "random_state": np.int64(0)}
    model = make(checkpoint=tmp_path).set_params(**settings).fit(data())
    assert passes == []
    assert bits(model) == uninterrupted()
    assert list(tmp_path.iterdir()) == []


def test_a_killed_process_goes_on_to_the_same_bits(tmp_path):
    folder, output = tmp_path / "checkpoint", tmp_path / "model.hdsp"
    for announced, halt, where in (("pass 5", 5, "pass"), ("writing", 33, "write")):
        process = start(str(folder), str(output), halt, where)
        wait_for(process, announced)
        process.kill()
        process.communicate()
        assert not output.exists()
    # The file that was being written, and the one before.
    assert len(list(folder.iterdir())) == 2
    printed = finish(start(str(folder), str(output)))
    assert sum(line.startswith("pass") for line in printed) == N_PASSES - 32
    assert bits(HDSP.load(output)) == uninterrupted()
    assert list(folder.iterdir()) == []


def test_a_fit_goes_on_where_it_was(folder):
    calls = []
    model = make(checkpoint=str(folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hdsp.fit.topics.initial_state", lambda *_: calls.append(1))
        model.fit(data())
    assert calls == []
    assert bits(model) == uninterrupted()
    assert list(folder.iterdir()) == []
    seconds = [row["seconds"] for row in model.history_]
    assert seconds == sorted(seconds)


def kill_search(patch, folder, n_trials, n_passes, **settings):
    """End a search in a pass of a trial, or of its fit, after so many trials have ended."""

    def die():
        raise Killed

    with patch.context() as patch:
        act_in_search(patch, n_trials, n_passes, die)
        with pytest.raises(Killed):
            make_search(checkpoint=folder, **settings).fit(data())
    kept = [file.name for file in folder.iterdir()]
    assert kept == (["checkpoint.hdsp"] if n_trials else [])


@pytest.mark.parametrize(
    ("n_trials", "n_passes"),
    [
        pytest.param(0, 1, id="the first trial"),
        pytest.param(2, 2, id="a later trial"),
        pytest.param(5, 1, id="the first pass of the fit"),
        pytest.param(5, 5, id="a restart of documents"),
        pytest.param(5, 9, id="looking for merges"),
    ],
)
def test_a_killed_search_goes_on_to_the_same_bits(
    tmp_path, monkeypatch, every_pass, n_trials, n_passes
):
    kill_search(monkeypatch, tmp_path, n_trials, n_passes)
    if n_trials == 2:
        # Again and again.
        for point in ((3, 2), (5, 2), (5, 6)):
            kill_search(monkeypatch, tmp_path, *point)
    model = make_search(checkpoint=tmp_path).fit(data())
    assert bits(model) == uninterrupted_search()
    assert list(tmp_path.iterdir()) == []
    for rows in (model.history_, model.search_):
        seconds = [row["seconds"] for row in rows]
        assert seconds == sorted(seconds)


def test_trials_that_have_ended_are_not_made_again(tmp_path, monkeypatch, every_pass):
    kill_search(monkeypatch, tmp_path, 3, 1)
    passes = count_passes(monkeypatch)
    make_search(checkpoint=tmp_path).fit(data())
    # Twelve, eight and five topics were tried before.
    assert passes[:4] == [3, 3, 2, 2]
    assert set(passes[4:]) == {3}


def test_a_damaged_checkpoint_of_a_search_is_refused(tmp_path, monkeypatch, every_pass):
    kill_search(monkeypatch, tmp_path, 3, 1)
    path = tmp_path / "checkpoint.hdsp"
    whole = path.read_bytes()
    changes = [
        lambda data, arrays: data["progress"].update(trials=[{}]),
        lambda data, arrays: data["progress"].update(trials=None),
        lambda data, arrays: data["progress"]["trials"][0].update(topics="12"),
        lambda data, arrays: arrays.pop("trials.0.likelihood"),
    ]
    for change in changes:
        path.write_bytes(whole)
        rewrite(path, change, "checkpoint")
        with pytest.raises(ModelFileError, match="is not a file that HDSP can use"):
            make_search(checkpoint=tmp_path).fit(data())


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"n_components": 7}, "n_components"),
        ({"n_components": "auto"}, "n_components"),
        ({"tol": 1e-3, "max_iter": 99}, "max_iter and tol"),
        ({"random_state": 1}, "random_state"),
        ({"scaling": Categorical("tags")}, "scaling"),
        ({"init": np.ones((6, 30))}, "init"),
    ],
)
def test_other_settings_are_refused(folder, settings, named):
    before = (folder / "checkpoint.hdsp").read_bytes()
    with pytest.raises(ModelFileError) as caught:
        make(checkpoint=folder).set_params(**settings).fit(data())
    assert str(caught.value) == (
        f"The checkpoint in {str(folder)!r} is of a fit with another {named}: delete it to start "
        "afresh, or choose another folder."
    )
    assert (folder / "checkpoint.hdsp").read_bytes() == before


def test_other_data_are_refused(folder):
    corpus = data()
    with pytest.raises(ModelFileError, match="another corpus: delete it"):
        make(checkpoint=folder).fit(corpus[1:])
    with pytest.raises(ModelFileError, match="another corpus: delete it"):
        make(checkpoint=folder).fit(corpus.counts, labels=corpus.labels[::-1])


def test_a_damaged_checkpoint_is_refused(folder):
    path = folder / "checkpoint.hdsp"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(ModelFileError, match=r"checkpoint\.hdsp' is not a file that HDSP can use"):
        make(checkpoint=folder).fit(data())
    changes = [
        lambda data, arrays: arrays.pop("documents.tangent"),
        lambda data, arrays: arrays.update({"state.topics": arrays["state.topics"][1:]}),
        lambda data, arrays: arrays["state.topics"].fill(np.nan),
        lambda data, arrays: arrays["state.sticks"].fill(2.0),
        lambda data, arrays: data["progress"].update(passes=[]),
        lambda data, arrays: data["progress"].update(documents=None),
        lambda data, arrays: data["progress"]["state"].update(document_concentration=-1.0),
        lambda data, arrays: data.update(progress=[]),
    ]
    for change in changes:
        path.write_bytes(whole)
        rewrite(path, change, "checkpoint")
        with pytest.raises(ModelFileError, match=r"checkpoint\.hdsp' is not a file that HDSP can"):
            make(checkpoint=folder).fit(data())


def test_what_a_killed_process_left_is_removed(folder):
    (folder / ".checkpoint.hdsp.0a1b2c3d.tmp").write_bytes(b"half")
    (folder / "notes.txt").write_text("mine")
    make(checkpoint=folder).fit(data())
    assert [file.name for file in folder.iterdir()] == ["notes.txt"]


def test_a_full_disk_does_not_end_a_fit(tmp_path, monkeypatch, every_pass):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(container, "write_arrays", fail)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = make(checkpoint=tmp_path).fit(data())
    assert caught[0].category is hdsp.NotSavedWarning
    assert "goes on without a checkpoint: HDSP cannot write" in str(caught[0].message)
    assert bits(model) == uninterrupted()


def test_quick_passes_share_a_checkpoint(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(checkpoint, "write_file", lambda *_: written.append(1))
    monkeypatch.setattr(checkpoint, "SECONDS_BETWEEN", 1000.0)
    make(checkpoint=tmp_path).fit(data())
    assert len(written) == 1


def test_what_a_checkpoint_needs(tmp_path):
    with pytest.raises(ValueError, match="'checkpoint' parameter of HDSP must be"):
        make(checkpoint=3).fit(data())
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(ValueError, match=r"`checkpoint` of HDSP must be a folder\. Got the file"):
        make(checkpoint=file).fit(data())
    model = make(checkpoint=Path(tmp_path)).set_params(random_state=np.random.default_rng(0))
    with pytest.raises(ValueError, match="`random_state` of HDSP must be a seed or None where"):
        model.fit(data())


def test_a_checkpoint_changes_no_fit_and_is_removed(tmp_path, every_pass):
    model = make(checkpoint=tmp_path / "new" / "folder").fit(data())
    assert bits(model) == uninterrupted()
    assert make(checkpoint=tmp_path / "new").set_params(tol=1e-2).fit(data()).converged_
    assert [path.name for path in tmp_path.rglob("*")] == ["new", "folder"]
