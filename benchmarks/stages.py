"""Where the time of a fit goes, stage by stage, side by side with an earlier commit.

    python benchmarks/stages.py --data FOLDER [--before COMMIT] [--step]

Fits of the two versions take turns in their own processes, and the fastest of each counts. Writes
benchmarks/results/stages.csv. With --step it times the document step instead, on one thread, as a
multiple of the time that sgemm takes for the same 4 T nnz (iterations + 1) operations, and writes
document_step.csv.
"""

import json
import os
import time
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
from common import checkout, digits, load, parser, run_version, write  # noqa: E402

N_TOPICS = 100


def measure(data, corpus, n_jobs, search, quality):
    """Fit once to compile, and once to measure: seconds by stage, and perplexities."""
    from hdsp import HDSP

    warnings.simplefilter("ignore")
    train, test = load(data, corpus)
    # Everything is compiled or loaded by a short fit of few documents.
    HDSP(N_TOPICS, max_iter=2, random_state=0, n_jobs=n_jobs).fit(train[:400])
    began, worked = time.perf_counter(), time.process_time()
    model = HDSP("auto" if search else N_TOPICS, random_state=0, n_jobs=n_jobs).fit(train)
    total, worked = time.perf_counter() - began, time.process_time() - worked
    stages = {row["stage"]: row["seconds"] for row in model.stages_}
    found = {**stages, "untimed": total - sum(stages.values()), "total": total, "cpu": worked}
    if quality:
        found["completion"] = model.perplexity(test, given="completion")
        found["given labels"] = model.perplexity(test, given="labels")
    return found


def rows(trees, chosen):
    for corpus in chosen.corpora:
        for search in (False, True) if chosen.search else (False,):
            for n_jobs in chosen.threads:
                runs = {name: [] for name in trees}
                for turn in range(chosen.repeat):
                    arguments = [str(chosen.data), corpus, n_jobs, search, turn == 0]
                    for name, tree in trees.items():
                        runs[name].append(run_version(tree, __file__, arguments))
                fastest = {
                    name: min(own, key=lambda run: run["total"]) for name, own in runs.items()
                }
                for stage in dict.fromkeys(key for own in runs.values() for key in own[0]):
                    quality = stage in ("completion", "given labels")
                    row = {"corpus": corpus, "number": "searched" if search else "fixed"}
                    row |= {"threads": n_jobs, "stage": stage}
                    for name in trees:
                        value = runs[name][0].get(stage) if quality else fastest[name].get(stage)
                        row[name] = digits(value, 1 if quality else 2)
                    yield row


def cpu(function, repeats=5):
    """The least CPU seconds of some calls."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def make_step(train):
    """A function that solves and sums the documents of a fitted model, all in one block."""
    from hdsp import HDSP
    from hdsp.model.data import make_problem
    from hdsp.model.documents import DocumentView, LocalSettings, block_step
    from hdsp.model.priors import Priors
    from hdsp.model.state import GlobalState
    from hdsp.numerics import sticks_from_weights
    from hdsp.scaling.design import LabelDesign

    model = HDSP(N_TOPICS, random_state=0).fit(train)
    schema = model.label_schema_
    scaling, design = LabelDesign.fit("auto", schema).scaling, schema.encode(train.labels)
    priors = Priors(model.topic_prior, None, None)
    problem = make_problem(train.counts, design, scaling, priors, block_size=10**9)
    (block,) = problem.blocks
    state = GlobalState(
        topics=model.components_.T.astype(problem.dtype, order="C"),
        sticks=sticks_from_weights(model.topic_weight_),
        corpus_concentration=model.corpus_concentration_,
        document_concentration=model.document_concentration_,
        scaling=scaling.initial(N_TOPICS, schema.n_labels),
    )
    view = DocumentView(state, scaling, problem.dtype)

    def step(n_iter, prune, kept=None):
        return block_step(view, block, kept, LocalSettings(n_iter, 0.0, prune))[0].documents

    return step


def step_rows(chosen):
    """The document step against sgemm."""
    for corpus in chosen.corpora:
        train, _ = load(chosen.data, corpus)
        matrix = np.random.default_rng(0).random((1500, 1500), dtype=np.float32)
        rate = 2 * 1500**3 / cpu(lambda matrix=matrix: matrix @ matrix)
        step = make_step(train)
        kept = step(10, 1e-6)
        cases = {
            "dense, cold": (10, 0.0, None),
            "pruned, cold": (10, 1e-6, None),
            "pruned, warm": (10, 1e-6, kept),
            "pruned, warm, 3 iterations": (3, 1e-6, kept),
        }
        for name, case in cases.items():
            seconds = cpu(lambda step=step, case=case: step(*case))
            operations = 4 * N_TOPICS * train.counts.nnz * (case[0] + 1)
            yield {
                "corpus": corpus,
                "step": name,
                "ms": digits(1e3 * seconds, 0),
                "times sgemm": digits(seconds * rate / operations, 2),
                "Gflop/s of sgemm": digits(rate / 1e9, 0),
            }


def main():
    options = parser(__doc__)
    options.add_argument("--before", help="a commit to compare with")
    options.add_argument("--corpora", nargs="+", default=["medline_mesh", "rcv1_subset"])
    options.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument("--search", action="store_true", help="include searched fits")
    options.add_argument("--step", action="store_true", help="time the document step instead")
    options.add_argument("--measure", help="measure this version; for the processes of a run")
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    if chosen.measure:
        print(json.dumps(measure(*json.loads(chosen.measure))))
    elif chosen.step:
        write("document_step", step_rows(chosen))
    else:
        with checkout(chosen.before) as trees:
            write("stages", rows(trees, chosen))


if __name__ == "__main__":
    main()
