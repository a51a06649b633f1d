"""Held-out quality on real text: HDSP with its three kinds of expected topics, and the HDP.

    python benchmarks/quality.py --data FOLDER

Writes benchmarks/results/quality.csv: means over seeds.
"""

import numpy as np
from common import NAMES, fixed, load, parser, write

from hdsp import Constant
from hdsp_studies.comparison import fit_and_measure, perplexities
from hdsp_studies.peers import FitSettings

CORPORA = (*NAMES, "clothing_reviews")
MODELS = {"HDSP": {}, "HDP": {"scaling": Constant()}}


def measure(train, test, options, settings):
    """One fit and its numbers."""
    fitted, found = fit_and_measure(fixed(**options), train, test, settings)
    by_method = perplexities(fitted, test)
    return {
        "regression": by_method["calibrated"],
        "exact": by_method["exact"],
        "ratio": by_method["perplexity"],
        "completion": found["completion"],
        "npmi": found["npmi"],
        "topics": found["n_topics"],
        "passes": fitted.model.n_iter_,
        "seconds": found["seconds"],
    }


def rows(chosen):
    for corpus in CORPORA:
        train, test = load(chosen.data, corpus)
        for model, options in MODELS.items():
            found = [
                measure(train, test, options, FitSettings(chosen.topics, seed, n_jobs=2))
                for seed in range(chosen.seeds)
            ]
            means = {name: f"{np.mean([row[name] for row in found]):.4g}" for name in found[0]}
            yield {"corpus": corpus, "model": model, **means}


def main():
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--topics", type=int, default=100)
    write("quality", rows(options.parse_args()))


if __name__ == "__main__":
    main()
