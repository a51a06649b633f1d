"""The table of cells of labels: what was found in documents, and what is expected of them."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.answers.document_topics import label_values
from hdsp.answers.new_documents import check_corpus, read_problem
from hdsp.answers.topic_tables import Columns, topic_part
from hdsp.corpus import Corpus, StoredCorpus, as_groups, group_numbers
from hdsp.corpus.values import written_number
from hdsp.fit import Run
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction import (
    Calibration,
    FittedModel,
    ReadDocuments,
    Weight,
    expected_errors,
    is_training,
    make_cells,
    measure_misfit,
    read_tokens,
)
from hdsp.prediction.checks import Cell
from hdsp.scaling import LabelSpace
from hdsp.validation import check_choice, quoted

ORDER = "order"


def read_again(
    fitted: FittedModel, corpus: Any, groups: object, run: Run, owner: str
) -> tuple[ReadDocuments, bool]:
    """Documents with the model's own labels, and whether they are those of training."""
    corpus = in_memory(corpus, owner)
    problem = read_problem(fitted, corpus, owner, warn=False)
    numbers = read_groups(corpus, groups, owner)
    tokens, _ = read_tokens(fitted, problem, fitted.state, run, numbers)
    values = fitted.space.values(problem.design)
    own = tokens[:, : fitted.state.n_topics]
    return ReadDocuments(values, own, numbers), is_training(fitted, corpus.counts)


def in_memory(corpus: Any, owner: str) -> Corpus:
    """A corpus whose documents are in memory."""
    check_corpus(corpus, owner)
    return corpus[:] if isinstance(corpus, StoredCorpus) else corpus


def read_groups(corpus: Corpus, groups: object, owner: str) -> IntArray | None:
    """The groups of documents by number: of a column, of an array, or those of the corpus."""
    names = corpus.groups
    if isinstance(groups, str):
        values = column_values(corpus, groups, "groups", owner)
        groups = [None if value is None else str(value) for value in values]
    if groups is not None:
        names = as_groups(groups, len(corpus), owner)
    return None if names is None else group_numbers(names)


def column_values(corpus: Corpus, name: str, parameter: str, owner: str) -> list[Any]:
    """The values of a category or number of a corpus, one per document; None where missing."""
    block = next((one for one in corpus.labels.blocks if one.name == name), None)
    if block is None or block.kind == "tags" or (block.kind == "number" and len(block.columns) > 1):
        known = quoted(one.name for one in corpus.labels.blocks if one.kind != "tags")
        raise ValueError(
            f"`{parameter}` of {owner} must name a category or a number of the corpus, or hold one "
            f"value per document. Got {name!r}; there are {known or 'none'}."
        )
    (found,) = label_values(corpus.labels.select([name])).values()
    return [None if value is None or value != value else value for value in found]


def time_of(corpus: Corpus, time: Any, owner: str) -> tuple[FloatArray | None, str]:
    """The documents' time as numbers, NaN where it is missing, and what it is called."""
    if time is None:
        return None, ""
    if isinstance(time, str) and time == ORDER:
        return np.arange(float(len(corpus))), ORDER
    name = time if isinstance(time, str) else "time"
    values = column_values(corpus, time, "time", owner) if isinstance(time, str) else list(time)
    numbers = [None if value is None else written_number(value) for value in values]
    if len(numbers) != len(corpus) or all(number is None for number in numbers):
        raise ValueError(
            f"`time` of {owner} must name a number or date of the corpus, be 'order', or hold one "
            "number or date per document."
        )
    return np.array([np.nan if one is None else one for one in numbers]), name


def check_columns(
    fitted: FittedModel,
    documents: ReadDocuments,
    weight: Weight,
    in_training: bool,
    time: tuple[FloatArray | None, str] = (None, ""),
) -> Columns:
    """The columns of `HDSP.check_labels`: the largest misfit first."""
    check_choice(weight, ("documents", "tokens"), "weight", "HDSP.check_labels")
    calibration: Calibration = getattr(fitted.calibrations, weight)
    space = fitted.space
    cells = _cells(space, documents.values, *time)
    lengths = documents.lengths
    share = lengths if weight == "tokens" else (lengths > 0).astype(np.float64)
    expected = fitted.groups.sum(calibration.proportions(space.design(documents.values)))
    error = None
    if not in_training:
        error = expected_errors(calibration, space, documents.values, cells)
        error = np.sqrt(fitted.groups.sum(error**2))
    found = fitted.groups.sum(documents.proportions)
    misfit = measure_misfit(cells, found, expected, share, documents.groups, error)
    n_topics = len(fitted.groups)
    order = np.argsort(-np.abs(misfit.z).ravel(), kind="stable")
    cell, topic = (part.tolist() for part in np.divmod(order, n_topics))
    beyond = (np.abs(misfit.z) > misfit.limit).ravel()[order]
    columns: Columns = {
        "label": [cells[c].label for c in cell],
        "cell": [cells[c].cell for c in cell],
        "n_documents": [len(cells[c].rows) for c in cell],
        **topic_part(fitted, topic),
    }
    for name in ("found", "expected"):
        columns[name] = getattr(misfit, name).ravel()[order].tolist()
    columns["difference"] = (misfit.found - misfit.expected).ravel()[order].tolist()
    columns["error"] = misfit.error.ravel()[order].tolist()
    columns["z"] = misfit.z.ravel()[order].tolist()
    columns["verdict"] = [
        cells[c].shows if out else "" for c, out in zip(cell, beyond, strict=True)
    ]
    return columns


def _cells(space: LabelSpace, values: csr_array, time: FloatArray | None, name: str) -> list[Cell]:
    """Cells of labels and of time; of a time that is a label the label's own, once."""
    cells = make_cells(space, values, time, name)
    if not any(cell.label == name and cell.shows != "drift" for cell in cells):
        return cells
    return [
        replace(cell, shows="drift")
        if cell.shows == "interaction" and name in cell.label.split(" × ")
        else cell
        for cell in make_cells(space, values)
    ]


def check_sentence(columns: Columns) -> str:
    """What a table of cells says, in one sentence."""
    if not columns["label"]:
        return "There is no cell of labels with enough documents to check."
    bad = [row for row, verdict in enumerate(columns["verdict"]) if verdict]
    n_cells = len(set(zip(columns["label"], columns["cell"], strict=True)))
    if not bad:
        return f"In none of {n_cells} cells of labels do documents differ from what is expected."
    worst = bad[0]
    named = dict.fromkeys((columns["verdict"][row], columns["label"][row]) for row in bad)
    said = {
        "curvature": "the line or curve of {} misses a bend",
        "interaction": "labels act together in {}",
        "drift": "effects change with {}",
        "level": "documents of {} differ from what is expected",
    }
    parts = [said[verdict].format(label) for verdict, label in list(named)[:3]]
    found, expected = columns["found"][worst], columns["expected"][worst]
    return (
        f"{'; '.join(parts)[0].upper()}{'; '.join(parts)[1:]}: for example topic "
        f"{columns['topic'][worst]} has {found:.1%} in documents with {columns['label'][worst]} "
        f"{columns['cell'][worst]}, where {expected:.1%} is expected."
    )
