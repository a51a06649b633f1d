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
from tests.persistence.runs import (
    N_PASSES,
    bits,
    data,
    every_pass,
    finish,
    kill_fit,
    kill_search,
    make,
    make_search,
    start,
    uninterrupted_search,
    wait_for,
)

pytestmark = pytest.mark.filterwarnings("ignore:HDSP stopped after max_iter")


@cache
def uninterrupted():
    return bits(make().fit(data()))


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
def folder(tmp_path):
    """A folder with the checkpoint of a fit that ended with its seventh pass."""
    kill_fit(tmp_path / "runs", 7)
    return tmp_path / "runs"


def test_a_fit_that_ends_again_and_again_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    # Early, at a restart of documents, and near the end.
    for n_passes in (1, 5, 33, N_PASSES - 10, N_PASSES):
        kill_fit(tmp_path, n_passes)
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
def test_a_killed_search_goes_on_to_the_same_bits(tmp_path, n_trials, n_passes):
    kill_search(tmp_path, n_trials, n_passes)
    if n_trials == 2:
        # Again and again.
        for point in ((3, 2), (5, 2), (5, 6)):
            kill_search(tmp_path, *point)
    model = make_search(checkpoint=tmp_path).fit(data())
    assert bits(model) == uninterrupted_search()
    assert list(tmp_path.iterdir()) == []
    for rows in (model.history_, model.search_):
        seconds = [row["seconds"] for row in rows]
        assert seconds == sorted(seconds)


def test_trials_that_have_ended_are_not_made_again(tmp_path, monkeypatch):
    kill_search(tmp_path, 3, 1)
    passes = count_passes(monkeypatch)
    make_search(checkpoint=tmp_path).fit(data())
    # Twelve, eight and five topics were tried before.
    assert passes[:4] == [3, 3, 2, 2]
    assert set(passes[4:]) == {3}


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


def test_a_full_disk_does_not_end_a_fit(tmp_path, monkeypatch):
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


def test_a_checkpoint_changes_no_fit_and_is_removed(tmp_path):
    with every_pass():
        model = make(checkpoint=tmp_path / "new" / "folder").fit(data())
    assert bits(model) == uninterrupted()
    assert make(checkpoint=tmp_path / "new").set_params(tol=1e-2).fit(data()).converged_
    assert [path.name for path in tmp_path.rglob("*")] == ["new", "folder"]
