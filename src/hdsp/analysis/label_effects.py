"""Regressions that users ask for, and effects in fits that are made again.

Regressions are by the fit's own formula, or by any other.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count, product
from threading import Event
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import csr_array, hstack
from threadpoolctl import threadpool_limits

from hdsp import progress
from hdsp.analysis.design import Contrast, formula_of, row_levels
from hdsp.analysis.documents import (
    check_corpus,
    check_words,
    column_values,
    in_memory,
    training_problem,
)
from hdsp.analysis.effects import TopicRegression, interval_values
from hdsp.analysis.fitted import FittedModel, topic_tokens
from hdsp.analysis.reading import WEIGHTS, LeftOut, Reading, Weight, estimate_proportions
from hdsp.analysis.regression import Estimates
from hdsp.analysis.topics import Columns, topic_part
from hdsp.checks import check_choice, check_known, check_whole, listed
from hdsp.corpus import Corpus, LabelSchema, as_groups, as_labels, group_numbers
from hdsp.execution.executor import InProcess
from hdsp.fit.passes import Documents
from hdsp.fit.run import Run, interrupting_at_once, topics_in_use
from hdsp.fit.start import STARTS, initial_state
from hdsp.fit.topics import fit_batch
from hdsp.kernels import run_together
from hdsp.metrics import match_topics
from hdsp.model.data import Problem, make_problem
from hdsp.numerics import FloatArray, IntArray
from hdsp.scaling.design import LabelDesign, Scaling

_OWNER = "HDSP.label_effects"
# Labels that the table of topics looks at: those with the surest effects.
_MOST_LABELS = 500
# The regressions of models on their own labels.
_own: "WeakKeyDictionary[FittedModel, dict[Weight, TopicRegression]]" = WeakKeyDictionary()
# Topics that share at least this much probability count as the same topic.
SAME = 0.5
_STABILITY = "HDSP.stability"
# The usual numbers of topics to compare, as shares of the model's.
_NUMBERS = (0.75, 1.0, 4.0 / 3.0)
_LIMITS, _AGREEMENT = ("effect", "lower", "upper"), ("same_sign", "excludes_zero")


class Refits(NamedTuple):
    """How topics are learned again: `settings` is an estimator with the passes and threads.

    `corpus` None is the training documents that the model refers to.
    """

    number: int
    corpus: Any
    settings: Any
    seed: int = 0


def own_regression(fitted: FittedModel, weight: Weight = "documents") -> TopicRegression:
    """The regression of topics on the fit's own labels in the training documents."""
    check_choice(weight, WEIGHTS, "weight", _OWNER)
    known = _own.setdefault(fitted, {})
    if weight not in known:
        known[weight] = TopicRegression(fitted, fitted.reading, fitted.space, weight)
    return known[weight]


def effect_columns(
    fitted: FittedModel,
    labels: str | Sequence[str] | None = None,
    contrast: tuple[Any, Any] | None = None,
    level: float = 0.9,
    weight: Weight = "documents",
    refits: Refits | None = None,
    most: int | None = None,
) -> Columns:
    """The columns of `HDSP.label_effects`; of `most` labels, those with the strongest effects."""
    regression = own_regression(fitted, weight)
    columns = regression._effect_columns(labels, contrast, level, _OWNER, most)
    if refits is not None and columns["label"]:
        contrasts = regression._contrasts(labels, contrast, _OWNER)
        columns |= refit_effects(regression, contrasts, level, refits)
    return columns


def strongest_effects(fitted: FittedModel) -> Columns | None:
    """Effects of the labels that change topics most; None without a regression of topics."""
    with warnings.catch_warnings(), suppress(ValueError):
        warnings.simplefilter("ignore")
        if fitted.used.any():
            return effect_columns(fitted, most=_MOST_LABELS)
    return None


def estimate_effects(
    fitted: FittedModel,
    formula: Scaling | None,
    labels: Any,
    corpus: Any,
    groups: Any,
    weight: Weight,
    run: Run,
) -> TopicRegression:
    """The regression of `HDSP.estimate_effects`."""
    owner = "HDSP.estimate_effects"
    check_choice(weight, WEIGHTS, "weight", owner)
    if corpus is None:
        reading, schema = _with_labels(fitted, labels, owner)
        if isinstance(groups, str):
            known = [block.name for block in schema.blocks if block.kind != "tags"]
            what = "one value per document, or name a category or a number"
            check_known(groups, known, "groups", owner, what)
            own = csr_array(reading.values[:, schema.slices()[groups]])
            reading = replace(reading, groups=row_levels(own))
        elif (names := as_groups(groups, fitted.n_documents, owner)) is not None:
            reading = replace(reading, groups=group_numbers(names)[reading.rows])
    elif labels is not None:
        raise ValueError(f"`labels` of {owner} must be None with a `corpus`, which has its own.")
    else:
        corpus = in_memory(corpus, owner)
        reading, schema = read_corpus(fitted, corpus, groups, run, owner, formula is None)
    space, given = fitted.space, formula
    if formula is not None or schema is not fitted.schema:
        formula = formula or "auto"
        if formula == "auto" and isinstance(groups, str):
            # A column that names groups is no label unless a formula has it.
            kept = [block.name for block in schema.blocks if block.name != groups]
            formula = "~ " + " + ".join(f"`{name}`" for name in kept)
        space = LabelDesign.fit(formula, schema, reading.values)
        values = space.schema.restate(reading.values, schema)
        reading = replace(reading, values=values)
    name = given if isinstance(given, str) and given != "auto" else formula_of(space)
    return TopicRegression(fitted, reading, space, weight, name)


def _with_labels(fitted: FittedModel, labels: Any, owner: str) -> tuple[Reading, LabelSchema]:
    """The training documents, with further labels."""
    reading, schema = fitted.reading, fitted.schema
    if labels is None:
        return reading, schema
    parsed = as_labels(labels, fitted.n_documents, owner)
    new = LabelSchema.of(parsed)
    replaced = {block.name for block in new.blocks}
    kept = tuple(block for block in schema.blocks if block.name not in replaced)
    parts = [csr_array(reading.values[:, schema.slices()[block.name]]) for block in kept]
    parts.append(csr_array(new.encode(parsed)[reading.rows], dtype=np.float64))
    values = csr_array(hstack(parts, format="csr"))
    return replace(reading, values=values), LabelSchema((*kept, *new.blocks))


def read_corpus(
    fitted: FittedModel, corpus: Corpus, groups: Any, run: Run, owner: str, own_labels: bool
) -> tuple[Reading, LabelSchema]:
    """Documents of a corpus with their labels: training documents as they were read in the fit."""
    check_words(fitted, corpus, owner, "`corpus`")
    schema = fitted.schema if own_labels else LabelSchema.of(corpus.labels)
    values = csr_array(schema.encode(corpus.labels), dtype=np.float64)
    if isinstance(groups, str):
        groups = column_values(corpus, groups, "groups", owner)
    names = corpus.groups if groups is None else as_groups(groups, len(corpus), owner)
    numbers = None if names is None else group_numbers(names)
    stored, lengths = fitted.reading, np.asarray(corpus.counts.sum(axis=1), dtype=np.float64)
    if len(corpus) == fitted.n_documents and np.array_equal(lengths[stored.rows], stored.lengths):
        numbers = stored.groups if numbers is None else numbers[stored.rows]
        return replace(stored, values=csr_array(values[stored.rows]), groups=numbers), schema
    design = csr_array(fitted.space.encode(corpus.labels, False), dtype=np.float32)
    content = fitted.state.content
    problem = make_problem(corpus.counts, design, fitted.scaling, fitted.priors, content=content)
    # Topics have not seen these documents: none is left out.
    copies = np.zeros(problem.n_documents, dtype=np.int64)
    left_out = LeftOut(problem, fitted.state, run.settings, run.here, copies, numbers)
    return estimate_proportions(left_out, values, fitted.reading.n_topics), schema


def refit_effects(
    regression: TopicRegression, contrasts: list[Contrast], level: float, refits: Refits
) -> Columns:
    """Columns of effects in the same documents, pooled over topics of resampled ones.

    Each refit draws as many documents with replacement, or as many groups, and starts afresh, as
    the model did and with as many topics. The original documents are then read with its topics, out
    of fold, and regressed: so effects differ between refits by their topics alone. Refits run side
    by side, with the same result for any number of threads. `matched` is the share of refits in
    which a topic shares half of its probability with its match.
    """
    check_whole(refits.number, "refits", 2)
    fitted = regression._model
    problem, groups = _training_documents(fitted, refits.corpus)
    interruption, counter = Event(), count(1)
    # Topics begin as in the model's fit, and are as many.
    init = fitted.report.init if fitted.report.init in STARTS else "nmf"
    concentrations = fitted.state.corpus_concentration, fitted.state.document_concentration

    def refit(number: int) -> tuple[FloatArray, FloatArray]:
        rng = np.random.default_rng([refits.seed, number])
        run = Run(refits.settings.max_iter, refits.settings.tol, interruption=interruption)
        drawn = _resample(problem.n_documents, groups, rng)
        resampled = problem.take(drawn)
        start = initial_state(resampled, fitted.state.n_topics, init, *concentrations, rng)
        state = fit_batch(Documents(resampled, run.here), start, run)
        if run.interrupted:
            # The result is not used.
            return np.empty(0), np.empty(0)
        copies = np.bincount(drawn, minlength=problem.n_documents)
        without = LeftOut(problem, state, run.settings, run.here, copies, groups)
        in_use = topics_in_use(topic_tokens(state, fitted.priors), problem.n_documents)
        reading = estimate_proportions(without, fitted.reading.values, max(in_use, 1))
        again = replace(fitted, state=state, reading=reading, merged_topics=None)
        # A fit orders its topics by size.
        partner, distance = match_topics(fitted.state.topics.T, state.topics.T)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other = TopicRegression(again, reading, fitted.space, regression.weight)
            values = other._estimate(contrasts).value[:, partner]
        task.update(done=next(counter))
        return fitted.groups.sum(values), 1.0 - distance

    def refit_or_stop(number: int) -> tuple[FloatArray, FloatArray]:
        try:
            return refit(number)
        except BaseException:
            # Refits that run end with their pass, so that Ctrl-C need not wait for them.
            interruption.set()
            raise

    shown = progress.task("Fitting resampled documents", total=refits.number)
    threads = InProcess(refits.settings.n_jobs)
    with threadpool_limits(1, "blas"), interrupting_at_once(), threads, shown as task:
        results = run_together([partial(refit_or_stop, n) for n in range(refits.number)])
    values, similarity = (np.array(part) for part in zip(*results, strict=True))
    matched = (similarity >= SAME).mean(axis=0)
    pooled = pool_refits(regression._estimate(contrasts), values, level)
    own = np.tile([matched[list(k)].min() for k in fitted.groups.members], (len(contrasts), 1))
    found = interval_values(pooled, level, "effect") | {"matched": own}
    return {name: np.ravel(values).tolist() for name, values in found.items()}


def _training_documents(fitted: FittedModel, corpus: Any) -> tuple[Problem, IntArray | None]:
    """The training documents and their groups; raise if they are gone."""
    left_out = fitted.left_out
    if corpus is not None:
        return training_problem(fitted, corpus, _OWNER)
    if left_out is None or len(fitted.reading) < fitted.n_documents:
        raise ValueError(
            "`refits` of HDSP.label_effects needs the training documents, which a saved model does "
            "not contain: pass them as `corpus`."
        )
    return left_out.problem, left_out.groups


def pool_refits(own: Estimates, values: FloatArray, level: float) -> Estimates:
    """Rubin's rules: estimates over refits, [C, T], whose errors are those of both kinds.

    `own` are the model's estimates, whose variance is that within refits; `values` [R, C, T] the
    effects in refits.
    """
    n_refits = len(values)
    mean, between = values.mean(axis=0), values.var(axis=0, ddof=1)
    within = np.maximum(own.error(level), 1e-300) ** 2
    extra = (1.0 + 1.0 / n_refits) * between
    total = np.maximum(within + extra, 1e-300)
    # Barnard and Rubin (1999): few refits, and few documents.
    part = np.maximum(extra / total, 1e-12)
    refits = (n_refits - 1) / part**2
    robust = own.error(level) == own.robust
    complete = np.where(robust, own.degrees, own.classical_degrees)
    observed = (complete + 1.0) / (complete + 3.0) * complete * (1.0 - part)
    degrees = 1.0 / (1.0 / refits + 1.0 / np.maximum(observed, 1.0))
    error = np.sqrt(total)
    return Estimates(mean, error, error, degrees, classical_degrees=np.inf)


def _resample(n_documents: int, groups: IntArray | None, rng: np.random.Generator) -> IntArray:
    """Documents drawn with replacement, in order: as many, or as many whole groups."""
    if groups is None:
        return np.sort(rng.integers(n_documents, size=n_documents))
    own = np.where(groups < 0, -1 - np.arange(n_documents), groups)
    _, member = np.unique(own, return_inverse=True)
    n_groups = int(member.max()) + 1
    copies = np.bincount(rng.integers(n_groups, size=n_groups), minlength=n_groups)
    return np.repeat(np.arange(n_documents), copies[member])


def stability_columns(
    fitted: FittedModel,
    settings: Any,
    corpus: Any,
    numbers: Sequence[int] | None = None,
    seeds: int | Sequence[int] = 4,
    per_fit: bool = False,
    labels: str | Sequence[str] | None = None,
    level: float = 0.9,
) -> tuple[list[int], Columns]:
    """The numbers of topics of further fits, and the columns of `HDSP.stability`."""
    changes = _changed_settings(settings, numbers, seeds)
    own: Columns = {"label": []}
    if per_fit:
        training_problem(fitted, corpus, _STABILITY)
        own = own_regression(fitted)._effect_columns(labels, None, level, _STABILITY)
    else:
        check_corpus(corpus, _STABILITY)
        check_words(fitted, corpus, _STABILITY, "`corpus`")

    def compare(other: Any) -> Columns:
        partner, distance = match_topics(fitted.components, other.components_)
        # Without labels, one row per topic.
        n_effects = len(own["label"]) // len(partner)
        topics = np.tile(np.arange(len(partner)), max(n_effects, 1))
        similarity = 1.0 - distance[topics]
        columns: Columns = {
            "number": [other.n_topics_ if numbers is None else other.n_components] * len(topics),
            "seed": [other.random_state] * len(topics),
            **topic_part(fitted, topics),
            "matched": partner[topics].tolist(),
            "similarity": similarity.tolist(),
            "found": (similarity >= SAME).tolist(),
        }
        if not n_effects:
            return columns
        effects = own_regression(other._model)._effect_columns(labels, None, level, _STABILITY)
        limits = np.reshape([effects[name] for name in _LIMITS], (3, n_effects, -1))[..., partner]
        effect, lower, upper = np.where(partner >= 0, limits, np.nan).reshape(3, -1)
        same = (similarity >= SAME) & (np.sign(effect) == np.sign(own["effect"]))
        sure = same & ((lower > 0) | (upper < 0))
        columns |= {name: own[name] for name in ("label", "contrast")}
        values = map(np.ndarray.tolist, (effect, lower, upper, same, sure))
        return columns | dict(zip(_LIMITS + _AGREEMENT, values, strict=True))

    fits = _fit_again(settings, corpus, changes, compare)
    found = [fit["number"][0] for fit in fits]
    if per_fit:
        return found, {name: [value for fit in fits for value in fit[name]] for name in fits[0]}
    similarity = np.array([fit["similarity"] for fit in fits])
    return found, topic_part(fitted, range(similarity.shape[1])) | {
        "similarity": similarity.mean(axis=0).tolist(),
        "lowest": similarity.min(axis=0).tolist(),
        "found_in": (similarity >= SAME).sum(axis=0).tolist(),
        "fits": [len(fits)] * similarity.shape[1],
    }


def usual_numbers(fitted: FittedModel, settings: Any) -> list[int]:
    """Three quarters of the model's number of topics, as many, and a third more."""
    least = max(2, len(settings.seeds or ()))
    return sorted({max(least, round(x * fitted.state.n_topics)) for x in _NUMBERS})


def _changed_settings(
    settings: Any, numbers: Sequence[int] | None, seeds: int | Sequence[int]
) -> list[dict[str, Any]]:
    """The parameters of each further fit: every number of topics with every seed."""
    chosen: Sequence[Any]
    if isinstance(seeds, Iterable):
        chosen = list(seeds)
    else:
        check_whole(seeds, "seeds", 1)
        seed = settings.random_state
        first = int(seed) + 1 if isinstance(seed, (int, np.integer)) else 1
        chosen = range(first, first + int(seeds))
    for seed in chosen:
        check_whole(seed, "seeds", 0)
    for number in numbers or ():
        check_whole(number, "numbers", max(2, len(settings.seeds or ())))
    # Topics that were given as an array would be found again, whatever the seed.
    init = settings.init if isinstance(settings.init, str) else "auto"
    changes = [{"init": init, "random_state": seed} for seed in chosen]
    if numbers is None:
        return changes
    return [{**change, "n_components": n} for n, change in product(numbers, changes)]


def _fit_again(
    settings: Any,
    corpus: Any,
    changes: Sequence[Mapping[str, Any]],
    compare: Callable[[Any], Columns],
) -> list[Columns]:
    """The result of `compare` for each fit of an estimator with some parameters changed."""
    from sklearn.base import clone

    numbers, results = [], []
    shown = progress.task("Fitting with other seeds", total=len(changes))
    recorded = warnings.catch_warnings(record=True)
    with shown as task, interrupting_at_once(), recorded as caught:
        warnings.simplefilter("always")
        for change in changes:
            other = clone(settings).set_params(**change, checkpoint=None).fit(corpus)
            numbers.append(other.n_topics_)
            results.append(compare(other))
            task.update(done=len(numbers), topics_found=", ".join(map(str, numbers)))
    first = {warning.category: warning.message for warning in reversed(caught)}
    for kind, message in first.items():
        warnings.warn(f"In fits with other seeds or numbers: {message}", kind, stacklevel=4)
    return results


def stability_facts(columns: Columns, effects: Columns) -> dict[str, str]:
    """How far fits agree with a model's effects, in words, from a table with rows per fit."""
    import pandas as pd

    numbers, seeds = (list(dict.fromkeys(columns[name])) for name in ("number", "seed"))
    facts = {"refit_numbers": listed(numbers), "found": _percent(columns["found"])}
    facts["refit_seeds"] = f"seed{'s' * (len(seeds) > 1)} {listed(seeds)}"
    limits = pd.DataFrame(effects)[["label", "topic", "lower", "upper"]]
    sure = limits[(limits["lower"] > 0) | (limits["upper"] < 0)][["label", "topic"]]
    if "label" in columns and len(chosen := pd.DataFrame(columns).merge(sure)):
        facts |= {name: _percent(chosen[name].tolist()) for name in _AGREEMENT}
    return facts


def _percent(values: Sequence[bool]) -> str:
    return f"{100.0 * float(np.mean(values)):.0f} %"
