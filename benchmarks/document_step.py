"""The document step with statistics, one thread, CPU time, beside sgemm and other programs.

    python benchmarks/document_step.py --data FOLDER        (needs tomotopy)

Writes benchmarks/results/document_step.csv. `times sgemm` divides by the time the machine's own
sgemm takes for the same 4 T nnz (iterations + 1) flops, measured in the same run.
"""

import csv
import os
import time
import warnings
from dataclasses import replace
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
from corpora import load, parser  # noqa: E402
from fits import label_lists, tokens  # noqa: E402
from sklearn.decomposition import LatentDirichletAllocation  # noqa: E402

from hdsp import HDSP  # noqa: E402
from hdsp.kernels import Threads  # noqa: E402
from hdsp.model import LocalSettings, make_problem, prepare_globals  # noqa: E402
from hdsp.model.documents import solve_block, summarise_block  # noqa: E402
from hdsp.model.problem import make_blocks  # noqa: E402

N_TOPICS = 100


def cpu(function, repeats=5):
    """The least CPU seconds of some calls."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def sgemm_rate():
    """Flops a second of one thread."""
    a = np.random.default_rng(0).random((1500, 1500), dtype=np.float32)
    return 2 * 1500**3 / cpu(lambda: a @ a)


def measure(split):
    """Rows of (name, inner iterations, seconds)."""
    fitted = HDSP(N_TOPICS, fixed_number=True, random_state=0)
    model = fitted.fit(split.counts, labels=split.labels)._model
    problem = make_problem(split.counts, split.labels, N_TOPICS, model.scaling, model.priors)
    (block,) = make_blocks(split.counts, problem.design, problem.dtype, 10**9)
    problem = replace(problem, blocks=(block,))
    threads = Threads(1)
    seen = prepare_globals(model.state, problem.dtype, threads)

    def step(n_iter, prune, kept=None):
        settings = LocalSettings(n_iter, 0.0, prune)
        solution = solve_block(problem, model.state, seen, block, kept, settings, threads)
        summarise_block(problem, model.state, seen, block, solution, threads)
        return solution.documents

    kept = step(10, 1e-6)
    yield "hdsp, dense, cold", 10, cpu(lambda: step(10, 0.0))
    yield "hdsp, pruned, cold", 10, cpu(lambda: step(10, 1e-6))
    yield "hdsp, pruned, warm", 10, cpu(lambda: step(10, 1e-6, kept))
    yield "hdsp, pruned, warm", 3, cpu(lambda: step(3, 1e-6, kept))
    lda = LatentDirichletAllocation(
        N_TOPICS, max_iter=1, max_doc_update_iter=10, mean_change_tol=0.0, random_state=0, n_jobs=1
    )
    counts = split.counts.astype(np.float32)
    lda.fit(counts[:500])
    yield "scikit-learn LDA, float32", 10, cpu(lambda: lda._e_step(counts, True, True), 2)
    import tomotopy as tp

    dmr = tp.DMRModel(k=N_TOPICS, seed=0)
    documents = tokens(split.counts, split.words)
    for words, tags in zip(documents, label_lists(split.labels), strict=True):
        dmr.add_doc(words, multi_metadata=tags)
    dmr.train(30, workers=1, show_progress=False)
    yield "tomotopy DMR, a sweep", 0, cpu(lambda: dmr.train(10, workers=1), 2) / 10


def main():
    chosen = parser(__doc__).parse_args()
    warnings.simplefilter("ignore")
    out = Path(__file__).parent / "results" / "document_step.csv"
    with out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["corpus", "step", "inner iterations", "ms", "times sgemm"])
        for name in ("medline_mesh", "rcv1_subset"):
            split = load(chosen.data, name)
            rate = sgemm_rate()
            writer.writerow([name, f"sgemm, {rate / 1e9:.0f} Gflop/s", "", "", "1"])
            for step, n_iter, seconds in measure(split):
                flops = 4 * N_TOPICS * split.counts.nnz * (n_iter + 1)
                ratio = f"{seconds * rate / flops:.2f}" if n_iter else ""
                row = [name, step, n_iter or "", f"{1e3 * seconds:.0f}", ratio]
                writer.writerow(row)
                file.flush()
                print(*row, sep="  ", flush=True)


if __name__ == "__main__":
    main()
