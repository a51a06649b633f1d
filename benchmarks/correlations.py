"""Do intervals of topic correlations hold? Documents whose topics correlate by a known covariance.

    python benchmarks/correlations.py --data FOLDER

Writes benchmarks/results/correlations.csv, correlations_drawn.csv and correlations_cost.csv.
Log proportions of documents are normal: a base, two tags' weights, an author's part, and their own
with a covariance in which three pairs of ten topics correlate, or none; or proportions are
Dirichlet. «covered, as read» is the share of 90 % intervals that hold the correlation which endless
documents would show, read with the topics as they were found; «covered, truth» holds that of the
true topics, for topics that were found to within a total variation of .3. «unrelated exclude 0»
counts true topics whose log proportions are independent; raw ones only where labels have no weight,
since labels correlate them. Documents are also drawn from a model of abstracts, with independent
proportions given labels.
"""

import time
import warnings

import numpy as np
from common import digits, load, parser, write
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array, vstack

from hdsp import HDSP, Corpus
from hdsp.analysis.correlations import beyond_the_sum

N_TOPICS, N_WORDS, ENDLESS = 10, 800, 100_000
PAIRS = (0.6, -0.5, 0.4)
DEVIATION, TAGS = 1.5, 0.7
NEAR = 0.3
UPPER = np.triu_indices(N_TOPICS, 1)
# Kind of proportions, words of documents, documents, authors' deviation, documents of an author.
SETTINGS = (
    ("correlated", 80, 2_000, 0.0, 1),
    ("correlated", 30, 2_000, 0.0, 1),
    ("correlated", 80, 600, 0.0, 1),
    ("independent", 80, 2_000, 0.0, 1),
    ("independent", 30, 2_000, 0.0, 1),
    ("Dirichlet", 80, 2_000, 0.0, 1),
    ("independent", 80, 2_000, 1.0, 20),
)


def make_truth(kind, author, rng):
    covariance = np.eye(N_TOPICS)
    if kind == "correlated":
        order = rng.permutation(N_TOPICS)
        for first, second, value in zip(order[::2], order[1::2], PAIRS, strict=False):
            covariance[first, second] = covariance[second, first] = value
    return {
        "kind": kind,
        "base": 0.5 * rng.normal(size=N_TOPICS),
        "weights": TAGS * rng.normal(size=(2, N_TOPICS)) * (kind == "correlated"),
        "covariance": covariance,
        "factor": DEVIATION * np.linalg.cholesky(covariance),
        "author": author,
        "topics": rng.dirichlet(np.full(N_WORDS, 0.05), size=N_TOPICS),
    }


def draw_proportions(truth, n, each, rng):
    """Tags, true proportions, and authors."""
    tags = (rng.random((n, 2)) < 0.4).astype(float)
    author = np.arange(n) // each
    own = truth["author"] * rng.normal(size=(author[-1] + 1, N_TOPICS))[author]
    score = truth["base"] + tags @ truth["weights"] + own
    if truth["kind"] == "Dirichlet":
        share = rng.gamma(np.exp(score - score.max(axis=1, keepdims=True)))
    else:
        score += rng.normal(size=score.shape) @ truth["factor"].T
        share = np.exp(score - score.max(axis=1, keepdims=True))
    return tags, share / share.sum(axis=1, keepdims=True), author


def draw_counts(truth, share, words, rng):
    lengths = np.maximum(rng.poisson(words * rng.lognormal(-0.125, 0.5, size=len(share))), 5)
    rows = zip(lengths, share @ truth["topics"], strict=True)
    return np.array([rng.multinomial(n, row) for n, row in rows]).astype(float)


def endless(tags, share):
    """Correlations [2, T, T] given tags and raw of many documents' proportions."""
    expected = np.empty_like(share)
    for row in np.unique(tags, axis=0):
        same = (tags == row).all(axis=1)
        expected[same] = share[same].mean(axis=0)
    mean, left = share.mean(axis=0), share - expected
    given = beyond_the_sum(left.T @ left / len(left), expected.T @ expected / len(left))[0]
    return np.array([given, beyond_the_sum(np.cov(share.T), np.outer(mean, mean))[0]])


def compare(setting, seed, grouped):
    """Rows of (kind of correlation, covered as read, covered truth, null, excludes 0, width)."""
    kind, words, n_documents, author, each = setting
    rng = np.random.default_rng([11, seed, words, n_documents])
    truth = make_truth(kind, author, rng)
    tags, share, authors = draw_proportions(truth, n_documents, each, rng)
    counts = draw_counts(truth, share, words, rng)
    labels = [[f"tag {j}" for j in np.flatnonzero(row)] for row in tags]
    model = HDSP(N_TOPICS, random_state=seed, n_jobs=1)
    model.fit(counts, labels=labels, groups=authors.astype(str) if grouped else None)
    found = model._model.word_share().T
    distance = np.abs(found[:, None] - truth["topics"][None]).sum(axis=2) / 2
    _, match = linear_sum_assignment(distance)
    near = distance[np.arange(N_TOPICS), match] < NEAR
    near = near[UPPER[0]] & near[UPPER[1]]
    # What the same topics read from endless documents: least squares of the words' probabilities.
    expected = model.expected_topics(Corpus(counts, labels=labels).labels).mean(axis=0)
    scaled = found / (expected @ found)
    reading = np.linalg.solve(scaled @ found.T, scaled) @ truth["topics"].T
    many_tags, many, _ = draw_proportions(truth, ENDLESS, each, rng)
    as_read, true = endless(many_tags, many @ reading.T), endless(many_tags, many)
    table = model.topic_correlations()
    unrelated = (truth["covariance"][np.ix_(match, match)][UPPER] == 0) & near
    rows = []
    for number, name in enumerate(("", "raw_")):
        lower, upper = (table[f"{name}{side}"].to_numpy() for side in ("lower", "upper"))
        inside = [
            (lower <= target) & (target <= upper)
            for target in (as_read[number][UPPER], true[number][np.ix_(match, match)][UPPER])
        ]
        excludes = (lower > 0) | (upper < 0)
        related = near & ~unrelated
        rows.append(
            [
                inside[0].mean(),
                inside[1][near].mean() if near.any() else np.nan,
                excludes[unrelated].mean() if unrelated.any() else np.nan,
                excludes[related].mean() if related.any() else np.nan,
                (upper - lower).mean() / 2,
                near.mean(),
            ]
        )
    return rows


def rows(seeds):
    for setting in SETTINGS:
        for grouped in (False, True) if setting[-1] > 1 else (False,):
            found = np.array([compare(setting, seed, grouped) for seed in seeds])
            for number, name in enumerate(("given labels", "raw")):
                mean = np.nanmean(found[:, number], axis=0)
                null = setting[0] != "correlated" or not number
                related = setting[0] == "correlated"
                yield {
                    "proportions": setting[0],
                    "words": setting[1],
                    "documents": setting[2],
                    "authors' deviation": setting[3],
                    "groups": "yes" if grouped else "no",
                    "correlation": name,
                    "covered, as read": digits(mean[0], 3),
                    "covered, truth": digits(mean[1], 3),
                    "unrelated exclude 0": digits(mean[2] if null else None, 3),
                    "related exclude 0": digits(mean[3] if related else None, 3),
                    "half width": digits(mean[4], 3),
                    "pairs found": digits(mean[5], 2),
                    "seeds": len(seeds),
                }


def drawn_rows(folder, seeds):
    """Pairs that exclude 0 in documents of a fitted model: Dirichlet proportions given labels."""
    train, _ = load(folder, "medline_mesh")
    lengths = np.asarray(train.counts.sum(axis=1)).astype(int)
    for n_topics in (40, 100):
        model = HDSP(n_topics, random_state=0, n_jobs=1).fit(train)
        topics = model._model.word_share().T
        expected = model.expected_topics(train.labels)
        for seed in seeds:
            rng = np.random.default_rng([12, seed])
            share = rng.gamma(np.maximum(8.0 * expected, 1e-6))
            words = share @ topics
            words /= words.sum(axis=1, keepdims=True)
            counts = [
                csr_array(rng.multinomial(n, row)) for n, row in zip(lengths, words, strict=True)
            ]
            counts = vstack([row.reshape(1, -1) for row in counts], format="csr").astype(float)
            again = HDSP(n_topics, random_state=seed, n_jobs=1)
            again.fit(Corpus(counts, train.words, train.labels))
            table = again.topic_correlations()
            yield {
                "topics": n_topics,
                "seed": seed,
                "exclude 0": digits(((table["lower"] > 0) | (table["upper"] < 0)).mean(), 3),
                "half width": digits((table["upper"] - table["lower"]).mean() / 2, 3),
            }


def cost_rows(folder):
    """The time of correlations, compared with a fit of a hundred topics in one thread."""
    for name in ("medline_mesh", "rcv1_subset"):
        train, _ = load(folder, name)
        seconds = []
        for _ in range(4):
            start = time.perf_counter()
            model = HDSP(100, random_state=0, n_jobs=1).fit(train)
            whole = time.perf_counter() - start
            start = time.perf_counter()
            table = model.topic_correlations()
            own = time.perf_counter() - start
            seconds.append((own / whole, own, whole))
        # The first fit compiles.
        part, own, whole = sorted(seconds[1:])[1]
        yield {
            "corpus": name,
            "documents": train.n_documents,
            "topics": 100,
            "seconds": digits(own, 2),
            "of the fit": digits(whole, 2),
            "share": digits(part, 3),
            "pairs exclude 0": digits(((table["lower"] > 0) | (table["upper"] < 0)).mean(), 3),
            "raw exclude 0": digits(
                ((table["raw_lower"] > 0) | (table["raw_upper"] < 0)).mean(), 3
            ),
        }


if __name__ == "__main__":
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--first", type=int, default=100)
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    write("correlations", rows(range(chosen.first, chosen.first + chosen.seeds)))
    if chosen.data is not None:
        write("correlations_drawn", drawn_rows(chosen.data, range(chosen.first, chosen.first + 3)))
        write("correlations_cost", cost_rows(chosen.data))
