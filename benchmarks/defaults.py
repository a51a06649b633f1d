"""How the defaults were checked: one setting changed at a time, completion and NPMI beside it.

    python benchmarks/defaults.py --data FOLDER

Writes benchmarks/results/defaults.csv.
"""

from common import NAMES, digits, fixed, load, parser, write

from hdsp_studies.comparison import fit_and_measure
from hdsp_studies.peers import FitSettings

CHANGES = (
    {},
    {"topic_prior": 0.01},
    {"topic_prior": 0.1},
    {"topic_prior": 0.25},
    {"document_concentration": 5.0},
    {"document_concentration": 50.0},
    {"tol": 1e-4},
    {"keep_documents": False},
    {"init": "lda"},
    {"init": "random"},
)
# Where documents are short, the start of the document concentration matters most.
SHORT = ("clothing_reviews", "amazon_4domains")
SHORT_CHANGES = tuple(
    c for c in CHANGES if not c or "document_concentration" in c or "keep_documents" in c
)


def rows(data):
    for name in (*NAMES, *SHORT):
        train, test = load(data, name)
        for change in SHORT_CHANGES if name in SHORT else CHANGES:
            settings = FitSettings(100, n_jobs=2)
            fitted, found = fit_and_measure(fixed(**change), train, test, settings)
            yield {
                "corpus": name,
                "change": " ".join(f"{k}={v}" for k, v in change.items()) or "defaults",
                "labels": digits(found["given_labels"], 1),
                "completion": digits(found["completion"], 1),
                "npmi": digits(found["npmi"], 3),
                "bound": digits(fitted.model.history_[-1]["bound"], 0),
                "passes": fitted.model.n_iter_,
            }


if __name__ == "__main__":
    write("defaults", rows(parser(__doc__).parse_args().data))
