"""Whole fits against other topic models: seconds and held-out quality, one run.

    python benchmarks/fits.py --data FOLDER        (needs tomotopy and topica)

Writes benchmarks/results/fits.csv. Start-up (imports, compilation) is not counted for anybody;
initialisation and the conversion of documents to a library's own form are. Ours are medians
of three fits: a second of other work on the machine would tell.
"""

import importlib
import warnings

from common import digits, fixed, load, parser, write

from hdsp_studies.comparison import fit_and_measure
from hdsp_studies.peers import FitSettings, ScalingProcess, VariationalLDA, make_peer

N_TOPICS = 100
CORPORA = ("medline_mesh", "rcv1_subset", "clothing_reviews")
MODELS = {
    "HDSP": fixed(),
    "HDSP, number of topics searched": ScalingProcess("auto"),
    "tomotopy DMR, 300 sweeps": make_peer("dmr"),
    "topica DMR (cvb0), 100 sweeps": make_peer("dmr-topica"),
    "scikit-learn LDA, 50 passes": VariationalLDA(passes=50),
}


def rows(data, corpora):
    for corpus in corpora:
        yield from corpus_rows(data, corpus)


def corpus_rows(data, corpus):
    train, test = load(data, corpus)
    base = None
    for name, peer in MODELS.items():
        # It takes a minute, and labels mean nothing to it.
        if isinstance(peer, VariationalLDA) and corpus != CORPORA[0]:
            continue
        for library in peer.libraries:
            importlib.import_module(library)
        peer.warm_up(train)
        fits = [
            fit_and_measure(peer, train, test, FitSettings(N_TOPICS, n_jobs=2))[1]
            for _ in range(3 if isinstance(peer, ScalingProcess) else 1)
        ]
        found = sorted(fits, key=lambda one: one["seconds"])[len(fits) // 2]
        base = base or found["seconds"]
        yield {
            "corpus": corpus,
            "model": name,
            "seconds": digits(found["seconds"], 2 if found["seconds"] < 10 else 1),
            "given labels": digits(found["given_labels"], 0),
            "completion": digits(found["completion"], 0),
            "npmi": digits(found["npmi"], 3),
            "times HDSP": digits(found["seconds"] / base, 1),
        }


def main():
    options = parser(__doc__)
    options.add_argument("--corpora", nargs="+", default=CORPORA)
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    write("fits", rows(chosen.data, chosen.corpora))


if __name__ == "__main__":
    main()
