"""Checkpoints: the state of an unfinished fit in a folder."""

import hashlib
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from hdsp.exceptions import ModelFileError, NotSavedWarning
from hdsp.fit import (
    AfterPass,
    AfterStep,
    History,
    PassRecord,
    PassSoFar,
    Resumed,
    Run,
    Stream,
    TrialRecord,
)
from hdsp.model import DocumentState, GlobalState, Problem, ShardedProblem
from hdsp.model.state import padded
from hdsp.persistence import manifest as get
from hdsp.persistence.container import not_usable, read_file, write_file
from hdsp.persistence.settings import is_seed, plain
from hdsp.persistence.states import put_state, take_state
from hdsp.persistence.streams import put_stream, take_stream
from hdsp.storage import UNREADABLE, AnyArray, StoredArrays, put_all, require

_KIND = "checkpoint"
_NAME = "checkpoint.hdsp"
# Parameters that do not change the result.
_WITHOUT_EFFECT = ("n_jobs", "verbose", "checkpoint")
# The shortest time between checkpoints, and the largest share of the time spent on writing them.
SECONDS_BETWEEN = 2.0
_SHARE_OF_TIME = 0.1


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

    def resume(
        self, problem: Problem | ShardedProblem, run: Run, most_topics: int
    ) -> Resumed | None:
        """The state of the fit, or None if there is none yet; trials are added to `run`.

        Documents that are not in memory are not in checkpoints either: they start afresh.
        """
        self._remove_unfinished()
        path = self.folder / _NAME
        if not path.exists():
            return None
        manifest, arrays = read_file(path, _KIND)
        try:
            self._check_same(manifest)
            # Copies, since the fit overwrites both these arrays and the file.
            stored = StoredArrays({name: array.copy("K") for name, array in arrays.items()})
            run.trials.extend(_take_trials(manifest, stored))
            if run.trials:
                run.go_on_from(run.trials[-1].seconds)
            if "topics" not in stored:
                return None
            state = take_state(manifest, stored, problem.scaling, problem.n_labels)
            least = 1 if self.parameters["n_components"] == "auto" else most_topics
            fits = len(state.topics) == problem.n_words and least <= state.n_topics <= most_topics
            require(fits, "its topics are of another number")
            documents: DocumentState | None = None
            if isinstance(problem, Problem):
                shape = (problem.n_documents, padded(state.n_topics))
                documents = DocumentState(
                    stored.numbers("documents.token_counts", shape),
                    stored.numbers("documents.tangent", shape[:1]),
                )
            stream, passes = None, []
            # Only stochastic inference may end in its first pass.
            if manifest["history"] or "stream" not in manifest:
                passes = list(map(PassRecord.from_row, get.history(manifest)))
            if "stream" in manifest:
                stream = take_stream(manifest["stream"], stored, state, problem.n_labels)
        except ModelFileError:
            raise
        except UNREADABLE as error:
            raise not_usable(path, error) from error
        return Resumed(state, documents, run.new_history(passes), stream)

    def pass_writer(self, run: Run) -> AfterPass:
        """The function that `run` calls after its passes."""

        def write(state: GlobalState, documents: DocumentState | None, history: History) -> None:
            if self._is_due() or run.interrupted:
                arrays: dict[str, AnyArray] = {}
                manifest = {"history": history.rows(), **put_state(arrays, state)}
                if documents is not None:
                    put_all(arrays, "documents", vars(documents))
                self._write(run, manifest, arrays)

        return write

    def step_writer(self, run: Run) -> AfterStep:
        """The function that stochastic inference calls after its steps."""

        def write(stream: Stream, so_far: PassSoFar, history: History) -> None:
            if self._is_due() or run.interrupted:
                arrays: dict[str, AnyArray] = {}
                manifest = {"history": history.rows(), **put_state(arrays, stream.state)}
                manifest["stream"] = put_stream(arrays, stream) | {"pass": asdict(so_far)}
                self._write(run, manifest, arrays)

        return write

    def trial_writer(self, run: Run) -> Callable[[], None]:
        """The function that a search calls after its trials."""

        def write() -> None:
            if self._is_due():
                self._write(run, {}, {})

        return write

    def _is_due(self) -> bool:
        """Whether the last checkpoint is not recent."""
        wait = max(SECONDS_BETWEEN, self._cost / _SHARE_OF_TIME)
        return time.monotonic() >= self._written + wait

    def _write(self, run: Run, manifest: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
        start = time.monotonic()
        manifest |= {
            "data": self.data,
            "settings": self._settings(),
            "search": [trial.as_row() for trial in run.trials],
        }
        if run.trials:
            arrays["search.likelihood"] = np.array([trial.likelihood for trial in run.trials])
        try:
            write_file(self.folder / _NAME, _KIND, plain(manifest), arrays)
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


def _take_trials(manifest: Mapping[str, Any], arrays: StoredArrays) -> list[TrialRecord]:
    rows = get.search(manifest)
    if not rows:
        return []
    likelihood = arrays.numbers("search.likelihood", (len(rows), None))
    return [
        TrialRecord(**{**row, "topics": int(row["topics"])}, likelihood=one)
        for row, one in zip(rows, likelihood, strict=True)
    ]
