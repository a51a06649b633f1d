"""Parquet and Arrow (Feather, IPC file and IPC stream), through pyarrow."""

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from hdsp import progress
from hdsp.corpus.readers.columns import Batch, OrderedValues, TableFile, Wanted, check_columns
from hdsp.corpus.readers.common import BinaryReader, read_error
from hdsp.exceptions import ReadError
from hdsp.validation import quoted

_ROWS = 4096


def parquet_batches(file: TableFile, wanted: Wanted) -> Iterator[Batch]:
    """Yield the wanted columns of a Parquet file; the others are not read."""
    with _damage_as_read_error(file.name):
        opened = _open_parquet(file)
        _check_schema(opened.schema_arrow, file.name, wanted)
        # A column may hold columns; a wanted one is read with all that it holds.
        batches = opened.iter_batches(_ROWS, columns=list(wanted.columns))
        yield from _plain_batches(_watched(batches, opened.metadata.num_rows), wanted)


def _watched(batches: Iterable[Any], n_rows: int) -> Iterator[Any]:
    """Yield batches, and tell how many of the rows were read."""
    rows = 0
    for batch in batches:
        yield batch
        rows += len(batch)
        progress.update(rows, n_rows)


def parquet_columns(file: TableFile) -> tuple[str, ...]:
    """Return the names of a Parquet file's columns."""
    with _damage_as_read_error(file.name):
        return tuple(_open_parquet(file).schema_arrow.names)


def arrow_batches(file: TableFile, wanted: Wanted) -> Iterator[Batch]:
    """Yield the wanted columns of an Arrow or Feather file, or of an Arrow stream."""
    with _damage_as_read_error(file.name):
        opened = _open_arrow(file)
        _check_schema(opened.schema, file.name, wanted)
        # An Arrow file is indexed by batch, a stream is iterated over.
        batches = opened
        if hasattr(opened, "num_record_batches"):
            batches = map(opened.get_batch, range(opened.num_record_batches))
        yield from _plain_batches(batches, wanted)


def arrow_columns(file: TableFile) -> tuple[str, ...]:
    """Return the names of the columns of an Arrow or Feather file, or an Arrow stream."""
    with _damage_as_read_error(file.name):
        return tuple(_open_arrow(file).schema.names)


def _open_parquet(file: TableFile) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(_seekable(file.stream))


def _open_arrow(file: TableFile) -> Any:
    from pyarrow import ipc

    head = file.stream.peek(6)
    if head.startswith(b"FEA1"):
        raise read_error(file.name, "it is in the first, disused Feather format", "write it again")
    # A damaged stream claims any size; a file and a buffer give no more than they have.
    open_source = ipc.open_file if head.startswith(b"ARROW1") else ipc.open_stream
    return open_source(_seekable(file.stream))


def _seekable(stream: BinaryReader) -> Any:
    """Return a file that can be read from its end, where these formats keep their index."""
    import pyarrow

    path = stream.raw.path
    return io.BytesIO(stream.read()) if path is None else pyarrow.OSFile(path)


def _check_schema(schema: Any, name: str, wanted: Wanted) -> None:
    from pyarrow import types

    check_columns(name, wanted.columns, schema.names)
    if wanted.text is None:
        return

    def is_text(kind: Any) -> bool:
        if types.is_dictionary(kind):
            kind = kind.value_type
        return bool(types.is_null(kind) or kind in _text_types())

    found = schema.field(wanted.text).type
    if not is_text(found):
        others = quoted(field.name for field in schema if is_text(field.type)) or "none"
        raise read_error(
            name,
            f"column {wanted.text!r} holds {found} and not text",
            f"name a column of text with `text` (there are: {others})",
        )


def _text_types() -> tuple[Any, ...]:
    import pyarrow

    return (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view())


def _plain_batches(batches: Iterable[Any], wanted: Wanted) -> Iterator[Batch]:
    """Turn record batches to plain values."""
    for batch in batches:
        # Damage can leave offsets that point anywhere; pyarrow looks only when it is asked to.
        batch.validate(full=True)
        # A batch of an Arrow file may be the whole table.
        for first in range(0, max(len(batch), 1), _ROWS):
            some = batch.slice(first, _ROWS)
            yield {column: _plain(some.column(column)) for column in wanted.columns}


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
