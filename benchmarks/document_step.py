"""The document step with statistics, one thread, CPU time, beside sgemm and other programs.

    python benchmarks/document_step.py --data FOLDER        (needs tomotopy)

Writes benchmarks/results/document_step.csv. `times sgemm` divides by the time the machine's own
sgemm takes for the same 4 T nnz (iterations + 1) flops, measured in the same run.
"""

import os
import time
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
from common import load, parser, write  # noqa: E402
from sklearn.decomposition import LatentDirichletAllocation  # noqa: E402

from hdsp import HDSP  # noqa: E402
from hdsp.model import GlobalState, LocalSettings, Priors, block_step, make_problem, make_view  # noqa: E402
from hdsp.numerics import sticks_from_weights  # noqa: E402
from hdsp.scaling import bind_labels  # noqa: E402
from hdsp_studies.peers import FitSettings, make_peer  # noqa: E402

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


def make_step(train):
    """A function that solves and sums the documents of a fitted model, all in one block."""
    model = HDSP(N_TOPICS, random_state=0).fit(train)
    schema = model.label_schema_
    scaling, design = bind_labels("auto", schema).scaling, schema.encode(train.labels)
    priors = Priors(model.topic_prior, None, None)
    problem = make_problem(train.counts, design, scaling, priors, block_size=10**9)
    (block,) = problem.blocks
    state = GlobalState(
        topics=model.components_.T.astype(problem.dtype, order="C"),
        sticks=sticks_from_weights(model.topic_weight_),
        corpus_concentration=model.corpus_concentration_,
        document_concentration=model.document_concentration_,
        # As at the start of a fit: what labels do to topics costs the same whatever it is.
        scaling=scaling.initial(N_TOPICS, schema.n_labels),
    )
    view = make_view(state, scaling, problem.dtype)

    def step(n_iter, prune, kept=None):
        return block_step(view, block, kept, LocalSettings(n_iter, 0.0, prune))[0].documents

    return step


def measure(train):
    """Rows of (name, inner iterations, seconds)."""
    step = make_step(train)
    kept = step(10, 1e-6)
    yield "hdsp, dense, cold", 10, cpu(lambda: step(10, 0.0))
    yield "hdsp, pruned, cold", 10, cpu(lambda: step(10, 1e-6))
    yield "hdsp, pruned, warm", 10, cpu(lambda: step(10, 1e-6, kept))
    yield "hdsp, pruned, warm", 3, cpu(lambda: step(3, 1e-6, kept))
    lda = LatentDirichletAllocation(
        N_TOPICS, max_iter=1, max_doc_update_iter=10, mean_change_tol=0.0, random_state=0, n_jobs=1
    )
    counts = train.counts.astype(np.float32)
    lda.fit(counts[:500])
    yield "scikit-learn LDA, float32", 10, cpu(lambda: lda._e_step(counts, True, True), 2)
    dmr = make_peer("dmr").fit(train, FitSettings(N_TOPICS, quick=True)).model
    yield "tomotopy DMR, a sweep", 0, cpu(lambda: dmr.train(10, workers=1), 2) / 10


def rows(data):
    for name in ("medline_mesh", "rcv1_subset"):
        train, _ = load(data, name)
        rate = sgemm_rate()
        columns = ("corpus", "step", "inner iterations", "ms", "times sgemm")
        first = (name, f"sgemm, {rate / 1e9:.0f} Gflop/s", "", "", "1")
        yield dict(zip(columns, first, strict=True))
        for step, n_iter, seconds in measure(train):
            flops = 4 * N_TOPICS * train.counts.nnz * (n_iter + 1)
            ratio = f"{seconds * rate / flops:.2f}" if n_iter else ""
            values = (name, step, n_iter or "", f"{1e3 * seconds:.0f}", ratio)
            yield dict(zip(columns, values, strict=True))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    write("document_step", rows(parser(__doc__).parse_args().data))
