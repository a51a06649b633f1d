"""Terms of numbers: what lines, curves and ordered values predict, from the number alone.

    python benchmarks/terms.py --data FOLDER

Writes benchmarks/results/terms.csv: perplexity of held-out documents given their number, and its
ratio to that of a line; means over splits, on which nothing was chosen.
"""

import warnings
from itertools import product

import numpy as np
from common import digits, load, parser, write

from hdsp import HDSP, Constant, LogLinear, Ordered, Spline
from hdsp_studies.comparison import Reading

NUMBERS = {
    "nips_abstracts_1987_2018": "year",
    "nips_fulltext_1987_1999": "year",
    "medline_mesh": "year",
    "amazon_4domains": "year",
    "clothing_reviews": "age",
}
TEXTS = {"nips_fulltext_1987_1999": {"text": "bow", "largest_share": 0.9}}
TERMS = {
    "no label": lambda name: Constant(),
    "line": LogLinear,
    "Spline": Spline,
    "Spline, 16 knots": lambda name: Spline(name, n_knots=16),
    "Ordered": Ordered,
}
# Of more different values Ordered takes none.
TOO_MANY = ("clothing_reviews",)
TOPICS = (50, 100)


def perplexities(data, corpus, seed, n_topics):
    """Yield each term's perplexity of test documents, given the number alone."""
    name = NUMBERS[corpus]
    reading = Reading(tags=(), numeric=(name,), **TEXTS.get(corpus, {}))
    train, test = load(data, corpus, reading, seed=seed)
    for label, make in TERMS.items():
        if label == "Ordered" and corpus in TOO_MANY:
            continue
        model = HDSP(n_topics, scaling=make(name), random_state=seed)
        yield label, model.fit(train).perplexity(test, given="labels")


def rows(options):
    for corpus, n_topics in product(NUMBERS, TOPICS):
        found = {}
        for seed in range(options.seeds):
            for label, value in perplexities(options.data, corpus, seed, n_topics):
                found.setdefault(label, []).append(value)
        line = np.array(found["line"])
        for label, values in found.items():
            ratio = np.array(values) / line
            yield {
                "corpus": corpus,
                "number": NUMBERS[corpus],
                "topics": n_topics,
                "term": label,
                "perplexity": digits(np.mean(values), 1),
                "of the line's": digits(ratio.mean(), 4),
                "largest": digits(ratio.max(), 4),
            }


def main():
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=2)
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    write("terms", rows(chosen))


if __name__ == "__main__":
    main()
