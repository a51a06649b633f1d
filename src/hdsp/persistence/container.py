"""The container: a safetensors file whose header holds a JSON manifest, a version and a checksum.

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
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from hdsp.exceptions import ModelFileError

AnyArray = NDArray[Any]

# Major, minor. A reader takes every older minor of its major: what a later one added has a default.
VERSION = (1, 3)
# The only key of the header's metadata, since safetensors does not keep the order of several.
_KEY = "hdsp"
# The longest header that safetensors reads, in bytes.
_LONGEST_HEADER = 100_000_000
_DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U8": "|u1"}
_CODES = {dtype: code for code, dtype in _DTYPES.items()}
# Numbers beyond these come from no fit, and would overflow or vanish in what is computed of them.
SMALLEST, LARGEST = 1e-30, 1e30
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


def write_file(
    path: Path, kind: str, manifest: Mapping[str, Any], arrays: Mapping[str, AnyArray]
) -> None:
    """Write a file atomically: readers see either the previous file or the complete new one.

    Parameters
    ----------
    path : Path
        Where to write.
    kind : str
        What the file holds, such as ``"model"``.
    manifest : mapping of str to object
        Data that JSON can represent.
    arrays : mapping of str to array
        Arrays in C or Fortran order, which is kept.
    """
    transposed = sorted(name for name, array in arrays.items() if _is_fortran(array))
    stored = {
        name: np.ascontiguousarray(array.T if name in transposed else array)
        for name, array in arrays.items()
    }
    header = {
        "kind": kind,
        "version": ".".join(map(str, VERSION)),
        "manifest": {**manifest, "transposed": transposed},
    }
    header["checksum"] = checksum(header, stored)
    with replacing(path) as file:
        _write_arrays(file, stored, header)


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
        _sync_folder(path.parent)
    except OSError as error:
        raise OSError(
            f"HDSP cannot write {str(path)!r} ({error.strerror or error}): choose a folder that "
            "exists, can be written to and has room."
        ) from error
    finally:
        if not special:
            temporary.unlink(missing_ok=True)


def read_file(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The manifest and arrays of a file.

    The arrays are memory-mapped. Writing to one changes its copy in memory alone.
    """
    header, arrays = _open(path)
    try:
        if header["kind"] != kind:
            raise WrongContents(f"it is no {kind}")
        _check_version(path, header["version"])
        if header["checksum"] != checksum(header, arrays):
            raise WrongContents("its checksum is wrong")
        manifest = dict(header["manifest"])
        for name in manifest.pop("transposed"):
            arrays[name] = arrays[name].T
    except ModelFileError:
        raise
    except UNREADABLE as error:
        raise not_usable(path, error) from error
    return manifest, arrays


def checksum(header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> str:
    """A checksum of a file's contents, against accidental damage."""
    text = json.dumps([header[name] for name in ("kind", "version", "manifest")])
    total = zlib.crc32(text.encode())
    for name in sorted(arrays):
        total = zlib.crc32(_bytes(arrays[name]), total)
    return f"crc32 {total:08x}"


def not_usable(path: Path, error: Exception) -> ModelFileError:
    """The error to raise for a file with invalid contents."""
    explained = isinstance(error, WrongContents)
    return _damaged(path, str(error) if explained else "its contents do not fit together")


def _damaged(path: Path, reason: str) -> ModelFileError:
    return ModelFileError(
        f"{str(path)!r} is not a file that HDSP can use, since {reason}: save it again, or use "
        "another copy."
    )


def _open(path: Path) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Header and arrays; safetensors checks that the header accounts for every byte."""
    if not path.exists():
        raise FileNotFoundError(f"There is no file {str(path)!r} to load: check the path.")
    _check_readable(path)
    try:
        with safe_open(path, framework="numpy") as file:
            header = json.loads((file.metadata() or {})[_KEY])
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
            if start % dtype.itemsize:
                raise _damaged(path, f"{name!r} is out of line")
            count = int(np.prod(shape, dtype=object))
            arrays[name] = np.frombuffer(mapped, dtype, count, start).reshape(shape)
            start += count * dtype.itemsize
    except (OSError, *UNREADABLE) as error:
        if isinstance(error, (PermissionError, ModelFileError)):
            raise
        raise _damaged(path, "it is of another format, or cut short") from error
    return header, arrays


def _check_readable(path: Path) -> None:
    if path.is_dir():
        raise _damaged(path, "it is a folder")
    try:
        path.open("rb").close()
    except OSError as error:
        raise type(error)(
            f"{str(path)!r} cannot be read ({error.strerror}): check its permissions."
        ) from error


def _check_version(path: Path, written: str) -> None:
    major, minor = (int(part) for part in written.split("."))
    if (major, minor) > VERSION:
        raise ModelFileError(
            f"{str(path)!r} is of format version {written}, and this hdsp reads up to "
            f"{VERSION[0]}.{VERSION[1]}: install a newer hdsp."
        )
    if major < VERSION[0]:
        raise ModelFileError(
            f"{str(path)!r} is of format version {written}, which this hdsp no longer reads: fit "
            "the model again, or load it with the hdsp that saved it."
        )


def _write_arrays(
    file: BinaryIO, arrays: Mapping[str, AnyArray], header: Mapping[str, Any]
) -> None:
    """Write a safetensors file without copying arrays.

    The library's own writer uses temporary names that `Checkpoint` would not find and remove.
    """
    entries: dict[str, Any] = {"__metadata__": {_KEY: json.dumps(header)}}
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
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > _LONGEST_HEADER:
        raise OSError(f"the names of labels and settings take {len(text)} bytes, which is too many")
    file.write(len(text).to_bytes(8, "little") + text)
    for name in names:
        file.write(_bytes(arrays[name]))


def _bytes(array: AnyArray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _is_fortran(array: AnyArray) -> bool:
    return array.flags.f_contiguous and not array.flags.c_contiguous


def _sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk; does nothing on Windows, which has no such call."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
