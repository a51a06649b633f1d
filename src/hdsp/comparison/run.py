"""Models x corpora x seeds: what is to be done, what is done already, and doing the rest."""

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from hdsp.comparison.cells import Cell, cell_path, read_finished, write_cell
from hdsp.comparison.isolation import Job, run_isolated
from hdsp.comparison.measures import N_TOP_WORDS
from hdsp.comparison.split import corpus_fingerprint, split_corpus
from hdsp.corpus import Corpus
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


def compare(
    corpora: Mapping[str, Corpus],
    models: Sequence[str],
    folder: Path,
    *,
    seeds: int | Sequence[int] = 3,
    n_topics: int = 50,
    test_size: float = 0.2,
    quick: bool = False,
    n_jobs: int = 1,
    target: str | None = None,
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
    report : called before and after every cell that is done now

    Returns
    -------
    list of Cell
        In the order of corpora, models and seeds. A failed one has an `error` and no measures.
    """
    chosen = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
    _check_plan(corpora, models, chosen, target)
    places = [
        (name, model, seed, settings)
        for name in corpora
        for model in models
        for seed in chosen
        for settings in [Settings(n_topics, seed, quick, n_jobs, target)]
    ]
    described = {name: _describe(name, corpus) for name, corpus in corpora.items()}
    plan: list[tuple[str, str, int, Settings, dict[str, Any], Cell | None]] = []
    for name, model, seed, settings in places:
        decided = _determined_by(model, settings, described[name], test_size)
        finished = read_finished(cell_path(folder, model, name, seed), decided)
        plan.append((name, model, seed, settings, decided, finished))
    folder.mkdir(parents=True, exist_ok=True)
    total = sum(cell is None for *_, cell in plan)
    cells: list[Cell] = []
    number = 0
    for name, model, seed, settings, decided, finished in plan:
        if finished is None:
            number += 1
            if report is not None:
                report(Progress(number, total, model, name, seed, None))
            train, test = split_corpus(corpora[name], test_size, seed)
            outcome = run_isolated(Job(model, settings, train, test))
            finished = Cell(model, name, seed, decided, outcome.measures, outcome.error)
            write_cell(folder, finished)
            if report is not None:
                report(Progress(number, total, model, name, seed, finished))
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


def _describe(name: str, corpus: Corpus) -> dict[str, Any]:
    return {
        "name": name,
        "fingerprint": corpus_fingerprint(corpus),
        "documents": len(corpus),
        "words": corpus.n_words,
        "tokens": corpus.n_tokens,
        "labels": corpus.labels.summary(),
    }


def _determined_by(
    model: str, settings: Settings, corpus: dict[str, Any], test_size: float
) -> dict[str, Any]:
    peer = make_peer(model)
    versions = {name: version(name) for name in (*_PACKAGES, *peer.libraries)}
    decided = {
        "settings": asdict(settings) | peer.details(settings),
        "split": {"seed": settings.seed, "test_size": test_size},
        "corpus": corpus,
        "measures": {"top_words": N_TOP_WORDS, "completion_seed": 0},
        "versions": versions | {"python": platform.python_version()},
    }
    # As a file gives it back: tuples become lists.
    plain: dict[str, Any] = json.loads(json.dumps(decided))
    return plain
