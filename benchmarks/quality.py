"""Held-out quality on real text, side by side with an earlier commit.

    python benchmarks/quality.py --data FOLDER [--before COMMIT]

Writes benchmarks/results/quality.csv: means over seeds, each with its own split and its own fit of
100 topics. Perplexity of held-out documents given their labels by the three methods of
`expected_topics`, and given half of their words; NPMI; log loss and calibration error of
`predict_labels`; the HDP, which has no labels; and the number of topics that a search finds. Each
version runs in its own process.
"""

import json
import warnings

import numpy as np
from common import checkout, digits, load, parser, run_version, write

from hdsp_studies.comparison import Reading

N_TOPICS, BINS = 100, 15
CORPORA = {
    "rcv1_subset": None,
    "medline_mesh": None,
    "ohsumed23": None,
    "clothing_reviews": Reading(tags=(), categories=("category", "rating")),
    "amazon_4domains": Reading(tags=(), categories=("category", "rating")),
    "nips_abstracts_1987_2018": Reading(tags=(), numeric=("year",)),
    "searchsnippets": None,
    "tweets": None,
}
DIGITS = {"npmi": 3, "log loss": 4, "calibration error": 4, "topics found": 0}


def measure(data, corpus, seed):
    """The measures of the imported version, by name."""
    from hdsp import HDSP, Constant

    warnings.simplefilter("ignore")
    train, test = load(data, corpus, CORPORA[corpus], seed=seed)
    model = HDSP(N_TOPICS, random_state=seed).fit(train)
    plain = HDSP(N_TOPICS, scaling=Constant(), random_state=seed).fit(train)
    measures = {
        "given labels": model.perplexity(test),
        "exact": model.perplexity(test, method="exact"),
        "ratio": model.perplexity(test, method="ratio"),
        "completion": model.perplexity(test, given="completion"),
        "npmi": np.nanmean(model.topics()["coherence"]),
        "HDP, given labels": plain.perplexity(test),
        "HDP, completion": plain.perplexity(test, given="completion"),
        "topics found": HDSP(random_state=seed).fit(train).n_topics_,
    }
    return measures | label_measures(model, train, test)


def label_measures(model, train, test):
    """Log loss and calibration error of predicted categories and tags."""
    schema, losses, errors = model.label_schema_, [], []
    known_values = schema.encode(test.labels, warn=False)
    for block in train.labels.blocks:
        if block.kind == "number":
            continue
        chance = model.predict_labels(test, block.name).to_numpy()
        carried = known_values[:, schema.slices()[block.name]].toarray() > 0
        if block.kind == "tags":
            kept = np.clip(chance, 1e-7, 1 - 1e-7)
            losses.append(-np.where(carried, np.log(kept), np.log1p(-kept)).sum(axis=1).mean())
            errors.append(calibration_error(chance.ravel(), carried.ravel()))
        else:
            known = carried.any(axis=1)
            true, chance = carried[known].argmax(axis=1), chance[known]
            losses.append(-np.log(np.maximum(chance[range(len(true)), true], 1e-12)).mean())
            errors.append(calibration_error(chance.max(axis=1), chance.argmax(axis=1) == true))
    return {"log loss": np.mean(losses), "calibration error": np.mean(errors)} if losses else {}


def calibration_error(chance, right):
    """Mean difference between probability and frequency, over bins of probability."""
    place = np.minimum((chance * BINS).astype(int), BINS - 1)
    return np.abs(np.bincount(place, chance - right)).sum() / len(chance)


def rows(before, chosen):
    for corpus in chosen.corpora:
        means = {}
        for name, tree in before.items():
            runs = [
                run_version(tree, __file__, [str(chosen.data), corpus, seed])
                for seed in chosen.seeds
            ]
            means[name] = {key: np.mean([run[key] for run in runs]) for key in runs[0]}
        for measured, now in means["now"].items():
            row = {"corpus": corpus, "measure": measured}
            row |= {
                name: digits(own[measured], DIGITS.get(measured, 1)) for name, own in means.items()
            }
            if "before" in means:
                row["change in %"] = f"{100 * (now / means['before'][measured] - 1):+.2f}"
            yield row | {"seeds": len(chosen.seeds)}


def main():
    options = parser(__doc__)
    options.add_argument("--before", help="a commit to compare with")
    options.add_argument("--corpora", nargs="+", default=list(CORPORA), choices=list(CORPORA))
    options.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    options.add_argument("--measure", help="measure this version; for the processes of a run")
    chosen = options.parse_args()
    if chosen.measure:
        print(json.dumps(measure(*json.loads(chosen.measure)), default=float))
        return
    with checkout(chosen.before) as trees:
        write("quality", rows(trees, chosen))


if __name__ == "__main__":
    main()
