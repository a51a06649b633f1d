"""Parquet and Arrow (Feather, IPC file and IPC stream), through pyarrow."""

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from hdsp import progress
from hdsp.checks import quoted
from hdsp.corpus.readers.columns import Batch, OrderedValues, TableFile, Wanted, check_columns
from hdsp.corpus.readers.common import BinaryReader, read_error
from hdsp.exceptions import ReadError

_ROWS = 4096
# The schema of a file, and a function from names of columns to batches that have them.
Opened: TypeAlias = tuple[Any, Callable[[list[str]], Iterable[Any]]]
Opener: TypeAlias = Callable[[TableFile], Opened]


def columnar_batches(open_file: Opener, file: TableFile, wanted: Wanted) -> Iterator[Batch]:
    """Yield the wanted columns of a file."""
    with _damage_as_read_error(file.name):
        schema, batches = open_file(file)
        _check_schema(schema, file.name, wanted)
        for batch in batches(list(wanted.columns)):
            # Damage can leave offsets that point anywhere; pyarrow looks only when it is asked to.
            batch.validate(full=True)
            # A batch of an Arrow file may be the whole table.
            for first in range(0, max(len(batch), 1), _ROWS):
                some = batch.slice(first, _ROWS)
                yield {column: _plain(some.column(column)) for column in wanted.columns}


def columnar_columns(open_file: Opener, file: TableFile) -> tuple[str, ...]:
    """Return the names of a file's columns."""
    with _damage_as_read_error(file.name):
        return tuple(open_file(file)[0].names)


def open_parquet(file: TableFile) -> Opened:
    """Open a Parquet file, of which only the columns that are asked for are read."""
    from pyarrow import parquet

    opened = parquet.ParquetFile(_seekable(file.stream))
    # A column may hold columns; a wanted one is read with all that it holds.
    return opened.schema_arrow, lambda columns: _watched(
        opened.iter_batches(_ROWS, columns=columns), opened.metadata.num_rows
    )


def open_arrow(file: TableFile) -> Opened:
    """Open an Arrow or Feather file, or an Arrow stream."""
    from pyarrow import ipc

    head = file.stream.peek(6)
    if head.startswith(b"FEA1"):
        raise read_error(file.name, "it is in the first, disused Feather format", "write it again")
    # A damaged stream claims any size; a file and a buffer give no more than they have.
    if not head.startswith(b"ARROW1"):
        stream = ipc.open_stream(_seekable(file.stream))
        return stream.schema, lambda _: stream
    opened = ipc.open_file(_seekable(file.stream))
    return opened.schema, lambda _: map(opened.get_batch, range(opened.num_record_batches))


def _watched(batches: Iterable[Any], n_rows: int) -> Iterator[Any]:
    """Yield batches, and tell how many of the rows were read."""
    rows = 0
    for batch in batches:
        yield batch
        rows += len(batch)
        progress.update(rows, n_rows)


def _seekable(stream: BinaryReader) -> Any:
    """Return a file that can be read from its end, where these formats keep their index."""
    import pyarrow

    path = stream.raw.path
    return io.BytesIO(stream.read()) if path is None else pyarrow.OSFile(path)


def _check_schema(schema: Any, name: str, wanted: Wanted) -> None:
    import pyarrow

    check_columns(name, wanted.columns, schema.names)
    if wanted.text is None:
        return

    texts = (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view(), pyarrow.null())

    def is_text(kind: Any) -> bool:
        return (kind.value_type if pyarrow.types.is_dictionary(kind) else kind) in texts

    found = schema.field(wanted.text).type
    if not is_text(found):
        others = quoted(field.name for field in schema if is_text(field.type)) or "none"
        raise read_error(
            name,
            f"column {wanted.text!r} holds {found} and not text",
            f"name a column of text with `text` (there are: {others})",
        )


def _plain(column: Any) -> list[object]:
    """Return the values of a column, with the order of their levels if they have one."""
    values: list[object] = column.to_pylist()
    if getattr(column.type, "ordered", False):
        values = OrderedValues(values)
        values.order = column.dictionary.to_pylist()
    return values


@contextmanager
def _damage_as_read_error(name: str) -> Iterator[None]:
    """Turn what pyarrow raises at a damaged file to a `ReadError`."""
    from pyarrow import ArrowException

    try:
        yield
    except ReadError:
        raise
    except (ArrowException, OSError, MemoryError, ValueError, OverflowError, KeyError) as error:
        detail = " ".join(str(error).split())[:200] or type(error).__name__
        raise read_error(
            name, f"it is damaged or cut off ({detail})", "write or download it again"
        ) from error
