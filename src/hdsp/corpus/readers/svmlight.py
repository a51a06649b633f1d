"""SVMlight and LIBSVM: one document per line, "label,label word:count word:count ..."."""

from collections.abc import Iterator, Sequence
from typing import Literal

from hdsp.checks import quoted
from hdsp.corpus.columns import level_name, make_block
from hdsp.corpus.corpus import Corpus
from hdsp.corpus.labels import KINDS, Kind, Labels
from hdsp.corpus.readers.columns import naming, short_repr, split_tags
from hdsp.corpus.readers.common import FileOrPath, FilePath, Lines, read_error
from hdsp.corpus.readers.entries import open_counts
from hdsp.corpus.readers.label_table import LabelSource
from hdsp.corpus.readers.numbers import is_number, pair_fields

_NAME = "labels"


def read_svmlight(
    path: FileOrPath,
    words: FilePath | Sequence[str] | None = None,
    *,
    kind: Kind = "tags",
    zero_based: bool | Literal["auto"] = "auto",
    like: object = None,
    encoding: str = "utf-8",
) -> Corpus:
    """Read counts and labels in the format of SVMlight and LIBSVM, with any number of labels.

    Parameters
    ----------
    path : path or binary file object
        A file with one document per line: its labels, separated by commas, and then "word:count"
        for each word. What follows a "#" is ignored, and so is "qid:number". It may be
        compressed.
    words : path or sequence of str, default=None
        A file with one word per line, or the words. Without them, the words are those that occur,
        called "w" and their number.
    kind : {"tags", "category", "number"}, default="tags"
        What the labels are.
    zero_based : bool or "auto", default="auto"
        Whether the words are numbered from 0; with "auto" they are if a 0 occurs.
    like : Corpus or HDSP, default=None
        A corpus or a fitted model whose words are kept, in its order; other words are dropped.
    encoding : str, default="utf-8"
        The encoding of the files.

    Returns
    -------
    Corpus
        One document per line, with the labels as block "labels".
    """
    owner = "read_svmlight"
    if kind not in KINDS:
        raise ValueError(
            f"`kind` of {owner} must be one of {quoted(KINDS)}. Got {kind!r}. "
            "Leave it out for tags."
        )
    guess = zero_based == "auto"
    first = 0 if guess else int(not zero_based)
    with open_counts(path, words, like, owner, encoding, first) as counts:
        targets: list[str] = []
        counts.add_lines(_documents(counts.lines, targets), spare=int(guess))
        if guess:
            counts.number_from_one()
        name = counts.lines.name
        values = _values(targets, kind, name)
        with naming(name):
            labels = Labels((make_block(_NAME, kind, values, name),), len(targets))
        return counts.corpus(len(targets), LabelSource(labels, {}, owner))


def _documents(lines: Lines, targets: list[str]) -> Iterator[list[str]]:
    """Yield the numbers of each document, and append its labels to the list `targets`."""
    for line in lines:
        tokens = line.partition("#")[0].split()
        if not tokens:
            continue
        targets.append("" if ":" in tokens[0] else tokens.pop(0))
        if tokens and tokens[0].startswith("qid:"):
            del tokens[0]
        yield pair_fields(tokens, lines)


def _values(targets: Sequence[str], kind: Kind, name: str) -> list[object]:
    rows = [[_level(label) for label in split_tags(target, ",")] for target in targets]
    if kind == "tags":
        return list(rows)
    for row, (found, target) in enumerate(zip(rows, targets, strict=True)):
        if len(found) > 1 or (kind == "number" and found and not is_number(found[0])):
            raise read_error(
                name,
                f"a document should have one {kind}, but has {short_repr(target)}",
                "pass kind='tags'",
                row=row,
            )
    return [found[0] if found else None for found in rows]


def _level(label: str) -> str:
    """Return a label in one spelling, where it is a number: "+1", "1" and "1.0" are the same."""
    return str(level_name(float(label))) if is_number(label) else label
