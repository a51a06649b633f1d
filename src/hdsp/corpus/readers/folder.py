"""A folder with one text file per document, and a table about them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hdsp.checks import quoted
from hdsp.corpus.corpus import Corpus
from hdsp.corpus.labels import Labels, Names, label_kinds
from hdsp.corpus.readers.opening import FilePath, as_read_error, read_error, read_lines
from hdsp.corpus.readers.tables import Columns, label_columns
from hdsp.corpus.text import counting_rules
from hdsp.numerics import IntArray

# Files of any depth whose names end in .txt.
TEXT_FILES = "**/*.txt"


def read_folder(
    folder: FilePath,
    metadata: FilePath | None = None,
    tags: Names = (),
    categories: Names = (),
    numeric: Names = (),
    *,
    ids: str = "id",
    pattern: str = TEXT_FILES,
    tag_separator: str | None = None,
    text_settings: object = None,
    like: object = None,
    encoding: str = "utf-8",
) -> Corpus:
    """Read a folder in which every file is a document, sorted by name.

    Parameters
    ----------
    folder : path
        The folder. Its files may be compressed; an empty file is an empty document.
    metadata : path, default=None
        A table about the files, in a file that `read_table` could read. Every file must have a
        row; other rows are ignored.
    tags, categories, numeric : str or sequence of str, default=()
        Columns of the table, as for `read_table`.
    ids : str, default="id"
        Column of the table with the names of the files, relative to the folder, with or without
        what follows the last dot.
    pattern : str, default=TEXT_FILES
        The files that are documents; by default those that end in ".txt", at any depth.
    tag_separator : str, default=None
        What separates tags that are written as one text, such as ``";"`` in "a;b".
    text_settings : TextSettings, CountVectorizer or callable, default=None
        How texts are split into words, and which words are counted, as for `read_table`.
    like : Corpus or HDSP, default=None
        A corpus or a fitted model whose words are counted, in its order; other words are dropped.
    encoding : str, default="utf-8"
        The encoding of the files.

    Returns
    -------
    Corpus
        One document per file, with the files' names as `ids`.
    """
    owner = "read_folder"
    files = _files(folder, pattern)
    kinds = label_kinds(tags, categories, numeric, owner)
    labels = Labels.empty(len(files))
    if metadata is not None:
        table = label_columns(metadata, kinds, owner, tag_separator, encoding, ids)
        labels = table.labels()[_rows(files, table)]
    settings, words = counting_rules(text_settings, like, owner)
    texts = folder_texts(folder, encoding, pattern)
    with as_read_error(str(folder)):
        counts, words = settings.count(texts, words)
    return Corpus(counts, words, labels, text_settings=settings, ids=files)


def _files(folder: FilePath, pattern: str) -> tuple[str, ...]:
    """The names of the files that are documents, sorted."""
    root, name = Path(folder), str(folder)
    if not root.exists():
        raise FileNotFoundError(f"{name}: there is no such folder; check the path.")
    if not root.is_dir():
        raise read_error(name, "this is a file", "name a folder, or use read_table for one file")
    paths = sorted(path for path in root.glob(pattern) if path.is_file())
    if not paths:
        raise read_error(name, f"no file in it is like {pattern!r}", "pass another `pattern`")
    return tuple(path.relative_to(root).as_posix() for path in paths)


def folder_texts(folder: FilePath, encoding: str, pattern: str = TEXT_FILES) -> Iterator[str]:
    """Yield the texts of a folder, in the order of `read_folder`."""
    for file in _files(folder, pattern):
        yield "\n".join(line for _, line in read_lines(Path(folder) / file, encoding))


def _rows(files: tuple[str, ...], table: Columns) -> IntArray:
    """The row of each file in a table, by its name with or without what follows the last dot."""
    names = table.ids() or ()
    row_of = {name: row for row, name in enumerate(names)}
    if len(row_of) < len(names):
        row, name = next((row, name) for row, name in enumerate(names) if row_of[name] > row)
        problem = f"{name!r} is also in row {row_of[name]}"
        raise read_error(table.name, problem, "remove one", row=row)
    stems = [file.removesuffix(Path(file).suffix) for file in files]
    rows = [row_of.get(file, row_of.get(stem, -1)) for file, stem in zip(files, stems, strict=True)]
    without = [file for file, row in zip(files, rows, strict=True) if row < 0]
    if without:
        remedy = f"add it, with the file's name in column {table.wanted.ids!r}"
        raise read_error(table.name, f"there is no row of {quoted(without, limit=3)}", remedy)
    return np.array(rows)
