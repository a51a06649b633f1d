"""Reading models, and documents as options ask."""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hdsp import progress
from hdsp.cli.options import FILE, LABELS, STANDARD, TEXT, chosen

if TYPE_CHECKING:
    from hdsp.analysis.fitted import FittedModel
    from hdsp.corpus.corpus import Corpus
    from hdsp.corpus.readers.tables import TableFile
    from hdsp.corpus.text import TextSettings
    from hdsp.estimator import HDSP

# Parameters of readers that are called otherwise than the options.
_RENAMED = {"groups": "group", "ids": "id", "metadata": "labels"}
_KINDS = {"tags": "tags", "category": "categories", "number": "numeric"}


def load(options: argparse.Namespace) -> "HDSP":
    """The model of a file."""
    with progress.task(f"Loading {options.model}"):
        from hdsp.estimator import HDSP

        model = HDSP.load(options.model)
    if getattr(options, "n_jobs", None) is not None:
        model.set_params(n_jobs=options.n_jobs)
    return model


def load_fitted(options: argparse.Namespace) -> "FittedModel":
    """The fitted model of a file, without the slow import of scikit-learn."""
    with progress.task(f"Loading {options.model}"):
        from hdsp.persistence.model_file import load_model

        return load_model(Path(options.model))[0]


def reading(file: str) -> progress.Task:
    """The task of reading a file."""
    return progress.task(f"Reading {'standard input' if file == STANDARD else file}", unit=None)


def is_stored(file: str) -> bool:
    """Whether a path is the folder of a stored corpus."""
    return file != STANDARD and (Path(file) / "manifest.json").is_file()


def find_reader(file: str, format: str | None) -> Callable[..., Any]:
    """The reader of a format, or of a stored corpus, a folder or a table."""
    from hdsp.corpus import open_corpus
    from hdsp.corpus.readers import FORMATS, read_folder, read_table

    if is_stored(file):
        return open_corpus
    if format is None:
        return read_folder if file != STANDARD and Path(file).is_dir() else read_table
    if format not in FORMATS:
        raise ValueError(f"--format must be one of {', '.join(FORMATS)}. Got {format!r}.")
    return FORMATS[format]


def is_table(file: str, format: str | None) -> bool:
    """Whether a file is a table, which can be read some rows at a time."""
    from hdsp.corpus.readers import read_table

    return find_reader(file, format) is read_table


def text_settings(options: argparse.Namespace) -> "TextSettings":
    """How texts become counts."""
    from hdsp.corpus.text import TextSettings

    settings = chosen(options, TEXT)
    for name in ("language", "stem"):
        if name in settings:
            settings[name] = settings[name].lower()
    if settings.get("language") == "none":
        settings["language"] = None
    return TextSettings(**settings)


def check_not_stored(files: Iterable[str]) -> None:
    """Raise if a file is a stored corpus, of which the words cannot be chosen again."""
    for file in filter(is_stored, files):
        raise ValueError(
            f"{file} is a stored corpus, whose words are chosen: name the files it was prepared "
            "from."
        )


def read_file(file: str, options: argparse.Namespace, **more: Any) -> "Corpus":
    """Read a file with the options, and with those of `more` arguments that its reader takes."""
    read = find_reader(file, options.format)
    arguments, takes = _arguments(read, file, options), signature(read).parameters
    if "labels" in takes and not {"words", "like"} & {*arguments, *more}:
        raise ValueError(f"{file} contains counts: name the file of its words with --words.")
    needs_table = chosen(options, LABELS) and options.metadata is None
    if needs_table and not {"labels", "metadata"}.isdisjoint(takes):
        raise ValueError(f"Labels of {file} are columns of a table: name it with --metadata.")
    if "like" not in more:
        arguments["text_settings"] = text_settings(options)
    arguments |= more
    with reading(file):
        source = sys.stdin.buffer if file == STANDARD else file
        corpus: Corpus = read(source, **{n: v for n, v in arguments.items() if n in takes})
    return corpus


def _arguments(
    read: Callable[..., object], file: str, options: argparse.Namespace
) -> dict[str, Any]:
    """The chosen options as arguments of a reader; raise if one does not apply."""
    takes, values = signature(read).parameters, chosen(options, LABELS, FILE)
    names = {name: name if name in takes else _RENAMED.get(name) for name in values}
    settings = dict.fromkeys(chosen(options, TEXT), "text_settings")
    for name, parameter in (names | settings).items():
        if parameter not in takes and name != "format":
            raise ValueError(f"--{name.replace('_', '-')} does not apply to {file}: leave it out.")
    return {names[name] or name: value for name, value in values.items()}


@contextmanager
def opened_corpus(options: argparse.Namespace) -> Iterator["Corpus"]:
    """The corpus of a file, or of several.

    Several files become a stored corpus next to the output, which is removed in the end.
    """
    first, *others = options.files
    if not others:
        yield read_file(first, options)
        return
    folder = Path(options.output).absolute().parent
    with TemporaryDirectory(prefix=".hdsp-", dir=folder) as aside:
        yield prepare_files(options, str(Path(aside) / "corpus"))


def prepare_files(options: argparse.Namespace, folder: str, like: object = None) -> "Corpus":
    """Write the documents of tables to a stored corpus."""
    from hdsp.corpus import prepare_corpus
    from hdsp.corpus.readers.tables import table_columns

    files = options.files
    check_not_stored(files)
    for file in files:
        if not is_table(file, options.format):
            raise ValueError(
                f"Several files must be tables, and {file} is not: name one file, or a folder."
            )
    named = "several files" if len(files) > 1 else files[0]
    arguments = _arguments(prepare_corpus, named, options)
    written = {n: arguments[n] for n in ("format", "encoding", "delimiter") if n in arguments}
    if STANDARD not in files and all("id" in table_columns(file, **written) for file in files):
        arguments.setdefault("ids", "id")
    settings = text_settings(options) if like is None else None
    sources = [sys.stdin.buffer if file == STANDARD else file for file in files]
    return prepare_corpus(sources, folder, like=like, text_settings=settings, **arguments)


def read_documents(
    options: argparse.Namespace,
    model: "HDSP",
    target: str | None = None,
    columns: Iterable[str] = (),
) -> "Corpus":
    """Read documents as the model's were, without the labels of a `target`.

    Label `columns` that the model does not know are numeric if all their values are, otherwise
    categories.
    """
    from hdsp.corpus.columns import numeric_levels
    from hdsp.corpus.labels import Labels

    known = {block.name: block.kind for block in model.label_schema_.blocks}
    new = [name for name in columns if name not in known]
    named: dict[str, list[str]] = {}
    if options.metadata is not None or new:
        present = _table_columns(options, model)
        for name in [*filter(present.__contains__, known), *new]:
            named.setdefault(_KINDS[known.get(name, "category")], []).append(name)
    corpus = read_file(options.file, options, like=model, **named)
    if is_stored(options.file):
        return corpus
    if known and not new and known.keys().isdisjoint(b.name for b in corpus.labels.blocks):
        _warn_missing(options, known)
    blocks = [
        (numeric_levels(block) if block.name in new else None) or block
        for block in corpus.labels.blocks
        if block.name != target
    ]
    return corpus.replaced(labels=Labels(tuple(blocks), len(corpus)))


def _table_columns(options: argparse.Namespace, model: "HDSP") -> tuple[str, ...]:
    """The columns of the table that has the labels of documents."""
    if options.metadata is not None:
        from hdsp.corpus.readers.tables import table_columns

        return table_columns(options.metadata, encoding=options.encoding or "utf-8")
    if options.file == STANDARD:
        raise ValueError("Name a file: it is read twice, for its columns and their values.")
    if not is_table(options.file, options.format):
        return ()
    with _opened_table(options, model) as table:
        return table.columns()


def _warn_missing(options: argparse.Namespace, names: Iterable[str]) -> None:
    """Warn that a file has none of the model's labels."""
    from hdsp.exceptions import LabelDataWarning

    remedy = ": name their table with --metadata" if Path(options.file).is_dir() else ""
    warnings.warn(
        f"{options.file} has none of the model's label columns ({', '.join(names)}), so all "
        f"labels are missing{remedy}.",
        LabelDataWarning,
        stacklevel=2,
    )


def read_with_texts(
    options: argparse.Namespace, model: "HDSP", column: str | None = None
) -> dict[str, Any]:
    """The corpus of a file and its texts, in a `column` or as the model's; empty without a file."""
    if options.file is None:
        return {}
    if options.file == STANDARD:
        raise ValueError("Name a file: it is read twice, for counts and for texts.")
    corpus = read_documents(options, model)
    with reading(options.file):
        return {"corpus": corpus, "texts": _read_texts(options, model, column)}


def _read_texts(options: argparse.Namespace, model: "HDSP", column: str | None) -> list[str] | None:
    """The texts of documents, from a table's column or a folder; None of counts."""
    from hdsp.corpus.labels import ReadingSettings
    from hdsp.corpus.readers import read_folder, read_table
    from hdsp.corpus.readers.folder import folder_texts
    from hdsp.corpus.readers.tables import Columns, Wanted

    read = find_reader(options.file, options.format)
    if read is read_folder:
        return list(folder_texts(options.file, options.encoding or "utf-8"))
    if read is not read_table:
        return None
    with _opened_table(options, model) as table:
        known = model.reading_ or ReadingSettings()
        wanted = Wanted({}, text=column or options.text or known.text)
        return list(Columns(table.name, wanted).texts(table.batches(wanted)))


def _opened_table(
    options: argparse.Namespace, model: "HDSP"
) -> AbstractContextManager["TableFile"]:
    """A table of documents, opened as the model's was."""
    from hdsp.corpus.labels import ReadingSettings
    from hdsp.corpus.readers.tables import open_table

    known = model.reading_ or ReadingSettings()
    encoding, delimiter = options.encoding or known.encoding, options.delimiter or known.delimiter
    return open_table(options.file, "hdsp", options.format, encoding, delimiter)
