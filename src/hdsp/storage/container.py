"""A safetensors file: arrays, mapped and not read, and one text in its header."""

import contextlib
import json
import mmap
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

AnyArray = NDArray[Any]

# The only key of the header's metadata, since safetensors does not keep the order of several.
_KEY = "hdsp"
# The longest header that safetensors reads, in bytes.
_LONGEST_HEADER = 100_000_000
_DTYPES = {
    **{"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4"},
    **{"U32": "<u4", "U16": "<u2", "U8": "|u1", "F16": "<f2", "I8": "|i1"},
}
_CODES = {dtype: code for code, dtype in _DTYPES.items()}
# The exceptions that reading a file with arbitrary contents can raise.
UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    SafetensorError,
    TypeError,
    ValueError,
)


class WrongContents(ValueError):
    """The contents of a file are invalid, for the reason in the message."""


def require(valid: object, reason: str) -> None:
    """Raise `WrongContents` for this reason unless the contents of a file are valid."""
    if not valid:
        raise WrongContents(reason)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write to that takes the place of `path` once it is complete.

    What was there before survives a full disk and an interruption. A device or a pipe, which
    cannot be replaced, is written to directly.
    """
    # Replace the target of a symbolic link, not the link.
    path = Path(os.path.realpath(path))
    special = path.exists() and not path.is_file() and not path.is_dir()
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        if special:
            with path.open("wb") as file:
                yield file
            return
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise OSError(
            f"HDSP cannot write {str(path)!r} ({error.strerror or error}): choose a folder that "
            "exists, can be written to and has room."
        ) from error
    finally:
        if not special:
            temporary.unlink(missing_ok=True)


def map_arrays(path: Path) -> tuple[str, dict[str, AnyArray]]:
    """The text in the header of a file, and its arrays.

    Writing to an array changes its copy in memory alone. safetensors checks that the header
    accounts for every byte; what else can be wrong raises one of `UNREADABLE`.
    """
    with safe_open(path, framework="numpy") as file:
        text = (file.metadata() or {})[_KEY]
        layout = [
            (name, file.get_slice(name).get_dtype(), file.get_slice(name).get_shape())
            for name in file.offset_keys()
        ]
    with path.open("rb") as plain:
        # Copy on write, so that the file never changes.
        mapped = mmap.mmap(plain.fileno(), 0, access=mmap.ACCESS_COPY)
    start = 8 + int.from_bytes(mapped[:8], "little")
    arrays = {}
    for name, code, shape in layout:
        dtype = np.dtype(_DTYPES[code])
        require(start % dtype.itemsize == 0, f"{name!r} is out of line")
        count = int(np.prod(shape, dtype=object))
        arrays[name] = np.frombuffer(mapped, dtype, count, start).reshape(shape)
        start += count * dtype.itemsize
    return text, arrays


def write_arrays(file: BinaryIO, arrays: Mapping[str, AnyArray], text: str) -> None:
    """Write a safetensors file of contiguous arrays, without copying them.

    The library's own writer uses temporary names that `Checkpoint` would not find and remove.
    """
    entries: dict[str, Any] = {"__metadata__": {_KEY: text}}
    end = 0
    # The widest types first, which aligns every array.
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    for name in names:
        array, start = arrays[name], end
        end += array.nbytes
        entries[name] = {
            "dtype": _CODES[array.dtype.str],
            "shape": array.shape,
            "data_offsets": [start, end],
        }
    header = json.dumps(entries).encode()
    header += b" " * (-len(header) % 8)
    if len(header) > _LONGEST_HEADER:
        raise OSError(
            f"the names of labels and settings take {len(header)} bytes, which is too many"
        )
    file.write(len(header).to_bytes(8, "little") + header)
    for name in names:
        file.write(array_bytes(arrays[name]))


def array_bytes(array: AnyArray) -> memoryview:
    """The bytes of a contiguous array."""
    return array.reshape(-1).view(np.uint8).data


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk; does nothing on Windows, which has no such call."""
    with contextlib.suppress(OSError):
        sync_file(folder)


def sync_file(path: Path) -> None:
    """Flush a file to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
