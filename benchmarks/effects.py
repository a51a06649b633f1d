"""Do intervals of label effects hold what they promise? Corpora drawn from other models.

    python benchmarks/effects.py --data FOLDER

Writes benchmarks/results/effects.csv, effects_missing.csv and effects_placebo.csv. Corpora are
drawn from Dirichlet-multinomial regression and from a logistic normal, and fitted with as many
topics as there are or twice as many. What an interval should hold is the effect on the topic as it
was found: what fresh documents say, twenty for each document of the fit, that are read with the
same topics, with labels' weights learned anew. The target's own error adds 5 % to the variance.
Fresh documents are read until they settle: stopped as early as in a fit, they show effects that are
1 to 2 % smaller. Intervals are those of the topics as they are, and with refits. Half of the tags
are then dropped, or told to be unknown. Placebo tags mean nothing, so that an interval without 0 is
false.
"""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
from common import digits, load, parser, write

from hdsp import HDSP
from hdsp.datasets import LabelDesign, add_placebo_tags, make_corpus
from hdsp.execution import InProcess, fit_documents
from hdsp.metrics import match_topics
from hdsp.model import LocalSettings, global_step, make_problem
from hdsp.prediction import make_contrasts
from hdsp.prediction.effects import expected_sides
from hdsp.prediction.regression import regress

N_TOPICS, FRESH, RARE, REFITS = 10, 20, 20, 20
PASSES, SETTLED = 8, LocalSettings(max_iter=100, tol=1e-4)
SETTINGS = [
    (prior, documents, factor)
    for documents in (1_000, 4_000)
    for prior in ("dirichlet", "logistic-normal")
    for factor in (1, 2)
]
CORPORA = ("amazon_4domains", "rcv1_subset")


def fresh_effects(model, fresh):
    """The effects [C, T] that fresh documents show, read with the model's topics."""
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
    tokens = documents.token_counts[:, : state.n_topics]
    found = regress(problem.design, tokens, 1.0)
    used = np.ones(fitted.schema.n_labels, dtype=bool)
    contrasts = make_contrasts(fitted.schema, used, None, None)
    first, second = expected_sides(found, fitted.schema, fitted.training.sample, contrasts)
    return second - first


def compare(prior, n_documents, factor, seed):
    """Group of the label, and effect, lower, upper and target of every label and topic.

    The values are of the fast intervals and of those with refits.
    """
    total = (1 + FRESH) * n_documents
    corpus, _ = make_corpus(
        total,
        n_topics=N_TOPICS,
        n_words=1_000,
        overlap=0.2,
        prior=prior,
        labels=LabelDesign(rare_documents=(1 + FRESH) * RARE),
        random_state=seed,
    )
    model = HDSP(factor * N_TOPICS, fixed_number=True, random_state=seed, n_jobs=1)
    train = corpus[:n_documents]
    model.fit(train)
    target = fresh_effects(model, corpus[n_documents:]).ravel()
    tables = [model.label_effects(0.9), model.label_effects(0.9, refits=REFITS, corpus=train)]
    names = tables[0]["label"]
    groups = ["null" if name.startswith("null") else name.split("_")[0] for name in names]
    shown = ["effect", "lower", "upper"]
    return np.array(groups), [np.column_stack([t[shown].to_numpy(), target]) for t in tables]


def rows(seeds):
    for prior, n_documents, factor in SETTINGS:
        n_seeds = seeds[n_documents]
        runs = [compare(prior, n_documents, factor, seed) for seed in range(n_seeds)]
        groups = runs[0][0]
        for group in dict.fromkeys(groups):
            for number, refits in enumerate((0, REFITS)):
                found = [summary(*tables[number][g == group].T) for g, tables in runs]
                yield {
                    "drawn from": prior,
                    "documents": n_documents,
                    "topics": N_TOPICS,
                    "fitted topics": factor * N_TOPICS,
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
                    "seeds": n_seeds,
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
    slopes = {"lists, half of the tags dropped": [], "booleans, half of the values unknown": []}
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
        columns = {
            name: pd.array(np.where(known, has, None), dtype="boolean")
            for name, has, known in zip(names, carried.T, seen.T, strict=True)
        }
        labels = [[list(names[row]) for row in carried & seen], pd.DataFrame(columns)]
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


def main():
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--large-seeds", type=int, help="with 4,000 documents (default: as many)")
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    write("effects_missing", missing_rows(chosen.seeds))
    if chosen.data is not None:
        write("effects_placebo", placebo_rows(chosen.data, min(chosen.seeds, 3)))
    write("effects", rows({1_000: chosen.seeds, 4_000: chosen.large_seeds or chosen.seeds}))


if __name__ == "__main__":
    main()
