"""How processes that work on blocks deal with memory."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

# glibc returns freed memory to the system early, Dask's workers even at once. A pass asks for the
# same arrays again and again, and fresh pages can cost as much as the pass itself. The second value
# is the largest that glibc takes.
KEEPS_MEMORY: Mapping[str, str] = {
    "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
    "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
}


@contextmanager
def started_with(variables: Mapping[str, str]) -> Iterator[None]:
    """Let processes that are started within a block of code have variables of the environment.

    Those that the user has set stay as they are.
    """
    added = {name: value for name, value in variables.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
