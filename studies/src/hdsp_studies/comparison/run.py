"""Models x corpora x seeds: plan the cells, take those that are done, and run the rest."""

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from hdsp import Corpus, TextSettings
from hdsp_studies.comparison.cells import Cell, cell_path, read_finished, write_cell
from hdsp_studies.comparison.isolation import Job, run_isolated
from hdsp_studies.comparison.measures import N_TOP_WORDS
from hdsp_studies.comparison.split import hash_corpus, split_corpus
from hdsp_studies.peers import FitSettings, check_libraries, make_peer, target_values

_PACKAGES = ("hdsp", "numpy", "scipy", "scikit-learn")


class Progress(NamedTuple):
    """Where a comparison is.

    Attributes
    ----------
    number : int
        Number of the cell among those to be run, from 1.
    total : int
        Number of cells to be run.
    model : str
        Name of the model.
    corpus : str
        Name of the corpus.
    seed : int
        Seed of the split and of the model.
    cell : Cell or None
        The finished cell; None before it is run.
    """

    number: int
    total: int
    model: str
    corpus: str
    seed: int
    cell: Cell | None


class _PlannedCell(NamedTuple):
    """A cell that was asked for, all that decides it, and the finished one if there is one."""

    corpus: str
    model: str
    settings: FitSettings
    determined_by: dict[str, Any]
    finished: Cell | None


def compare(
    corpora: Mapping[str, Corpus],
    models: Sequence[str],
    folder: Path,
    *,
    seeds: int | Sequence[int] = 3,
    n_topics: int = 50,
    test_size: float = 0.2,
    text_settings: TextSettings | None = None,
    quick: bool = False,
    n_jobs: int = 1,
    target: str | None = None,
    most_seconds: float | None = None,
    report: Callable[[Progress], None] | None = None,
) -> list[Cell]:
    """Fit every model to every corpus with every seed, and measure them by the same code.

    Each cell runs in a process of its own and is kept in a file in `folder`. Finished cells that
    are there already are not run again; failed ones are.

    Parameters
    ----------
    corpora : mapping of str to Corpus
        Corpora by name.
    models : sequence of str
        Names of `hdsp_studies.peers.PEERS`, or ``module:name`` of your own.
    folder : Path
        Folder of the results, made if it is missing.
    seeds : int or sequence of int, default=3
        Number of seeds, from 0, or the seeds. A seed decides the split and a model's draws.
    n_topics : int, default=50
        Number of topics, as in `hdsp_studies.peers.FitSettings`.
    test_size : float, default=0.2
        Share of test documents.
    text_settings : TextSettings or None, default=None
        Chooses the words of each split by its training documents, in corpora that were counted
        with all their words (`TextSettings.all_words`); None keeps the words of the corpora.
    quick : bool, default=False
        Whether to run few sweeps, for a first look.
    n_jobs : int, default=1
        Threads of each model.
    target : str or None, default=None
        Label column to predict from words.
    most_seconds : float or None, default=None
        Time after which a cell is ended and has failed; None is no limit.
    report : callable or None, default=None
        Called with `Progress` before and after every cell that is run.

    Returns
    -------
    list of Cell
        In the order of corpora, models and seeds. A failed one has an `error` and no measures.
    """
    chosen = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
    _check_plan(corpora, models, chosen, target)
    if most_seconds is not None and not most_seconds > 0:
        raise ValueError(f"`most_seconds` of compare must be positive. Got {most_seconds}.")
    split = {"test_size": test_size, "text_settings": _plain(text_settings)}
    plan: list[_PlannedCell] = []
    for name, corpus in corpora.items():
        described = _describe(name, corpus)
        for model in models:
            for seed in chosen:
                settings = FitSettings(n_topics, seed, quick, n_jobs, target)
                decided = _determined_by(model, settings, described, split)
                finished = read_finished(cell_path(folder, model, name, seed), decided)
                plan.append(_PlannedCell(name, model, settings, decided, finished))
    missing = [place for place in plan if place.finished is None]
    for name, seed in dict.fromkeys((place.corpus, place.settings.seed) for place in missing):
        # Now rather than hours later: it raises if a split leaves no words or documents.
        split_corpus(corpora[name], test_size, seed, text_settings)
    folder.mkdir(parents=True, exist_ok=True)
    cells: list[Cell] = []
    number = 0
    for name, model, settings, decided, finished in plan:
        if finished is None:
            number += 1
            now = Progress(number, len(missing), model, name, settings.seed, None)
            if report is not None:
                report(now)
            train, test = split_corpus(corpora[name], test_size, settings.seed, text_settings)
            result = run_isolated(Job(model, settings, train, test), most_seconds)
            finished = Cell(model, name, settings.seed, decided, result.measures, result.error)
            write_cell(folder, finished)
            if report is not None:
                report(now._replace(cell=finished))
        cells.append(finished)
    return cells


def _check_plan(
    corpora: Mapping[str, Corpus], models: Sequence[str], seeds: Sequence[int], target: str | None
) -> None:
    """Raise before any work if some of it could not be done."""
    for what, names in (("model", models), ("seed", seeds), ("corpus", list(corpora))):
        if not names:
            raise ValueError(f"A comparison needs at least one {what}.")
        if len(set(names)) < len(names):
            raise ValueError(f"A comparison takes every {what} once. Got {list(names)}.")
    for model in models:
        peer = make_peer(model)
        check_libraries(peer.libraries, f"The model {model!r}")
        if peer.needs_target and target is None:
            raise ValueError(
                f"The model {model!r} predicts one label column and nothing else: name a target."
            )
    for corpus in corpora.values():
        if target is not None:
            target_values(corpus.labels, target)
    files: dict[Path, tuple[str, str]] = {}
    for pair in ((model, name) for model in models for name in corpora):
        other = files.setdefault(cell_path(Path(), *pair, seed=0), pair)
        if other != pair:
            raise ValueError(
                f"The results of {' on '.join(other)} and of {' on '.join(pair)} would share a "
                "file: rename one of them."
            )


def _describe(name: str, corpus: Corpus) -> dict[str, Any]:
    return {
        "name": name,
        "fingerprint": hash_corpus(corpus),
        "documents": len(corpus),
        "words": corpus.n_words,
        "tokens": corpus.n_tokens,
        "labels": corpus.labels.summary(),
    }


def _plain(text_settings: TextSettings | None) -> dict[str, Any] | None:
    """Settings for the record; what a tokenizer did shows in the fingerprint of the counts."""
    return None if text_settings is None else asdict(replace(text_settings, tokenizer=None))


def _determined_by(
    model: str, settings: FitSettings, corpus: dict[str, Any], split: dict[str, Any]
) -> dict[str, Any]:
    peer = make_peer(model)
    libraries = {name: version(name) for name in peer.libraries}
    versions = {name: version(name) for name in _PACKAGES}
    decided = {
        "settings": asdict(settings),
        "model": {"name": model, "details": peer.details(settings), "libraries": libraries},
        "split": {"seed": settings.seed, **split},
        "corpus": corpus,
        "measures": {"top_words": N_TOP_WORDS, "completion_seed": 0},
        "versions": versions | {"python": platform.python_version()},
    }
    # As it is read from a file: tuples become lists.
    plain: dict[str, Any] = json.loads(json.dumps(decided))
    return plain
