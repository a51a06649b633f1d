"""Checkpoints: the state of an unfinished fit in a folder."""

import hashlib
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from hdsp.exceptions import ModelFileError, NotSavedWarning
from hdsp.fit.run import AfterPass, History, Resumed, Run, Trial
from hdsp.fit.stochastic import AfterStep, PassSoFar, Stream
from hdsp.model.data import Data, Problem
from hdsp.model.state import DocumentState, GlobalState, padded
from hdsp.persistence.expressions import is_seed, plain
from hdsp.persistence.model_file import check_parameters
from hdsp.storage.codec import AnyArray, Decoder, encode, require
from hdsp.storage.container import PARSE_ERRORS, read_file, unusable, write_file

_KIND = "checkpoint"
_NAME = "checkpoint.hdsp"
# Parameters that do not change the result.
_WITHOUT_EFFECT = ("n_jobs", "verbose", "checkpoint")
# The shortest time between checkpoints, and the largest share of the time spent on writing them.
SECONDS_BETWEEN = 2.0
_SHARE_OF_TIME = 0.1


@dataclass(frozen=True, eq=False)
class _Progress:
    """How far a fit has come; a stream has a state of its own."""

    trials: list[Trial]
    passes: list[dict[str, float]] = field(default_factory=list)
    state: GlobalState | None = None
    documents: DocumentState | None = None
    stream: Stream | None = None
    so_far: PassSoFar | None = None


@dataclass(eq=False)
class Checkpoint:
    """Writes the state of an unfinished fit to a folder after passes, and reads it again.

    Attributes
    ----------
    folder : Path
        The folder, made if it does not exist.
    data : str
        The fingerprint of the training data.
    parameters : mapping of str to object
        The constructor's parameters.
    """

    folder: Path
    data: str
    parameters: Mapping[str, Any]
    _written: float = field(default=-np.inf, init=False)
    _cost: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        if not is_seed(self.parameters["random_state"]):
            raise ValueError(
                "`random_state` of HDSP must be a seed or None where `checkpoint` is given, to "
                f"tell fits apart. Got {type(self.parameters['random_state']).__name__}."
            )
        self.folder.mkdir(parents=True, exist_ok=True)

    def resume(self, problem: Data, run: Run, most_topics: int) -> Resumed | None:
        """The state of the fit, or None if there is none yet; trials are added to `run`.

        Documents that are not in memory are not in checkpoints either: they start afresh.
        """
        self._remove_unfinished()
        path = self.folder / _NAME
        if not path.exists():
            return None
        data, arrays = read_file(path, _KIND)
        try:
            self._check_same(data)
            sizes = {"V": problem.n_words, "J": problem.n_labels}
            # Copies, since the fit overwrites both these arrays and the file.
            reader = Decoder({name: array.copy() for name, array in arrays.items()}, sizes)
            saved: _Progress = reader.decode(_Progress, data["progress"])
            run.trials.extend(saved.trials)
            if run.trials:
                run.continue_from(run.trials[-1].seconds)
            state = saved.state if saved.stream is None else saved.stream.state
            if state is None:
                return None
            check_parameters(state, problem.scaling, problem.n_labels)
            least = 1 if self.parameters["n_components"] == "auto" else most_topics
            fits = least <= state.n_topics <= most_topics
            require(fits and (saved.passes or saved.stream), "its topics are of another number")
            known = all({"bound", "seconds"} <= row.keys() for row in saved.passes)
            require(known, "its passes lack an entry")
            documents = saved.documents
            if isinstance(problem, Problem) and saved.stream is None:
                shape = (problem.n_documents, padded(state.n_topics))
                fits = documents is not None and documents.token_counts.shape == shape
                require(fits, "its documents are others")
        except ModelFileError:
            raise
        except PARSE_ERRORS as error:
            raise unusable(path, error) from error
        stream = None if saved.stream is None else (saved.stream, saved.so_far or PassSoFar())
        return Resumed(state, documents, run.new_history(saved.passes), stream)

    def pass_writer(self, run: Run) -> AfterPass:
        """The function that `run` calls after its passes."""

        def write(
            state: GlobalState, joined: Callable[[], DocumentState | None], history: History
        ) -> None:
            if self._is_due() or run.interrupted:
                self._write(_Progress(run.trials, history.rows, state, joined()))

        return write

    def step_writer(self, run: Run) -> AfterStep:
        """The function that stochastic inference calls after its steps."""

        def write(stream: Stream, so_far: PassSoFar, history: History) -> None:
            if self._is_due() or run.interrupted:
                saved = _Progress(run.trials, history.rows, stream=stream, so_far=so_far)
                self._write(saved)

        return write

    def trial_writer(self, run: Run) -> Callable[[], None]:
        """The function that a search calls after its trials."""

        def write() -> None:
            if self._is_due():
                self._write(_Progress(run.trials))

        return write

    def _is_due(self) -> bool:
        """Whether the last checkpoint is not recent."""
        wait = max(SECONDS_BETWEEN, self._cost / _SHARE_OF_TIME)
        return time.monotonic() >= self._written + wait

    def _write(self, progress: _Progress) -> None:
        start = time.monotonic()
        arrays: dict[str, AnyArray] = {}
        data = {
            "data": self.data,
            "settings": self._settings(),
            "progress": encode(progress, arrays),
        }
        try:
            write_file(self.folder / _NAME, _KIND, data, arrays)
        except OSError as error:
            # A failed write must not end a long fit.
            warnings.warn(
                f"The fit goes on without a checkpoint: {error}", NotSavedWarning, stacklevel=5
            )
        self._written = time.monotonic()
        self._cost = self._written - start

    def remove(self) -> None:
        """Remove the checkpoint once the fit is finished."""
        (self.folder / _NAME).unlink(missing_ok=True)
        self._remove_unfinished()

    def _remove_unfinished(self) -> None:
        # Temporary files of a process that was killed while writing.
        for unfinished in self.folder.glob(f".{_NAME}.*.tmp"):
            unfinished.unlink(missing_ok=True)

    def _check_same(self, manifest: Mapping[str, Any]) -> None:
        settings = self._settings()
        stored = manifest["settings"]
        other = sorted(name for name in settings if stored.get(name) != settings[name])
        if other or manifest["data"] != self.data:
            what = " and ".join(other) or "corpus"
            raise ModelFileError(
                f"The checkpoint in {str(self.folder)!r} is of a fit with another {what}: delete "
                "it to start afresh, or choose another folder."
            )

    def _settings(self) -> dict[str, str]:
        """Everything that the result depends on besides the data, as text."""
        settings = {"version of hdsp": version("hdsp")}
        for name, value in self.parameters.items():
            if name == "init" and not isinstance(value, str):
                start = np.ascontiguousarray(value, dtype=np.float64)
                settings[name] = hashlib.sha256(start.data).hexdigest()
            elif name not in _WITHOUT_EFFECT:
                settings[name] = repr(value if name == "scaling" else plain(value))
        return settings
