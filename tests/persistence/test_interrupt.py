import signal
import threading

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from hdsp import HDSP
from hdsp.fit.run import Run
from tests.persistence.runs import (
    act_in_pass,
    bits,
    data,
    finish,
    go_on,
    make,
    make_search,
    start,
    uninterrupted_search,
    wait_for,
)


def press():
    signal.raise_signal(signal.SIGINT)


def test_the_model_is_that_of_as_many_passes(monkeypatch):
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=3"):
        expected = make().set_params(max_iter=3).fit(data())
    act_in_pass(monkeypatch, 0, 3, press)
    with pytest.warns(ConvergenceWarning, match="HDSP was interrupted after pass 3, before"):
        model = make().fit(data())
    assert bits(model) == bits(expected)
    assert not model.converged_
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_is_one_and_leaves_the_earlier_fit(monkeypatch):
    with pytest.warns(ConvergenceWarning):
        model = make().set_params(max_iter=2).fit(data())
    before = bits(model)
    act_in_pass(monkeypatch, 0, 4, lambda: (press(), press()))
    with pytest.raises(KeyboardInterrupt):
        model.set_params(max_iter=9).fit(data())
    assert bits(model) == before
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupted_fit_goes_on_from_its_checkpoint(monkeypatch, tmp_path):
    with pytest.warns(ConvergenceWarning):
        expected = bits(make().fit(data()))
    with monkeypatch.context() as patch:
        act_in_pass(patch, 0, 7, press)
        with pytest.warns(ConvergenceWarning, match=r"after pass 7, .*goes on from its checkpoint"):
            model = make(checkpoint=tmp_path).fit(data())
    assert model.n_iter_ == 7
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter"):
        model.fit(data())
    assert bits(model) == expected
    assert list(tmp_path.iterdir()) == []


# Interrupted at once, it has all topics that it may have.
@pytest.mark.filterwarnings("ignore::hdsp.exceptions.FitWarning")
@pytest.mark.parametrize(
    ("n_trials", "n_passes"),
    [
        pytest.param(0, 1, id="the first trial"),
        pytest.param(2, 1, id="a later trial"),
        pytest.param(5, 4, id="the fit"),
    ],
)
def test_an_interrupted_search_is_a_model_and_goes_on(monkeypatch, tmp_path, n_trials, n_passes):
    with monkeypatch.context() as patch:
        act_in_pass(patch, n_trials, n_passes, press)
        with pytest.warns(ConvergenceWarning, match="HDSP was interrupted after pass .*goes on"):
            model = make_search(checkpoint=tmp_path).fit(data())
    assert 2 <= len(model.components_) <= 12
    assert len(model.search_) == n_trials
    assert len(model.history_) == model.n_iter_
    np.testing.assert_allclose(model.transform(data()).sum(axis=1), 1.0)
    model.save(tmp_path / "model.hdsp")
    assert bits(HDSP.load(tmp_path / "model.hdsp")) == bits(model)
    assert bits(model.fit(data())) == uninterrupted_search()
    assert not (tmp_path / "checkpoint.hdsp").exists()


def test_a_second_interrupt_of_a_search_is_one(monkeypatch):
    act_in_pass(monkeypatch, 1, 2, lambda: (press(), press()))
    with pytest.raises(KeyboardInterrupt):
        make_search().fit(data())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_handlers_of_others_stay_in_place(monkeypatch):
    pressed = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(1))
    try:
        act_in_pass(monkeypatch, 0, 2, press)
        with pytest.warns(ConvergenceWarning, match="stopped after max_iter=4"):
            make().set_params(max_iter=4).fit(data())
    finally:
        signal.signal(signal.SIGINT, before)
    assert pressed == [1]


def test_a_fit_in_another_thread_listens_to_nothing():
    seen = []

    def listen():
        with Run().listening():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_ctrl_c_in_a_process_of_its_own(tmp_path):
    output = tmp_path / "model.hdsp"
    process = start("", str(output), halt=4)
    wait_for(process, "pass 4")
    process.send_signal(signal.SIGINT)
    go_on(process)
    printed = finish(process)
    model = HDSP.load(output)
    assert model.n_iter_ == 4
    assert "HDSP was interrupted after pass 4" in "\n".join(printed)
    np.testing.assert_allclose(model.transform(data()).sum(axis=1), 1.0)


def test_ctrl_c_twice_in_a_process_of_its_own(tmp_path):
    output = tmp_path / "model.hdsp"
    process = start("", str(output), halt=2)
    wait_for(process, "pass 2")
    # The first alone would let it wait on. Signals that come too close to each other are one.
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        threading.Event().wait(0.1)
    _, errors = process.communicate()
    assert "KeyboardInterrupt" in errors
    assert not output.exists()
