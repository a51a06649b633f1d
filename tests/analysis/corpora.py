"""Documents whose topics are known, and models whose topics are given."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from hdsp import HDSP, Corpus
from hdsp.analysis.reading import LeftOut, estimate_proportions
from hdsp.execution.executor import InProcess
from hdsp.model.data import make_problem
from hdsp.model.documents import LocalSettings
from hdsp.scaling.functions import Constant


def draw_topics(n_topics, n_words, overlap=0.0, seed=0):
    """Topics [T, V] that share a part of their words."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, 0.1), size=n_topics)
    return (1.0 - overlap) * topics + overlap * rng.dirichlet(np.full(n_words, 0.5))


def draw_counts(proportions, topics, lengths, rng):
    """Word counts [M, V] of documents with these proportions."""
    words = proportions @ topics
    return rng.multinomial(lengths, words / words.sum(axis=1, keepdims=True)).astype(float)


@cache
def _fitted(n_topics, n_words):
    counts = np.random.default_rng(0).poisson(1.0, size=(30, n_words)) + 1.0
    model = HDSP(n_topics, tol=1.0, init="nmf", random_state=0)
    return model.fit(counts)._model


def given_topics(counts, topics):
    """A problem of these documents, and a fitted state whose topics are these."""
    fitted = _fitted(*topics.shape)
    problem = make_problem(
        Corpus(counts).counts, csr_array((len(counts), 0)), Constant(), fitted.priors
    )
    return problem, replace(fitted.state, topics=1e6 * topics.T), fitted


def left_out(counts, topics, groups=None):
    """Documents that the topics were not learned from."""
    problem, state, _ = given_topics(counts, topics)
    copies = np.zeros(len(counts), dtype=np.int64)
    return LeftOut(problem, state, LocalSettings(), InProcess(), copies, groups)


def read_with(counts, topics):
    """The proportions of documents, read with known topics."""
    values = csr_array((len(counts), 0))
    reading = estimate_proportions(left_out(counts, topics), values, len(topics))
    return reading.proportions.astype(float)


M, T = 400, 4


@cache
def labelled(seed=1, interaction=False, bend=0.0, spread=0.5, groups=0.0):
    """Documents whose topics follow a number, a category and, if wanted, their blogs."""
    rng = np.random.default_rng(seed)
    blog = rng.permutation(M) % 25
    frame = pd.DataFrame(
        {
            "x": rng.uniform(-1.0, 1.0, M),
            "side": rng.choice(["left", "right", "centre"], M, p=[0.5, 0.3, 0.2]),
            "stars": rng.integers(1, 6, M),
            "tags": [list(np.array(["news", "sport"])[rng.random(2) < 0.3]) for _ in range(M)],
            "blog": [f"blog {n}" for n in blog],
            "owner": np.where(blog % 2, "odd", "even"),
        }
    )
    right, x = (frame["side"] == "right").to_numpy(), frame["x"].to_numpy()
    slope = np.where(right, -1.0, 1.0) if interaction else 1.0
    score = np.column_stack([slope * x + bend * x**2, -slope * x, 0.7 * right, 0.0 * x])
    score += groups * rng.normal(size=(25, T))[blog] + spread * rng.normal(size=score.shape)
    share = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    topics = np.random.default_rng(0).dirichlet(np.full(120, 0.05), size=T)
    return Corpus(draw_counts(share, topics, rng.integers(30, 90, M), rng), labels=frame), frame


@cache
def fitted(labels=("x", "side", "stars", "tags"), **options):
    """A model of these documents with some of their labels."""
    corpus, _ = labelled(**options)
    model = HDSP(T, random_state=0, n_jobs=1)
    return model.fit(Corpus(corpus.counts, corpus.words, corpus.labels.select(list(labels))))
