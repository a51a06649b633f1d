"""The executor that a user names."""

from importlib import import_module

import joblib

from hdsp.execution.executor import Executor, InProcess

# By name, or by how an address begins: the module whose `connect` makes the executor.
EXECUTORS = {
    "processes": "hdsp.execution.processes",
    "local": "hdsp.execution.dask",
    "dask": "hdsp.execution.dask",
    "tcp://": "hdsp.execution.dask",
    "tls://": "hdsp.execution.dask",
    "ws://": "hdsp.execution.dask",
    "wss://": "hdsp.execution.dask",
}


def check_executor(executor: object) -> str | None:
    """The entry of `EXECUTORS` that a name or an address asks for, or raise; None for None."""
    if executor is None:
        return None
    names = ", ".join(repr(name) for name in EXECUTORS if "://" not in name)
    rule = f"`executor` of HDSP must be None, {names} or the address of a Dask scheduler, such as"
    if not isinstance(executor, str):
        raise TypeError(f"{rule} 'tcp://host:8786'. Got {type(executor).__name__}.")
    for entry in EXECUTORS:
        if executor == entry or ("://" in entry and executor.startswith(entry)):
            return entry
    schemes = ", ".join(name for name in EXECUTORS if "://" in name)
    raise ValueError(f"{rule} 'tcp://host:8786'; addresses begin with {schemes}. Got {executor!r}.")


def make_executor(executor: str | None, n_jobs: int | None) -> Executor:
    """The executor of a name.

    Parameters
    ----------
    executor : str or None
        One of `EXECUTORS`, or an address; None is threads in this process.
    n_jobs : int or None
        The number of threads or processes, as joblib takes it; None is one per core.

    Raises
    ------
    ImportError
        If Dask is wanted and is not installed.
    """
    entry = check_executor(executor)
    if entry is None:
        return InProcess(joblib.effective_n_jobs(-1 if n_jobs is None else n_jobs))
    try:
        module = import_module(EXECUTORS[entry])
    except ImportError as error:
        raise ImportError(
            f"executor={executor!r} needs dask.distributed: install hdsp[dask]."
        ) from error
    made: Executor = module.connect(executor, n_jobs)
    return made
