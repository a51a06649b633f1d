"""What a pass costs in other processes and on a Dask cluster, and what travels.

    python benchmarks/cluster.py

Writes benchmarks/results/cluster.csv: for each place, the seconds of a pass, the processor seconds
of all its processes together, their ratio to those of one thread, and the megabytes that workers
sent: means over three passes after the first, each the least of two turns. Every place has the same
work, to the bit; where the machine does other things too, trust the processor seconds. The larger
corpus is the smaller one repeated.
"""

import tempfile
import time
from pathlib import Path

import numpy as np
import psutil
from common import write
from scipy.sparse import csr_array, vstack
from threadpoolctl import threadpool_limits

import hdsp
from hdsp.execution import InProcess, Processes
from hdsp.execution.dask import connect
from hdsp.fit import Run, fit_batch
from hdsp.model import GlobalState, Priors, ShardedProblem
from hdsp.model.shard_blocks import Encoding, ShardBlock
from hdsp.numerics import sticks_from_weights
from hdsp.scaling import bind_labels

DOCUMENTS, WORDS, TOPICS, LABELS, LENGTH = 100_000, 10_000, 100, 52, 72
REPEATED = 8
# The fifth pass fits every document twice.
PASSES, TURNS = 3, 2


def draw(n_documents, rng):
    """Documents with tags, of topics over words with Zipf's frequencies, part by part."""
    frequency = rng.permutation(1 / np.arange(1, WORDS + 1))
    topics = rng.gamma(200 * frequency / frequency.sum(), size=(TOPICS, WORDS)) + 1e-12
    ends = np.cumsum(topics, axis=1) / topics.sum(axis=1, keepdims=True)
    effects = rng.normal(0, 1, (LABELS, TOPICS))
    counts, tags = [], []
    for first in range(0, n_documents, 8192):
        size = min(8192, n_documents - first)
        design = csr_array(rng.random((size, LABELS)) < 4 / LABELS, dtype=float)
        proportions = rng.gamma(0.05, size=(size, TOPICS)) * np.exp(design @ effects) + 1e-300
        proportions /= proportions.sum(axis=1, keepdims=True)
        held = rng.multinomial(rng.poisson(LENGTH, size), proportions)
        document, topic = np.repeat(np.indices(held.shape).reshape(2, -1), held.ravel(), axis=1)
        word = np.empty(len(topic), dtype=np.int64)
        for number in range(TOPICS):
            chosen = topic == number
            word[chosen] = np.searchsorted(ends[number, :-1], rng.random(chosen.sum()))
        part = csr_array((np.ones(len(word)), (document, word)), shape=(size, WORDS))
        part.sum_duplicates()
        counts.append(part)
        tags.append(design)
    return hdsp.Corpus(csr_array(vstack(counts)), labels=csr_array(vstack(tags))), topics


def make_problem(corpus, topics):
    """The problem, and a state near the topics that the documents were drawn from."""
    space = bind_labels("auto", corpus.schema)
    encoding = Encoding(space)
    problem = ShardedProblem(
        [ShardBlock(shard, encoding) for shard in corpus.shards],
        space.scaling,
        Priors(0.05, (1.0, 1.0), (1.0, 0.01)),
        corpus.n_documents,
        corpus.n_words,
        corpus.schema.n_labels,
    )
    share = topics / topics.sum(axis=1, keepdims=True)
    expected = corpus.n_tokens / TOPICS * (0.5 * share + 0.5 * share.mean(axis=0))
    state = GlobalState(
        topics=(expected.T + 0.05).astype(np.float32),
        sticks=sticks_from_weights(np.full(TOPICS, 1 / TOPICS)),
        corpus_concentration=1.0,
        document_concentration=5.0,
        scaling=space.scaling.initial(TOPICS, problem.n_labels),
    )
    return problem, state


def processor_seconds():
    """Of this process and all that it started."""
    this = psutil.Process()
    times = [process.cpu_times() for process in [this, *this.children(recursive=True)]]
    return sum(one.user + one.system for one in times)


def passes(executor, problem, state, n_passes, sent=lambda: 0):
    """Seconds, processor seconds and bytes sent in each pass after the first."""
    marks = []

    def mark(*_):
        marks.append((time.perf_counter(), processor_seconds(), sent()))

    run = Run(n_passes + 1, 0.0, executor=executor, after_pass=mark)
    with executor, threadpool_limits(1, "blas"):
        fit_batch(problem, state, run, run.new_history())
    return np.diff(np.array(marks), axis=0)


def bytes_sent(client):
    """What workers have sent to each other and to the scheduler so far."""

    def on_worker(dask_worker):
        return sum(entry["total"] for entry in dask_worker.transfer_outgoing_log)

    return sum(client.run(on_worker).values())


def measure(place, problem, state):
    """One turn of one place."""
    kind, number = place
    if kind == "threads":
        return passes(InProcess(number), problem, state, PASSES)
    if kind == "processes":
        return passes(Processes(number), problem, state, PASSES)
    executor = connect("local", number)
    return passes(executor, problem, state, PASSES, lambda: bytes_sent(executor.client))


PLACES = [("threads", 1), ("threads", 2), ("processes", 2), ("dask", 1), ("dask", 2)]


def rows(problem, state):
    found = {place: [] for place in PLACES}
    for _ in range(TURNS):
        for place in PLACES:
            found[place].append(measure(place, problem, state))
            print(place, found[place][-1].round(2).tolist(), flush=True)
    # By pass the least of all turns, and then the sum over passes.
    least = {place: np.min(turns, axis=0).sum(axis=0) / PASSES for place, turns in found.items()}
    for place, (seconds, processor, sent) in least.items():
        yield {
            "place": f"{place[1]} {place[0]}",
            "documents": problem.n_documents,
            "blocks": len(problem.blocks),
            "seconds": f"{seconds:.2f}",
            "processor seconds": f"{processor:.2f}",
            "times one thread": f"{processor / least['threads', 1][1]:.3f}",
            "MB sent": f"{sent / 1e6:.1f}" if place[0] == "dask" else "",
        }


def all_rows(folder):
    drawn, topics = draw(DOCUMENTS, np.random.default_rng(0))
    for repeated in (1, REPEATED):
        corpus = drawn[np.arange(repeated * DOCUMENTS) % DOCUMENTS]
        corpus.write(folder / str(repeated))
        del corpus
        yield from rows(*make_problem(hdsp.open_corpus(folder / str(repeated)), topics))


def main():
    with tempfile.TemporaryDirectory() as folder:
        write("cluster", all_rows(Path(folder)))


if __name__ == "__main__":
    main()
