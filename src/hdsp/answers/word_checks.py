"""Effects of a label beside those of a refit without the words that the label predicts."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from hdsp.answers.effect_refits import fresh_start
from hdsp.answers.label_checks import read_groups
from hdsp.answers.new_documents import read_documents
from hdsp.answers.topic_tables import Columns, topic_part
from hdsp.corpus import Corpus
from hdsp.fit import FitSource, Plan, Run, fit, fit_batch
from hdsp.metrics import match_topics
from hdsp.model import Problem, make_problem
from hdsp.model.versions import expand_counts
from hdsp.numerics.types import BoolArray, IntArray
from hdsp.prediction import FittedModel, TopicGroups, make_contrasts, make_fitted
from hdsp.prediction.group_words import word_ratios
from hdsp.scaling.content import MOST_LEVELS
from hdsp.validation import count_of, quoted

_OWNER = "HDSP.check_labels"
_LEVEL = 0.9
# Documents by a number: the low, the middle and the high third.
_PARTS = 3


def word_check_columns(
    fitted: FittedModel, corpus: Corpus, label: str, groups: object, plan: Plan, run: Run
) -> Columns:
    """The columns of `HDSP.check_labels` for the words of a label.

    Documents are fitted twice more. Once each level of the label has its own versions of topics, as
    many as the search finds, which tell the words that it uses otherwise. Then those words are left
    out, and topics are as many as the model has.
    """
    if fitted.state.versions is not None:
        raise ValueError(
            f"{_OWNER} with words=… is for models without versions of topics: this one was fitted "
            "with `content`, whose groups have their own words."
        )
    counts, design = read_documents(fitted, corpus, None, _OWNER, warn=False)
    numbers = read_groups(corpus, groups, _OWNER)
    priors = replace(fitted.priors, seeds=None)
    problem = make_problem(counts, design, fitted.scaling, priors)
    member = _level_numbers(fitted, problem, label)
    contrasts = make_contrasts(fitted.schema, fitted.used, label, None, fitted.missing(), _OWNER)
    kept = ~_words_of(fitted, problem, member, plan, run)
    other = make_problem(csr_array(counts[:, kept]), design, fitted.scaling, priors)
    start = fresh_start(fitted, other, np.random.default_rng(0))
    found = fit_batch(other, start, run, run.new_history())
    partner, _ = match_topics(fitted.state.topics.T[:, kept], found.state.topics.T)
    again = make_fitted(
        other, found, fitted.space, fitted.source, fitted.report, run, 1.0, groups=numbers
    )
    members = tuple(tuple(int(partner[k]) for k in own) for own in fitted.groups.members)
    again = replace(again, merged_topics=TopicGroups(members))
    before, after = (one.effects(contrasts, _LEVEL, "calibrated", 0) for one in (fitted, again))
    n_topics = len(fitted.groups)
    columns: Columns = {
        "label": [contrast.label for contrast in contrasts for _ in range(n_topics)],
        **topic_part(fitted, list(range(n_topics)) * len(contrasts)),
    }
    for suffix, one in (("", before), ("_without", after)):
        for name in ("effect", "lower", "upper"):
            columns[name + suffix] = getattr(one, name).ravel().tolist()
    sure = (before.lower > 0) | (before.upper < 0)
    lost = np.where(before.effect > 0, after.lower <= 0, after.upper >= 0)
    columns["verdict"] = ["words" if one else "" for one in (sure & lost).ravel()]
    order = np.argsort(-np.abs(before.effect).ravel(), kind="stable").tolist()
    return {name: [values[n] for n in order] for name, values in columns.items()}


def _words_of(
    fitted: FittedModel, problem: Problem, member: IntArray, plan: Plan, run: Run
) -> BoolArray:
    """The words that levels of a label use otherwise in some topic, [V]."""
    levels = np.unique(member[member >= 0])
    if len(levels) > MOST_LEVELS:
        raise ValueError(
            f"{_OWNER} with words=… takes a category of at most {MOST_LEVELS} levels, each of "
            f"which has its own words. Got {len(levels)}: join levels."
        )
    rows = np.flatnonzero(member >= 0)
    place = np.searchsorted(levels, member[rows])
    indicator = csr_array(
        (np.ones(len(rows)), (rows, place)), shape=(problem.n_documents, len(levels))
    )
    content = np.arange(len(levels))
    entries = expand_counts(problem.entries, indicator, content)
    split = replace(problem, entries=entries, content=content).cut()
    state = fit(FitSource(split, split, fitted.space), plan, run).fit.state
    assert state.versions is not None
    tokens = state.versions.by_group()[:, 1:].astype(np.float64)
    total, spread = tokens.sum(axis=1), state.versions.spread
    found = np.zeros(problem.n_words, dtype=np.bool_)
    for number in range(len(levels)):
        ratios = word_ratios(tokens[:, number], total - tokens[:, number], spread, _LEVEL)
        found[ratios.words[(ratios.lower > 1.0) | (ratios.upper < 1.0)]] = True
    return found


def _level_numbers(fitted: FittedModel, problem: Problem, label: str) -> IntArray:
    """The level of each document, [M], or -1: of a category, with or without a tag, of a number."""
    schema, slices = fitted.schema, fitted.schema.slices()
    values = fitted.space.values(problem.design)
    block = slices.get(label)
    if block is not None and schema.kind(label) != "tags":
        own = csr_array(values[:, block])
        found = np.full(problem.n_documents, -1, dtype=np.int64)
        known = np.repeat(np.arange(problem.n_documents), np.diff(own.indptr))
        if schema.kind(label) == "category":
            found[known] = own.indices
        else:
            edges = np.quantile(own.data, np.arange(1, _PARTS) / _PARTS)
            found[known] = np.searchsorted(edges, own.data)
        return found
    if label not in schema.names:
        named = quoted(name for name in (*slices, *schema.names))
        raise ValueError(
            f"{_OWNER} with words=… takes a category, a number or one tag of the model. Got "
            f"{label!r}; there are {named or 'none'}."
        )
    column = csr_array(values[:, [schema.names.index(label)]])
    return np.asarray(np.diff(column.indptr) > 0, dtype=np.int64)


def word_check_sentence(columns: Columns) -> str:
    """What a table of effects with and without words says, in one sentence."""
    sure = [
        row
        for row, (lower, upper) in enumerate(zip(columns["lower"], columns["upper"], strict=True))
        if lower > 0 or upper < 0
    ]
    if not sure:
        return "No effect of this label is sure."
    lost = [row for row in sure if columns["verdict"][row]]
    said = f"{len(lost)} of {count_of(len(sure), 'sure effect')}"
    if not lost:
        return f"{said} are about words: all remain without the words that the label predicts."
    return (
        f"{said} do not remain without the words that the label predicts: they may be about how "
        "groups speak, and not about what they speak of."
    )
