"""Parquet, and Arrow's own formats (Feather, IPC file and IPC stream), through pyarrow."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from hdsp import progress
from hdsp.corpus.readers.columns import Batch, Wanted, check_columns
from hdsp.corpus.readers.common import BinaryReader, ReadError, read_error
from hdsp.corpus.validation import quoted

_ROWS = 4096


def parquet_batches(stream: BinaryReader, name: str, wanted: Wanted) -> Iterator[Batch]:
    """Yield the wanted columns of a Parquet file, of which the others are not read."""

    def batches(file: _File) -> Iterator[Any]:
        # A column may hold columns; a wanted one is read with all that it holds.
        rows = 0
        for batch in file.source.iter_batches(_ROWS, columns=list(wanted.columns)):
            yield batch
            rows += len(batch)
            progress.update(rows, file.source.metadata.num_rows)

    return _plain_batches(partial(_open_parquet, stream), batches, name, wanted)


def arrow_batches(stream: BinaryReader, name: str, wanted: Wanted) -> Iterator[Batch]:
    """Yield the wanted columns of an Arrow or Feather file, or of an Arrow stream."""
    return _plain_batches(partial(_open_arrow, stream, name), _arrow_batches, name, wanted)


def parquet_schema(stream: BinaryReader, name: str) -> tuple[str, ...]:
    """Return the names of a Parquet file's columns."""
    with damage_told(name):
        return tuple(_open_parquet(stream).schema.names)


def arrow_schema(stream: BinaryReader, name: str) -> tuple[str, ...]:
    """Return the names of the columns of an Arrow or Feather file, or an Arrow stream."""
    with damage_told(name):
        return tuple(_open_arrow(stream, name).schema.names)


class _File(NamedTuple):
    schema: Any
    source: Any


def _open_parquet(stream: BinaryReader) -> _File:
    from pyarrow import parquet

    file = parquet.ParquetFile(_seekable(stream))
    return _File(file.schema_arrow, file)


def _open_arrow(stream: BinaryReader, name: str) -> _File:
    from pyarrow import ipc

    head = stream.peek(6)
    if head.startswith(b"FEA1"):
        raise read_error(name, "it is in the first, disused Feather format", "write it again")
    # A damaged stream asks for as much as it claims: a file and a buffer give what they have.
    open_source = ipc.open_file if head.startswith(b"ARROW1") else ipc.open_stream
    opened = open_source(_seekable(stream))
    return _File(opened.schema, opened)


def _arrow_batches(file: _File) -> Iterator[Any]:
    if hasattr(file.source, "num_record_batches"):
        return (file.source.get_batch(i) for i in range(file.source.num_record_batches))
    return iter(file.source)


def _seekable(stream: BinaryReader) -> Any:
    """Return something that can be read from its end, where these formats keep their index."""
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


def _plain_batches(
    open_file: Callable[[], _File],
    batches: Callable[[_File], Iterator[Any]],
    name: str,
    wanted: Wanted,
) -> Iterator[Batch]:
    """Turn record batches to plain values, and pyarrow's errors to ours."""
    with damage_told(name):
        file = open_file()
        _check_schema(file.schema, name, wanted)
        for batch in batches(file):
            # Damage can leave offsets that point anywhere; pyarrow looks only when it is asked to.
            batch.validate(full=True)
            yield {column: batch.column(column).to_pylist() for column in wanted.columns}


@contextmanager
def damage_told(name: str) -> Iterator[None]:
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
