"""The container: a safetensors file of arrays, one of which is JSON, with a version and a checksum.

It holds no code. Arrays are mapped from the file, not read into memory.
"""

import contextlib
import json
import mmap
import os
import secrets
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from safetensors import SafetensorError, safe_open

from hdsp.exceptions import ModelFileError
from hdsp.storage.codec import AnyArray, InvalidContents, require

VERSION = "2.0"
# The array that holds the JSON.
_DATA = "data"
# The only key of the header's metadata, since safetensors does not keep the order of several.
_KEY = "hdsp"
_DTYPES = {
    **{"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4"},
    **{"U32": "<u4", "U16": "<u2", "U8": "|u1", "F16": "<f2", "I8": "|i1"},
}
_CODES = {dtype: code for code, dtype in _DTYPES.items()}
# The exceptions that reading a file with arbitrary contents can raise.
PARSE_ERRORS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def write_file(path: Path, kind: str, data: Any, arrays: Mapping[str, AnyArray]) -> None:
    """Write JSON data and contiguous arrays: readers see the previous file or the whole new one.

    `kind` says what the file is, such as "model".
    """
    stored = {**arrays, _DATA: np.frombuffer(json.dumps(data).encode(), dtype=np.uint8)}
    header = {"kind": kind, "version": VERSION, "checksum": checksum(kind, stored)}
    with replacing(path) as file:
        write_arrays(file, stored, json.dumps(header))


def read_file(path: Path, kind: str) -> tuple[Any, dict[str, AnyArray]]:
    """The JSON data and the arrays of a file; writing to an array changes its copy in memory."""
    if not path.exists():
        raise FileNotFoundError(f"There is no file {str(path)!r} to load: check the path.")
    try:
        header, arrays = _map_arrays(path)
        require(header["kind"] == kind, f"it is no {kind}")
        known = header["version"] == VERSION
        require(not known or header["checksum"] == checksum(kind, arrays), "its checksum is wrong")
        data = json.loads(arrays.pop(_DATA).tobytes()) if known else None
    except (OSError, *PARSE_ERRORS) as error:
        raise unusable(path, error) from error
    if not known:
        raise ModelFileError(
            f"{str(path)!r} is of format version {header['version']!r:.20}, and this hdsp "
            f"reads {VERSION}: load it with the hdsp that saved it, or fit the model again."
        )
    return data, arrays


def checksum(kind: str, arrays: Mapping[str, AnyArray]) -> str:
    """A checksum of a file's contents, against accidental damage."""
    total = zlib.crc32(f"{kind} {VERSION}".encode())
    for name in sorted(arrays):
        array = arrays[name]
        total = zlib.crc32(f"{name} {array.dtype} {array.shape}".encode(), total)
        total = zlib.crc32(array_bytes(array), total)
    return f"crc32 {total:08x}"


def unusable(path: Path, error: Exception) -> ModelFileError:
    """The error to raise for a file with invalid contents."""
    return ModelFileError(
        f"{str(path)!r} is not a file that HDSP can use, since {reason_of(error)}: save it again, "
        "or use another copy."
    )


def reason_of(error: Exception) -> str:
    """Why a file cannot be used, for a sentence."""
    if isinstance(error, InvalidContents):
        return str(error)
    if isinstance(error, OSError):
        return f"it cannot be read ({error.strerror or error})"
    return "its contents do not fit together"


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


def _map_arrays(path: Path) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The header of a file, and its arrays; writing to an array changes its copy in memory alone.

    safetensors checks that the header accounts for every byte; what else can be wrong raises one
    of `PARSE_ERRORS`.
    """
    try:
        with safe_open(path, framework="numpy") as file:
            header = json.loads(file.metadata()[_KEY])
            slices = [(name, file.get_slice(name)) for name in file.offset_keys()]
            layout = [(name, own.get_dtype(), own.get_shape()) for name, own in slices]
    except (SafetensorError, TypeError, KeyError) as error:
        raise InvalidContents("it is of another format, or cut short") from error
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
    return header, arrays


def write_arrays(file: BinaryIO, arrays: Mapping[str, AnyArray], text: str) -> None:
    """Write a safetensors file of contiguous arrays, without copying them.

    The library's own writer uses temporary names that `Checkpoint` would not find and remove.
    """
    entries: dict[str, Any] = {"__metadata__": {_KEY: text}}
    end = 0
    # The widest types first, which aligns every array.
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    for name in names:
        array, end = arrays[name], end + arrays[name].nbytes
        place = {"shape": array.shape, "data_offsets": [end - array.nbytes, end]}
        entries[name] = {"dtype": _CODES[array.dtype.str], **place}
    header = json.dumps(entries).encode()
    header += b" " * (-len(header) % 8)
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
