"""What all readers share: opening files, decoding lines, and the errors of files."""

import codecs
import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

from hdsp import progress
from hdsp.exceptions import ReadError

FilePath: TypeAlias = str | os.PathLike[str]
FileOrPath: TypeAlias = FilePath | IO[bytes]

_LONGEST_MESSAGE = 600
# The bytes of a text file that are read at a time.
_BUFFER = 1 << 16
# Lines between two updates of the progress.
_LINES_PER_UPDATE = 1_000


def read_error(
    name: str, problem: str, remedy: str, line: int | None = None, row: int | None = None
) -> ReadError:
    """The error of a file, at a line from 1 or a row from 0."""
    place = "" if line is None else f", line {line}"
    place += "" if row is None else f", row {row}"
    return ReadError(f"{name}{place}: {problem}; {remedy}.")


def damaged(name: str, error: BaseException) -> ReadError:
    """The error of a file at which a library fails."""
    detail = shortened(" ".join(str(error).split()).removesuffix(".") or type(error).__name__)
    return read_error(name, f"it is damaged or cut off ({detail})", "write or download it again")


def no_documents(name: str) -> ReadError:
    """The error of a file without documents."""
    return read_error(name, "it has no documents", "check that it was written in full")


@contextmanager
def as_read_error(name: str) -> Iterator[None]:
    """Turn errors of labels to those of the file that they are from."""
    try:
        yield
    except ReadError:
        raise
    except (TypeError, ValueError, ArithmeticError, LookupError, NotImplementedError) as error:
        message = " ".join(str(error).split()).replace(". Got ", ", but got ", 1)
        message = message if name in message else f"{name}: {message}"
        raise ReadError(shortened(message, _LONGEST_MESSAGE)) from error


def shortened(text: str, size: int = 200) -> str:
    """A text for a message, without its middle if it is long."""
    return text if len(text) <= size else f"{text[: size // 2]}...{text[3 - size // 2 :]}"


def name_of(path: FileOrPath) -> str:
    """The name of a file for messages."""
    if isinstance(path, (str, os.PathLike)):
        return str(path)
    name = getattr(path, "name", None)
    return name if isinstance(name, str) else "the file object"


def check_file(path: FilePath) -> None:
    """Raise unless a path is that of a file."""
    if Path(path).is_dir():
        remedy = "name a file, or use read_folder for a folder of texts"
        raise read_error(str(path), "this is a folder", remedy)
    if not Path(path).exists():
        raise FileNotFoundError(
            f"{path}: there is no such file; check the path, which starts from {os.getcwd()!r}."
        )


@contextmanager
def as_path(file: FileOrPath) -> Iterator[FilePath]:
    """A file that can be opened several times: a path, or that of a copy of a file object."""
    if isinstance(file, (str, os.PathLike)):
        check_file(file)
        yield file
        return
    read = getattr(file, "read", None)
    if read is None or not isinstance(read(0), bytes):
        raise TypeError(
            "A file must be a path, or a file object that is open for reading bytes. "
            f"Got {type(file).__name__}."
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "copy")
        with path.open("wb") as copy:
            shutil.copyfileobj(file, copy)
        yield path


class Source(NamedTuple):
    """An open file of pyarrow, and the stream of its contents, decompressed if they need to be."""

    stream: Any
    file: Any

    def show_progress(self) -> None:
        """Show how much of the file was read."""
        progress.update(self.file.tell(), self.file.size())


# The first bytes of compressed files.
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}


@contextmanager
def open_binary(path: FilePath, name: str = "") -> Iterator[Source]:
    """Open a file; `name` is for messages, if it differs."""
    import pyarrow

    check_file(path)
    try:
        # Not closed, because threads of pyarrow may still read ahead.
        file = pyarrow.OSFile(os.fspath(path))
        head = file.read(4)
        file.seek(0)
        known = (codec for magic, codec in _COMPRESSIONS.items() if head.startswith(magic))
        codec = next(known, None)
        yield Source(pyarrow.CompressedInputStream(file, codec) if codec else file, file)
    except (OSError, MemoryError) as error:
        raise damaged(name or str(path), error) from error


def check_encoding(encoding: str) -> None:
    """Raise unless an encoding is one of texts."""
    try:
        "".encode(encoding)
    except LookupError as error:
        raise ValueError(
            f"`encoding` must be one that Python knows. Got {encoding!r}. "
            "Pass 'utf-8', 'latin-1' or 'utf-16'."
        ) from error


def wrong_encoding(
    name: str, encoding: str, line: int | None = None, row: int | None = None
) -> ReadError:
    """The error of a file that is not in its encoding."""
    remedy = "pass the file's `encoding`, such as 'latin-1', 'cp1252' or 'utf-16'"
    return read_error(name, f"this is not {encoding} text", remedy, line, row)


def read_lines(path: FilePath, encoding: str, name: str = "") -> Iterator[tuple[int, str]]:
    """Yield the numbers of a text file's lines, from 1, and the lines without their ends."""
    check_encoding(encoding)
    number = 0
    # Without a byte order mark.
    codec = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
    with open_binary(path, name) as source:
        text = io.TextIOWrapper(io.BufferedReader(source.stream, _BUFFER), encoding=codec)
        try:
            for number, line in enumerate(text, start=1):
                if number % _LINES_PER_UPDATE == 0:
                    source.show_progress()
                yield number, line.rstrip("\n")
        except UnicodeError as error:
            # The decoder reads on only when no line is left: its object begins at the next line.
            number += 1
            if isinstance(error, UnicodeDecodeError):
                number += error.object.count(b"\n", 0, error.start)
            raise wrong_encoding(name or str(path), encoding, number) from error
        source.show_progress()
