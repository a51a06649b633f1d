"""Reading models, and documents as options ask."""

import sys
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterable
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdsp import progress
from hdsp.cli.options import FILE, LABELS, STANDARD, TEXT, chosen

if TYPE_CHECKING:
    from hdsp.analysis.fitted import FittedModel
    from hdsp.corpus import Corpus, TextSettings
    from hdsp.estimator import HDSP

_KINDS = (("tags", "tags"), ("category", "categories"), ("number", "numeric"))


def load(options: Namespace) -> "HDSP":
    """The model of a file."""
    with progress.task(f"Loading {options.model}"):
        from hdsp.estimator import HDSP

        model = HDSP.load(options.model)
    if getattr(options, "n_jobs", None) is not None:
        model.set_params(n_jobs=options.n_jobs)
    return model


def load_fitted(options: Namespace) -> "FittedModel":
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
    return find_reader(file, format).__name__ == "read_table"


def text_settings(options: Namespace) -> "TextSettings":
    """How texts become counts."""
    from hdsp.corpus.text import TextSettings

    settings = chosen(options, TEXT)
    if settings.get("language") == "none":
        settings["language"] = None
    return TextSettings(**settings)


def read_file(file: str, options: Namespace, **more: Any) -> "Corpus":
    """Read a file with the options, and with those of `more` arguments that its reader takes."""
    read = find_reader(file, options.format)
    arguments, takes = _arguments(read, file, options), signature(read).parameters
    if takes.keys() >= {"words", "metadata"} and not {"words", "like"} & {*arguments, *more}:
        raise ValueError(f"{file} contains counts: name the file of its words with --words.")
    if chosen(options, LABELS) and options.metadata is None and "metadata" in takes:
        raise ValueError(f"Labels of {file} are columns of a table: name it with --metadata.")
    if "like" not in more:
        arguments["text_settings"] = text_settings(options)
    arguments |= more
    with reading(file):
        source = sys.stdin.buffer if file == STANDARD else file
        corpus: Corpus = read(source, **{n: v for n, v in arguments.items() if n in takes})
    return corpus


def _arguments(read: Callable[..., object], file: str, options: Namespace) -> dict[str, Any]:
    """The chosen options as arguments of a reader; raise if one does not apply."""
    takes, values = signature(read).parameters, chosen(options, LABELS, FILE)
    parameters = {name: name for name in values}
    parameters |= dict.fromkeys(chosen(options, TEXT), "text_settings")
    for name, parameter in parameters.items():
        if parameter not in takes and name != "format":
            raise ValueError(f"--{name.replace('_', '-')} does not apply to {file}: leave it out.")
    return values


def prepare_files(options: Namespace, folder: str, like: object = None) -> "Corpus":
    """Write the documents of tables to a stored corpus, which are counted `like` a model's."""
    from hdsp.corpus import prepare_corpus
    from hdsp.corpus.readers.tables import table_columns

    files = options.files
    for file in files:
        if not is_table(file, options.format):
            raise ValueError(f"Several files must be tables, and {file} is not: name one file.")
    named = "several files" if len(files) > 1 else files[0]
    arguments = _arguments(prepare_corpus, named, options)
    written = {n: arguments[n] for n in ("format", "encoding", "delimiter") if n in arguments}
    if STANDARD not in files and all("id" in table_columns(file, **written) for file in files):
        arguments.setdefault("ids", "id")
    settings = text_settings(options) if like is None else None
    sources = [sys.stdin.buffer if file == STANDARD else file for file in files]
    return prepare_corpus(sources, folder, like=like, text_settings=settings, **arguments)


def read_documents(
    options: Namespace, model: "HDSP", target: str | None = None, columns: Iterable[str] = ()
) -> "Corpus":
    """Read documents as the model's were, without the labels of a `target`.

    Label `columns` that the model does not know are numeric if all their values are, otherwise
    categories.
    """
    from hdsp.corpus.columns import numeric_levels
    from hdsp.corpus.labels import Labels
    from hdsp.corpus.readers.tables import table_columns
    from hdsp.exceptions import LabelDataWarning

    known = {block.name: block.kind for block in model.label_schema_.blocks}
    new = [name for name in columns if name not in known]
    kinds: dict[str, str] = dict.fromkeys(new, "category")
    if new and options.file == STANDARD:
        raise ValueError("Name a file: it is read twice, for its columns and their values.")
    present: Iterable[str] = ()
    if options.metadata is not None:
        present = table_columns(options.metadata, encoding=options.encoding or "utf-8")
    elif new and is_table(options.file, options.format):
        present = table_columns(options.file, **_written(options, model))
    kinds |= {name: known[name] for name in present if name in known}
    named = {parameter: [n for n in kinds if kinds[n] == kind] for kind, parameter in _KINDS}
    corpus = read_file(options.file, options, like=model, **named)
    if is_stored(options.file):
        return corpus
    if known and not new and known.keys().isdisjoint(b.name for b in corpus.labels.blocks):
        remedy = ": name their table with --metadata" if Path(options.file).is_dir() else ""
        names = ", ".join(known)
        warnings.warn(
            f"{options.file} has none of the model's labels ({names}): all are missing{remedy}.",
            LabelDataWarning,
            stacklevel=2,
        )
    blocks = [
        (numeric_levels(block) if block.name in new else None) or block
        for block in corpus.labels.blocks
        if block.name != target
    ]
    return corpus.replaced(labels=Labels(tuple(blocks), len(corpus)))


def _written(options: Namespace, model: "HDSP") -> dict[str, Any]:
    """How the table of documents is written: as the options say, or as the model's was."""
    from hdsp.corpus.labels import ReadingSettings

    known = vars(model.reading_ or ReadingSettings())
    given = {name: getattr(options, name) or known[name] for name in ("encoding", "delimiter")}
    return {"format": options.format, **given}


def read_with_texts(options: Namespace, model: "HDSP", column: str | None = None) -> dict[str, Any]:
    """The corpus of a file and its texts, in a `column` or as the model's; empty without a file."""
    from hdsp.corpus.readers.folder import folder_texts
    from hdsp.corpus.readers.tables import Columns, Wanted, open_table

    file, texts = options.file, None
    if file is None:
        return {}
    if file == STANDARD:
        raise ValueError("Name a file: it is read twice, for counts and for texts.")
    corpus = read_documents(options, model)
    with reading(file):
        if is_table(file, options.format):
            name = column or options.text or getattr(model.reading_, "text", "text")
            wanted = Wanted({}, text=name)
            with open_table(file, "hdsp", **_written(options, model)) as table:
                texts = list(Columns(table.name, wanted).texts(table.batches(wanted)))
        elif find_reader(file, options.format).__name__ == "read_folder":
            texts = list(folder_texts(file, options.encoding or "utf-8"))
    return {"corpus": corpus, "texts": texts}
