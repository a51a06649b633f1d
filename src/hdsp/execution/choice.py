"""The executor that a user names."""

import joblib

from hdsp.execution.executor import Executor, InProcess
from hdsp.execution.processes import Processes

# By name, or by how the address of a Dask scheduler begins.
_NAMES = ("processes", "local", "dask")
_SCHEMES = ("tcp://", "tls://", "ws://", "wss://")


def check_executor(executor: object) -> None:
    """Raise unless an executor is None, a name or an address."""
    names = ", ".join(map(repr, _NAMES))
    rule = f"`executor` of HDSP must be None, {names} or the address of a Dask scheduler, such as"
    if executor is None:
        return
    if not isinstance(executor, str):
        raise TypeError(f"{rule} 'tcp://host:8786'. Got {type(executor).__name__}.")
    if executor not in _NAMES and not executor.startswith(_SCHEMES):
        raise ValueError(
            f"{rule} 'tcp://host:8786'; addresses begin with {', '.join(_SCHEMES)}. "
            f"Got {executor!r}."
        )


def make_executor(executor: str | None, n_jobs: int | None) -> Executor:
    """The executor of a name.

    Parameters
    ----------
    executor : str or None
        A name, or an address; None is threads in this process.
    n_jobs : int or None
        The number of threads or processes, as joblib takes it; None is one per core.

    Raises
    ------
    ImportError
        If Dask is wanted and is not installed.
    """
    check_executor(executor)
    if executor is None:
        return InProcess(joblib.effective_n_jobs(-1 if n_jobs is None else n_jobs))
    if executor == "processes":
        return Processes(n_jobs)
    try:
        from hdsp.execution.dask import connect
    except ImportError as error:
        raise ImportError(
            f"executor={executor!r} needs dask.distributed: install hdsp[dask]."
        ) from error
    return connect(executor, n_jobs)
