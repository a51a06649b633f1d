"""The executor that a user names."""

import joblib

from hdsp.execution.executor import Executor, InProcess
from hdsp.execution.processes import Processes


def make_executor(executor: str | None, n_jobs: int | None) -> Executor:
    """The executor of a name.

    Parameters
    ----------
    executor : {None, "processes", "dask", "local"} or str
        None is threads in this process; "processes" see `Processes`; for the rest see
        `hdsp.execution.dask.connect`.
    n_jobs : int or None
        The number of threads or processes, as joblib takes it; None is one per core.

    Raises
    ------
    ImportError
        If Dask is wanted and is not installed.
    """
    if executor == "processes":
        return Processes(n_jobs)
    n_workers = joblib.effective_n_jobs(-1 if n_jobs is None else n_jobs)
    if executor is None:
        return InProcess(n_workers)
    try:
        from hdsp.execution.dask import connect
    except ImportError as error:
        raise ImportError(
            f"executor={executor!r} needs dask.distributed: install hdsp[dask]."
        ) from error
    return connect(executor, n_workers)
