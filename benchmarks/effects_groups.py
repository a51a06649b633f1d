"""Do intervals of label effects hold where documents come in groups? Authors, products, placebos.

    python benchmarks/effects_groups.py --data FOLDER

Writes benchmarks/results/effects_groups.csv and effects_groups_placebo.csv. Documents are drawn
from a model that is not ours: topics of a document are a softmax of normal variables, its labels',
its author's and its own; sixty authors have twenty documents each, and labels are dealt out to
authors or to documents. What an interval should hold is the effect on the topic as it was found:
what documents of three thousand other authors say, read with the same topics. On real text,
placebo tags are dealt out to whole authors or products, and mean nothing.
"""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from common import digits, parser, write

from hdsp import HDSP, Corpus
from hdsp.corpus import TextSettings
from hdsp.execution import InProcess, fit_documents
from hdsp.model import LocalSettings, global_step, make_problem
from hdsp.prediction import make_contrasts
from hdsp.prediction.calibration.regression import regress
from hdsp.prediction.sides import expected_sides

N_TOPICS, N_WORDS, WORDS = 10, 800, 80
AUTHORS, EACH = 60, 20
FRESH_AUTHORS, FRESH_EACH = 2_000, 8
# Standard deviations of documents in log proportions, and of labels' true weights.
DOCUMENT, EFFECT = 0.7, 0.5
SPREADS = (0.0, 0.5, 1.0)
LABELS = ("null author", "true author", "rare author", "null document", "true document")
PASSES, SETTLED = 8, LocalSettings(max_iter=100, tol=1e-4)


def draw(truth, n_authors, each, rng, few=6):
    """Counts, a table of tags by name, and authors; tags of three kinds are constant in authors."""
    author = np.repeat(np.arange(n_authors), each)
    half = rng.permutation(n_authors) % 2
    other = rng.permutation(n_authors) % 2
    rare = rng.permutation(n_authors) < max(few * n_authors // AUTHORS, 1)
    tags = np.column_stack(
        [
            half[author],
            other[author],
            rare[author],
            rng.random(len(author)) < 0.4,
            rng.random(len(author)) < 0.4,
        ]
    ).astype(float)
    score = truth["base"] + tags @ truth["weights"]
    score = score + truth["spread"] * rng.normal(size=(n_authors, N_TOPICS))[author]
    score = score + DOCUMENT * rng.normal(size=score.shape)
    share = np.exp(score - score.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    lengths = np.maximum(rng.poisson(WORDS * rng.lognormal(-0.125, 0.5, size=len(author))), 5)
    counts = np.array(
        [rng.multinomial(n, row @ truth["topics"]) for n, row in zip(lengths, share, strict=True)]
    )
    names = np.array(LABELS)
    return counts.astype(float), [list(names[row > 0]) for row in tags], author


def make_truth(spread, rng):
    weights = EFFECT * rng.normal(size=(len(LABELS), N_TOPICS))
    weights[[0, 3]] = 0.0
    return {
        "spread": spread,
        "base": 0.5 * rng.normal(size=N_TOPICS),
        "weights": weights,
        "topics": rng.dirichlet(np.full(N_WORDS, 0.05), size=N_TOPICS),
    }


def fresh_effects(model, counts, tags):
    """The effects [C, T] by document that fresh documents show, read with the model's topics."""
    fitted = model._model
    labels = Corpus(counts, words=model.words_, labels=tags).labels
    design = fitted.space.encode(labels)
    problem = make_problem(Corpus(counts).counts, design, fitted.scaling, fitted.priors)
    state, documents = fitted.state, None
    for _ in range(PASSES):
        documents, statistics = fit_documents(
            problem, state, documents, SETTLED, InProcess(), reuse=True
        )
        state = replace(
            global_step(problem, state, statistics, documents), topics=fitted.state.topics
        )
    tokens = documents.token_counts[:, : state.n_topics]
    tokens = 80.0 * tokens / tokens.sum(axis=1, keepdims=True)
    found = regress(problem.design, tokens, 1.0)
    contrasts = make_contrasts(fitted.schema, fitted.used, None, None)
    first, second = expected_sides(found, fitted.space, fitted.training.sample, contrasts)
    return second - first


def compare(spread, seed, given, authors=AUTHORS, few=6):
    """Lower and upper limits, and target, of every label and topic, with groups and without."""
    rng = np.random.default_rng([7, seed, round(10 * spread), authors])
    truth = make_truth(spread, rng)
    counts, tags, author = draw(truth, authors, EACH, rng, few)
    fresh = draw(truth, FRESH_AUTHORS, FRESH_EACH, rng, few)
    found = []
    for groups in given:
        model = HDSP(N_TOPICS, fixed_number=True, random_state=seed, n_jobs=1)
        options = {"groups": author.astype(str)} if groups else {}
        model.fit(counts, labels=tags, **options)
        table = model.label_effects(0.9)
        target = fresh_effects(model, *fresh[:2]).ravel()
        null = table["label"].str.startswith("null").to_numpy()
        found.append(
            pd.DataFrame(
                {
                    "label": table["label"],
                    "effect": table["effect"],
                    "lower": table["lower"],
                    "upper": table["upper"],
                    "target": np.where(null, 0.0, target),
                    "groups": groups,
                }
            )
        )
    return pd.concat(found)


def summary(table):
    inside = (table["lower"] <= table["target"]) & (table["target"] <= table["upper"])
    return {
        "covered": digits(inside.mean(), 3),
        "excludes 0": digits(((table["lower"] > 0) | (table["upper"] < 0)).mean(), 3),
        "half width": digits((table["upper"] - table["lower"]).mean() / 2, 4),
        "error": digits(np.sqrt(((table["effect"] - table["target"]) ** 2).mean()), 4),
    }


def rows(seeds):
    settings = [(AUTHORS, spread) for spread in SPREADS] + [(20, 1.0)]
    for authors, spread in settings:
        found = pd.concat([compare(spread, seed, (False, True), authors) for seed in seeds])
        for (groups, label), part in found.groupby(["groups", "label"], sort=False):
            yield {
                "authors": authors,
                "authors' deviation": spread,
                "groups": "yes" if groups else "no",
                "tag": label,
                **summary(part),
                "seeds": len(seeds),
            }


# Real documents in groups: the corpus, and what tells a document's group.
REAL = {
    "clothing_reviews": ("product", lambda row: row["product_id"]),
    "nips_abstracts_1987_2018": ("last author", lambda row: list(row["labels"])[-1]),
    "medline_mesh": ("review", lambda row: row["category"]),
    "amazon_4domains": ("product", lambda row: row["product"]),
}
SHARES = (0.5, 0.5, 0.2, 0.1)


def placebo_rows(data, seeds):
    """How often intervals exclude 0 for tags that were dealt out to whole groups."""
    for name, (what, group_of) in REAL.items():
        frame = pd.read_parquet(Path(data) / f"{name}.parquet")
        frame = frame.sample(min(len(frame), 6_000), random_state=0)
        groups = [str(group_of(row)) for _, row in frame.iterrows()]
        names, member = np.unique(groups, return_inverse=True)
        counts, _ = TextSettings().count(frame["text"].tolist())
        false = {False: [], True: []}
        for seed in seeds:
            rng = np.random.default_rng(seed)
            dealt = [rng.random(len(names)) < share for share in SHARES]
            tags = [[f"p{j}" for j, own in enumerate(dealt) if own[m]] for m in member]
            for given, values in false.items():
                model = HDSP(30, fixed_number=True, random_state=seed, n_jobs=1)
                model.fit(counts, labels=tags, groups=groups if given else None)
                table = model.label_effects(0.9)
                values.append(((table["lower"] > 0) | (table["upper"] < 0)).to_numpy())
        for given, values in false.items():
            by_tag = np.mean(values, axis=0).reshape(len(SHARES), -1).mean(axis=1)
            yield {
                "corpus": name,
                "documents": len(frame),
                "dealt out by": what,
                "number of them": len(names),
                "groups": "yes" if given else "no",
                "to half": digits(by_tag[:2].mean(), 3),
                "to a fifth": digits(by_tag[2], 3),
                "to a tenth": digits(by_tag[3], 3),
                "seeds": len(seeds),
            }


def main():
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--first", type=int, default=100)
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(chosen.first, chosen.first + chosen.seeds)
    if chosen.data is not None:
        write("effects_groups_placebo", placebo_rows(chosen.data, seeds[:3]))
    write("effects_groups", rows(seeds))


if __name__ == "__main__":
    main()
