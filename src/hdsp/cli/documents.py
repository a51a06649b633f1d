"""Reading new documents for a model: of a table, a folder of texts, or a stored corpus."""

import argparse
import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from hdsp.cli.common import check_format, file_options, is_folder, is_stored, reading, source
from hdsp.cli.reading import call_reader
from hdsp.cli.tables import STANDARD
from hdsp.exceptions import LabelDataWarning

if TYPE_CHECKING:
    from hdsp.corpus import Corpus
    from hdsp.estimator import HDSP


def read_documents(
    options: argparse.Namespace,
    model: "HDSP",
    target: str | None = None,
    further: Iterable[str] = (),
) -> "Corpus":
    """Read new documents: the words of the model, and those of its labels that the file has.

    Parameters
    ----------
    options : argparse.Namespace
        The file and how to read it.
    model : HDSP
        A fitted model.
    target : str, default=None
        A label column that is not read, because it is to be predicted.
    further : iterable of str, default=()
        Columns that the model does not know: numbers or dates if all their values are, otherwise
        categories.
    """
    from hdsp.corpus.readers import read_folder, read_table, table_columns

    if is_stored(options.file):
        return _open_documents(options.file, model)
    folder, group = is_folder(options.file), getattr(options, "group", None)
    if options.metadata is not None and not folder:
        raise ValueError("--metadata goes with a folder of texts: leave it out.")
    if group is not None and folder:
        raise ValueError("--group means nothing for a folder of texts: leave it out.")
    check_format(options, [options.file])
    with reading(options.file):
        table: Any = options.metadata if folder else source(options.file)
        of_file = {} if folder else file_options(options)
        present = set() if table is None else set(table_columns(table, **of_file))
        if hasattr(table, "seek"):
            table.seek(0)
        blocks = [block for block in model.label_schema_.blocks if block.name != target]
        known = {block.name: block.kind for block in blocks if block.name in present}
        new = [name for name in dict.fromkeys(further) if name not in known]
        names = [block.name for block in model.label_schema_.blocks]
        if names and present.isdisjoint(names) and not new:
            remedy = ": name their table with --metadata" if folder and table is None else ""
            warnings.warn(
                f"{options.file} has none of the model's label columns ({', '.join(names)}), so "
                f"all labels are missing{remedy}.",
                LabelDataWarning,
                stacklevel=2,
            )
        offered = {
            "tags": [name for name, kind in known.items() if kind == "tags"],
            "categories": [name for name, kind in known.items() if kind == "category"] + new,
            "numeric": [name for name, kind in known.items() if kind == "number"],
            **file_options(options),
            "text": options.text,
            "tag_separator": options.tag_separator,
            "decimal": options.decimal,
            "like": model,
            "group": group,
            "id": options.id,
            "ids": options.id or ("id" if "id" in present else None),
            "metadata": table if known or new else None,
        }
        read, file = (read_folder, options.file) if folder else (read_table, table)
        corpus = call_reader(read, file, offered)
    return _with_numbers(corpus, new) if new else corpus


def read_with_texts(
    options: argparse.Namespace, model: "HDSP", column: str | None = None
) -> tuple["Corpus", list[str] | None]:
    """Read new documents, and their texts where they can be had.

    Standard input is read once, for counts; a stored corpus has no texts.
    """
    corpus = read_documents(options, model)
    if options.file == STANDARD or is_stored(options.file):
        return corpus, None
    return corpus, list(texts_of(options, column or options.text))


def check_read_twice(options: argparse.Namespace) -> None:
    """Raise if documents come from standard input, where their texts are wanted."""
    if options.file == STANDARD:
        raise ValueError("--corpus needs a file: it is read twice, for counts and for texts.")


def texts_of(options: argparse.Namespace, column: str) -> Iterator[str]:
    """Yield the texts of a table's column, or of a folder, in the order of the documents."""
    from hdsp.corpus.readers.columns import Columns, Wanted
    from hdsp.corpus.readers.folder import folder_texts
    from hdsp.corpus.readers.table_formats import open_table

    with reading(options.file):
        if is_folder(options.file):
            yield from folder_texts(options.file, options.encoding)
            return
        columns = Columns(options.file, Wanted({}, text=column))
        with open_table(options.file, "hdsp", **file_options(options)) as (table_format, file):
            yield from columns.texts(table_format.batches(file, columns.wanted))


def _with_numbers(corpus: "Corpus", names: Iterable[str]) -> "Corpus":
    """The corpus in which categories whose levels are all numbers or dates are numbers."""
    from hdsp.corpus import Labels
    from hdsp.corpus.columns import numeric_levels

    blocks = [
        (numeric_levels(block) if block.name in names else None) or block
        for block in corpus.labels.blocks
    ]
    return corpus.replaced(labels=Labels(tuple(blocks), len(corpus)))


def _open_documents(folder: str, model: "HDSP") -> "Corpus":
    """Open a stored corpus, which must have the model's words."""
    from hdsp.corpus import open_corpus

    corpus = open_corpus(folder)
    if corpus.words != model.words_:
        raise ValueError(
            f"{folder} has other words than the model ({len(corpus.words)} against "
            f"{len(model.words_)}, or in another order): prepare it with hdsp prepare --like MODEL."
        )
    return corpus
