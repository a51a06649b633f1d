"""Which columns a table has."""

from itertools import islice

from hdsp.corpus.readers.columnar import arrow_schema, parquet_schema
from hdsp.corpus.readers.common import FileOrPath, name_of, open_binary
from hdsp.corpus.readers.delimited import header_of
from hdsp.corpus.readers.json_lines import json_rows
from hdsp.corpus.readers.table import format_of

# Keys of JSON objects are looked for in as many rows.
_ROWS = 1_000


def table_columns(
    path: FileOrPath, *, format: str | None = None, encoding: str = "utf-8"
) -> tuple[str, ...]:
    """Return the names of a table's columns; of JSON Lines, the keys of its first 1,000 rows.

    Parameters
    ----------
    path, format, encoding
        As of `read_table`.
    """
    name = name_of(path)
    kind = format or format_of(name, "table_columns")
    with open_binary(path) as stream:
        if kind == "parquet":
            return parquet_schema(stream, name)
        if kind == "arrow":
            return arrow_schema(stream, name)
        if kind == "jsonl":
            rows = islice(json_rows(stream, name, encoding), _ROWS)
            return tuple(dict.fromkeys(key for row in rows for key in row))
        return header_of(stream, name, encoding, "\t" if kind == "tsv" else ",")
