"""Small corpora on disk, and fits of them by an executor."""

import numpy as np
import pandas
from threadpoolctl import threadpool_limits

import hdsp
from hdsp.fit.passes import Documents
from hdsp.fit.run import Run
from hdsp.fit.stochastic import before_steps, fit_stochastic
from hdsp.fit.topics import fit_batch
from hdsp.model.data import Data, Encoding, stored_blocks
from hdsp.model.priors import Priors
from hdsp.model.state import GlobalState
from hdsp.numerics import sticks_from_weights
from hdsp.scaling.design import LabelDesign

SHARD = 40


def write_corpus(folder, n_documents=440, n_words=60):
    """A corpus in shards, with labels of every kind."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(0.1, 4.0, (n_documents, n_words)))
    labels = pandas.DataFrame(
        {
            "tags": [list(rng.choice(list("abcd"), rng.integers(0, 4))) for _ in counts],
            "kind": rng.choice(["x", "y", None], n_documents),
            "year": rng.normal(size=n_documents),
        }
    )
    hdsp.Corpus(counts, labels=labels).write(folder, SHARD)
    return hdsp.open_corpus(folder)


def make_problem(corpus, scaling="auto"):
    """The problem of a corpus on disk, and a state to start from."""
    space = LabelDesign.fit(scaling, corpus.schema)
    encoding = Encoding(space)
    problem = Data(
        list(stored_blocks(corpus.shards, encoding)),
        space.scaling,
        Priors(0.05, (1.0, 1.0), (1.0, 0.01)),
        corpus.n_documents,
        corpus.n_words,
        corpus.schema.n_labels,
    )
    rng = np.random.default_rng(1)
    state = GlobalState(
        topics=(rng.gamma(1.0, 20.0, size=(corpus.n_words, 9)) + 0.05).astype(np.float32),
        sticks=sticks_from_weights(np.full(9, 1 / 9)),
        corpus_concentration=1.0,
        document_concentration=5.0,
        scaling=space.scaling.initial(9, problem.n_labels),
    )
    return problem, state


def fit(executor, problem, state, passes=7):
    """The state and the bounds of a fit by passes over all documents; the fifth one restarts."""
    run = Run(passes, 0.0, executor=executor)
    with executor, threadpool_limits(1, "blas"):
        found = fit_batch(Documents(problem, executor), state, run)
    return found, [row["bound"] for row in run.history]


def fit_steps(executor, problem, state):
    """The state and the bounds of a stochastic fit."""
    run = Run(2, 0.0, executor=executor)
    steps = before_steps(state, problem.n_labels, 100)
    with executor, threadpool_limits(1, "blas"):
        found = fit_stochastic(problem, steps, run, seed=2)
    return found.state, [row["bound"] for row in run.history]


def check_same(got, expected):
    """Two fits are equal, bit for bit."""
    assert got[1] == expected[1]
    check_same_state(got[0], expected[0])


def check_same_state(one, other):
    """Two states are equal, bit for bit."""
    np.testing.assert_array_equal(one.topics, other.topics)
    np.testing.assert_array_equal(one.sticks, other.sticks)
    assert one.document_concentration == other.document_concentration
    assert one.corpus_concentration == other.corpus_concentration
    assert one.scaling.keys() == other.scaling.keys()
    for name, values in one.scaling.items():
        np.testing.assert_array_equal(values, other.scaling[name])
