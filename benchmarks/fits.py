"""Whole fits against other labelled topic models: seconds and held-out quality, one run.

    python benchmarks/fits.py --data FOLDER        (needs tomotopy and topica)

Writes benchmarks/results/fits.csv. Start-up (imports, compilation) is not counted for anybody,
initialisation is. Every model is scored by the same code.
"""

import csv
import time
import warnings
from pathlib import Path

import numpy as np
from corpora import load, parser
from scipy.sparse import csr_array

from hdsp import HDSP
from hdsp.kernels import Threads
from hdsp.metrics import npmi, topic_top_words
from hdsp.prediction import split_tokens, word_log_likelihood

N_TOPICS = 100
THREADS = Threads(2)


def tokens(counts, words):
    """Documents as lists of words, as samplers want them."""
    counts = csr_array(counts)
    return [
        np.repeat(words[counts.indices[a:b]], counts.data[a:b].astype(int)).tolist()
        for a, b in zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    ]


def perplexity(counts, proportions, word_share):
    total = word_log_likelihood(counts, proportions, word_share, THREADS).sum()
    return float(np.exp(-total / counts.sum()))


def hdsp(split, observed):
    model = HDSP(N_TOPICS, fixed_number=True, random_state=0, n_jobs=2)
    start = time.perf_counter()
    model.fit(split.counts, labels=split.labels)
    seconds = time.perf_counter() - start
    given = model.expected_topics(split.test_labels)
    return seconds, model.components_, given, model.transform(observed, labels=split.test_labels)


def label_lists(labels):
    return [[str(j) for j in row.indices] for row in csr_array(labels)]


def tomotopy_dmr(split, observed):
    import tomotopy as tp

    model = tp.DMRModel(k=N_TOPICS, seed=0)
    train, labels = tokens(split.counts, split.words), label_lists(split.labels)
    start = time.perf_counter()
    for words, tags in zip(train, labels, strict=True):
        model.add_doc(words, multi_metadata=tags)
    model.train(300, workers=2, show_progress=False)
    seconds = time.perf_counter() - start
    shares = np.array([model.get_topic_word_dist(k) for k in range(N_TOPICS)])
    topics = np.full((N_TOPICS, len(split.words)), 1e-12)
    place = {word: i for i, word in enumerate(split.words)}
    topics[:, [place[word] for word in model.used_vocabs]] = shares
    tags = label_lists(split.test_labels)
    prior = np.array([model.get_topic_prior(multi_metadata=row) for row in tags])
    half = [
        model.make_doc(words, multi_metadata=row)
        for words, row in zip(tokens(observed, split.words), tags, strict=True)
    ]
    posterior, _ = model.infer(half, iterations=100, workers=2)
    return seconds, topics, prior / prior.sum(axis=1, keepdims=True), np.array(posterior)


def topica_dmr(split, observed):
    import topica

    # By default labels would only be learned after 200 sweeps.
    schedule = {"burn_in": 40, "optimize_interval": 50}
    model = topica.DMR(num_topics=N_TOPICS, sampler="cvb0", seed=0, num_threads=2, **schedule)
    train = tokens(split.counts, split.words)
    features = split.labels.toarray()
    start = time.perf_counter()
    model.fit(train, features=features, iters=100, progress=False, keep_theta_draws=False)
    seconds = time.perf_counter() - start
    topics = np.full((N_TOPICS, len(split.words)), 1e-12)
    place = {word: i for i, word in enumerate(split.words)}
    topics[:, [place[word] for word in model.vocabulary]] = model.topic_word
    effects = np.asarray(model.feature_effects)
    effects = effects if effects.shape[0] == N_TOPICS else effects.T
    test = split.test_labels.toarray()
    score = np.column_stack([np.ones(len(test)), test]) @ effects.T
    given = np.exp(score - score.max(axis=1, keepdims=True))
    given /= given.sum(axis=1, keepdims=True)
    posterior = model.transform(tokens(observed, split.words), features=test)
    return seconds, topics, given, np.asarray(posterior)


def sklearn_lda(split, observed):
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(
        N_TOPICS, max_iter=50, learning_method="batch", n_jobs=2, random_state=0
    )
    counts = split.counts.astype(np.float32)
    start = time.perf_counter()
    model.fit(counts)
    seconds = time.perf_counter() - start
    return seconds, model.components_, None, model.transform(observed.astype(np.float32))


MODELS = {
    "HDSP": hdsp,
    "tomotopy DMR, 300 sweeps": tomotopy_dmr,
    "topica DMR (cvb0), 100 sweeps": topica_dmr,
    "scikit-learn LDA, 50 passes": sklearn_lda,
}


def main():
    options = parser(__doc__)
    options.add_argument("--corpus", default="medline_mesh")
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    split = load(chosen.data, chosen.corpus)
    HDSP(10, max_iter=3, random_state=0).fit(split.counts[:300], labels=split.labels[:300])
    observed, held_out = split_tokens(split.test_counts)
    out = Path(__file__).parent / "results" / "fits.csv"
    with out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["model", "seconds", "given labels", "completion", "npmi", "times HDSP"])
        base = None
        for name, fit in MODELS.items():
            seconds, topics, given, posterior = fit(split, observed)
            base = base or seconds
            share = (topics / topics.sum(axis=1, keepdims=True)).T
            row = [
                name,
                f"{seconds:.1f}",
                "" if given is None else f"{perplexity(split.test_counts, given, share):.0f}",
                f"{perplexity(held_out, posterior, share):.0f}",
                f"{npmi(topic_top_words(topics), split.counts).mean():.3f}",
                f"{seconds / base:.1f}",
            ]
            writer.writerow(row)
            file.flush()
            print(*row, sep="  ", flush=True)


if __name__ == "__main__":
    main()
