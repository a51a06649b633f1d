"""Proportions of new documents: documents a second on two threads.

    python benchmarks/transform.py --data FOLDER        (needs tomotopy and topica)

Writes benchmarks/results/transform.csv.
"""

import time
import warnings

from common import fixed, load, parser, write

from hdsp_studies.peers import FitSettings, make_peer, tokens

SETTINGS = FitSettings(100, n_jobs=2)
# How fast new documents are read does not depend on how long a sampler was trained.
FEW = FitSettings(100, n_jobs=2, quick=True)
N_FEW = 2000


def rows(data):
    train, test = load(data, "medline_mesh")
    few, words = train[:N_FEW], tokens(test.counts)

    def row(name, infer):
        start = time.perf_counter()
        infer()
        rate = len(test) / (time.perf_counter() - start)
        return {"program": name, "documents a second": f"{rate:,.0f}"}

    model = fixed().fit(train, SETTINGS).model
    model.transform(test.counts[:10], labels=test.labels[:10])
    yield row("hdsp transform", lambda: model.transform(test.counts, labels=test.labels))
    dmr = make_peer("dmr").fit(few, FEW)

    def infer():
        pairs = zip(words, dmr.metadata(test.labels), strict=True)
        documents = [dmr.model.make_doc(document, **labels) for document, labels in pairs]
        dmr.model.infer(documents, iterations=100, workers=2)

    yield row("tomotopy infer, 100 iterations", infer)
    other = make_peer("dmr-topica").fit(few, FEW)
    features = other.known.design(test.labels).toarray()
    yield row("topica transform", lambda: other.model.transform(words, features=features))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    write("transform", rows(parser(__doc__).parse_args().data))
