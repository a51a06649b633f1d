"""Regressions that users ask for: by the fit's own formula, or by any other."""

import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import csr_array, hstack

from hdsp.analysis.design import formula_of, row_levels
from hdsp.analysis.documents import check_words, column_values, in_memory
from hdsp.analysis.effects import TopicRegression
from hdsp.analysis.fitted import FittedModel
from hdsp.analysis.reading import WEIGHTS, LeftOut, Reading, Weight, estimate_proportions
from hdsp.analysis.refits import Refits, refit_effects
from hdsp.analysis.topics import Columns
from hdsp.checks import check_choice, check_known
from hdsp.corpus import Corpus, LabelSchema, as_groups, as_labels, group_numbers
from hdsp.fit.run import Run
from hdsp.model.data import make_problem
from hdsp.scaling.design import LabelDesign, Scaling

_OWNER = "HDSP.label_effects"
# Labels that the table of topics looks at: those with the surest effects.
_MOST_LABELS = 500
# The regressions of models on their own labels.
_own: "WeakKeyDictionary[FittedModel, dict[Weight, TopicRegression]]" = WeakKeyDictionary()


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
