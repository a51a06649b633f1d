"""What all readers share: opening files, decoding lines, and making errors."""

import bz2
import gzip
import io
import lzma
import os
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

_CHUNK = 1 << 16
# It takes a while to read a file that is larger.
_LARGE = 1 << 20
# What a line may have: one without an end could fill the memory.
LONGEST_LINE = 1 << 27
_DAMAGED = (EOFError, OSError, MemoryError, zlib.error, lzma.LZMAError)


def read_error(
    name: str, problem: str, remedy: str, line: int | None = None, row: int | None = None
) -> ReadError:
    """Return the error of a file.

    Parameters
    ----------
    name : str
        The file's name.
    problem : str
        What is wrong.
    remedy : str
        What to do.
    line : int or None, default=None
        Where it is wrong: the line, from 1.
    row : int or None, default=None
        Where it is wrong: the row of a table, from 0.

    Returns
    -------
    ReadError
        The error, to be raised.
    """
    place = "" if line is None else f", line {line}"
    place += "" if row is None else f", row {row}"
    return ReadError(f"{name}{place}: {problem}; {remedy}.")


def no_documents(name: str) -> ReadError:
    """Return the error of a file without documents."""
    return read_error(name, "it has no documents", "check that it was written in full")


def name_of(path: FileOrPath) -> str:
    """Return the name of a file for messages."""
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
        raise read_error(name, f"this is no path ({error})", "check its name") from error
    if is_folder:
        raise read_error(
            name, "this is a folder", "name a file, or use read_folder for a folder of texts"
        )
    if not exists:
        raise FileNotFoundError(
            f"{name}: there is no such file; check the path, which starts from {os.getcwd()!r}."
        )


@contextmanager
def open_binary(path: FileOrPath, empty: bool = False) -> Iterator[BinaryReader]:
    """Open a file, or continue with an open one, and decompress it if it is compressed.

    gzip, bzip2, xz and Zstandard are recognised by their first bytes, so that a stream needs no
    name. A file object that was passed in stays open.

    Parameters
    ----------
    path : path or binary file object
        The file.
    empty : bool, default=False
        Whether the file may be empty.
    """
    name = name_of(path)
    with ExitStack() as stack:
        if isinstance(path, (str, os.PathLike)):
            check_file(path)
            try:
                opened: IO[bytes] = stack.enter_context(open(path, "rb"))
            except OSError as error:
                raise read_error(
                    name, f"it cannot be opened ({error.strerror})", "check its permissions"
                ) from error
        elif hasattr(path, "read"):
            opened = path
        else:
            raise TypeError(
                "A file must be given by its path, or as a file object that is open for reading "
                f"bytes. Got {type(path).__name__}. Pass one of these."
            )
        source = _Guarded(opened, name)
        if opened is not path:
            source.size = os.fstat(opened.fileno()).st_size
        stream = _decompressed(io.BufferedReader(source, _CHUNK), name)
        if not empty and not stream.peek(1):
            raise read_error(name, "it is empty", "check that it was written in full")
        if opened is not path and stream.raw.source is opened:
            stream.raw.path = name
        yield stream


class _Guarded(io.RawIOBase):
    """A stream that turns failures of reading to `ReadError`.

    `path` is that of the file whose bytes the stream gives unchanged, if there is one; `size` is
    that of a file that was opened here.
    """

    path: str | None = None
    size = 0

    def __init__(self, source: Any, name: str) -> None:
        super().__init__()
        self.source = source
        self._name = name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self.source.read(len(buffer))
        except _DAMAGED as error:
            detail = str(error) or type(error).__name__
            raise read_error(
                self._name, f"it is damaged or cut off ({detail})", "write or download it again"
            ) from error
        if not isinstance(data, bytes):
            raise read_error(
                self._name, "it is not open for reading bytes", "open it with mode 'rb'"
            )
        if self.size > _LARGE:
            progress.update(self.source.tell(), self.size)
        buffer[: len(data)] = data
        return len(data)


def _decompressed(stream: BinaryReader, name: str) -> BinaryReader:
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
    return io.BufferedReader(_Guarded(inner, name), _CHUNK)


class Lines:
    """The lines of a text file, which knows where it is.

    Parameters
    ----------
    stream : binary stream
        The file's content.
    name : str
        How messages call the file.
    encoding : str
        Its encoding.

    Attributes
    ----------
    number : int
        The line that was read last, from 1.
    whole : iterator of str
        The lines that follow, with any kind of line end, and without a BOM.
    """

    def __init__(self, stream: BinaryReader, name: str, encoding: str) -> None:
        self.name = name
        self.number = 0
        self.whole = self._decoded(stream, encoding)

    def _decoded(self, stream: BinaryReader, encoding: str) -> Iterator[str]:
        if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
            encoding = "utf-8-sig"
        try:
            text = io.TextIOWrapper(stream, encoding=encoding, newline="")
        except LookupError as error:
            raise ValueError(
                f"`encoding` must be one that Python knows. Got {encoding!r}. "
                "Pass 'utf-8', 'latin-1' or 'utf-16'."
            ) from error
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
                        "there is a NUL character, which no text holds",
                        "check that the file is whole and a text, or pass its `encoding`, "
                        "such as 'utf-16'",
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

    def __iter__(self) -> Iterator[str]:
        """Yield the lines that follow, without line ends, blank ones included."""
        return (line.rstrip("\r\n") for line in self.whole)

    def each_with(self, what: str) -> Iterator[str]:
        """Yield lines without blank ones at the end, and raise at one before: each has `what`."""
        blank = None
        for line in self:
            if not line.strip():
                blank = blank or self.number
                continue
            if blank is not None:
                raise self.error(f"this line is blank, but each has {what}", "remove it", blank)
            yield line

    def error(self, problem: str, remedy: str, line: int | None = None) -> ReadError:
        """Return the error of a line, of the one that was read last where none is given."""
        return read_error(self.name, problem, remedy, line or max(self.number, 1))


@contextmanager
def open_lines(path: FileOrPath, encoding: str) -> Iterator[Lines]:
    """Open a text file."""
    with open_binary(path) as stream:
        yield Lines(stream, name_of(path), encoding)
