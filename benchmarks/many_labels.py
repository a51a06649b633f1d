"""Thousands of labels: plain, pooled, and as inner products of few dimensions.

    python benchmarks/many_labels.py --data FOLDER

Writes benchmarks/results/many_labels.csv: papers with the authors of at least two training papers;
perplexity of held-out papers given their authors, its ratio to that of plain labels, and the mean
average precision with which authors are found from words. On these splits nothing was chosen.
"""

import warnings
from itertools import product

import numpy as np
from common import digits, load, parser, write

from hdsp import HDSP, LogLinear, LowRank, Pooled
from hdsp_studies.comparison import Reading

ABSTRACTS = ("nips_abstracts_1987_2018", Reading(least_documents=2))
PAPERS = ("nips_fulltext_1987_1999", Reading(text="bow", largest_share=0.9, least_documents=2))
SETTINGS = ((*ABSTRACTS, 50), (*ABSTRACTS, 100), (*PAPERS, 50))
TERMS = {"LogLinear": LogLinear("labels"), "Pooled": Pooled("labels"), "LowRank": LowRank("labels")}


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
    seeds = range(options.first, options.first + options.seeds)
    for seed, (corpus, reading, n_topics) in product(seeds, SETTINGS):
        train, test = load(options.data, corpus, reading, seed=seed)
        plain = None
        for name, scaling in TERMS.items():
            model = HDSP(
                n_topics, fixed_number=True, scaling=scaling, init="nmf", random_state=seed
            ).fit(train)
            given = model.perplexity(test, given="labels")
            plain = given if plain is None else plain
            stages = {row["stage"]: row["seconds"] for row in model._model.report.stages}
            yield {
                "corpus": corpus,
                "labels": len(model.label_names_),
                "topics": n_topics,
                "split": seed,
                "term": name,
                "given labels": digits(given, 1),
                "of LogLinear's": digits(given / plain, 4),
                "average precision": digits(precision(model, test), 4),
                "seconds of calibration": digits(stages["calibration"], 1),
            }


if __name__ == "__main__":
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--seeds", type=int, default=2)
    options.add_argument("--first", type=int, default=1)
    warnings.simplefilter("ignore")
    write("many_labels", rows(options.parse_args()))
