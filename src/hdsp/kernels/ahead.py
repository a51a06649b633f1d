"""The kernel that takes longest to compile, compiled in a process of its own beside other work.

numba compiles one function at a time, whatever the number of threads: a second core helps in a
second process, which leaves the compiled code in the cache.
"""

import atexit
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from hdsp import progress

# What is shown to whoever waits for the compiler.
TITLE = "Compiling, at first use only"
# Every fit uses it, and late.
_KERNEL = "predict_documents"
# Modules are found where this process finds them, not in the folder that it happens to run in.
_PROGRAM = "import sys; sys.path[:] = {}; from hdsp.kernels import ahead; ahead.compile_now()"

_started: list[subprocess.Popen[bytes]] = []


def compile_ahead() -> None:
    """Start compiling, once, if the kernel is not in the cache and there is a second core.

    Whatever goes wrong there, this process compiles the kernel when it needs it.
    """
    import joblib

    from hdsp.kernels.cvb0 import predict_documents

    # Where Python is part of another program, that would be started a second time.
    is_python = Path(sys.executable or "").name.startswith("python")
    if _started or not is_python or joblib.cpu_count() < 2 or not _is_missing(predict_documents):
        return
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM.format(sys.path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return
    _started.append(process)
    atexit.register(_stop, process)


def compile_now() -> None:
    """Compile the kernel for the types of a fit, by a call without documents."""
    from hdsp.kernels.cvb0 import make_memory, predict_documents

    row, matrix, real = np.ones(1, np.float32), np.ones((1, 1), np.float32), np.float32(1.0)
    indptr, indices, out = np.zeros(1, np.int64), np.zeros(1, np.int32), np.empty((1, 1))
    memory = make_memory(indptr, 1, row.dtype)
    documents = (indptr, indices, row)
    predict_documents(0, 0, *documents, matrix, row, matrix, row, 1, real, out, memory)


def wait_for(name: str) -> None:
    """Wait until a kernel is in the cache, if it is being compiled."""
    if name == _KERNEL and _started and _started[0].poll() is None:
        with progress.task(TITLE):
            _started[0].wait()


def _is_missing(kernel: Any) -> bool:
    """Whether a kernel can be cached, and neither this process has it nor the cache.

    A file in the cache that is older than the kernel's source does not count.
    """
    folder = getattr(getattr(kernel, "stats", None), "cache_path", None)
    if folder is None or kernel.signatures:
        return False
    written = Path(kernel.py_func.__code__.co_filename).stat().st_mtime
    return all(file.stat().st_mtime < written for file in Path(folder).glob(f"*.{_KERNEL}-*.nbi"))


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
