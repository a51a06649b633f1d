"""Checkpoints: the state of an unfinished fit in a folder."""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from hdsp.exceptions import ModelFileError, NotSavedWarning, warn_caller
from hdsp.fit.run import Run, Trial
from hdsp.fit.stochastic import PassSoFar, StochasticState
from hdsp.model.data import Data, Problem
from hdsp.model.state import DocumentState, GlobalState, padded
from hdsp.persistence.model_file import check_parameters, is_seed
from hdsp.storage.codec import AnyArray, Decoder, encode, require
from hdsp.storage.container import PARSE_ERRORS, read_file, unusable, write_file

_KIND, _NAME = "checkpoint", "checkpoint.hdsp"
# Parameters that do not change the result.
_WITHOUT_EFFECT = ("n_jobs", "verbose", "checkpoint")
# The shortest time between checkpoints, and the largest share of the time spent on writing them.
SECONDS_BETWEEN, _SHARE_OF_TIME = 2.0, 0.1


@dataclass(frozen=True, eq=False)
class Progress:
    """How far a fit has come; steps have a state of their own."""

    trials: list[Trial] = field(default_factory=list)
    passes: list[dict[str, float]] = field(default_factory=list)
    state: GlobalState | None = None
    documents: DocumentState | None = None
    steps: StochasticState | None = None
    so_far: PassSoFar | None = None


@dataclass(eq=False)
class Checkpoint:
    """Writes the state of an unfinished fit to a folder after passes, and reads it again.

    Attributes
    ----------
    folder : Path
        The folder, made if it does not exist.
    parameters : mapping of str to object
        The constructor's parameters.
    """

    folder: Path
    parameters: Mapping[str, Any]
    _data: str = field(default="", init=False)
    _written: float = field(default=-np.inf, init=False)
    _cost: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        if not is_seed(self.parameters["random_state"]):
            raise ValueError(
                "`random_state` of HDSP must be a seed or None where `checkpoint` is given, to "
                f"tell fits apart. Got {type(self.parameters['random_state']).__name__}."
            )
        self.folder.mkdir(parents=True, exist_ok=True)

    def resume(self, fingerprint: str, problem: Data, most_topics: int, run: Run) -> Progress:
        """How far the fit of some data has come; trials and passes are added to `run`.

        Documents that are not in memory are not in checkpoints either: they start afresh.
        """
        self._data = fingerprint
        self._remove_unfinished()
        path = self.folder / _NAME
        if not path.exists():
            return Progress()
        data, arrays = read_file(path, _KIND)
        try:
            self._check_same(data)
            sizes = {"V": problem.n_words, "J": problem.n_labels}
            # Copies, since the fit overwrites both these arrays and the file.
            reader = Decoder({name: array.copy() for name, array in arrays.items()}, sizes)
            saved: Progress = reader.decode(Progress, data["progress"])
            if saved.steps is not None:
                saved = replace(saved, state=saved.steps.state)
            if saved.state is not None:
                self._check_state(saved, saved.state, problem, most_topics)
        except ModelFileError:
            raise
        except PARSE_ERRORS as error:
            raise unusable(path, error) from error
        run.resume(saved.trials, saved.passes)
        return saved

    def _check_state(self, saved: Progress, state: GlobalState, problem: Data, most: int) -> None:
        """Raise unless a state is one of this fit."""
        check_parameters(state, problem.scaling, problem.n_labels)
        least = 1 if self.parameters["n_components"] == "auto" else most
        fits = least <= state.n_topics <= most
        require(fits and (saved.passes or saved.steps), "its topics are of another number")
        known = all({"bound", "seconds"} <= row.keys() for row in saved.passes)
        require(known, "its passes lack an entry")
        if isinstance(problem, Problem) and saved.steps is None:
            shape = (problem.n_documents, padded(state.n_topics))
            fits = saved.documents is not None and saved.documents.token_counts.shape == shape
            require(fits, "its documents are others")

    def is_due(self) -> bool:
        """Whether the last checkpoint is not recent."""
        return time.monotonic() >= self._written + max(SECONDS_BETWEEN, self._cost / _SHARE_OF_TIME)

    def write(self, trials: list[Trial], passes: list[dict[str, float]], **state: Any) -> None:
        """Write how far a fit has come: its trials and passes, and the state after them."""
        start = time.monotonic()
        arrays: dict[str, AnyArray] = {}
        progress = encode(Progress(trials, passes, **state), arrays)
        data = {"data": self._data, "settings": self._settings(), "progress": progress}
        try:
            write_file(self.folder / _NAME, _KIND, data, arrays)
        except OSError as error:
            # A failed write must not end a long fit.
            warn_caller(f"The fit goes on without a checkpoint: {error}", NotSavedWarning)
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
        settings, stored = self._settings(), manifest["settings"]
        other = sorted(name for name in settings if stored.get(name) != settings[name])
        if other or manifest["data"] != self._data:
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
                settings[name] = repr(value if name == "scaling" else encode(value, {}))
        return settings
