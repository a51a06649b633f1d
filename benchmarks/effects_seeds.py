"""Does an interval of a label's effect hold what another seed finds? Real corpora.

    python benchmarks/effects_seeds.py --data FOLDER

Writes benchmarks/results/effects_seeds.csv. A model is fitted, and four others with other seeds to
the same documents; their topics are matched with its own (total variation, each once). The share of
their effects that lie inside the model's intervals is shown, for intervals that take the topics as
they are and for intervals with refits.
"""

import warnings

import numpy as np
from common import digits, load, parser, write

from hdsp import HDSP
from hdsp.metrics import match_topics
from hdsp_studies.comparison import Reading

# Tags of these reviews are nested, so their effects are not estimable.
READINGS = {"clothing_reviews": Reading(tags=(), categories=("category",), numeric=("rating",))}
CORPORA = ("clothing_reviews", "amazon_4domains", "rcv1_subset", "medline_mesh")
DOCUMENTS, OTHERS, REFITS = 4_000, 4, 20


# Numbers of topics, the first seed of each, and corpora.
SETTINGS = ((30, 10, CORPORA), (50, 20, CORPORA[:3]))


def rows(data):
    for n_topics, first, names in SETTINGS:
        for name in names:
            corpus, _ = load(data, name, READINGS.get(name), seed=0)
            corpus = corpus[:: max(len(corpus) // DOCUMENTS, 1)]
            models = [
                HDSP(n_topics, random_state=first + n, n_jobs=1).fit(corpus)
                for n in range(1 + OTHERS)
            ]
            model, *others = models
            found = []
            for other in others:
                index, _ = match_topics(model.components_, other.components_)
                effects = other.label_effects()["effect"].to_numpy()
                found.append(effects.reshape(-1, n_topics)[:, index].ravel())
            for refits in (0, REFITS):
                options = {"refits": refits, "corpus": corpus} if refits else {}
                table = model.label_effects(**options)
                lower, upper = table["lower"].to_numpy(), table["upper"].to_numpy()
                inside = [((lower <= one) & (one <= upper)).mean() for one in found]
                yield {
                    "corpus": name,
                    "documents": len(corpus),
                    "topics": n_topics,
                    "refits": refits,
                    "inside": digits(np.mean(inside), 3),
                    "least": digits(min(inside), 2),
                    "half width": digits((upper - lower).mean() / 2, 4),
                    "excludes 0": digits(((lower > 0) | (upper < 0)).mean(), 3),
                    "other seeds": OTHERS,
                }


def main():
    chosen = parser(__doc__).parse_args()
    warnings.simplefilter("ignore")
    write("effects_seeds", rows(chosen.data))


if __name__ == "__main__":
    main()
