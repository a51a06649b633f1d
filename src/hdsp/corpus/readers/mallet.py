"""MALLET's import format: one document per line, "id label text"."""

from collections.abc import Iterator

from hdsp.corpus.columns import make_block
from hdsp.corpus.corpus import Corpus
from hdsp.corpus.labels import Kind, Labels
from hdsp.corpus.readers.columns import naming, short_repr, split_tags
from hdsp.corpus.readers.common import FileOrPath, Lines, name_of, open_lines
from hdsp.corpus.readers.texts import corpus_of_texts
from hdsp.corpus.text import counting_rules

_NAME = "label"


def read_mallet(
    path: FileOrPath,
    *,
    tag_separator: str | None = None,
    text_settings: object = None,
    like: object = None,
    encoding: str = "utf-8",
) -> Corpus:
    """Read texts in the format that MALLET's ``import-file`` takes.

    Parameters
    ----------
    path : path or binary file object
        A file with one document per line: its id, its label and its text, separated by spaces or
        a tab. It may be compressed.
    tag_separator : str, default=None
        What separates several labels of a document, which are then tags. Without it, the label
        is a category.
    text_settings : TextSettings, CountVectorizer or callable, default=None
        How texts are split into words, and which words are counted, as for `read_table`.
    like : Corpus or HDSP, default=None
        A corpus or a fitted model whose words are counted, in its order; other words are dropped.
    encoding : str, default="utf-8"
        The encoding of the file.

    Returns
    -------
    Corpus
        One document per line, with the label or labels as block "label".
    """
    rules = counting_rules(text_settings, like, "read_mallet")
    name = name_of(path)
    ids: list[str] = []
    found: list[str] = []

    def describe() -> tuple[Labels, tuple[str, ...]]:
        kind: Kind = "category" if tag_separator is None else "tags"
        values = found if tag_separator is None else [split_tags(x, tag_separator) for x in found]
        with naming(name):
            return Labels((make_block(_NAME, kind, values, name),), len(found)), tuple(ids)

    def texts(lines: Lines) -> Iterator[str]:
        for line in lines.each_with("a document"):
            fields = line.split(maxsplit=2)
            if len(fields) < 2:
                raise lines.error(
                    f"a line should have an id, a label and a text, but is {short_repr(line)}",
                    "write 'id label text'",
                )
            ids.append(fields[0])
            found.append(fields[1])
            yield fields[2] if len(fields) == 3 else ""

    with open_lines(path, encoding) as lines:
        return corpus_of_texts(name, texts(lines), rules, describe, "the texts")
