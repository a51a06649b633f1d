"""Thousands of labels: plain, pooled, and as inner products of few dimensions.

    python benchmarks/many_labels.py --data FOLDER

Writes benchmarks/results/many_labels.csv: papers with the authors of at least two training papers;
perplexity of held-out papers given their authors, its ratio to that of plain labels, and the mean
average precision with which authors are found from words. Means over splits, on which nothing was
chosen.
"""

import warnings
from itertools import product

import numpy as np
from common import digits, load, parser, write

from hdsp import HDSP, LogLinear, LowRank, Pooled
from hdsp_studies.comparison import Reading

CORPORA = {
    "nips_abstracts_1987_2018": Reading(least_documents=2),
    "nips_fulltext_1987_1999": Reading(text="bow", largest_share=0.9, least_documents=2),
}
TERMS = {
    "LogLinear": LogLinear("labels"),
    "Pooled": Pooled("labels"),
    "LowRank": LowRank("labels"),
    "LowRank, rank=5": LowRank("labels", rank=5),
}
TOPICS = (50, 100)


def precision(model, test):
    """The mean average precision of a document's authors among all."""
    values = model.predict_labels(test, "labels").to_numpy()
    carried = model.label_schema_.encode(test.labels, warn=False)
    found = []
    for number, row in enumerate(values):
        own = carried.indices[carried.indptr[number] : carried.indptr[number + 1]]
        if len(own):
            rank = np.sort((row[None, :] >= row[own][:, None]).sum(axis=1))
            found.append(np.mean(np.arange(1, len(own) + 1) / rank))
    return np.mean(found)


def rows(options):
    for (corpus, reading), n_topics in product(CORPORA.items(), TOPICS):
        found = {name: [] for name in TERMS}
        for seed in range(options.first, options.first + options.seeds):
            train, test = load(options.data, corpus, reading, seed=seed)
            for name, scaling in TERMS.items():
                model = HDSP(n_topics, fixed_number=True, scaling=scaling, random_state=seed)
                model.fit(train)
                stages = {row["stage"]: row["seconds"] for row in model._model.report.stages}
                found[name].append(
                    (
                        model.perplexity(test, given="labels"),
                        precision(model, test),
                        stages["calibration"],
                    )
                )
        plain = np.array(found["LogLinear"])[:, 0]
        for name, values in found.items():
            values = np.array(values)
            yield {
                "corpus": corpus,
                "labels": len(model.label_names_),
                "topics": n_topics,
                "term": name,
                "given labels": digits(values[:, 0].mean(), 1),
                "of LogLinear's": digits((values[:, 0] / plain).mean(), 4),
                "average precision": digits(values[:, 1].mean(), 4),
                "seconds of calibration": digits(values[:, 2].mean(), 1),
            }


if __name__ == "__main__":
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--seeds", type=int, default=2)
    options.add_argument("--first", type=int, default=1)
    warnings.simplefilter("ignore")
    write("many_labels", rows(options.parse_args()))
