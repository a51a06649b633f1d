"""Models x corpora x seeds: what is to be done, what is done already, and doing the rest."""

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from hdsp.comparison.cells import Cell, cell_path, read_finished, write_cell
from hdsp.comparison.isolation import Job, run_isolated
from hdsp.comparison.measures import N_TOP_WORDS
from hdsp.comparison.split import corpus_fingerprint, split_corpus
from hdsp.corpus import Corpus, TextSettings
from hdsp.peers import Settings, check_libraries, make_peer, target_values

_PACKAGES = ("hdsp", "numpy", "scipy", "scikit-learn")


class Progress(NamedTuple):
    """Where a comparison is: before a cell is begun, and once it is done."""

    number: int
    total: int
    model: str
    corpus: str
    seed: int
    cell: Cell | None


class _Place(NamedTuple):
    """A cell that was asked for, all that decides it, and the one that is there already."""

    corpus: str
    model: str
    settings: Settings
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
    choosing: TextSettings | None = None,
    quick: bool = False,
    n_jobs: int = 1,
    target: str | None = None,
    most_seconds: float | None = None,
    report: Callable[[Progress], None] | None = None,
) -> list[Cell]:
    """Fit every model to every corpus with every seed, and measure all of them alike.

    Each cell runs in a process of its own and is kept in a file in `folder`. Cells that are there
    already are not done again, but for those that failed.

    Parameters
    ----------
    corpora : by name
    models : names of `hdsp.peers.PEERS`, or one's own as ``module:name``
    folder : of the results; made where it is missing
    seeds : how many, from 0, or which. A seed decides the split and whatever a model draws
    n_topics, quick, n_jobs, target : as of `hdsp.peers.Settings`
    test_size : share of test documents
    choosing : chooses the words of each split by its training documents, of corpora that were
        counted with all their words (`TextSettings.all_words`); None where they were chosen before
    most_seconds : a cell that takes longer is ended, and has failed; None is no limit
    report : called before and after every cell that is done now

    Returns
    -------
    list of Cell
        In the order of corpora, models and seeds. A failed one has an `error` and no measures.
    """
    chosen = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
    _check_plan(corpora, models, chosen, target)
    if most_seconds is not None and not most_seconds > 0:
        raise ValueError(f"`most_seconds` of compare must be positive. Got {most_seconds}.")
    split = {"test_size": test_size, "choosing": _plain(choosing)}
    plan: list[_Place] = []
    for name, corpus in corpora.items():
        described = _describe(name, corpus)
        for model in models:
            for seed in chosen:
                settings = Settings(n_topics, seed, quick, n_jobs, target)
                decided = _determined_by(model, settings, described, split)
                finished = read_finished(cell_path(folder, model, name, seed), decided)
                plan.append(_Place(name, model, settings, decided, finished))
    missing = [place for place in plan if place.finished is None]
    for name, seed in dict.fromkeys((place.corpus, place.settings.seed) for place in missing):
        # Raises now, and not hours later, where a split leaves no words or documents.
        split_corpus(corpora[name], test_size, seed, choosing)
    folder.mkdir(parents=True, exist_ok=True)
    cells: list[Cell] = []
    number = 0
    for name, model, settings, decided, finished in plan:
        if finished is None:
            number += 1
            now = Progress(number, len(missing), model, name, settings.seed, None)
            if report is not None:
                report(now)
            train, test = split_corpus(corpora[name], test_size, settings.seed, choosing)
            outcome = run_isolated(Job(model, settings, train, test), most_seconds)
            finished = Cell(model, name, settings.seed, decided, outcome.measures, outcome.error)
            write_cell(folder, finished)
            if report is not None:
                report(now._replace(cell=finished))
        cells.append(finished)
    return cells


def _check_plan(
    corpora: Mapping[str, Corpus], models: Sequence[str], seeds: Sequence[int], target: str | None
) -> None:
    """Raise, before any work, where some of it could not be done."""
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
        "fingerprint": corpus_fingerprint(corpus),
        "documents": len(corpus),
        "words": corpus.n_words,
        "tokens": corpus.n_tokens,
        "labels": corpus.labels.summary(),
    }


def _plain(choosing: TextSettings | None) -> dict[str, Any] | None:
    """For the record; what a tokenizer did is in the counts, and so in their fingerprint."""
    return None if choosing is None else replace(choosing, tokenizer=None).to_dict()


def _determined_by(
    model: str, settings: Settings, corpus: dict[str, Any], split: dict[str, Any]
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
    # As a file gives it back: tuples become lists.
    plain: dict[str, Any] = json.loads(json.dumps(decided))
    return plain
