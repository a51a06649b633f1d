"""A small sound file of every format, and the reader that reads it."""

import gzip
import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from hdsp.corpus import Corpus, read_counts, read_folder, read_table

WORDS = ("cat", "dog", "house", "garden")
# Counts of the words in each document. The fourth has none.
COUNTS = [[2, 1, 0, 0], [0, 0, 1, 2], [1, 0, 1, 0], [0, 0, 0, 0], [0, 3, 0, 1]]
TEXTS = [" ".join(w for w, n in zip(WORDS, row, strict=True) for _ in range(n)) for row in COUNTS]
TAGS = [["pets", "grün"], ["place"], [], ["place"], ["pets", "place"]]
KINDS = ["a", "b", "", "b", "a"]
RATINGS = [1.5, 2.0, 3.0, None, 0.0]
IDS = [f"doc{i}" for i in range(len(TEXTS))]


class Sample(NamedTuple):
    read: Callable[[Path], Corpus]
    path: Path


def rows() -> list[dict[str, object]]:
    columns = {"id": IDS, "text": TEXTS, "tags": TAGS, "kind": KINDS, "rating": RATINGS}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def csv_text(delimiter: str = ",", end: str = "\n", tags: Callable[..., str] = json.dumps) -> str:
    lines = [["id", "text", "tags", "kind", "rating"]]
    for row in rows():
        rating = "" if row["rating"] is None else str(row["rating"])
        lines.append([row["id"], row["text"], tags(row["tags"]), row["kind"], rating])
    quoted = (['"' + value.replace('"', '""') + '"' for value in line] for line in lines)
    return end.join(delimiter.join(line) for line in quoted) + end


def jsonl_text() -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows())


def arrow_table() -> pa.Table:
    columns = {name: [row[name] for row in rows()] for name in rows()[0]}
    columns["kind"] = [kind or None for kind in KINDS]
    return pa.table({**columns, "kind": pa.array(columns["kind"]).dictionary_encode()})


def written(write: Callable[[io.BytesIO], object]) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def arrow_bytes() -> bytes:
    def write(buffer: io.BytesIO) -> None:
        table = arrow_table()
        with pa.ipc.new_file(buffer, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)

    return written(write)


def parquet_bytes(table: pa.Table | None = None) -> bytes:
    table = arrow_table() if table is None else table
    return written(partial(pyarrow.parquet.write_table, table))


def feather_bytes() -> bytes:
    return written(partial(pyarrow.feather.write_feather, arrow_table()))


def plain_frame() -> pd.DataFrame:
    return pd.DataFrame(rows()).assign(tags=[json.dumps(tags) for tags in TAGS])


def excel_bytes() -> bytes:
    return written(partial(plain_frame().to_excel, index=False))


def stata_bytes() -> bytes:
    return written(partial(plain_frame().to_stata, write_index=False, version=118))


def pairs(row: list[int], first: int) -> str:
    return " ".join(f"{i}:{n}" for i, n in enumerate(row, start=first) if n)


def ldac_text() -> str:
    return "".join(f"{sum(n > 0 for n in row)} {pairs(row, 0)}\n" for row in COUNTS)


def svmlight_text() -> str:
    return "".join(
        f"{','.join(tags)} {pairs(row, 1)} # a comment\n"
        for tags, row in zip([["1", "2"], ["2"], ["3"], ["1"], ["+1"]], COUNTS, strict=True)
    )


def triples() -> list[str]:
    return [
        f"{i} {j} {n}\n"
        for i, row in enumerate(COUNTS, start=1)
        for j, n in enumerate(row, start=1)
        if n
    ]


def uci_text() -> str:
    return f"{len(COUNTS)}\n{len(WORDS)}\n{len(triples())}\n" + "".join(triples())


def mtx_text(field: str = "integer") -> str:
    header = f"%%MatrixMarket matrix coordinate {field} general\n% a comment\n"
    return f"{header}{len(COUNTS)} {len(WORDS)} {len(triples())}\n" + "".join(triples())


def mallet_text() -> str:
    return "".join(
        f"{name}\t{kind or 'c'}\t{text}\n"
        for name, kind, text in zip(IDS, KINDS, TEXTS, strict=True)
    )


def write_samples(folder: Path) -> dict[str, Sample]:
    """Write a file of every format, and return them with their readers."""
    labels = {"tags": "tags", "categories": "kind", "numeric": "rating"}
    table = partial(read_table, ids="id", **labels)
    vocabulary = folder / "words.txt"
    vocabulary.write_text("\n".join(WORDS) + "\n")
    label_table = folder / "labels.csv"
    label_table.write_text(csv_text(), encoding="utf-8")
    counts = partial(read_counts, words=vocabulary, metadata=label_table, **labels)
    csv, uci = csv_text().encode(), uci_text().encode()
    contents: dict[str, tuple[Callable[..., Corpus], str, bytes]] = {
        "csv": (table, "table.csv", csv),
        "tsv": (table, "table.tsv", csv_text("\t").encode()),
        "csv-gz": (table, "table.csv.gz", gzip.compress(csv, mtime=0)),
        "csv-zst": (table, "table.csv.zst", pa.compress(csv, codec="zstd", asbytes=True)),
        "jsonl": (table, "table.jsonl", jsonl_text().encode()),
        "parquet": (table, "table.parquet", parquet_bytes()),
        "arrow": (table, "table.arrow", arrow_bytes()),
        "feather": (table, "table.feather", feather_bytes()),
        "xlsx": (table, "table.xlsx", excel_bytes()),
        "dta": (table, "table.dta", stata_bytes()),
        "ldac": (counts, "counts.ldac", ldac_text().encode()),
        "uci": (counts, "docword.txt", uci),
        "uci-gz": (counts, "docword.txt.gz", gzip.compress(uci, mtime=0)),
        "svmlight": (partial(read_counts, words=vocabulary), "a.svm", svmlight_text().encode()),
        "mtx": (counts, "counts.mtx", mtx_text().encode()),
        "mallet": (read_counts, "texts.mallet", mallet_text().encode()),
    }
    samples = {}
    for name, (read, file, content) in contents.items():
        (folder / file).write_bytes(content)
        samples[name] = Sample(read, folder / file)
    texts = folder / "texts"
    texts.mkdir()
    for name, text in zip(IDS, TEXTS, strict=True):
        (texts / f"{name}.txt").write_text(text)
    samples["folder"] = Sample(partial(read_folder, metadata=label_table, **labels), texts)
    return samples


NAMES = (
    *("csv", "tsv", "csv-gz", "csv-zst", "jsonl", "parquet", "arrow", "feather"),
    *("xlsx", "dta", "ldac", "uci", "uci-gz", "svmlight", "mtx", "mallet", "folder"),
)
