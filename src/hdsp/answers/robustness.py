"""Topics and effects of labels across numbers of topics and seeds."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hdsp.answers.label_effects import effect_columns, training_problem
from hdsp.answers.topic_stability import SAME, first_seed, fit_again
from hdsp.answers.topic_tables import Columns, name_column, top_words
from hdsp.metrics import match_topics
from hdsp.prediction import FittedModel
from hdsp.validation import check_whole, listed

_OWNER = "HDSP.robustness"
# Where they are not given: numbers of topics as shares of the model's, and how many seeds.
_NUMBERS, _SEEDS = (0.75, 1.0, 4.0 / 3.0), 2
_WORDS = 5
_AGREEMENT = ("same_sign", "excludes_zero")


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
    least = max(2, len(settings.seeds or ()))
    if numbers is None:
        wanted = (round(share * fitted.state.n_topics) for share in _NUMBERS)
        numbers = sorted({max(least, number) for number in wanted})
    if seeds is None:
        first = first_seed(settings)
        seeds = range(first, first + _SEEDS)
    for number in numbers:
        check_whole(number, "numbers", least)
    for seed in seeds:
        check_whole(seed, "seeds", 0)
    changes: list[dict[str, Any]] = [
        {"n_components": number, "fixed_number": True, "random_state": seed}
        for number in numbers
        for seed in seeds
    ]
    if not isinstance(settings.init, str):
        # Topics that were given would be found again, whatever the seed.
        changes = [{**change, "init": "auto"} for change in changes]

    def read(other: Any) -> Columns:
        return _matched(fitted, own, other, labels, level)

    tables = fit_again(settings, corpus, None, changes, "Fitting with other numbers", read)
    columns: Columns = {
        name: [
            change[key]
            for change, table in zip(changes, tables, strict=True)
            for _ in table["topic"]
        ]
        for name, key in (("number", "n_components"), ("seed", "random_state"))
    }
    return columns | {
        name: [value for table in tables for value in table[name]]
        for name in (tables[0] if tables else ())
    }


def _matched(
    fitted: FittedModel, own: Columns, other: Any, labels: str | Sequence[str] | None, level: float
) -> Columns:
    """The topics of another fit that are most like the model's, and the effects on them."""
    partner, distance = match_topics(fitted.components, other.components_)
    n_topics = len(partner)
    n_effects = len(own["effect"]) // n_topics
    # Without labels there is a row for each topic all the same.
    topics = np.tile(np.arange(n_topics), max(n_effects, 1))
    similarity = 1.0 - distance[topics]
    columns: Columns = {"topic": topics.tolist(), **name_column(fitted, topics)}
    words = [" ".join(words) for words in top_words(fitted, _WORDS)]
    columns |= {
        "words": [words[k] for k in topics],
        "matched": partner[topics].tolist(),
        "similarity": similarity.tolist(),
        "found": (similarity >= SAME).tolist(),
    }
    if not n_effects:
        return columns
    found = effect_columns(other._model, level, labels, owner=_OWNER)
    columns |= {name: own[name] for name in ("label", "contrast")}
    for name in ("effect", "lower", "upper"):
        by_topic = np.array(found[name]).reshape(n_effects, -1)[:, partner]
        columns[name] = np.where(partner >= 0, by_topic, np.nan).ravel().tolist()
    effect, lower, upper = (np.array(columns[name]) for name in ("effect", "lower", "upper"))
    same = (similarity >= SAME) & (np.sign(effect) == np.sign(own["effect"]))
    columns["same_sign"] = same.tolist()
    columns["excludes_zero"] = (same & ((lower > 0) | (upper < 0))).tolist()
    return columns


def robustness_sentences(columns: Any, effects: Columns) -> str:
    """What a table of robustness says beside a model's own effects, in a few sentences."""
    numbers, seeds = (list(dict.fromkeys(columns[name])) for name in ("number", "seed"))
    found = _percent(columns["found"])
    several = "s" if len(seeds) > 1 else ""
    told = (
        f"We refitted the model with {listed(numbers)} topics and the random seed{several} "
        f"{listed(seeds)}: {found} of the topics were found again, sharing at least half of their "
        "word probabilities with the most similar topic of a refit."
    )
    sure = {
        (label, int(topic))
        for label, topic, lower, upper in zip(
            *(effects[name] for name in ("label", "topic", "lower", "upper")), strict=True
        )
        if lower > 0 or upper < 0
    }
    if "label" not in columns or not sure:
        return told
    rows = [
        row
        for row, pair in enumerate(zip(columns["label"], columns["topic"], strict=True))
        if (pair[0], int(pair[1])) in sure
    ]
    same, again = (_percent([columns[name][row] for row in rows]) for name in _AGREEMENT)
    return (
        f"{told} Of the effects whose interval excludes zero in the reported model, {same} had "
        f"the same sign on the same topic in a refit, and {again} an interval that excludes zero "
        "again."
    )


def _percent(values: Any) -> str:
    return f"{100.0 * float(np.mean(values)):.0f} %"
