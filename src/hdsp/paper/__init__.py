"""What papers print of a model: methods, tables, figures and references in a folder."""

import hashlib
import io
import json
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hdsp import progress
from hdsp.answers.document_topics import check_text_of_each, typical_columns
from hdsp.answers.label_effects import effect_columns, training_problem
from hdsp.answers.robustness import robustness_columns, robustness_sentences
from hdsp.answers.topic_tables import Columns, topic_columns
from hdsp.corpus import Corpus
from hdsp.corpus.frames import is_frame, open_columns
from hdsp.paper.figures import curve_table, draw_curves, draw_effects, draw_search
from hdsp.paper.latex import topic_table
from hdsp.paper.methods import methods_text
from hdsp.paper.references import references_of
from hdsp.persistence import replacing
from hdsp.plots.drawing import check_installed
from hdsp.storage.delimited import guarded, write_delimited

__all__ = ["check_paper_folder", "write_paper"]

_OWNER = "HDSP.paper"
# What was written, with checksums.
_RECORD = "provenance.json"
_WORDS = 10
_TYPICAL = 2


def write_paper(
    model: Any,
    folder: str | os.PathLike[str],
    corpus: Corpus | None = None,
    *,
    texts: Sequence[str] | None = None,
    robustness: Any = False,
) -> list[str]:
    """Write the files of `HDSP.paper`, and return their names."""
    path, fitted = Path(folder), model._model
    former = check_paper_folder(path)
    check_installed()
    if corpus is None and (texts is not None or robustness is True):
        needs = "robustness" if texts is None else "texts"
        raise ValueError(
            f"`{needs}` of {_OWNER} needs the training documents: pass them as `corpus`."
        )
    if corpus is not None:
        training_problem(fitted, corpus, _OWNER)
        check_text_of_each(texts, corpus, _OWNER)
    refits = None
    if robustness is True:
        refits = robustness_columns(fitted, model, corpus, None, None, None, 0.9)
    elif robustness is not False:
        refits = _read_robustness(robustness)
    with progress.task("Writing the paper"):
        topics = topic_columns(fitted, _WORDS)
        if corpus is not None:
            found = typical_columns(fitted, corpus, None, None, _TYPICAL, model.n_jobs, texts)
            topics |= _typical(found, len(topics["topic"]))
        topics = {name: values[: model.n_topics_] for name, values in topics.items()}
        effects, curves = effect_columns(fitted), curve_table(fitted)
        told = None if refits is None else robustness_sentences(refits, effects)
        methods = methods_text(model, corpus, told)
        files = {
            "methods.md": methods.encode(),
            "references.bib": references_of(methods).encode(),
            "topics.csv": _csv(topics),
            "topics.tex": topic_table(fitted, topics, _WORDS, texts is not None).encode(),
        }
        if effects["label"]:
            files |= {"effects.csv": _csv(effects), "effects.pdf": draw_effects(model, effects)}
        if curves:
            files |= {"curves.csv": _csv(curves), "curves.pdf": draw_curves(model, curves)}
        if (search := draw_search(model)) is not None:
            files["selection.pdf"] = search
        if refits is not None:
            files["robustness.csv"] = _csv(refits)
        record = {
            "hdsp": version("hdsp"),
            "documents": fitted.source.fingerprint,
            "files": {name: _digest(content) for name, content in files.items()},
        }
        files[_RECORD] = f"{json.dumps(record, indent=2)}\n".encode()
        path.mkdir(exist_ok=True)
        for name in set(former) - set(files):
            (path / name).unlink(missing_ok=True)
        for name, content in files.items():
            with replacing(path / name) as file:
                file.write(content)
    return list(files)


def check_paper_folder(folder: Path) -> list[str]:
    """The files of an earlier paper in a folder; raise if it holds anything else, or edited ones.

    Parameters
    ----------
    folder : Path
        The folder, which need not exist.
    """
    if not folder.parent.is_dir():
        raise FileNotFoundError(
            f"There is no folder {str(folder.parent)!r} to write {str(folder)!r} to: make it first."
        )
    foreign = ""
    known: Mapping[str, str] = {}
    if folder.is_dir():
        present = sorted(os.listdir(folder))
        known = _recorded(folder)
        others = [
            name
            for name in present
            if name not in (*known, _RECORD) or not (folder / name).is_file()
        ]
        edited = [
            name
            for name, digest in known.items()
            if name in present and not others and _digest((folder / name).read_bytes()) != digest
        ]
        if others:
            foreign = f"has {others[0]!r} in it"
        elif edited:
            foreign = f"has {edited[0]!r} in it, which was changed since it was written"
    elif folder.exists():
        foreign = "is a file"
    if foreign:
        raise FileExistsError(
            f"{_OWNER} writes to a new or empty folder, or replaces what it wrote, and "
            f"{str(folder)!r} {foreign}: choose another folder, or move this one away."
        )
    return list(known)


def _read_robustness(table: Any) -> Columns:
    """The columns of a table that `HDSP.robustness` returned."""
    columns = {}
    if is_frame(table):
        read = open_columns(table, f"`robustness` of {_OWNER}")
        columns = {name: series.to_list() for name, series in read.items()}
    if not {"number", "seed", "topic", "found"} <= set(columns):
        raise ValueError(
            f"`robustness` of {_OWNER} must be True, False or a table that HDSP.robustness "
            f"returned. Got {type(table).__name__}."
        )
    return columns


def _recorded(folder: Path) -> Mapping[str, str]:
    """The files that were written to a folder, with their checksums."""
    try:
        files = json.loads((folder / _RECORD).read_bytes())["files"]
        # Names of files, and no paths that lead elsewhere.
        return {name: digest for name, digest in files.items() if name == Path(name).name}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _csv(columns: Columns) -> bytes:
    file = io.StringIO()
    write_delimited([columns], file, ",", guarded)
    return file.getvalue().encode()


def _typical(found: Columns, n_topics: int) -> Columns:
    """Typical documents in columns: their texts, else names, else numbers."""
    shown = next(found[name] for name in ("text", "id", "document") if name in found)
    lists: list[list[Any]] = [[] for _ in range(n_topics)]
    for topic, document in zip(found["topic"], shown, strict=True):
        lists[topic].append(document)
    return {
        f"typical_{rank + 1}": [own[rank] if rank < len(own) else "" for own in lists]
        for rank in range(_TYPICAL)
    }
