"""The container: a safetensors file whose header holds a JSON manifest, a version and a checksum.

It holds no code. Arrays are mapped from the file, not read into memory.
"""

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hdsp.exceptions import ModelFileError
from hdsp.storage import (
    UNREADABLE,
    AnyArray,
    WrongContents,
    array_bytes,
    map_arrays,
    replacing,
    require,
    write_arrays,
)

VERSION = "1.0"
# Numbers beyond it come from no fit. Seeds may have 128 bits.
_LARGEST = 2**128


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
    transposed = sorted(
        name
        for name, array in arrays.items()
        if array.flags.f_contiguous and not array.flags.c_contiguous
    )
    stored = {
        name: np.ascontiguousarray(array.T if name in transposed else array)
        for name, array in arrays.items()
    }
    header = {"kind": kind, "version": VERSION, "manifest": {**manifest, "transposed": transposed}}
    header["checksum"] = checksum(header, stored)
    with replacing(path) as file:
        write_arrays(file, stored, json.dumps(header))


def read_file(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The manifest and arrays of a file.

    The arrays are memory-mapped. Writing to one changes its copy in memory alone.
    """
    header, arrays = _open(path)
    try:
        require(header["kind"] == kind, f"it is no {kind}")
        if header["version"] != VERSION:
            raise ModelFileError(
                f"{str(path)!r} is of format version {header['version']!r:.20}, and this hdsp "
                f"reads {VERSION}: load it with the hdsp that saved it, or fit the model again."
            )
        require(header["checksum"] == checksum(header, arrays), "its checksum is wrong")
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
        total = zlib.crc32(array_bytes(arrays[name]), total)
    return f"crc32 {total:08x}"


def not_usable(
    path: Path, error: Exception, otherwise: str = "its contents do not fit together"
) -> ModelFileError:
    """The error to raise for a file with invalid contents, or for another reason."""
    reason = str(error) if isinstance(error, WrongContents) else otherwise
    return ModelFileError(
        f"{str(path)!r} is not a file that HDSP can use, since {reason}: save it again, or use "
        "another copy."
    )


def _open(path: Path) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Header and arrays; safetensors checks that the header accounts for every byte."""
    if not path.exists():
        raise FileNotFoundError(f"There is no file {str(path)!r} to load: check the path.")
    if path.is_dir():
        raise not_usable(path, WrongContents("it is a folder"))
    try:
        path.open("rb").close()
    except OSError as error:
        raise type(error)(
            f"{str(path)!r} cannot be read ({error.strerror}): check its permissions."
        ) from error
    try:
        text, arrays = map_arrays(path)
        header = json.loads(text, parse_int=_number, parse_float=_number, parse_constant=_number)
    except (OSError, *UNREADABLE) as error:
        raise not_usable(path, error, "it is of another format, or cut short") from error
    return header, arrays


def _number(text: str) -> int | float:
    """A number of the manifest, which is finite."""
    value = int(text) if text.lstrip("-").isdigit() else float(text)
    require(abs(value) <= _LARGEST, f"it holds the number {text:.20}, which no fit writes")
    return value
