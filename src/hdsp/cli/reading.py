"""Reading documents and models as options ask."""

import argparse
import io
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from hdsp import progress
from hdsp.cli.options import FILE, LABELS, STANDARD, TEXT, WORDS, chosen

if TYPE_CHECKING:
    from hdsp.analysis.fitted import FittedModel
    from hdsp.corpus.corpus import Corpus
    from hdsp.corpus.text import TextSettings
    from hdsp.estimator import HDSP


_STORED = "{} is a stored corpus, whose words are chosen: name the files it was prepared from."
_T = TypeVar("_T")
_RENAMED = {"groups": "group", "ids": "id", "metadata": "labels"}


class StandardInput(io.BytesIO):
    """Standard input, with a name for messages."""

    name = "standard input"


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


def fitted_model(model: "HDSP") -> "FittedModel":
    """The fitted model of an estimator, which the functions of `hdsp.analysis` take."""
    return model._model


def is_stored(file: str) -> bool:
    """Whether a path is the folder of a stored corpus."""
    return file != STANDARD and (Path(file) / "manifest.json").is_file()


def is_folder(file: str) -> bool:
    """Whether a path is a folder of texts."""
    return file != STANDARD and Path(file).is_dir() and not is_stored(file)


def reading(file: str) -> progress.Task:
    """The task of reading a file."""
    return progress.task(f"Reading {StandardInput.name if file == STANDARD else file}", unit=None)


def _opened(file: str, format: str | None) -> Any:
    """A path, or all of standard input, of which the format must be named."""
    if file != STANDARD:
        return file
    if format is None:
        raise ValueError("Standard input has no file name: pass its --format.")
    return StandardInput(sys.stdin.buffer.read())


@contextmanager
def opened_corpus(options: argparse.Namespace) -> Iterator["Corpus"]:
    """The corpus of a file, a stored corpus, or several files.

    Several files become a stored corpus next to the output, which is removed in the end.
    """
    first, *others = options.files
    if not others:
        yield open_stored(first, options) if is_stored(first) else read_file(first, options)
        return
    folder = Path(options.output).absolute().parent
    with TemporaryDirectory(prefix=".hdsp-", dir=folder) as aside:
        yield prepare_files(options, str(Path(aside) / "corpus"))


def open_stored(folder: str, options: argparse.Namespace) -> "Corpus":
    """Open a stored corpus, which needs no options of reading."""
    from hdsp.corpus import open_corpus

    for name in chosen(options, *LABELS, *FILE, WORDS, *TEXT):
        raise ValueError(
            f"--{name.replace('_', '-')} does not apply to a stored corpus, whose words and labels "
            "were chosen by hdsp prepare: leave it out."
        )
    return open_corpus(folder)


def text_settings(options: argparse.Namespace) -> "TextSettings":
    """How texts become counts."""
    from hdsp.corpus.text import TextSettings

    settings = chosen(options, *TEXT)
    for name in ("language", "stem"):
        if name in settings:
            settings[name] = settings[name].lower()
    if settings.get("language") == "none":
        settings["language"] = None
    return TextSettings(**settings)


def read_file(
    file: str, options: argparse.Namespace, settings: "TextSettings | None" = None
) -> "Corpus":
    """Read the corpus of one file, in memory."""
    if is_stored(file):
        raise ValueError(_STORED.format(file))
    read = _reader(file, options.format)
    arguments = chosen(options, *LABELS, *FILE, WORDS)
    _check_applicable(read, options, file)
    takes = signature(read).parameters
    if options.words is None and "words" in takes and _takes(read, "metadata"):
        raise ValueError(f"{file} contains counts: name the file of its words with --words.")
    if options.metadata is None and _takes(read, "metadata") and chosen(options, *LABELS):
        raise ValueError(f"Labels of {file} are columns of a table: name it with --metadata.")
    with reading(file):
        source = file if is_folder(file) else _opened(file, options.format)
        arguments["text_settings"] = settings or text_settings(options)
        return call_reader(read, source, arguments)


def _check_applicable(read: Callable[..., object], options: argparse.Namespace, file: str) -> None:
    """Raise if an option does not apply to the format of a file."""
    for name in chosen(options, *LABELS, *FILE, WORDS):
        if name != "format" and not _takes(read, name):
            raise ValueError(f"--{name.replace('_', '-')} does not apply to {file}: leave it out.")


def _takes(read: Callable[..., object], name: str) -> bool:
    """Whether a reader has a parameter."""
    parameters = signature(read).parameters
    return name in parameters or _RENAMED.get(name) in parameters


def call_reader(read: Callable[..., _T], file: Any, arguments: dict[str, Any]) -> _T:
    """Read a file with the arguments that its reader takes."""
    takes = signature(read).parameters
    for name, other in _RENAMED.items():
        if other in takes and name in arguments:
            arguments[other] = arguments[name]
    return read(file, **{name: value for name, value in arguments.items() if name in takes})


def _reader(file: str, format: str | None) -> Callable[..., "Corpus"]:
    """The reader of a format, or of a folder or a table."""
    from hdsp.corpus.readers import FORMATS, read_folder, read_table

    if format is None:
        return read_folder if is_folder(file) else read_table
    if format not in FORMATS:
        raise ValueError(f"--format must be one of {', '.join(FORMATS)}. Got {format!r}.")
    return FORMATS[format]


def is_table(file: str, format: str | None) -> bool:
    """Whether a file is a table, which can be read some rows at a time."""
    from hdsp.corpus.readers import read_table

    return _reader(file, format) is read_table


def prepare_files(options: argparse.Namespace, folder: str, like: object = None) -> "Corpus":
    """Write the documents of all files to a stored corpus."""
    from hdsp.corpus import prepare_corpus

    for file in options.files:
        if is_stored(file):
            raise ValueError(_STORED.format(file))
        if not is_table(file, options.format):
            raise ValueError(
                f"Several files must be tables, and {file} is not: name one file, or a folder."
            )
    if STANDARD in options.files and options.format is None:
        raise ValueError("Standard input has no file name: pass its --format.")
    _check_applicable(prepare_corpus, options, "several files")
    arguments = chosen(options, *LABELS, *FILE) | {"folder": folder, "like": like}
    arguments |= {"words": options.words}
    if STANDARD not in options.files and all(
        "id" in _columns(file, arguments) for file in options.files
    ):
        arguments.setdefault("ids", "id")
    arguments["text_settings"] = None if like is not None else text_settings(options)
    files = [sys.stdin.buffer if file == STANDARD else file for file in options.files]
    return call_reader(prepare_corpus, files, arguments)


def read_documents(
    options: argparse.Namespace,
    model: "HDSP",
    target: str | None = None,
    others: Iterable[str] = (),
) -> "Corpus":
    """Read documents for a model: its words, and those of its labels that the file has.

    Columns are read as the model's were. That of a `target` is not read. Columns of `others` that
    the model does not know are numeric if all their values are, otherwise categories.
    """
    file = options.file
    if is_stored(file):
        return _open_documents(file, model)
    read = _reader(file, options.format)
    _check_applicable(read, options, file)
    with reading(file):
        source = file if is_folder(file) else _opened(file, options.format)
        arguments = _as_model(options, model) | chosen(options, *FILE)
        table = arguments.get("metadata") if is_folder(file) else source
        present = _columns(table, arguments)
        if "id" in present:
            arguments.setdefault("ids", "id")
        known = {
            block.name: block.kind
            for block in model.label_schema_.blocks
            if block.name in present and block.name != target
        }
        _warn_missing(file, model, known, others)
        new = [name for name in dict.fromkeys(others) if name not in known]
        kinds = known | dict.fromkeys(new, "category")
        for kind, name in (("tags", "tags"), ("category", "categories"), ("number", "numeric")):
            arguments[name] = [label for label, of_label in kinds.items() if of_label == kind]
        corpus = call_reader(read, source, arguments | {"like": model})
    return _with_numbers(corpus, new) if new else corpus


def _as_model(options: argparse.Namespace, model: "HDSP") -> dict[str, Any]:
    """How the documents of a model were read, as far as it applies to a file."""
    from dataclasses import asdict

    settings = fitted_model(model).source.reading
    arguments = {} if settings is None else asdict(settings)
    if is_folder(options.file):
        arguments.pop("text", None)
    return {name: value for name, value in arguments.items() if value is not None}


def _columns(table: Any, arguments: dict[str, Any]) -> set[str]:
    """The columns of a table; none without one."""
    from hdsp.corpus.readers.tables import table_columns

    if table is None:
        return set()
    columns = call_reader(table_columns, table, arguments)
    if hasattr(table, "seek"):
        table.seek(0)
    return set(columns)


def _warn_missing(file: str, model: "HDSP", known: Iterable[str], others: Iterable[str]) -> None:
    """Warn if a file has none of the model's labels."""
    from hdsp.exceptions import LabelDataWarning

    names = [block.name for block in model.label_schema_.blocks]
    if names and not list(known) and not list(others):
        remedy = ": name their table with --metadata" if is_folder(file) else ""
        warnings.warn(
            f"{file} has none of the model's label columns ({', '.join(names)}), so all labels "
            f"are missing{remedy}.",
            LabelDataWarning,
            stacklevel=2,
        )


def _with_numbers(corpus: "Corpus", names: Iterable[str]) -> "Corpus":
    """The corpus with categories as numbers if all their levels are numbers or dates."""
    from hdsp.corpus.columns import numeric_levels
    from hdsp.corpus.labels import Labels

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


def read_with_texts(
    options: argparse.Namespace, model: "HDSP", column: str | None = None
) -> tuple["Corpus", list[str] | None]:
    """Read documents for a model, and their texts unless they are in a stored corpus."""
    check_read_twice(options)
    corpus = read_documents(options, model)
    return corpus, None if is_stored(options.file) else list(_texts(options, model, column))


def check_read_twice(options: argparse.Namespace) -> None:
    """Raise if documents come from standard input but their texts are needed."""
    if options.file == STANDARD:
        raise ValueError("Name a file: it is read twice, for counts and for texts.")


def _texts(options: argparse.Namespace, model: "HDSP", column: str | None) -> Iterator[str]:
    """The texts of a table's column, or of a folder, in the order of the documents."""
    from hdsp.corpus.readers.folder import folder_texts
    from hdsp.corpus.readers.tables import Columns, Wanted, open_table

    arguments = _as_model(options, model) | chosen(options, *FILE)
    with reading(options.file):
        if is_folder(options.file):
            yield from folder_texts(options.file, arguments.get("encoding", "utf-8"))
        else:
            columns = Columns(
                options.file, Wanted({}, text=column or arguments.get("text", "text"))
            )
            written = {
                n: arguments[n] for n in ("format", "encoding", "delimiter") if n in arguments
            }
            with open_table(options.file, "hdsp", **written) as table:
                yield from columns.texts(table.batches(columns.wanted))
