import signal
import threading

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from hdsp import HDSP
from hdsp.inference import Monitor
from tests.persistence.runs import bits, data, finish, make, start, wait_for_pass

pytestmark = pytest.mark.filterwarnings("ignore:All .* topics are in use:UserWarning")


def interrupt_after(monkeypatch, number, times=1):
    """Press Ctrl-C in a pass."""
    record = Monitor.record

    def record_and_interrupt(self, *arguments):
        record(self, *arguments)
        if len(self.history) == number:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Monitor, "record", record_and_interrupt)


def test_the_model_is_that_of_as_many_passes(monkeypatch):
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=3"):
        expected = make("kept").set_params(max_iter=3).fit(data())
    interrupt_after(monkeypatch, 3)
    with pytest.warns(ConvergenceWarning, match="HDSP was interrupted after pass 3, before"):
        model = make("kept").fit(data())
    assert bits(model) == bits(expected)
    assert not model.converged_
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_is_one_and_leaves_the_earlier_fit(monkeypatch):
    with pytest.warns(ConvergenceWarning):
        model = make("kept").set_params(max_iter=2).fit(data())
    before = bits(model)
    interrupt_after(monkeypatch, 4, times=2)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(max_iter=9).fit(data())
    assert bits(model) == before
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupted_fit_goes_on_from_its_checkpoint(monkeypatch, tmp_path):
    with pytest.warns(ConvergenceWarning):
        expected = bits(make("kept").fit(data()))
    with monkeypatch.context() as patch:
        interrupt_after(patch, 7)
        with pytest.warns(ConvergenceWarning, match=r"after pass 7, .*goes on from its checkpoint"):
            model = make("kept", checkpoint=tmp_path).fit(data())
    assert model.n_iter_ == 7
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter"):
        model.fit(data())
    assert bits(model) == expected
    assert list(tmp_path.iterdir()) == []


def test_handlers_of_others_stay_in_place(monkeypatch):
    pressed = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(1))
    try:
        interrupt_after(monkeypatch, 2)
        with pytest.warns(ConvergenceWarning, match="stopped after max_iter=4"):
            make("kept").set_params(max_iter=4).fit(data())
    finally:
        signal.signal(signal.SIGINT, before)
    assert pressed == [1]


def test_a_fit_in_another_thread_listens_to_nothing():
    seen = []

    def listen():
        with Monitor(0.0).listening():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_ctrl_c_in_a_process_of_its_own(tmp_path):
    output = tmp_path / "model.hdsp"
    process = start("kept", "", str(output), pause=0.02)
    wait_for_pass(process, 4)
    process.send_signal(signal.SIGINT)
    printed = finish(process)
    model = HDSP.load(output)
    assert 4 <= model.n_iter_ < 60
    assert f"HDSP was interrupted after pass {model.n_iter_}" in "\n".join(printed)
    np.testing.assert_allclose(model.transform(data()).sum(axis=1), 1.0)


def test_ctrl_c_twice_in_a_process_of_its_own(tmp_path):
    output = tmp_path / "model.hdsp"
    process = start("kept", "", str(output), pause=1.0)
    wait_for_pass(process, 2)
    process.send_signal(signal.SIGINT)
    # Within the pause, so that two are two.
    threading.Event().wait(0.2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert not output.exists()
