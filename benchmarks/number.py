"""How many topics, on corpora whose number is known and on real text.

    python benchmarks/number.py [model short real] --data FOLDER

Writes number_model.csv (the number found in corpora simulated from HDSP), number_short.csv (the
purity of topics in real short texts) and number_real.csv into benchmarks/results.
"""

import warnings
from pathlib import Path

import numpy as np
from common import fixed, load, parser, write
from scipy.sparse import csr_array

from hdsp import HDSP, Categorical, read_table
from hdsp.model.simulate import Truth, draw_documents
from hdsp.scaling.functions import Constant
from hdsp_studies.comparison import fit_and_measure
from hdsp_studies.peers import FitSettings, ScalingProcess, make_peer

STARTS = ("nmf", "words", "pairs", "auto")
SHORT_TEXTS = ("searchsnippets", "tweets", "pascal_flickr")
REAL = ("rcv1_subset", "medline_mesh", "ohsumed23", "clothing_reviews", "amazon_4domains")


def purity(shares, label):
    """The share of documents whose largest topic is one that mostly has their label."""
    table = np.zeros((shares.shape[1], label.max() + 1))
    np.add.at(table, (shares.argmax(axis=1), label), 1.0)
    return table.max(axis=1).sum() / len(label)


def short(data, n_seeds):
    """How pure the largest topics of short texts are, with as many topics as labels."""
    for name in SHORT_TEXTS:
        corpus = read_table(data / f"{name}.parquet", text="text", tags=["labels"])
        label = np.array([row.argmax() for row in corpus.labels.blocks[0].values.toarray()])
        n_topics = corpus.labels.blocks[0].values.shape[1]
        for start in (*STARTS, "gsdmm", "btm", "pt"):
            found = []
            for seed in range(n_seeds):
                if start in STARTS:
                    model = HDSP(n_topics, init=start, random_state=seed)
                    shares = model.fit(corpus.counts).transform(corpus.counts)
                else:
                    fitted = make_peer(start).fit(corpus, FitSettings(n_topics, seed, n_jobs=1))
                    shares = fitted.given_words(corpus.counts, corpus.labels)
                found.append(purity(shares, label))
            yield {
                "corpus": name,
                "model": start,
                "topics": n_topics,
                "purity": " ".join(f"{value:.3f}" for value in found),
                "median": f"{np.median(found):.3f}",
            }


def draw(n_topics, length, labelled, seed):
    """A corpus of the model: topics over 20 words each, 40 documents per topic, beta = 1."""
    rng = np.random.default_rng(seed)
    n_documents, n_words = max(500, 40 * n_topics), max(200, 20 * n_topics)
    # Scales of a label lie about 1; of eight, a document carries some.
    scaling = Categorical(weight_shape=3.0, weight_rate=2.0) if labelled else Constant()
    carried = rng.random((n_documents, 8)) < 0.3
    design = csr_array(carried.astype(np.float64) if labelled else np.zeros(carried.shape))
    truth = Truth(
        topic_weight=rng.dirichlet(np.full(n_topics, 5.0)),
        word_share=rng.dirichlet(np.full(n_words, 0.05), size=n_topics),
        weights=scaling.draw_prior(n_topics, 8, rng),
        document_concentration=1.0,
    )
    lengths = rng.poisson(length, size=n_documents).astype(np.float64)
    counts = draw_documents(truth, scaling, design, lengths, rng)
    return counts, design if labelled else None


def model(n_seeds, numbers):
    """The numbers found in draws from HDSP itself."""
    for n_topics in numbers:
        for length in (25, 80):
            for labelled in (False, True):
                corpora = [draw(n_topics, length, labelled, seed) for seed in range(n_seeds)]
                models = [
                    HDSP(max_components=8 * n_topics, random_state=seed, n_jobs=1).fit(
                        counts, labels=labels
                    )
                    for seed, (counts, labels) in enumerate(corpora)
                ]
                found = np.array([len(model.components_) for model in models])
                ranges = [model.n_topics_range_ for model in models]
                holds = sum(low <= n_topics <= high for low, high in ranges)
                yield {
                    "true": n_topics,
                    "words per document": length,
                    "labels": "yes" if labelled else "no",
                    "found": " ".join(map(str, found)),
                    "median": np.median(found),
                    "within 15 %": (np.abs(found - n_topics) <= 0.15 * n_topics).sum(),
                    "ranges hold it": f"{holds} of {n_seeds}",
                }


def real(data, n_seeds, ceiling=200):
    """The numbers found in real text, beside fits with exactly that number."""
    for name in REAL:
        split = load(data, name)
        for seed in range(n_seeds):
            settings = FitSettings(ceiling, seed, n_jobs=2)
            fitted, found = fit_and_measure(ScalingProcess("auto"), *split, settings)
            number = len(fitted.model.components_)
            _, other = fit_and_measure(fixed(), *split, FitSettings(number, seed, n_jobs=2))
            low, high = fitted.model.n_topics_range_
            yield {
                "corpus": name,
                "seed": seed,
                "topics": number,
                "range": f"{low}-{high}",
                "given labels": f"{found['given_labels']:.1f}",
                "completion": f"{found['completion']:.1f}",
                "npmi": f"{found['npmi']:.3f}",
                "times a fixed fit": f"{found['seconds'] / other['seconds']:.1f}",
            }


def main():
    options = parser(__doc__)
    options.add_argument("parts", nargs="*", default=["model", "short", "real"])
    options.add_argument("--seeds", type=int, default=10, help="of simulated corpora (default 10)")
    options.add_argument("--true", type=int, nargs="+", default=[5, 10, 30, 100])
    options.add_argument("--real-seeds", type=int, default=2, help="of real ones (default 2)")
    chosen = options.parse_args()
    warnings.filterwarnings("ignore", message=".* topics are in use")
    parts = {
        "short": lambda: short(Path(chosen.data), 5),
        "model": lambda: model(chosen.seeds, chosen.true),
        "real": lambda: real(chosen.data, chosen.real_seeds),
    }
    for name in chosen.parts:
        write(f"number_{name}", parts[name]())


if __name__ == "__main__":
    main()
