"""Stochastic inference and streams: a million documents, other libraries, orders, shards.

    python benchmarks/streams.py [million] [peers] [curves] [orders] [shards] --data FOLDER

Documents are drawn from a model of medline_mesh: 72 words on average, 52 labels, and written to
shards in a temporary folder. Every fit has a process of its own, whose largest memory is shown.
Writes benchmarks/results/streams_*.csv.
"""

import json
import subprocess
import sys
import tempfile
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from common import digits, load, parser, write
from scipy.sparse import csr_array

import hdsp
from hdsp.metrics import npmi, topic_top_words
from hdsp.model.reading import HeldOut
from hdsp.model.state import GlobalState
from hdsp.numerics import sticks_from_weights
from hdsp.scaling.functions import Constant
from hdsp_studies.comparison.corpora import Reading

N_TOPICS, N_TEST, LENGTH = 100, 4_000, 72.0
SIZES = (100_000, 1_000_000)
# Documents that other libraries are given: some need minutes for these.
N_PEERS = 40_000
PARTS = ("million", "peers", "curves", "orders", "shards")
# Corpora that come in twenty parts, how they are read, and how they are sorted.
N_PARTS, SEEDS = 20, (0, 1, 2)
SORTED = {
    "rcv1_subset": (Reading(), "label"),
    "amazon_4domains": (Reading(), "label"),
    "nips_abstracts_1987_2018": (Reading(tags=(), numeric=("year",)), "time"),
}


def main():
    command = parser(__doc__)
    command.add_argument("parts", nargs="*", default=PARTS)
    command.add_argument("--child", help="internal: what a process of its own fits")
    options = command.parse_args()
    # Fits that are ended on purpose, and labels that a stream has not seen yet.
    warnings.simplefilter("ignore")
    if options.child:
        print(json.dumps(CHILDREN[json.loads(options.child)["kind"]](json.loads(options.child))))
        return
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        if set(options.parts) - {"curves", "orders", "shards"}:
            draw(options.data, folder)
        for part in options.parts:
            write(f"streams_{part}", ROWS[part](options.data, folder))


def draw(data, folder):
    """Corpora of all sizes and one of test documents, drawn from one model, in shards."""
    train, _ = load(data, "medline_mesh")[:2]
    model = hdsp.HDSP(N_TOPICS, random_state=0).fit(train)
    rng = np.random.default_rng(0)

    def corpus(n_documents, seed):
        labels = train.labels[rng.integers(train.n_documents, size=n_documents)]
        return model.simulate(labels, document_length=LENGTH, random_state=seed)

    corpus(N_TEST, 1).write(folder / "test")
    whole = corpus(max(SIZES), 0)
    for size in (*SIZES, N_PEERS):
        whole[:size].write(folder / str(size))


def child(**task):
    """The result of a fit in a process of its own."""
    command = [sys.executable, __file__, "--child", json.dumps(task)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        raise RuntimeError(found.stderr[-2_000:])
    return json.loads(found.stdout.splitlines()[-1])


def measured(fit):
    """What a fit returns, and what it took."""
    clock, processor = time.perf_counter(), time.process_time()
    model = fit()
    return model, {
        "seconds": time.perf_counter() - clock,
        "CPU seconds": time.process_time() - processor,
        "peak MB": peak_memory(),
    }


def peak_memory():
    """The largest memory of this process so far, in MB; of its own, not of its parent."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def fit_hdsp(task):
    """A fit of this library, and how well it predicts."""
    stored = hdsp.open_corpus(task["folder"])
    corpus = stored[:] if task["memory"] else stored
    settings = {"random_state": 0, "inference": task["inference"]}
    if "passes" in task:
        settings |= {"max_iter": task["passes"], "tol": 0.0}
    model, row = measured(lambda: hdsp.HDSP(N_TOPICS, **settings).fit(corpus))
    test = hdsp.open_corpus(task["test"])
    return row | {
        "completion": model.perplexity(test, given="completion"),
        "given labels": model.perplexity(test, given="labels"),
        "passes": model.n_iter_,
    }


def million(_, folder):
    small, large = (str(folder / str(size)) for size in SIZES)
    for size, task in (
        (SIZES[0], {"folder": small, "inference": "stochastic", "passes": 1}),
        (SIZES[1], {"folder": large, "inference": "stochastic", "passes": 1}),
        (SIZES[1], {"folder": large, "inference": "stochastic", "passes": 2}),
        (SIZES[1], {"folder": large, "inference": "batch"}),
    ):
        memory = task["inference"] == "batch"
        row = child(kind="hdsp", test=str(folder / "test"), memory=memory, **task)
        yield {
            "documents": f"{size:,}",
            "inference": task["inference"],
            "passes": row["passes"],
            "seconds": digits(row["seconds"], 1),
            "CPU seconds": digits(row["CPU seconds"], 1),
            "peak MB": round(row["peak MB"]),
            "completion": digits(row["completion"], 1),
            "given labels": digits(row["given labels"], 1),
        }


def peers(_, folder):
    """One pass each. Ours has a start and a reading, whose time does not grow."""
    own = 0.0
    for name, size in (
        ("hdsp", max(SIZES)),
        ("hdsp", N_PEERS),
        ("gensim", N_PEERS),
        ("sklearn", N_PEERS),
        ("topica", N_PEERS),
    ):
        task = {"folder": str(folder / str(size)), "test": str(folder / "test")}
        row = child(kind=name, inference="stochastic", memory=False, **task)
        rate = size / row["seconds"]
        own = rate if size == max(SIZES) else own
        yield {
            "library": name,
            "documents": f"{size:,}",
            "seconds": digits(row["seconds"], 1),
            "documents a second": f"{rate:,.0f}",
            "ours, of a million, times as many": digits(own / rate, 1),
            "completion": digits(row["completion"], 1),
        }


def scored(topics, weight, task):
    """Completion of test documents by topics [T, V], with the concentration that is best."""
    test = hdsp.open_corpus(task["test"])[:]
    frequency = np.asarray(hdsp.open_corpus(task["folder"])[:].counts.sum(axis=0))
    share = topics / topics.sum(axis=1, keepdims=True)
    state = GlobalState(
        np.ascontiguousarray((1e6 * share + 1e-9).T.astype(np.float32)),
        sticks_from_weights(weight / weight.sum()),
        1.0,
        2.0,
        Constant().initial(len(topics), 0),
    )
    held_out = HeldOut(test.counts, csr_array((test.n_documents, 0)), frequency)
    score = held_out.score(state, Constant(), 8.0)
    return float(np.exp(-score.likelihood.sum() / held_out.tokens.sum()))


def bags(task):
    """Documents as lists of words and counts."""
    counts = hdsp.open_corpus(task["folder"])[:].counts
    rows = np.split(np.arange(counts.nnz), counts.indptr[1:-1])
    return counts, [
        list(zip(counts.indices[row].tolist(), counts.data[row].astype(int).tolist(), strict=True))
        for row in rows
    ]


def fit_gensim(task):
    from gensim.models import LdaMulticore

    counts, documents = bags(task)
    words = dict(enumerate(map(str, range(counts.shape[1]))))
    model, row = measured(
        lambda: LdaMulticore(
            documents, N_TOPICS, words, workers=2, chunksize=2_048, random_state=0, eval_every=None
        )
    )
    return row | {"completion": scored(model.get_topics(), np.asarray(model.alpha), task)}


def fit_sklearn(task):
    from sklearn.decomposition import LatentDirichletAllocation

    counts, _ = bags(task)
    model = LatentDirichletAllocation(
        N_TOPICS,
        learning_method="online",
        batch_size=2_048,
        max_iter=1,
        n_jobs=2,
        random_state=0,
        total_samples=counts.shape[0],
    )
    _, row = measured(lambda: model.fit(counts))
    return row | {"completion": scored(model.components_, np.ones(N_TOPICS), task)}


def fit_topica(task):
    import topica

    counts, documents = bags(task)
    texts = [[str(word) for word, number in row for _ in range(number)] for row in documents]
    model = topica.OnlineLDA(N_TOPICS, batch_size=2_048, total_docs=len(texts))
    _, row = measured(lambda: model.fit(texts, iters=1))
    topics = np.full((N_TOPICS, counts.shape[1]), 1e-12)
    topics[:, [int(word) for word in model.vocabulary]] = model.topic_word
    return row | {"completion": scored(topics, np.ones(N_TOPICS), task)}


def curves(data, _):
    """Perplexity against seconds: the same fit, ended after so many passes."""
    for name in ("medline_mesh", "ohsumed23"):
        train, test = load(data, name)[:2]
        for inference, limits in (("batch", (1, 2, 4, 8, 16)), ("stochastic", (1, 2, 4))):
            for passes in limits:
                model = hdsp.HDSP(
                    N_TOPICS, random_state=0, inference=inference, max_iter=passes, tol=0.0
                )
                start = time.process_time()
                model.fit(train)
                yield {
                    "corpus": name,
                    "inference": inference,
                    "passes": passes,
                    "CPU seconds": digits(time.process_time() - start, 1),
                    "completion": digits(model.perplexity(test, given="completion"), 1),
                    "given labels": digits(model.perplexity(test, given="labels"), 1),
                }


def orders(data, _):
    """A stream of twenty parts against a batch fit of the same documents."""
    for name, (reading, by) in SORTED.items():
        train, test = load(data, name, reading)[:2]
        for seed in SEEDS:
            batch = None
            for order in ("batch", "stochastic", "random", by):
                model = hdsp.HDSP(random_state=seed)
                start = time.process_time()
                if order in ("batch", "stochastic"):
                    model.set_params(inference=order).fit(train)
                else:
                    for rows in np.array_split(arranged(train, order, seed), N_PARTS):
                        model.partial_fit(train[rows])
                took = time.process_time() - start
                values = {
                    "completion": model.perplexity(test, given="completion"),
                    "given labels": model.perplexity(test, given="labels"),
                    "NPMI": npmi(topic_top_words(model.components_, 10), train.counts).mean(),
                }
                batch = batch or values
                shown = {key: digits(values[key], 3 if key == "NPMI" else 1) for key in values}
                ratio = {key: digits(values[key] / batch[key], 3) for key in list(batch)[:2]}
                yield {
                    "corpus": name,
                    "seed": seed,
                    "documents": order,
                    "topics": len(model.components_),
                    **shown,
                    **{f"{key}, of batch": ratio[key] for key in ratio},
                    "CPU seconds": digits(took, 1),
                }


def shards(data, _):
    """Fits of documents in memory and on disk."""
    for name in ("rcv1_subset", "amazon_4domains", "medline_mesh"):
        train, test = load(data, name)[:2]
        with tempfile.TemporaryDirectory() as folder:
            train.write(f"{folder}/corpus")
            stored = hdsp.open_corpus(f"{folder}/corpus")
            for seed, where in product((0, 1), ("memory", "disk")):
                model = hdsp.HDSP(random_state=seed)
                model.fit(train if where == "memory" else stored)
                words = topic_top_words(model.components_, 10)
                yield {
                    "corpus": name,
                    "seed": seed,
                    "documents": where,
                    "topics": len(model.components_),
                    "completion": digits(model.perplexity(test, given="completion"), 1),
                    "given labels": digits(model.perplexity(test, given="labels"), 1),
                    "NPMI": digits(npmi(words, train.counts).mean(), 3),
                }


def arranged(corpus, order, seed):
    """Documents at random, by time, or by the rarest of their labels."""
    rng = np.random.default_rng(seed)
    values = corpus.labels.blocks[0].values.tocsr()
    if order == "random":
        return rng.permutation(corpus.n_documents)
    if order == "time":
        return np.lexsort((rng.random(corpus.n_documents), values.toarray()[:, 0]))
    frequency = np.bincount(values.indices, minlength=values.shape[1])
    own = np.split(values.indices, values.indptr[1:-1])
    first = [min(row, key=lambda j: frequency[j], default=-1) for row in own]
    return np.lexsort((rng.random(corpus.n_documents), first))


CHILDREN = {"hdsp": fit_hdsp, "gensim": fit_gensim, "sklearn": fit_sklearn, "topica": fit_topica}
ROWS = {"million": million, "peers": peers, "curves": curves, "orders": orders, "shards": shards}

if __name__ == "__main__":
    main()
