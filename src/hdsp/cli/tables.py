"""Tables that commands write: CSV, TSV, JSON Lines, Parquet or Arrow, whole or in pieces."""

import io
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hdsp.progress import printable

# A table by columns: sequences, or arrays of numbers.
Table = Mapping[str, Any]

STANDARD = "-"
_SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet", ".arrow", ".feather")


def write_pieces(pieces: Iterable[Table], path: str, formulas: bool = False) -> None:
    """Write a table by the suffix of `path`; - is CSV on standard output.

    Some rows come at a time, so that it is never in memory as a whole.

    In CSV and TSV, texts that a spreadsheet would compute have an apostrophe in front, unless
    `formulas` are to stay as they are.
    """
    from hdsp.storage.delimited import guarded, write_delimited

    guard = str if formulas else guarded
    if path == STANDARD:
        # A file or a program gets what there is, a terminal what it can show.
        show = printable if sys.stdout.isatty() else str
        write_delimited(pieces, sys.stdout, ",", lambda text: show(guard(text)))
        return
    from hdsp.storage.container import replacing

    suffix = table_suffix(path)
    with replacing(Path(path)) as file:
        if suffix in (".csv", ".tsv", ".jsonl"):
            text = io.TextIOWrapper(file, encoding="utf-8", newline="")
            if suffix == ".jsonl":
                for piece in pieces:
                    for record in records(piece):
                        text.write(json.dumps(as_json(record), ensure_ascii=False) + "\n")
            else:
                write_delimited(pieces, text, "," if suffix == ".csv" else "\t", guard)
            text.flush()
            text.detach()
        else:
            _write_arrow(pieces, file, suffix)


def _write_arrow(pieces: Iterable[Table], file: Any, suffix: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    writer: Any = None
    for piece in pieces:
        table = pa.table({name: _arrow_column(values) for name, values in piece.items()})
        if writer is None and suffix == ".parquet":
            writer = pyarrow.parquet.ParquetWriter(file, table.schema)
        elif writer is None:
            # What is called Feather is an Arrow file with compressed buffers.
            options = pa.ipc.IpcWriteOptions(compression="lz4")
            writer = pa.ipc.new_file(file, table.schema, options=options)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def _arrow_column(values: Sequence[Any]) -> Any:
    import pyarrow as pa

    if hasattr(values, "dtype"):
        return pa.array(values)
    # Of lists that are all empty, Arrow would not know what they could hold.
    is_lists = any(isinstance(value, list) for value in values)
    return pa.array(list(values), type=pa.list_(pa.string()) if is_lists else None)


def table_suffix(path: str) -> str:
    """The suffix of a table's name, which tells its format."""
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        raise ValueError(
            f"The name {path!r} does not tell in which format to write. End it with one of "
            f"{', '.join(_SUFFIXES)}."
        )
    return suffix


def records(table: Table) -> list[dict[str, Any]]:
    """The rows of a table."""
    columns = [v.tolist() if hasattr(v, "tolist") else v for v in table.values()]
    return [dict(zip(table, row, strict=True)) for row in zip(*columns, strict=True)]


def rows_of(table: Table, chosen: Iterable[int]) -> Table:
    """Some rows of a table, in the order given."""
    chosen = list(chosen)
    return {name: [values[row] for row in chosen] for name, values in table.items()}


def head(table: Table, n_rows: int) -> dict[str, Any]:
    """The first rows of a table."""
    return {name: values[:n_rows] for name, values in table.items()}


def as_json(value: Any) -> Any:
    """A value of which JSON can be made; NaN becomes None."""
    if isinstance(value, Mapping):
        return {str(name): as_json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value != value:
        return None
    return value
