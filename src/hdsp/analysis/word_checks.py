"""Effects of a label beside those of a refit without the words that the label predicts."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from hdsp.analysis.checks import read_groups
from hdsp.analysis.effects import TopicRegression
from hdsp.analysis.fitted import FittedModel, topic_tokens
from hdsp.analysis.groups import TopicGroups
from hdsp.analysis.label_words import word_ratios
from hdsp.analysis.new_documents import read_documents
from hdsp.analysis.reading import LeftOut, estimate_proportions
from hdsp.analysis.refits import fresh_start
from hdsp.analysis.topics import Columns, topic_part
from hdsp.checks import check_known, count_of
from hdsp.corpus import Corpus
from hdsp.fit import FitSource, Plan, Run, fit, fit_batch, topics_in_use
from hdsp.metrics import match_topics
from hdsp.model import Problem, make_problem
from hdsp.model.versions import expand_counts
from hdsp.numerics import BoolArray
from hdsp.scaling.design import MOST_LEVELS

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
    levels = _documents_of_levels(fitted, problem, label)
    own = TopicRegression(fitted, replace(fitted.reading, groups=numbers), fitted.space)
    contrasts = own._contrasts(label, None, _OWNER)
    kept = ~_words_of(fitted, problem, levels, plan, run)
    other = make_problem(csr_array(counts[:, kept]), design, fitted.scaling, priors)
    start = fresh_start(fitted, other, np.random.default_rng(0))
    found = fit_batch(other, start, run, run.new_history())
    partner, _ = match_topics(fitted.state.topics.T[:, kept], found.state.topics.T)
    left_out = LeftOut(other, found.state, run.settings, run.here, None, numbers, found.documents)
    in_use = topics_in_use(topic_tokens(found.state, priors), other.n_documents)
    reading = estimate_proportions(left_out, fitted.space.values(design), in_use)
    members = tuple(tuple(int(partner[k]) for k in held) for held in fitted.groups.members)
    again = replace(fitted, state=found.state, reading=reading, merged_topics=TopicGroups(members))
    without = TopicRegression(again, reading, fitted.space)
    estimates = [regression._estimate(contrasts) for regression in (own, without)]
    effect = np.array([one.value.ravel() for one in estimates])
    half = np.array([one.half_width(_LEVEL).ravel() for one in estimates])
    order = np.argsort(-np.abs(effect[0]), kind="stable")
    effect, half = effect[:, order], half[:, order]
    lost = (np.abs(effect[0]) > half[0]) & ~(np.sign(effect[0]) * effect[1] > half[1])
    contrast, topic = np.divmod(order, len(fitted.groups))
    columns: Columns = {"label": [contrasts[c].label for c in contrast]}
    columns |= topic_part(fitted, topic)
    for suffix, one, wide in zip(("", "_without"), effect, half, strict=True):
        limits = {"effect": one, "lower": one - wide, "upper": one + wide}
        columns |= {name + suffix: values.tolist() for name, values in limits.items()}
    return columns | {"verdict": ["words" if one else "" for one in lost]}


def _words_of(
    fitted: FittedModel, problem: Problem, levels: csr_array, plan: Plan, run: Run
) -> BoolArray:
    """The words that documents of some levels [M, G] use otherwise in some topic, [V]."""
    content = np.arange(levels.shape[1])
    if len(content) > MOST_LEVELS:
        raise ValueError(
            f"{_OWNER} with words=… takes a category of at most {MOST_LEVELS} levels, each of "
            f"which has its own words. Got {len(content)}: join levels."
        )
    entries = expand_counts(problem.entries, levels, content)
    split = replace(problem, entries=entries, content=content).cut()
    versions = fit(FitSource(split, split, fitted.space), plan, run).fit.state.versions
    assert versions is not None
    tokens = versions.by_group()[:, 1:].astype(np.float64)
    ratios = word_ratios(tokens, versions.spread, _LEVEL)
    found = np.zeros(problem.n_words, dtype=np.bool_)
    found[ratios["word"][(ratios["lower"] > 1.0) | (ratios["upper"] < 1.0)]] = True
    return found


def _documents_of_levels(fitted: FittedModel, problem: Problem, label: str) -> csr_array:
    """Ones where documents have a category's levels, a number's thirds, or a tag or not, [M, G]."""
    schema, slices = fitted.schema, fitted.schema.slices()
    values = fitted.space.values(problem.design)
    kinds = [block.kind for block in schema.blocks for _ in block.columns]
    whole = [block.name for block in schema.blocks if block.kind == "category"]
    check_known(label, (*whole, *schema.names), "words", _OWNER, "a category, a number or one tag")
    if label in whole:
        levels = csr_array(values[:, slices[label]])
    else:
        number = schema.names.index(label)
        own = csr_array(values[:, [number]])
        rows, place = np.arange(own.shape[0]), np.diff(own.indptr)
        if kinds[number] == "number":
            edges = np.quantile(own.data, np.arange(1, _PARTS) / _PARTS)
            rows, place = np.repeat(rows, place), np.searchsorted(edges, own.data)
        levels = csr_array((np.ones(len(rows)), (rows, place)), shape=(own.shape[0], _PARTS))
    return levels[:, np.unique(levels.indices)]


def word_check_sentence(columns: Columns) -> str:
    """What a table of effects with and without words says, in one sentence."""
    limits = zip(columns["lower"], columns["upper"], columns["verdict"], strict=True)
    sure = [verdict for lower, upper, verdict in limits if lower > 0 or upper < 0]
    if not sure:
        return "No effect of this label is sure."
    lost = sum(map(bool, sure))
    said = f"{lost} of {count_of(len(sure), 'sure effect')}"
    if not lost:
        return f"{said} are about words: all remain without the words that the label predicts."
    return (
        f"{said} do not remain without the words that the label predicts: they may be about how "
        "groups speak, and not about what they speak of."
    )
