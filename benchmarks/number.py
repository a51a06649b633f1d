"""How many topics, on corpora whose number is known and on real text.

    python benchmarks/number.py [given starts short known model real] --data FOLDER

Writes number_given.csv (topics recovered where their number is given), number_starts.csv (those of
short texts, from each start), number_short.csv (the purity of topics in real short texts),
number_known.csv (the number found in LDA corpora of overlapping topics), number_model.csv (in draws
from HDSP) and number_real.csv into benchmarks/results. number_short.csv and the last need data.
"""

import time
import warnings
from pathlib import Path

import numpy as np
from common import fixed, load, parser, write
from scipy.sparse import csr_array

from hdsp import HDSP, Categorical, read_table
from hdsp.metrics import match_topics
from hdsp.model import Truth, draw_documents
from hdsp.scaling import Constant
from hdsp_studies.comparison import fit_and_measure
from hdsp_studies.peers import FitSettings, ScalingProcess, make_peer
from hdsp_studies.synthetic import make_corpus

# Topics, their weights, overlap and words per document; 3,000 documents, 2,000 words.
KNOWN = {
    "50 equal": (50, "equal", 0.2, 100),
    "50 Zipf": (50, "zipf", 0.2, 100),
    "20 Zipf": (20, "zipf", 0.3, 100),
    "20 Zipf, short": (20, "zipf", 0.3, 30),
}
# Documents, topics, their weights, overlap and words per document.
SHORT = {
    "20 Zipf, 30 words": (3_000, 20, "zipf", 0.3, 30),
    "20 equal, 15 words": (10_000, 20, "equal", 0.2, 15),
    "50 equal, 30 words": (20_000, 50, "equal", 0.2, 30),
    "50 equal, 100 words": (3_000, 50, "equal", 0.2, 100),
}
STARTS = ("nmf", "words", "pairs", "auto")
# Sweeps of tomotopy's LDA, beside fits of short texts.
SWEEPS = 600
SHORT_TEXTS = ("searchsnippets", "tweets", "pascal_flickr")
RULES = ("auto", "prediction")
REAL = ("rcv1_subset", "medline_mesh", "ohsumed23", "clothing_reviews", "amazon_4domains")


def draw_known(name, seed):
    """An LDA corpus of overlapping topics, and the truth."""
    n_topics, weights, overlap, length = KNOWN[name]
    return make_corpus(
        3_000,
        n_topics=n_topics,
        topic_weights=weights,
        overlap=overlap,
        document_length=length,
        random_state=seed,
    )


def matched(truth, model):
    """How many true topics have a partner within a total variation of .3."""
    return int((match_topics(truth.word_share, model.components_)[1] <= 0.3).sum())


def given(n_seeds):
    """Topics recovered where their number is given."""
    for name, (n_topics, *_) in KNOWN.items():
        found = []
        for seed in range(n_seeds):
            corpus, truth = draw_known(name, seed)
            model = HDSP(n_topics, random_state=seed, n_jobs=1).fit(corpus)
            found.append(matched(truth, model))
        yield {"corpus": name, "matched": " ".join(map(str, found)), "median": np.median(found)}


def starts(n_seeds):
    """Topics recovered from each start, their number given, and by tomotopy's LDA."""
    for name, (n_documents, n_topics, weights, overlap, length) in SHORT.items():
        rows = {start: [] for start in (*STARTS, "tomotopy")}
        for seed in range(n_seeds if n_documents < 20_000 else min(n_seeds, 5)):
            corpus, truth = make_corpus(
                n_documents,
                n_topics=n_topics,
                topic_weights=weights,
                overlap=overlap,
                document_length=length,
                random_state=seed,
            )
            for start in STARTS:
                settings = {"random_state": seed, "n_jobs": 1}
                began = time.process_time()
                model = HDSP(n_topics, init=start, **settings).fit(corpus)
                rows[start].append((matched(truth, model), time.process_time() - began))
            rows["tomotopy"].append(sampled(corpus, truth, n_topics, seed))
        for start, found in rows.items():
            numbers, seconds = zip(*found, strict=True)
            yield {
                "corpus": name,
                "init": start,
                "matched": " ".join(map(str, numbers)),
                "median": np.median(numbers),
                "processor seconds": f"{np.median(seconds):.1f}",
            }


def sampled(corpus, truth, n_topics, seed):
    """The topics that collapsed Gibbs sampling recovers, and its processor seconds."""
    import tomotopy

    model = tomotopy.LDAModel(k=n_topics, seed=seed + 1)
    counts = corpus.counts
    for first, last in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
        words = np.repeat(counts.indices[first:last], counts.data[first:last].astype(int))
        model.add_doc([f"{word:06d}" for word in words])
    began = time.process_time()
    model.train(SWEEPS, workers=1)
    place = [int(word) for word in model.used_vocabs]
    shares = np.zeros((n_topics, corpus.n_words))
    shares[:, place] = [model.get_topic_word_dist(k) for k in range(n_topics)]
    apart = match_topics(truth.word_share, shares + 1e-12)[1]
    return int((apart <= 0.3).sum()), time.process_time() - began


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


def known(n_seeds):
    """The number found in corpora whose number is known, and what it costs."""
    for name in KNOWN:
        for rule in RULES:
            rows = []
            for seed in range(n_seeds):
                corpus, truth = draw_known(name, seed)
                start = time.process_time()
                model = HDSP(random_state=seed, n_jobs=1).fit(corpus)
                searched = time.process_time()
                number = len(model.components_)
                HDSP(number, random_state=seed, n_jobs=1).fit(corpus)
                times = (searched - start) / (time.process_time() - searched)
                low, high = model.n_topics_range_
                rows.append((number, matched(truth, model), f"{low}-{high}", times))
            numbers, pairs, ranges, times = zip(*rows, strict=True)
            yield {
                "corpus": name,
                "by": rule,
                "found": " ".join(map(str, numbers)),
                "median": np.median(numbers),
                "ranges": " ".join(ranges),
                "matched": np.median(pairs),
                "times a fixed fit": f"{np.median(times):.1f}",
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
        for rule in RULES:
            for seed in range(n_seeds):
                settings = FitSettings(ceiling, seed, n_jobs=2)
                peer = ScalingProcess("auto", number_by=rule)
                fitted, found = fit_and_measure(peer, *split, settings)
                number = len(fitted.model.components_)
                _, other = fit_and_measure(fixed(), *split, FitSettings(number, seed, n_jobs=2))
                low, high = fitted.model.n_topics_range_
                yield {
                    "corpus": name,
                    "by": rule,
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
    options.add_argument(
        "parts", nargs="*", default=["given", "starts", "short", "known", "model", "real"]
    )
    options.add_argument("--seeds", type=int, default=10, help="of simulated corpora (default 10)")
    options.add_argument("--true", type=int, nargs="+", default=[5, 10, 30, 100])
    options.add_argument("--real-seeds", type=int, default=2, help="of real ones (default 2)")
    chosen = options.parse_args()
    warnings.filterwarnings("ignore", message=".* topics are in use")
    parts = {
        "given": lambda: given(chosen.seeds),
        "starts": lambda: starts(chosen.seeds),
        "short": lambda: short(Path(chosen.data), 5),
        "known": lambda: known(chosen.seeds),
        "model": lambda: model(chosen.seeds, chosen.true),
        "real": lambda: real(chosen.data, chosen.real_seeds),
    }
    for name in chosen.parts:
        write(f"number_{name}", parts[name]())


if __name__ == "__main__":
    main()
