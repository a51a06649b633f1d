"""Hypothesis strategies for small problems, with the corners that break things."""

from dataclasses import fields

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy.sparse import csr_array

from hdsp.corpus import Labels, LabelSchema
from hdsp.execution.executor import InProcess
from hdsp.fit.passes import Documents
from hdsp.model.data import Data, make_problem
from hdsp.model.priors import Priors
from hdsp.model.state import GlobalState
from hdsp.numerics import sticks_from_weights
from hdsp.scaling.design import LabelDesign
from hdsp.scaling.functions import Categorical, Constant, LogLinear, Product

PRIORS = Priors(0.05, (1.0, 1.0), (1.0, 0.01))
SCALINGS = ("constant", "categorical", "loglinear", "product")


def bound_scaling(name, n_labels):
    """A scaling function on `n_labels` columns, bound."""
    columns = list(range(n_labels))
    if name == "constant":
        return Constant()
    if name == "categorical":
        return Product(Categorical(), split=[columns])
    if name == "loglinear":
        return Product(LogLinear(), split=[columns])
    half = (n_labels + 1) // 2
    return Product(Categorical(), LogLinear(), split=[columns[:half], columns[half:]])


def make_design(scaling_name, n_documents, n_labels, fill, rng):
    """0/1 labels, but real numbers in the columns a LogLinear factor of a product takes."""
    carried = rng.random((n_documents, n_labels)) < fill
    values = np.ones(carried.shape)
    first = {"loglinear": 0, "product": (n_labels + 1) // 2}.get(scaling_name, n_labels)
    values[:, first:] = rng.normal(size=(n_documents, n_labels - first))
    return csr_array(np.where(carried, values, 0.0))


def draw_seeds(n_seeded, n_words, n_topics, rng):
    """The prior [S, V] of seeded topics, and which topics they are; None where there are none."""
    if not n_seeded:
        return None, np.empty(0, dtype=np.int64)
    tokens = rng.gamma(1.0, 20.0, size=(n_seeded, n_words)) * (rng.random((1, n_words)) < 0.7)
    return csr_array(tokens), rng.permutation(n_topics)[:n_seeded]


def elsewhere(problem):
    """The documents of a problem, which sums alone tell of."""
    return Data(*(getattr(problem, field.name) for field in fields(Data)))


def fit_documents(problem, state, documents, settings, executor=None):
    """One document step: the state of all documents, and the sum of their statistics."""
    fitted = Documents(problem, executor or InProcess(), documents)
    statistics = fitted.fit(state, settings)
    return fitted.joined(), statistics


def problem_of(corpus, priors=PRIORS):
    """The problem of a corpus in memory."""
    schema = LabelSchema.of(corpus.labels)
    scaling = LabelDesign.fit("auto", schema).scaling
    return make_problem(corpus.counts, schema.encode(corpus.labels), scaling, priors)


def without_labels(counts, n_topics, rng, priors=PRIORS, dtype=np.float64):
    """The problem of documents without labels, and a random state."""
    counts = csr_array(counts, dtype=np.float64)
    problem = make_problem(counts, csr_array((counts.shape[0], 0)), Constant(), priors, dtype)
    topics = (rng.gamma(0.5, size=(counts.shape[1], n_topics)) + 0.05).astype(dtype)
    sticks = sticks_from_weights(np.full(n_topics, 1 / n_topics))
    return problem, GlobalState(topics, sticks, 1.0, 2.0, Constant().initial(n_topics, 0))


def draw_documents(share, n_words=60):
    """Documents of 60 words, whose proportions vary about the given ones; and their topics."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(n_words, 0.05), size=share.shape[1])
    rng = np.random.default_rng(0)
    drawn = np.array([rng.dirichlet(10.0 * row) for row in share])
    return np.array([rng.multinomial(60, row) for row in drawn @ topics]), topics


def bind(labels, scaling):
    """The design of labels or of a table of them, and their values."""
    labels = labels if isinstance(labels, Labels) else Labels.from_frame(pd.DataFrame(labels))
    schema = LabelSchema.of(labels)
    values = schema.encode(labels)
    return LabelDesign.fit(scaling, schema, values), values


@st.composite
def problems(draw, scaling=None, dtype=np.float64):
    """A problem, its dense counts, and a random state to start from."""
    name = draw(st.sampled_from(SCALINGS)) if scaling is None else scaling
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n_documents = draw(st.sampled_from([1, 2, 7, 70]))
    n_words = draw(st.sampled_from([1, 2, 9]))
    n_topics = draw(st.integers(2, 6))
    n_labels = draw(st.integers(1, 4))
    largest = draw(st.sampled_from([1.0, 5.0, 1e5]))
    density = draw(st.sampled_from([0.1, 0.7]))
    fill = draw(st.sampled_from([0.0, 0.4, 1.0]))
    shape = (n_documents, n_words)
    dense = np.ceil(rng.random(shape) * largest) * (rng.random(shape) < density)
    design = make_design(name, n_documents, n_labels, fill, rng)
    seeds, seeded = draw_seeds(draw(st.integers(0, 2)), n_words, n_topics, rng)
    priors = Priors(
        topic_prior=draw(st.sampled_from([0.05, 1.0])),
        corpus_concentration=draw(st.sampled_from([None, (1.0, 1.0)])),
        document_concentration=draw(st.sampled_from([None, (1.0, 0.01)])),
        seeds=seeds,
    )
    problem = make_problem(csr_array(dense), design, bound_scaling(name, n_labels), priors, dtype)
    state = GlobalState(
        topics=(rng.gamma(1.0, 1.0, size=(n_words, n_topics)) + 0.05).astype(dtype),
        sticks=sticks_from_weights(rng.dirichlet(np.ones(n_topics)) * 0.98 + 0.02 / n_topics),
        corpus_concentration=float(rng.gamma(2.0)) + 0.1,
        document_concentration=float(rng.gamma(2.0, 4.0)) + 0.1,
        scaling=problem.scaling.initial(n_topics, n_labels),
        seeded=seeded,
    )
    return problem, dense, state


def failures(checks):
    """The named checks that fail, and how."""
    found = {}
    for name, check in checks:
        try:
            check()
        except AssertionError as error:
            found[name] = error
    return found
