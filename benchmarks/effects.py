"""Do intervals of label effects hold what they promise? Corpora drawn from other models.

    python benchmarks/effects.py --data FOLDER

Writes benchmarks/results/effects.csv, effects_missing.csv, effects_placebo.csv and
effects_halves.csv. Corpora are drawn from Dirichlet-multinomial regression and from a logistic
normal, and fitted with as many topics as there are or twice as many. What an interval should hold
is the effect on the topic as it was found: what fresh documents say, twenty for each document of
the fit, that are read with the same topics, with labels' weights learned anew. The target's own
error adds 5 % to the variance. Fresh documents are read until they settle: stopped as early as in a
fit, they show effects that are 1 to 2 % smaller. Intervals are those of the topics as they are, and
in some settings with refits.

Half of the tags are then dropped, or told to be unknown. On real text, placebo tags mean nothing,
so that an interval without 0 is false; and the documents of one half, read with the topics of the
other, should differ from it by no more than the two halves' intervals allow.
"""

import warnings
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from common import digits, load, parser, write

from hdsp import HDSP
from hdsp.datasets import LabelDesign, add_placebo_tags, make_corpus, split_halves
from hdsp.execution import InProcess, fit_documents
from hdsp.fit import Run
from hdsp.metrics import match_topics
from hdsp.model import Fit, LocalSettings, global_step, make_problem
from hdsp.prediction import make_contrasts, prepare_calibration
from hdsp.prediction.calibration.calibrate import equal_weights
from hdsp.prediction.calibration.regression import regress
from hdsp.prediction.effects import expected_sides

N_TOPICS, FRESH, RARE, REFITS = 10, 20, 20, 20
PASSES, SETTLED = 8, LocalSettings(max_iter=100, tol=1e-4)
PRIORS = ("dirichlet", "logistic-normal")
CORPORA = ("amazon_4domains", "rcv1_subset", "clothing_reviews", "medline_mesh", "ohsumed23")


@dataclass(frozen=True)
class Setting:
    """Corpora to draw: their kind, size, and how many times the true number of topics is fitted."""

    name: str
    documents: int
    factor: int
    refits: tuple[int, ...] = (0,)
    correlation: float = 0.0
    options: Mapping[str, Any] = field(default_factory=dict)


SETTINGS = [
    *[Setting("plain", n, factor, (0, REFITS)) for n in (1_000, 4_000) for factor in (1, 2)],
    Setting("25 words a document", 2_000, 2, options={"document_length": 25.0}),
    Setting("correlated labels", 2_000, 2, correlation=0.5),
    Setting("strongly correlated labels", 2_000, 2, correlation=0.9),
    Setting("weak effects", 2_000, 2, options={"effect_size": 0.3}),
    Setting("Zipf-weighted topics", 2_000, 2, options={"topic_weights": "zipf"}),
    Setting("plain", 16_000, 1),
]


def read_fresh(model, fresh):
    """The problem of fresh documents, the state with labels' weights learned from them, and tokens.

    Topics are those of the model.
    """
    fitted = model._model
    design = fitted.schema.encode(fresh.labels)
    problem = make_problem(fresh.counts, design, fitted.scaling, fitted.priors)
    state, documents = fitted.state, None
    for _ in range(PASSES):
        documents, statistics = fit_documents(
            problem, state, documents, SETTLED, InProcess(), reuse=True
        )
        state = replace(
            global_step(problem, state, statistics, documents), topics=fitted.state.topics
        )
    return problem, state, documents.token_counts[:, : state.n_topics]


def fresh_effects(model, fresh):
    """The effects [C, T] that fresh documents show, read with the model's topics."""
    fitted = model._model
    problem, _, tokens = read_fresh(model, fresh)
    # Documents weigh the same.
    tokens = tokens * equal_weights(problem.lengths)[:, None].astype(tokens.dtype)
    found = regress(problem.design, tokens, 1.0)
    used = np.ones(fitted.schema.n_labels, dtype=bool)
    contrasts = make_contrasts(fitted.schema, used, None, None)
    first, second = expected_sides(found, fitted.space, fitted.training.sample, contrasts)
    return second - first


def compare(setting, prior, seed):
    """Group of the label, and effect, lower, upper and target of every label and topic.

    The values are those of each number of refits.
    """
    total = (1 + FRESH) * setting.documents
    design = LabelDesign(rare_documents=(1 + FRESH) * RARE, correlation=setting.correlation)
    corpus, _ = make_corpus(
        total,
        n_topics=N_TOPICS,
        n_words=1_000,
        overlap=0.2,
        prior=prior,
        labels=design,
        random_state=seed,
        **setting.options,
    )
    model = HDSP(setting.factor * N_TOPICS, fixed_number=True, random_state=seed, n_jobs=1)
    train = corpus[: setting.documents]
    model.fit(train)
    target = fresh_effects(model, corpus[setting.documents :]).ravel()
    tables = [
        model.label_effects(0.9, refits=n, corpus=train) if n else model.label_effects(0.9)
        for n in setting.refits
    ]
    names = tables[0]["label"]
    groups = ["null" if name.startswith("null") else name.split("_")[0] for name in names]
    shown = ["effect", "lower", "upper"]
    return np.array(groups), [np.column_stack([t[shown].to_numpy(), target]) for t in tables]


def rows(n_seeds):
    for setting, prior in product(SETTINGS, PRIORS):
        # The largest corpora are for the width of intervals alone.
        n_runs = min(n_seeds, 3) if setting.documents > 10_000 else n_seeds
        runs = [compare(setting, prior, seed) for seed in range(n_runs)]
        groups = runs[0][0]
        for group in dict.fromkeys(groups):
            for number, refits in enumerate(setting.refits):
                found = [summary(*tables[number][g == group].T) for g, tables in runs]
                yield {
                    "drawn from": prior,
                    "setting": setting.name,
                    "documents": setting.documents,
                    "topics": N_TOPICS,
                    "fitted topics": setting.factor * N_TOPICS,
                    "labels": group,
                    "refits": refits,
                    **{
                        name: digits(np.mean([run[name] for run in found]), places)
                        for name, places in (
                            ("coverage", 2),
                            ("excludes 0", 2),
                            ("half width", 4),
                            ("error", 4),
                        )
                    },
                    "lowest coverage": digits(min(run["coverage"] for run in found), 2),
                    "seeds": n_runs,
                }


def summary(effect, lower, upper, target):
    return {
        "coverage": np.mean((lower <= target) & (target <= upper)),
        "excludes 0": np.mean((lower > 0) | (upper < 0)),
        "half width": np.mean(upper - lower) / 2,
        "error": np.sqrt(np.mean((effect - target) ** 2)),
    }


def missing_rows(n_seeds):
    """Slopes of effects with half of the tags unknown, on those with all of them."""
    slopes = {
        "lists, half of the tags dropped": [],
        "booleans, half of the values unknown": [],
        "booleans, unknown by topic": [],
        "booleans, unknown by topic and value": [],
    }
    for seed in range(n_seeds):
        design = LabelDesign(4, rare_tags=0, null_tags=0, levels=0, numbers=0, null_numbers=0)
        corpus, _ = make_corpus(
            2_000, n_topics=N_TOPICS, n_words=1_000, overlap=0.2, labels=design, random_state=seed
        )
        carried = corpus.labels.block("tags").values.toarray() > 0
        names = np.array(corpus.labels.block("tags").columns)
        seen = np.random.default_rng(seed).random(carried.shape) < 0.5
        full = HDSP(N_TOPICS, fixed_number=True, random_state=seed, n_jobs=1).fit(corpus)
        effect = full.label_effects()["effect"].to_numpy()
        # Of the topic that each tag raises most, where a document has more than others.
        raised = effect.reshape(len(names), -1).argmax(axis=1)
        share = full.transform(corpus.counts)[:, raised]
        rich = share > np.median(share, axis=0)
        chance = np.random.default_rng(seed + 1_000).random(carried.shape)
        labels = [
            [list(names[row]) for row in carried & seen],
            booleans(names, carried, seen),
            booleans(names, carried, chance < np.where(rich, 0.2, 0.8)),
            booleans(names, carried, chance < np.where(rich & carried, 0.2, 0.8)),
        ]
        for values, given in zip(slopes.values(), labels, strict=True):
            again = HDSP(
                N_TOPICS, fixed_number=True, init=full.components_, random_state=seed, n_jobs=1
            ).fit(corpus.counts, labels=given)
            # A fit orders its topics by size.
            index, _ = match_topics(full.components_, again.components_)
            table = again.label_effects()
            if isinstance(given, pd.DataFrame):
                table = table[table["label"].str.endswith("True")]
            found = table["effect"].to_numpy().reshape(len(names), -1)[:, index].ravel()
            values.append((found @ effect) / (effect @ effect))
    for name, values in slopes.items():
        yield {"labels": name, "slope": digits(np.median(values), 2), "seeds": n_seeds}


def booleans(names, carried, known):
    """A table of tags that are true, false or unknown."""
    columns = zip(names, carried.T, known.T, strict=True)
    return pd.DataFrame(
        {name: pd.array(np.where(seen, has, None), dtype="boolean") for name, has, seen in columns}
    )


def placebo_rows(data, n_seeds):
    sizes = [20, 20, 200, 200, 1_000]
    for name in CORPORA:
        found = []
        for seed in range(n_seeds):
            train, _ = load(data, name, None, seed=seed)
            corpus = add_placebo_tags(train, sizes, random_state=seed)
            model = HDSP(50, fixed_number=True, random_state=seed, n_jobs=1).fit(corpus)
            table = model.label_effects(0.9, labels="placebo")
            false = (table["lower"] > 0) | (table["upper"] < 0)
            found.append(false.to_numpy().reshape(len(sizes), -1).mean(axis=1))
        share = np.mean(found, axis=0)
        for size in dict.fromkeys(sizes):
            shown = np.mean([s for s, n in zip(share, sizes, strict=True) if n == size])
            yield {
                "corpus": name,
                "documents with the tag": size,
                "excludes 0": digits(shown, 3),
                "seeds": n_seeds,
            }


def halves_rows(data, n_seeds):
    """How often two halves of a corpus agree on an effect, by their intervals."""
    for name in CORPORA:
        found = []
        for seed in range(n_seeds):
            train, _ = load(data, name, None, seed=seed)
            first, second = split_halves(train, random_state=seed)
            model = HDSP(50, fixed_number=True, random_state=seed, n_jobs=1).fit(first)
            found.append(agreement(model, second))
        carriers, agree, sure = map(np.concatenate, zip(*found, strict=True))
        for low, high in ((1, 20), (20, 200), (200, np.inf)):
            chosen = (carriers >= low) & (carriers < high)
            if chosen.any():
                yield {
                    "corpus": name,
                    "documents with the label": f"{low} to {high - 1}" if high < np.inf else low,
                    "labels and topics": int(chosen.sum()),
                    "halves agree": digits(agree[chosen].mean(), 3),
                    "excludes 0": digits(sure[chosen].mean(), 3),
                    "seeds": n_seeds,
                }


def agreement(model, second):
    """Carriers of the label, whether halves agree, and whether the first excludes 0; [C T] each."""
    fitted = model._model
    table = model.label_effects(0.9)
    problem, state, _ = read_fresh(model, second)
    # Topics are not learned from these documents: none has to be left out of them.
    unseen = np.zeros(problem.n_documents, dtype=np.int64)
    calibrations = prepare_calibration(problem, Fit(state, None), fitted.space, Run(), unseen)()
    other = copy(model)
    other._model = replace(fitted, calibrations=calibrations)
    again = other.label_effects(0.9)
    width = np.hypot(table["upper"] - table["lower"], again["upper"] - again["lower"]) / 2.0
    agree = (table["effect"] - again["effect"]).abs() <= width
    sure = (table["lower"] > 0) | (table["upper"] < 0)
    carriers = np.repeat(fitted.training.carriers, fitted.state.n_topics)
    return carriers, agree.to_numpy(), sure.to_numpy()


def main():
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=10)
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    write("effects_missing", missing_rows(chosen.seeds))
    if chosen.data is not None:
        write("effects_placebo", placebo_rows(chosen.data, min(chosen.seeds, 3)))
        write("effects_halves", halves_rows(chosen.data, min(chosen.seeds, 3)))
    write("effects", rows(chosen.seeds))


if __name__ == "__main__":
    main()
