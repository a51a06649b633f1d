"""Topics and effects of labels across numbers of topics and seeds."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hdsp.answers.label_effects import effect_columns, training_problem
from hdsp.answers.topic_stability import SAME, first_seed, fit_again
from hdsp.answers.topic_tables import Columns, topic_part
from hdsp.metrics import match_topics
from hdsp.prediction import FittedModel
from hdsp.validation import check_whole, listed

_OWNER = "HDSP.robustness"
# Where they are not given: numbers of topics as shares of the model's, and how many seeds.
_NUMBERS, _SEEDS = (0.75, 1.0, 4.0 / 3.0), 2
_LIMITS, _AGREEMENT = ("effect", "lower", "upper"), ("same_sign", "excludes_zero")


def robustness_columns(
    fitted: FittedModel,
    settings: Any,
    corpus: Any,
    numbers: Sequence[int] | None,
    seeds: Sequence[int] | None,
    labels: str | Sequence[str] | None,
    level: float,
) -> Columns:
    """The columns of `HDSP.robustness`; `settings` is an estimator with the fits' parameters."""
    training_problem(fitted, corpus, _OWNER)
    own = effect_columns(fitted, level, labels, owner=_OWNER)
    least, first = max(2, len(settings.seeds or ())), first_seed(settings)
    if numbers is None:
        numbers = sorted({max(least, round(x * fitted.state.n_topics)) for x in _NUMBERS})
    for number in numbers:
        check_whole(number, "numbers", least)
    seeds = range(first, first + _SEEDS) if seeds is None else seeds
    for seed in seeds:
        check_whole(seed, "seeds", 0)
    # Topics that were given as an array would be found again, whatever the seed.
    init = settings.init if isinstance(settings.init, str) else "auto"
    fixed = {"fixed_number": True, "init": init}
    fits = [(number, seed) for number in numbers for seed in seeds]
    changes = [{**fixed, "n_components": n, "random_state": seed} for n, seed in fits]

    def read(other: Any) -> Columns:
        return _matched(fitted, own, other, labels, level)

    columns: Columns = {"number": [], "seed": []}
    tables = fit_again(settings, corpus, None, changes, "Fitting with other numbers", read)
    for (number, seed), table in zip(fits, tables, strict=True):
        columns["number"] += [number] * len(table["topic"])
        columns["seed"] += [seed] * len(table["topic"])
        for name, values in table.items():
            columns.setdefault(name, []).extend(values)
    return columns


def _matched(fitted: FittedModel, own: Columns, other: Any, labels: Any, level: float) -> Columns:
    """The topics of another fit that are most like the model's, and the effects on them."""
    partner, distance = match_topics(fitted.components, other.components_)
    n_effects = len(own["effect"]) // len(partner)
    # Without labels there is a row for each topic all the same.
    topics = np.tile(np.arange(len(partner)), max(n_effects, 1))
    similarity = 1.0 - distance[topics]
    columns = topic_part(fitted, topics)
    columns["matched"], columns["similarity"] = partner[topics].tolist(), similarity.tolist()
    columns["found"] = (similarity >= SAME).tolist()
    if not n_effects:
        return columns
    found = effect_columns(other._model, level, labels, owner=_OWNER)
    limits = np.array([found[name] for name in _LIMITS]).reshape(3, n_effects, -1)[:, :, partner]
    effect, lower, upper = np.where(partner >= 0, limits, np.nan).reshape(3, -1)
    same = (similarity >= SAME) & (np.sign(effect) == np.sign(own["effect"]))
    columns |= {name: own[name] for name in ("label", "contrast")}
    values = (effect, lower, upper, same, same & ((lower > 0) | (upper < 0)))
    names = (*_LIMITS, *_AGREEMENT)
    return columns | {name: own.tolist() for name, own in zip(names, values, strict=True)}


def robustness_facts(columns: Columns, effects: Columns) -> dict[str, str]:
    """What a table of robustness says beside a model's own effects."""
    numbers, seeds = (list(dict.fromkeys(columns[name])) for name in ("number", "seed"))
    facts = {"refit_numbers": listed(numbers), "found": _percent(columns["found"])}
    facts["refit_seeds"] = f"seed{'s' * (len(seeds) > 1)} {listed(seeds)}"
    rows = zip(*(effects[name] for name in ("label", "topic", "lower", "upper")), strict=True)
    sure = {(label, topic) for label, topic, lower, upper in rows if lower > 0 or upper < 0}
    pairs = zip(columns.get("label", ()), columns["topic"], strict=False)
    chosen = [row for row, pair in enumerate(pairs) if pair in sure]
    if chosen:
        facts |= {name: _percent([columns[name][row] for row in chosen]) for name in _AGREEMENT}
    return facts


def _percent(values: Sequence[bool]) -> str:
    return f"{100.0 * float(np.mean(values)):.0f} %"
