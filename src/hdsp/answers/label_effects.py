"""The table of label effects."""

import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from hdsp.answers.effect_refits import Resampling, refit_sides
from hdsp.answers.new_documents import check_corpus, read_problem
from hdsp.answers.topic_tables import Columns, topic_part
from hdsp.corpus import Corpus, StoredCorpus, group_numbers
from hdsp.exceptions import ExtrapolationWarning
from hdsp.execution import make_executor
from hdsp.labels import Spline
from hdsp.model import Problem
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.persistence import fingerprint
from hdsp.prediction import WEIGHTS, Contrast, FittedModel, Weight, make_contrasts, over_refits
from hdsp.validation import check_choice, check_share, check_whole, listed, quoted

_OWNER = "HDSP.label_effects"
# Values are the same up to so many standard deviations. A contrast may go so far beyond those of
# training, as a share of their range: of many, those of a sample are known.
_SAME, _BEYOND = 1e-6, 0.05


def effect_columns(
    fitted: FittedModel,
    level: float = 0.9,
    labels: str | Sequence[str] | None = None,
    contrast: tuple[Any, Any] | None = None,
    method: Literal["calibrated", "ratio"] = "calibrated",
    random_state: int = 0,
    resampling: Resampling | None = None,
    weight: Weight = "documents",
    owner: str = _OWNER,
    most: int | None = None,
    n_jobs: int | None = None,
) -> Columns:
    """The columns of `HDSP.label_effects`, and a column `p` where another `owner` asks.

    Of `most` labels at most: those with the strongest effects, which are found before intervals.
    """
    problem = None if resampling is None else _resampled(fitted, method, resampling)
    check_share(level, "level", owner)
    check_choice(method, ("calibrated", "ratio"), "method", _OWNER)
    check_choice(weight, WEIGHTS, "weight", _OWNER)
    contrasts = chosen_contrasts(fitted, labels, contrast, owner)
    if contrast is not None and fitted.schema.kind(contrasts[0].block) == "number":
        _check_values(fitted, contrasts[0], contrast, owner)
    if most is not None and most < len(contrasts):
        strength = np.abs(fitted.groups.sum(fitted.typical_effects(contrasts))).max(axis=1)
        order = np.argsort(-strength, kind="stable")[:most]
        contrasts = [contrasts[number] for number in sorted(order)]
    with make_executor(None, n_jobs):
        found = fitted.effects(contrasts, level, method, random_state, weight)
    if resampling is not None and problem is not None and contrasts:
        sides = refit_sides(fitted, *problem, contrasts, resampling, random_state, weight)
        found = over_refits(found, fitted.groups.sum(sides), level)
    n_topics = len(fitted.groups)
    columns: Columns = {
        "label": [c.label for c in contrasts for _ in range(n_topics)],
        "contrast": [c.description for c in contrasts for _ in range(n_topics)],
        **topic_part(fitted, list(range(n_topics)) * len(contrasts)),
    }
    for name in ("effect", "lower", "upper", "expected", "otherwise"):
        columns[name] = getattr(found, name).ravel().tolist()
    # With a tag, a level or a number; of two levels, with either.
    compared = [{c.second, c.second if c.first is None else c.first} for c in contrasts]
    carriers = [int(fitted.training.carriers[list(own)].sum()) for own in compared]
    columns["n_documents"] = [n for n in carriers for _ in range(n_topics)]
    if owner != _OWNER:
        freedom = getattr(fitted.calibrations, weight).degrees
        own = [contrast.second for contrast in contrasts]
        freedom = None if freedom is None else freedom[fitted.space.own[own]][:, None]
        columns["p"] = chances(found.effect, found.error, freedom).ravel().tolist()
    return columns


def chosen_contrasts(
    fitted: FittedModel, labels: Any, contrast: Any, owner: str = _OWNER
) -> list[Contrast]:
    """The contrasts of labels that documents of training have."""
    return make_contrasts(fitted.schema, fitted.used, labels, contrast, fitted.missing(), owner)


def _check_values(fitted: FittedModel, found: Contrast, asked: Any, owner: str) -> None:
    """Warn of values that are not those of training; raise where no others have an effect."""
    block, values = fitted.schema.block(found.block), fitted.training.values[found.second][0]
    sampled = fitted.training.sample[:, [found.second]].data
    # Of many values, means of some are known and all those of a sample: few documents lie beyond.
    exact = len(sampled) == fitted.training.n_documents or np.isin(sampled, values).all()
    single = fitted.space.single_values(block.name)
    known = np.concatenate([values, sampled]) if single is None else single
    places = np.array([found.start or 0.0, found.stop])
    away, most = np.abs(known[:, None] - places).min(axis=0), _SAME
    if single is None:
        away = np.maximum(known.min() - places, places - known.max())
        most = _BEYOND * float(np.ptp(known))
    outside = [value for value, far in zip(asked, away > most, strict=True) if far]
    main = fitted.space.depends(block.name)[0]
    if not outside or (isinstance(main, Spline) and main.period is not None):
        # Values of a period come round again.
        return
    known = known * block.scale[0] + block.mean[0]
    low, high = known.min(), known.max()
    if single is not None:
        raise ValueError(
            f"`contrast` of {owner} must be two of the values that {block.name!r} has effects at: "
            f"{listed([f'{value:.6g}' for value in known])}. Got {quoted(outside)}."
        )
    warnings.warn(
        f"`contrast` of {owner} goes to {quoted(outside)}, and {block.name!r} runs from "
        f"{'' if exact else 'about '}{low:.6g} to {high:.6g} in training: the effect is "
        "extrapolated.",
        ExtrapolationWarning,
        stacklevel=4,
    )


def chances(effect: FloatArray, error: FloatArray, freedom: FloatArray | None) -> FloatArray:
    """How often an effect would be as large if there were none: two-sided, normal or t."""
    ratio = -np.abs(effect) / np.maximum(error, 1e-300)
    if freedom is None:
        return np.asarray(2.0 * ndtr(ratio))
    # Errors are those of normal variables with the same middle nine tenths.
    return np.asarray(2.0 * stdtr(freedom, ratio * stdtrit(freedom, 0.95) / ndtri(0.95)))


def adjusted(chance: FloatArray, method: str | None) -> FloatArray:
    """The p values [C, T] of contrasts, adjusted over topics."""
    if method is None or chance.size == 0:
        return chance
    if method == "fdr":
        from scipy.stats import false_discovery_control

        return np.asarray(false_discovery_control(chance, axis=1))
    order, n_topics = np.argsort(chance, axis=1), chance.shape[1]
    ranked = np.take_along_axis(chance, order, axis=1) * np.arange(n_topics, 0, -1)
    found = np.empty_like(chance)
    np.put_along_axis(found, order, np.minimum(np.maximum.accumulate(ranked, axis=1), 1.0), axis=1)
    return found


def _resampled(
    fitted: FittedModel, method: str, resampling: Resampling
) -> tuple[Problem, IntArray | None]:
    """The documents that are resampled, those of training, and their groups."""
    corpus = resampling.corpus
    check_whole(resampling.n_refits, "refits", 2)
    if method != "calibrated":
        raise ValueError(f'`refits` of {_OWNER} go with `method="calibrated"`. Got {method!r}.')
    if corpus is None:
        raise ValueError(
            f"`refits` of {_OWNER} needs the training documents, which a model does not hold: pass "
            "them as `corpus`."
        )
    return training_problem(fitted, corpus, _OWNER)


def training_problem(
    fitted: FittedModel, corpus: Any, owner: str
) -> tuple[Problem, IntArray | None]:
    """The documents of a corpus and their groups; raise unless the model was fitted to them."""
    check_corpus(corpus, owner)
    problem = read_problem(fitted, corpus, owner)
    if isinstance(corpus, StoredCorpus) and corpus.fingerprint == fitted.source.fingerprint:
        return problem, None
    groups = None if corpus.groups is None else group_numbers(corpus.groups)
    if fingerprint(corpus.counts, problem.design, groups) != fitted.source.fingerprint:
        raise ValueError(
            f"`corpus` of {owner} must be the documents that the model was fitted to, with the "
            f"same labels and groups and in the same order. {_other(fitted, corpus)}"
        )
    return problem, groups


def _other(fitted: FittedModel, corpus: Corpus) -> str:
    """How documents differ from those of training, as far as the model knows."""
    n_documents = fitted.training.n_documents
    if len(corpus) != n_documents:
        return f"Got {len(corpus)} documents, where training had {n_documents}."
    grouped = fitted.calibration.degrees is not None
    if grouped and corpus.groups is None:
        return "The fit had groups, and these documents have none: pass them as `groups` of Corpus."
    if not grouped and corpus.groups is not None and fitted.schema.names:
        return "The fit had no groups, and these documents have some: leave `groups` of Corpus out."
    return "Got as many documents, but other ones, other labels or groups, or another order."
