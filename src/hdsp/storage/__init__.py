"""Arrays in files: safetensors, memory-mapped, written aside and renamed; no code in them.

Model files and stored corpora are made of these.
"""

from hdsp.storage.arrays import LARGEST, SMALLEST, StoredArrays, put_all, put_sparse, put_texts
from hdsp.storage.container import (
    UNREADABLE,
    AnyArray,
    WrongContents,
    array_bytes,
    map_arrays,
    replacing,
    require,
    sync_file,
    sync_folder,
    write_arrays,
)

__all__ = [
    "LARGEST",
    "SMALLEST",
    "UNREADABLE",
    "AnyArray",
    "StoredArrays",
    "WrongContents",
    "array_bytes",
    "map_arrays",
    "put_all",
    "put_sparse",
    "put_texts",
    "replacing",
    "require",
    "sync_file",
    "sync_folder",
    "write_arrays",
]
