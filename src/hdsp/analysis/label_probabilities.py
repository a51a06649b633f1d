"""Probabilities of labels that a user wants predicted from words."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.sparse import csr_array, vstack

from hdsp.analysis.fitted import FittedModel
from hdsp.analysis.label_regression import (
    STRENGTH,
    LabelRegression,
    label_features,
    probabilities,
    word_evidence,
)
from hdsp.analysis.new_documents import document_parts
from hdsp.analysis.softmax import group_rows
from hdsp.checks import check_choice, check_flag, quoted
from hdsp.corpus.columns import level_name, parse_number
from hdsp.execution.executor import make_executor
from hdsp.numerics import FloatArray, IntArray

_OWNER = "HDSP.predict_labels"
# Standard deviations from the mean of training, beyond which a number's topics are no guess.
_FARTHEST = 1_000.0

LabelMethod = Literal["calibrated", "generative"]
LABEL_METHODS: tuple[LabelMethod, ...] = ("calibrated", "generative")
# A table of many numbers, before it is a frame of some library.
Arrays: TypeAlias = dict[str, FloatArray]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The labels that a document may have.

    Attributes
    ----------
    target : str
        The label column that they belong to.
    names : tuple of str
        The candidates' names.
    positions : int array of shape [C]
        The candidates' places among the column's labels, or among the values of a number.
    values : sparse array of shape [C, n_labels]
        The candidates' values, and no other labels.
    log_prior : float array of shape [C]
        Log prior probabilities of alternatives, or prior log odds of tags.
    """

    target: str
    names: tuple[str, ...]
    positions: IntArray
    values: csr_array
    log_prior: FloatArray


def make_candidates(model: FittedModel, target: Any, values: Any, prior: bool) -> Candidates:
    """The candidates for the labels `target`: levels, values or tags."""
    schema = model.schema
    names = [block.name for block in schema.blocks if block.columns]
    if target not in names:
        raise ValueError(
            f"`target` of {_OWNER} must be labels that the model was trained with. Got "
            f"{target!r}. It has {quoted(names) or 'none'}."
        )
    own = schema.slices()[target]
    if model.missing()[own].all():
        raise ValueError(
            f"`target` of {_OWNER} must be labels that documents had in training. {target!r} had "
            "no value in any of them."
        )
    block, chosen = schema.block(target), None if values is None else _as_list(values)
    if block.kind == "number" and len(block.columns) != 1:
        raise ValueError(
            f"`target` of {_OWNER} must be a single number. Got {target!r}, which has "
            f"{len(block.columns)} columns. Train with a table, a column for each."
        )
    if block.kind == "number":
        observed, middle, unit = model.number_values(own.start)[0], block.mean[0], block.scale[0]
        numbers = _numbers(middle, unit, chosen, observed)
        found, coded = tuple(f"{number:.10g}" for number in numbers), (numbers - middle) / unit
        positions = np.abs(coded[:, None] - observed).argmin(axis=1)
        columns = np.full(len(coded), own.start)
    else:
        found = block.columns if chosen is None else tuple(map(_level, chosen))
        if unknown := [name for name in found if name not in block.columns]:
            raise ValueError(
                f"`values` of {_OWNER} must be among those of {target!r} in training. Got "
                f"{quoted(map(str, unknown))}. There are {quoted(block.columns)}."
            )
        place = {name: number for number, name in enumerate(block.columns)}
        positions = np.array([place[name] for name in found])
        columns, coded = own.start + positions, np.ones(len(found))
    entries = csr_array(
        (coded, columns, np.arange(len(found) + 1)), shape=(len(found), schema.n_labels)
    )
    log_prior = model.label_prior(target)[positions] if prior else np.zeros(len(found))
    return Candidates(target, found, positions, entries, log_prior)


def _numbers(
    middle: float, unit: float, values: list[Any] | None, observed: FloatArray
) -> FloatArray:
    """The values of a number to choose from."""
    if values is None:
        # Values were standardised in single precision, which keeps six digits.
        return np.unique([float(f"{number:.6g}") for number in middle + unit * observed])
    numbers = np.array([parse_number(value) for value in values], dtype=np.float64)
    near = np.abs(numbers - middle) <= _FARTHEST * unit
    if not near.all():
        raise ValueError(
            f"`values` of {_OWNER} must be numbers near those of training, from "
            f"{middle - _FARTHEST * unit:.4g} to {middle + _FARTHEST * unit:.4g}. Got "
            f"{values[int(near.argmin())]!r}."
        )
    return numbers


def _as_list(values: Any) -> list[Any]:
    if isinstance(values, str) or not isinstance(values, (Sequence, np.ndarray)):
        raise TypeError(f"`values` of {_OWNER} must be a list. Got {type(values).__name__}.")
    result = list(values)
    if not result:
        raise ValueError(f"`values` of {_OWNER} is empty: name at least one, or leave it out.")
    if len(set(map(str, result))) < len(result):
        raise ValueError(f"`values` of {_OWNER} must be different from each other.")
    return result


def _level(value: Any) -> str:
    """The name of a level, which may be given as a boolean or a number."""
    name = level_name(value)
    return repr(value) if name is None else name


def probability_parts(
    fitted: FittedModel,
    X: Any,
    target: str,
    labels: object = None,
    values: Sequence[Any] | None = None,
    prior: bool = True,
    method: LabelMethod | None = None,
    n_jobs: int | None = None,
) -> Iterator[tuple[Any, Arrays]]:
    """Yield documents with the columns of `HDSP.predict_labels`: all, or part by part on disk."""
    check_flag(prior, "prior", _OWNER)
    if method is not None:
        check_choice(method, LABEL_METHODS, "method", _OWNER)
    candidates = make_candidates(fitted, target, values, prior)
    regression = None
    if method != "generative":
        with make_executor(None, n_jobs):
            regression = fitted.label_regression(target)
        if regression is None and method is not None:
            raise ValueError(
                f"{_OWNER} cannot calibrate {target!r}: too few training documents have a value. "
                'Choose `method="generative"`.'
            )
    for part, counts, design in document_parts(fitted, X, labels, _OWNER):
        known = fitted.space.values(design)
        with make_executor(None, n_jobs):
            if regression is None:
                score = generative_scores(fitted, counts, known, candidates)
            else:
                score = calibrated_scores(fitted, regression, counts, known, candidates)
        score += candidates.log_prior
        found = probabilities(fitted.schema.kind(target), score)
        yield part, dict(zip(candidates.names, found.T, strict=True))


def joined_columns(parts: Iterable[tuple[Any, Arrays]]) -> Arrays:
    """The columns of all documents, from those of parts."""
    found = [columns for _, columns in parts]
    return {name: np.concatenate([part[name] for part in found]) for name in (found or [{}])[0]}


def generative_scores(
    fitted: FittedModel, counts: csr_array, known: csr_array, candidates: Candidates
) -> FloatArray:
    """ln p(words | known labels and a candidate) - ln p(words | known labels), [M, C].

    A word's probability is that of the expected topics times the candidate's factor, normalised.
    """
    target, schema, share = candidates.target, fitted.schema, fitted.word_share()
    factors: FloatArray = np.ones((len(candidates.names) + 1, len(share)))
    if schema.kind(target) != "number":
        found = fitted.label_counts(target)[candidates.positions].toarray()
        expected: FloatArray = fitted.label_topics(target)[candidates.positions] @ share.T
        factors[:-1] = (found + STRENGTH) / (expected + STRENGTH)
    others = np.ones(schema.n_labels)
    others[schema.slices()[target]] = 0.0
    known = csr_array(known.multiply(others))
    known.eliminate_zeros()
    values = csr_array(vstack([candidates.values, csr_array((1, schema.n_labels))]))
    regression, space = fitted.expected_regression("tokens"), fitted.regression_space
    # sum_i phi_ki f_ci, so that the normaliser is a sum over topics.
    inflation = factors @ share
    scores = np.zeros((counts.shape[0], len(factors)))
    first, group = group_rows(known)
    order = np.argsort(group, kind="stable")
    for row, rows in zip(first, np.split(order, np.cumsum(np.bincount(group))[:-1]), strict=True):
        both = csr_array(vstack([known[[row]]] * len(factors)) + values)
        expected = regression.proportions(csr_array(space.regressors(both)))
        documents = counts[rows]
        words = np.unique(documents.indices)
        probability = (expected @ share[words].T) * factors[:, words]
        probability /= (expected * inflation).sum(axis=1, keepdims=True)
        scores[rows] = documents[:, words] @ np.log(probability).T
    return scores[:, :-1] - scores[:, -1:]


def calibrated_scores(
    fitted: FittedModel,
    regression: LabelRegression,
    counts: csr_array,
    known: csr_array,
    candidates: Candidates,
) -> FloatArray:
    """The scores of candidate labels by the regression on words' evidence, [M, C]."""
    target, proportions = candidates.target, fitted.posterior_of_words(counts)
    evidence = word_evidence(counts, fitted.label_counts(target))
    features = label_features(fitted.schema, target, evidence, proportions, known)
    return regression.scores(evidence, features)[:, candidates.positions]
