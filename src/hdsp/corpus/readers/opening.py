"""What all readers share: opening files, decoding lines, and the errors of files."""

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeAlias

from hdsp import progress
from hdsp.exceptions import ReadError

FilePath: TypeAlias = str | os.PathLike[str]
FileOrPath: TypeAlias = FilePath | IO[bytes]
BinaryReader: TypeAlias = "io.BufferedReader[Any]"

CHUNK = 1 << 16
# Reading a larger file takes a while.
_LARGE = 1 << 20
# The bytes or characters of a line: one without an end could fill the memory.
LONGEST_LINE = 1 << 25
_DAMAGED = (EOFError, OSError, MemoryError, zlib.error, lzma.LZMAError)


def read_error(
    name: str, problem: str, remedy: str, line: int | None = None, row: int | None = None
) -> ReadError:
    """The error of a file, at a line from 1 or a row from 0."""
    place = "" if line is None else f", line {line}"
    place += "" if row is None else f", row {row}"
    return ReadError(f"{name}{place}: {problem}; {remedy}.")


def damaged(name: str, error: Exception) -> ReadError:
    """The error of a file at which a library fails."""
    detail = shortened(" ".join(str(error).split()) or type(error).__name__)
    return read_error(name, f"it is damaged or cut off ({detail})", "write or download it again")


def no_documents(name: str) -> ReadError:
    """The error of a file without documents."""
    return read_error(name, "it has no documents", "check that it was written in full")


@contextmanager
def as_read_error(name: str) -> Iterator[None]:
    """Turn errors of labels to those of the file that they are from, in one sentence."""
    try:
        yield
    except ReadError:
        raise
    except (TypeError, ValueError, ArithmeticError, LookupError, NotImplementedError) as error:
        message = str(error)
        parts = re.fullmatch(r"(.*?)\. Got (.*)\. ([A-Z].*)", message, re.DOTALL)
        if parts is None:
            message = shortened(" ".join(message.split()))
        else:
            rule, value, remedy = parts.groups()
            message = f"{rule}, but got {shortened(value)}; {remedy[0].lower()}{remedy[1:]}"
        raise ReadError(message if name in message else f"{name}: {message}") from error


def shortened(text: str) -> str:
    """A text for a message, without its middle if it is long."""
    return text if len(text) <= 200 else f"{text[:100]}...{text[-97:]}"


def name_of(path: FileOrPath) -> str:
    """The name of a file for messages."""
    if isinstance(path, (str, os.PathLike)):
        return str(path)
    name = getattr(path, "name", None)
    return name if isinstance(name, str) else "the file object"


def check_file(path: FilePath) -> None:
    """Raise unless a path is that of a file."""
    name = name_of(path)
    try:
        is_folder, exists = Path(path).is_dir(), Path(path).exists()
    except (OSError, ValueError) as error:
        raise read_error(name, f"this is not a valid path ({error})", "check its name") from error
    if is_folder:
        raise read_error(
            name, "this is a folder", "name a file, or use read_folder for a folder of texts"
        )
    if not exists:
        raise FileNotFoundError(
            f"{name}: there is no such file; check the path, which starts from {os.getcwd()!r}."
        )


@contextmanager
def spooled(path: FileOrPath) -> Iterator[FileOrPath]:
    """A file that can be opened several times: a path, or a copy of what a file object gives."""
    if isinstance(path, (str, os.PathLike)):
        check_file(path)
        yield path
        return
    if not hasattr(path, "read"):
        raise TypeError(
            "A file must be a path, or a file object that is open for reading bytes. "
            f"Got {type(path).__name__}."
        )
    with tempfile.SpooledTemporaryFile(max_size=LONGEST_LINE) as copy:
        shutil.copyfileobj(_Guarded(path, name_of(path), path, 0), copy)
        yield copy


@contextmanager
def open_binary(path: FileOrPath, name: str = "", empty: bool = False) -> Iterator[BinaryReader]:
    """Open a file, or a spooled one from its start, and decompress it.

    gzip, bzip2, xz and Zstandard are recognised by their first bytes. `name` is for messages;
    the file may be `empty`.
    """
    name = name or name_of(path)
    with ExitStack() as stack:
        if isinstance(path, (str, os.PathLike)):
            check_file(path)
            try:
                file: IO[bytes] = stack.enter_context(open(path, "rb"))
            except OSError as error:
                problem = f"it cannot be opened ({error.strerror})"
                raise read_error(name, problem, "check its permissions") from error
            size = os.fstat(file.fileno()).st_size
        else:
            file, size = path, 0
            file.seek(0)
        stream = _decompressed(file, name, size)
        if not empty and not stream.peek(1):
            raise read_error(name, "it is empty", "check that it was written in full")
        yield stream


class _Guarded(io.RawIOBase):
    """A stream that turns failures of reading to `ReadError`, and counts quotes and NULs."""

    def __init__(self, source: Any, name: str, file: Any, size: int) -> None:
        super().__init__()
        self._source, self._name, self._file, self._size = source, name, file, size
        self.is_decompressed = source is not file
        self.n_quotes, self.n_nuls = 0, 0

    def show_progress(self) -> None:
        """Show how much of a large file was read."""
        if self._size > _LARGE:
            progress.update(self._file.tell(), self._size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._source.read(len(buffer))
        except _DAMAGED as error:
            raise damaged(self._name, error) from error
        if not isinstance(data, bytes):
            raise read_error(
                self._name, "it is not open for reading bytes", "open it with mode 'rb'"
            )
        self.show_progress()
        self.n_quotes += data.count(b'"')
        self.n_nuls += data.count(b"\0")
        buffer[: len(data)] = data
        return len(data)


def _decompressed(file: IO[bytes], name: str, size: int) -> BinaryReader:
    stream = io.BufferedReader(_Guarded(file, name, file, size), CHUNK)
    head = stream.peek(6)
    if head.startswith(b"\x1f\x8b"):
        inner: Any = gzip.GzipFile(fileobj=stream)
    elif head.startswith(b"BZh") and head[3:4].isdigit():
        inner = bz2.BZ2File(stream)
    elif head.startswith(b"\xfd7zXZ\x00"):
        # Reads from `stream`, whose owner closes it.
        inner = lzma.LZMAFile(stream)  # noqa: SIM115
    elif head.startswith(b"\x28\xb5\x2f\xfd"):
        import pyarrow

        inner = pyarrow.CompressedInputStream(pyarrow.PythonFile(stream, mode="r"), "zstd")
    else:
        return stream
    return io.BufferedReader(_Guarded(inner, name, file, size), CHUNK)


class Lines:
    """The lines of a text file with any kind of line end; `number` is that of the last, from 1."""

    def __init__(self, stream: BinaryReader, name: str, encoding: str) -> None:
        self.name, self.number = name, 0
        # With and without their ends.
        self.full = self._decoded(stream, encoding)
        self.text = (line.rstrip("\r\n") for line in self.full)

    def _decoded(self, stream: BinaryReader, encoding: str) -> Iterator[str]:
        """Yield lines with their ends, without a byte order mark."""
        if is_utf8(encoding):
            encoding = "utf-8-sig"
        text = io.TextIOWrapper(stream, encoding=encoding, newline="")
        try:
            while line := text.readline(LONGEST_LINE):
                self.number += 1
                if len(line) == LONGEST_LINE:
                    raise self.error(
                        f"this line has more than {LONGEST_LINE >> 20} million characters",
                        "check that this is the right file; documents go on lines of their own",
                    )
                if "\0" in line:
                    raise self.error(
                        "this line contains a NUL character",
                        "check that the file is a text, or pass its `encoding`, such as 'utf-16'",
                    )
                yield line
        except UnicodeError as error:
            raise self._undecodable(error, encoding.removesuffix("-sig")) from error
        finally:
            # Not closed, because the stream belongs to the function that opened it.
            with suppress(ValueError):
                text.detach()

    def _undecodable(self, error: UnicodeError, encoding: str) -> ReadError:
        # The decoder reads on only when no line is left, so its object begins at the next line.
        line, what, example = self.number + 1, "text", "'latin-1' or 'cp1252'"
        if isinstance(error, UnicodeDecodeError):
            line += error.object.count(b"\n", 0, error.start)
            what = f"byte {error.object[error.start]:#04x}"
            if error.object[:2] in (b"\xff\xfe", b"\xfe\xff"):
                example = "'utf-16'"
        remedy = f"pass the file's `encoding`, such as {example}"
        return self.error(f"{what} is not {encoding}", remedy, line)

    def each_with(self, what: str) -> Iterator[str]:
        """Yield lines without blank ones at the end, and raise at one before: each has `what`."""
        blank = None
        for line in self.text:
            if not line.strip():
                blank = blank or self.number
                continue
            if blank is not None:
                raise self.error(f"this line is blank, but each has {what}", "remove it", blank)
            yield line

    def error(self, problem: str, remedy: str, line: int | None = None) -> ReadError:
        """The error of a line, by default of the last."""
        return read_error(self.name, problem, remedy, line or max(self.number, 1))


def is_utf8(encoding: str) -> bool:
    """Whether an encoding is UTF-8; raise if it is not one of texts."""
    try:
        "".encode(encoding)
    except LookupError as error:
        raise ValueError(
            f"`encoding` must be one that Python knows. Got {encoding!r}. "
            "Pass 'utf-8', 'latin-1' or 'utf-16'."
        ) from error
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")


@contextmanager
def open_lines(path: FileOrPath, encoding: str, name: str = "") -> Iterator[Lines]:
    """Open a text file."""
    with open_binary(path, name) as stream:
        yield Lines(stream, name or name_of(path), encoding)
