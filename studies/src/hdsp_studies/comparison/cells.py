"""Cells: one model on one split of one corpus, kept in a file of its own."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Cell:
    """The result of one model on one corpus with one seed.

    Attributes
    ----------
    model : str
        Name of the model.
    corpus : str
        Name of the corpus.
    seed : int
        Seed of the split and of the model.
    determined_by : mapping of str to Any
        All that decided the result: settings, versions, split, the corpus' fingerprint.
    measures : mapping of str to float or None
        Values by the names of `MEASURES`; None is what the model cannot do. Empty after a failure.
    error : str or None, default=None
        Why it failed.
    """

    model: str
    corpus: str
    seed: int
    determined_by: Mapping[str, Any]
    measures: Mapping[str, float | None]
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "model": self.model,
            "corpus": self.corpus,
            "seed": self.seed,
            "measures": dict(self.measures),
            "error": self.error,
            "determined_by": dict(self.determined_by),
        }


def cell_path(folder: Path, model: str, corpus: str, seed: int) -> Path:
    """The file of a cell."""
    names = [re.sub(r"[^\w.-]+", "_", name) for name in (model, corpus)]
    return folder / f"{names[0]}--{names[1]}--{seed}.json"


def write_cell(folder: Path, cell: Cell) -> None:
    """Write a cell, in place of an earlier one."""
    text = json.dumps(cell.to_dict(), indent=1, allow_nan=False)
    write_whole(cell_path(folder, cell.model, cell.corpus, cell.seed), text + "\n")


def read_finished(path: Path, determined_by: Mapping[str, Any]) -> Cell | None:
    """The finished cell in a file; None if there is no such file, or it is broken or a failure.

    Raises a ValueError if the cell is finished and was made in another way: it is not the result
    that was asked for, and must not be overwritten.
    """
    cell = _read_finished(path)
    if cell is None:
        return None
    differing = list(_differences(cell.determined_by, determined_by))
    if differing:
        raise ValueError(
            f"{path} is of other settings ({'; '.join(differing[:3])}): choose another folder, or "
            "remove the file."
        )
    return cell


def with_others(cells: Sequence[Cell], folder: Path) -> list[Cell]:
    """Add the finished cells of other models and seeds that were made in the same way.

    Parameters
    ----------
    cells : sequence of Cell
        Cells that `compare` returned.
    folder : Path
        Folder that `compare` keeps them in.

    Returns
    -------
    list of Cell
        By corpus, model and seed; models that are not among `cells` come last. Only the corpora of
        `cells` are there, because nothing tells whether another has changed since.
    """
    found = {(cell.corpus, cell.model, cell.seed): cell for cell in cells}
    shared = {cell.corpus: _shared_settings(cell) for cell in cells}
    models = {cell.model: cell.determined_by.get("model") for cell in cells}
    for path in sorted(folder.glob("*.json")):
        cell = _read_finished(path)
        if cell is None or _shared_settings(cell) != shared.get(cell.corpus):
            continue
        own = cell.determined_by.get("model")
        if models.setdefault(cell.model, own) == own:
            found.setdefault((cell.corpus, cell.model, cell.seed), cell)
    corpora, names = list(shared), list(models)
    return sorted(
        found.values(),
        key=lambda cell: (corpora.index(cell.corpus), names.index(cell.model), cell.seed),
    )


def write_whole(path: Path, text: str) -> None:
    """Write a file at once: a reader finds either the old one or the new one, never a part."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _read_finished(path: Path) -> Cell | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        cell = Cell(**{name: data[name] for name in Cell.__dataclass_fields__})
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
    return cell if cell.error is None else None


def _shared_settings(cell: Cell) -> dict[str, Any]:
    """What decided a cell, apart from its model and its seed."""
    decided = {name: part for name, part in cell.determined_by.items() if name != "model"}
    for part in ("settings", "split"):
        decided[part] = {**decided.get(part, {}), "seed": None}
    return decided


def _differences(found: Any, expected: Any, name: str = "") -> Iterator[str]:
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        for key in sorted({*found, *expected}):
            inner = f"{name}.{key}" if name else str(key)
            yield from _differences(found.get(key), expected.get(key), inner)
    elif found != expected:
        yield f"{name} is {found!r} there and {expected!r} here"
