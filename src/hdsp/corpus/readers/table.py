"""Tables: one document per row, in CSV, TSV, JSON Lines, Parquet or Arrow."""

from hdsp.corpus.columns import warn_dates
from hdsp.corpus.corpus import Corpus
from hdsp.corpus.labels import Names, ReadingSettings, label_kinds
from hdsp.corpus.readers.columns import Columns, Wanted
from hdsp.corpus.readers.common import FileOrPath, name_of
from hdsp.corpus.readers.table_formats import open_table
from hdsp.corpus.readers.texts import corpus_of_texts
from hdsp.corpus.text import counting_rules


def read_table(
    path: FileOrPath,
    text: str = "text",
    tags: Names = (),
    categories: Names = (),
    numeric: Names = (),
    *,
    format: str | None = None,
    tag_separator: str | None = None,
    text_settings: object = None,
    like: object = None,
    ids: str | None = None,
    group: str | None = None,
    stem: str | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    decimal: str = ".",
) -> Corpus:
    """Read a table with one document per row.

    Only the named columns are read, and the texts are counted while they are read, so that they
    are never in memory together. A row without text is an empty document, so that the corpus has
    a document for every row. Without names of label columns there are no labels.

    Parameters
    ----------
    path : path or binary file object
        A CSV, TSV, JSON Lines, Parquet, Arrow or Feather file, or a file object such as
        ``sys.stdin.buffer``. gzip, bzip2, xz and Zstandard are decompressed.
    text : str, default="text"
        Column of the texts.
    tags : str or sequence of str, default=()
        Columns of tags: lists, lists written as JSON, or text with `tag_separator` between tags.
    categories : str or sequence of str, default=()
        Columns with one category per document.
    numeric : str or sequence of str, default=()
        Columns of numbers or dates; dates count in years.
    format : {"csv", "tsv", "jsonl", "parquet", "arrow"}, default=None
        The format; by the file's name where it is None.
    tag_separator : str, default=None
        What separates tags that are written as one text, such as ``";"`` in "a;b".
    text_settings : TextSettings, CountVectorizer or callable, default=None
        How texts are split into words, and which words are counted. A callable returns the words
        of a text. None is ``TextSettings()``, or the settings of `like`.
    like : Corpus or HDSP, default=None
        A corpus or a fitted model whose words are counted, in its order; other words are dropped.
    ids : str, default=None
        Column of the documents' names.
    group : str, default=None
        Column of the documents' groups, such as authors, outlets or respondents: documents of a
        group are not independent. One without a value is on its own.
    stem : str, default=None
        The language, or its code, in which words are counted by their stems: "english" counts
        "runs" and "running" as "run".
    encoding : str, default="utf-8"
        The encoding of a text file.
    delimiter : str, default=None
        The character between the values of a CSV file; None is a comma.
    decimal : {".", ","}, default="."
        The character before the decimals of numbers in a CSV file.

    Returns
    -------
    Corpus
        One document per row.

    Raises
    ------
    ReadError
        If the file is damaged, or not in the format that it should have.
    FileNotFoundError
        If there is no such file.
    """
    owner = "read_table"
    kinds = label_kinds(tags, categories, numeric, owner)
    columns = Columns(name_of(path), Wanted(kinds, text, ids, tag_separator, group))
    rules = counting_rules(text_settings, like, owner, stem)
    with open_table(path, owner, format, encoding, delimiter, decimal) as (table_format, file):
        corpus = corpus_of_texts(
            columns.name,
            columns.texts(table_format.batches(file, columns.wanted)),
            rules,
            lambda: (columns.labels(), columns.ids()),
            f"column {text!r}",
        )
    if like is None:
        warn_dates(corpus.labels)
    reading = ReadingSettings(text, ids, group, tag_separator, delimiter, decimal, encoding)
    corpus = corpus.replaced(reading=reading)
    return corpus if group is None else corpus.with_groups(columns.groups())
