"""Checks of a model: cells of labels whose documents differ from expectation, split topics, junk.

In each cell of labels, the mean difference of estimated and expected proportions is compared with
its standard error. Bins of a numeric label show a curve that a line misses, pairs of labels an
interaction, and parts of time a drift.

If groups use different words for one subject, a model without versions of topics gives each group a
topic. Both share most of their characteristic words, and a label raises one and lowers the other.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtri, stdtr

from hdsp.analysis.design import column_numbers
from hdsp.analysis.documents import column_values, in_memory
from hdsp.analysis.effects import TopicRegression
from hdsp.analysis.fitted import FittedModel
from hdsp.analysis.label_effects import own_regression, read_corpus
from hdsp.analysis.topics import Columns, name_column, top_words, topic_part
from hdsp.corpus import Corpus
from hdsp.corpus.columns import parse_number
from hdsp.exceptions import UnreliableTopicsWarning, warn_caller
from hdsp.fit.run import Run
from hdsp.metrics import topic_top_words
from hdsp.numerics import FloatArray, IntArray
from hdsp.scaling.design import LabelDesign

# Means of fewer documents, or groups of documents, are not normal.
_MIN_DOCUMENTS = 20
# Bins of a number or of time alone, and of a number and of time in pairs; and the maximum of labels
# of a column, the most frequent, alone and in pairs.
_BINS, _PAIR_BINS, _TIME_PAIR_BINS = 8, 3, 2
_MAX_LABELS, _MAX_IN_PAIRS, _MAX_CELLS = 50, 8, 400
# The share of corpora with a cell beyond the limit, if the form of the effects is right.
_FALSE_ALARMS = 0.05
ORDER = "order"

# Documents by the value of a label.
_Parts = list[tuple[str, IntArray]]


class Cell(NamedTuple):
    """Documents `rows`: the label columns that choose them, their values, and what they show."""

    label: str
    cell: str
    shows: str
    rows: IntArray


def make_cells(
    space: LabelDesign, values: csr_array, time: FloatArray | None = None, time_name: str = ""
) -> list[Cell]:
    """Cells of the labels `values` [M, n_labels], and of time, with enough documents.

    `time` [M] is NaN where it is missing; `time_name` may be that of a label.
    """
    in_pairs: dict[str, _Parts] = {}
    parts: list[tuple[str, str, _Parts]] = []
    for block in space.schema.blocks:
        name, columns = block.name, space.schema.slices()[block.name]
        if not space.used_labels[columns].all():
            continue
        if block.kind == "number":
            if len(block.columns) == 1:
                numbers = column_numbers(values, columns.start) * block.scale[0] + block.mean[0]
                parts.append((name, "curvature", _bins(numbers, _BINS)))
                in_pairs[name] = _bins(numbers, _PAIR_BINS)
            continue
        labels = csr_array(values[:, columns]).tocsc()
        rows = np.split(labels.indices, labels.indptr[1:-1])
        order = np.argsort(-np.diff(labels.indptr), kind="stable")[:_MAX_LABELS]
        levels = [(block.columns[j], rows[j]) for j in order]
        parts.append((name, "level", levels))
        in_pairs[name] = levels[:_MAX_IN_PAIRS]
        if block.kind == "tags":
            pairs = _intersect(combinations(in_pairs[name], 2))
            parts.append((f"{name} × {name}", "interaction", pairs))
    if time is not None and time_name not in in_pairs:
        parts.append((time_name, "drift", _bins(time, _BINS)))
        in_pairs[time_name] = _bins(time, _TIME_PAIR_BINS)
    for (first, some), (second, others) in combinations(in_pairs.items(), 2):
        shows = "drift" if time_name in (first, second) else "interaction"
        parts.append((f"{first} × {second}", shows, _intersect(product(some, others))))
    cells = [Cell(label, cell, shows, rows) for label, shows, own in parts for cell, rows in own]
    return [cell for cell in cells if len(cell.rows) >= _MIN_DOCUMENTS][:_MAX_CELLS]


def _intersect(pairs: Iterable[tuple[tuple[str, IntArray], ...]]) -> _Parts:
    """Documents that are in both parts of each pair."""
    return [
        (f"{name}, {other}", np.intersect1d(rows, others))
        for (name, rows), (other, others) in pairs
    ]


def _bins(numbers: FloatArray, n_bins: int) -> _Parts:
    """Documents by a number: a bin per value if values are few, otherwise bins of equal size."""
    known = np.flatnonzero(~np.isnan(numbers))
    distinct = np.unique(numbers[known])
    n_bins = max(min(n_bins, len(known) // _MIN_DOCUMENTS), 2)
    edges = distinct[1:]
    if len(distinct) > n_bins:
        edges = np.quantile(numbers[known], np.arange(1, n_bins) / n_bins)
    bin_of = np.searchsorted(edges, numbers[known], side="right")
    parts: _Parts = []
    for number in np.unique(bin_of):
        rows = known[bin_of == number]
        ends = dict.fromkeys(f"{end:.6g}" for end in (numbers[rows].min(), numbers[rows].max()))
        parts.append((" to ".join(ends), rows))
    return parts


def measure_misfit(
    cells: Sequence[Cell],
    estimated: FloatArray,
    expected: FloatArray,
    weight: FloatArray,
    groups: IntArray | None = None,
) -> FloatArray:
    """Mean estimated and expected proportions, difference, standard error and z, [5, C, T].

    Documents have proportions [M, T] and weights [M]; those of one group are not independent.
    """
    misfit = np.zeros((5, len(cells), estimated.shape[1]))
    residuals = estimated - expected
    variance = (residuals**2).mean(axis=0)
    for number, cell in enumerate(cells):
        share = weight[cell.rows] / max(weight[cell.rows].sum(), 1e-300)
        mean, difference = share @ estimated[cell.rows], share @ residuals[cell.rows]
        scores = share[:, None] * (residuals[cell.rows] - difference)
        if groups is not None:
            member = np.unique(groups[cell.rows], return_inverse=True)[1]
            scores = csr_array((np.ones(len(scores)), (member, np.arange(len(scores))))) @ scores
        freedom = max(len(scores) - 1, 1)
        # As for effects, the wider of a robust and a classical error.
        robust = (scores**2).sum(axis=0) * len(scores) / freedom
        error = np.sqrt(np.maximum(robust, variance * (share**2).sum()))
        # The normal quantile of the t statistic: means of few groups vary more.
        tail = stdtr(freedom, -np.abs(difference) / np.maximum(error, 1e-300))
        z = -np.sign(difference) * ndtri(np.maximum(tail, 1e-300)) * (len(scores) > 1)
        misfit[:, number] = mean, mean - difference, difference, error, z
    return misfit


def check_columns(fitted: FittedModel, corpus: Any, groups: Any, time: Any, run: Run) -> Columns:
    """The columns of `HDSP.check_labels`."""
    owner = "HDSP.check_labels"
    corpus = in_memory(corpus, owner)
    reading, _ = read_corpus(fitted, corpus, groups, run, owner, own_labels=True)
    warn_of_split_topics(own_regression(fitted))
    regression = TopicRegression(fitted, reading, fitted.space)
    return cell_columns(regression, *time_of(corpus, time, owner))


def cell_columns(regression: Any, time: FloatArray | None = None, time_name: str = "") -> Columns:
    """The columns of `HDSP.check_labels` for a `TopicRegression`: the largest misfit first.

    `time` has one number per document of the corpus that was read.
    """
    reading = regression._reading
    rows, expected, residuals = regression._fitted_values
    time = None if time is None else time[reading.rows][rows]
    cells = make_cells(regression._space, csr_array(reading.values[rows]), time, time_name)
    weight = reading.document_weights(regression.weight)[rows]
    misfit = measure_misfit(cells, expected + residuals, expected, weight, regression._clusters)
    n_topics = misfit.shape[2]
    misfit = misfit.reshape(5, -1)
    order = np.argsort(-np.abs(misfit[-1]), kind="stable")
    chosen = [cells[c] for c in order // n_topics]
    # By Bonferroni: no cell exceeds the limit in 95% of corpora, if the form is right.
    limit = -ndtri(_FALSE_ALARMS / 2.0 / max(len(order), 1))
    beyond = np.abs(misfit[-1, order]) > limit
    names = ("found", "expected", "difference", "error", "z")
    return {
        "label": [cell.label for cell in chosen],
        "cell": [cell.cell for cell in chosen],
        "n_documents": [len(cell.rows) for cell in chosen],
        **topic_part(regression._model, order % n_topics),
        **dict(zip(names, misfit[:, order].tolist(), strict=True)),
        "verdict": [cell.shows if far else "" for cell, far in zip(chosen, beyond, strict=True)],
    }


_SHOWN = {
    "curvature": "the line or curve of {} misses a bend",
    "interaction": "labels act together in {}",
    "drift": "effects change with {}",
    "level": "documents of {} differ from what is expected",
}


def check_sentence(columns: Columns) -> str:
    """What a table of cells says, in one sentence."""
    labels, verdicts = columns["label"], columns["verdict"]
    if not labels:
        return "There is no cell of labels with enough documents to check."
    bad = [row for row, verdict in enumerate(verdicts) if verdict]
    if not bad:
        n_cells = len(set(zip(labels, columns["cell"], strict=True)))
        return (
            f"No deviation is significant in {n_cells} cells of labels, after adjusting for "
            f"{len(labels)} comparisons."
        )
    worst, points = bad[0], 100.0 * columns["difference"][bad[0]]
    told = dict.fromkeys(_SHOWN[verdicts[row]].format(labels[row]) for row in bad)
    shown = "; ".join(list(told)[:3])
    return (
        f"{shown[0].upper()}{shown[1:]}: for example topic {columns['topic'][worst]} is "
        f"{abs(points):.1f} points {'above' if points > 0 else 'below'} its expected share in "
        f"documents with {labels[worst]} {columns['cell'][worst]}."
    )


def time_of(corpus: Corpus, time: Any, owner: str) -> tuple[FloatArray | None, str]:
    """The documents' time as numbers, NaN if missing, and its name."""
    if time is None:
        return None, ""
    name = time if isinstance(time, str) else "time"
    if name == ORDER:
        return np.arange(float(len(corpus))), name
    values = column_values(corpus, name, "time", owner) if isinstance(time, str) else time
    return read_times(values, len(corpus), owner), name


def read_times(time: Iterable[Any], n_documents: int, owner: str) -> FloatArray:
    """Numbers or dates as numbers, NaN if missing."""
    numbers = np.array([parse_number(value) for value in time], dtype=np.float64)
    if len(numbers) != n_documents or np.isnan(numbers).all():
        raise ValueError(
            f"`time` of {owner} must name a number or date of the corpus, be 'order', or have one "
            "number or date per document."
        )
    return numbers


# Two topics are alike if they share this part of their characteristic words. In real corpora almost
# no pair shares a third; a sixth would warn about every corpus, and two thirds almost never.
_SHARED = 1.0 / 3.0
# The level of the intervals, and words of a topic that are told.
_LEVEL, _SPLIT_WORDS = 0.9, 3


def shared_words(word_share: FloatArray, weight: FloatArray) -> FloatArray:
    """The shared part of the words that set topics apart from the corpus, [T, T]; 0 if small.

    `word_share` [V, T] has columns that sum to 1, and `weight` [T] is the size of topics.
    """
    corpus = word_share @ (weight / max(weight.sum(), 1e-300))
    excess = np.maximum(word_share - corpus[:, None], 0.0).T.astype(np.float64, order="C")
    size = np.maximum(excess.sum(axis=1), 1e-300)
    shared = np.zeros((len(excess), len(excess)))
    for k, own in enumerate(excess[:-1]):
        common = np.minimum(own, excess[k + 1 :]).sum(axis=1) / np.minimum(size[k], size[k + 1 :])
        shared[k, k + 1 :] = shared[k + 1 :, k] = common
    return np.where(shared >= _SHARED, shared, 0.0)


def warn_of_split_topics(regression: TopicRegression) -> None:
    """Name two topics that may be one subject in the words of two groups.

    They are the most alike of those that a label changes in opposite directions.
    """
    model = regression._model
    if model.state.versions is not None or model.merged_topics is not None or not model.used.any():
        return
    contrasts = regression._contrasts(None, None)
    estimates = regression._estimate(contrasts)
    # Topics that are not in use have no effect and no interval.
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.nan_to_num(estimates.value / estimates.half_width(_LEVEL))
    raised, lowered = (np.where(sign * ratio > 1.0, sign * ratio, 0.0) for sign in (1, -1))
    alike = shared_words(model.word_share(), model.topic_tokens())
    alike = np.where(raised.T @ lowered > 0.0, alike, 0.0)
    if not alike.any():
        return
    pair = np.unravel_index(alike.argmax(), alike.shape)
    label = np.minimum(raised[:, pair[0]], lowered[:, pair[1]]).argmax()
    words, contrast = top_words(model, _SPLIT_WORDS), contrasts[label]
    one, other = (f"{k} ({' '.join(words[k])})" for k in pair)
    n_others = int(np.triu(np.maximum(alike, alike.T) > 0.0).sum()) - 1
    more = f", and {n_others} more pairs like these," if n_others else ""
    remedy = ""
    if model.schema.kind(contrast.block) == "category":
        remedy = f" HDSP(content={contrast.block!r}) gives groups their own words of a topic."
    up, down = 100 * estimates.value[label, pair]
    warn_caller(
        f"Topics {one} and {other}{more} share {alike.max():.0%} of the words that set them apart, "
        f"and {contrast.label!r} raises the one by {up:.1f} points and lowers the other by "
        f"{-down:.1f}: they may be one subject in the words of two groups.{remedy}",
        UnreliableTopicsWarning,
    )


# What is left of addresses and markup; three times the same letter; no vowel; words run together.
_JUNK = re.compile(
    r"https?|www|com|htm|href|nbsp|amp|quot|img|src|jpe?g|png|gif|utm"
    r"|[a-z]*([a-z])\1\1[a-z]*|[b-df-hj-np-tv-xz]{5,}|[a-z]{23,}"
)
# Words of a topic that are looked at, and topics whose junk is told without being asked for.
_WORDS, _LARGEST, _NAMED = 20, 5, 3


def junk_columns(fitted: FittedModel) -> Columns:
    """Words among the first of topics that look like junk, with the topic that has most of each."""
    words, components = fitted.source.words, fitted.components
    found = sorted(
        (int(components[:, i].argmax()), words[i])
        for i in np.unique(topic_top_words(components, _WORDS)[: fitted.report.n_topics])
        if any(map(_JUNK.fullmatch, words[i].lower().split()))
    )
    topics = [topic for topic, _ in found]
    share = fitted.tokens / fitted.tokens.sum()
    return {
        "topic": topics,
        **name_column(fitted, topics),
        "share": share[topics].tolist(),
        "word": [word for _, word in found],
    }


def junk_sentence(fitted: FittedModel) -> str:
    """What to do about junk in the largest topics; empty where there is none."""
    table = junk_columns(fitted)
    first = min(table["topic"], default=_LARGEST)
    if first >= _LARGEST:
        return ""
    words = table["word"][: table["topic"].count(first)]
    return (
        f"Topic {first} has words that look like remains of web pages "
        f"({', '.join(words[:_NAMED])}): hdsp topics --junk lists all such words, to leave out "
        "with --stop-words."
    )
