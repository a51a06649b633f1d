"""Working on a document's active topics gives what all topics give."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp import HDSP, simulate
from hdsp.execution.executor import InProcess
from hdsp.model.data import make_problem
from hdsp.model.documents import LocalSettings
from tests.problems import fit_documents

HERE = InProcess()


def trained(seed, n_topics=60):
    """A model of more topics than any document uses, and its problem."""
    tags = [["a"], ["b"], ["a", "b"], []] * 60
    corpus, _ = simulate(
        tags,
        n_topics=40,
        n_words=300,
        document_length=80,
        corpus_concentration=40.0,
        topic_prior=0.02,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HDSP(n_topics, random_state=seed, max_iter=4).fit(corpus)._model
    design = model.schema.encode(corpus.labels)
    return model, make_problem(corpus.counts, design, model.scaling, model.priors)


MODELS = [trained(seed) for seed in range(2)]


@given(number=st.sampled_from([0, 1]), n_iter=st.sampled_from([3, 10, 30]), warm=st.booleans())
def test_bound_and_statistics_agree_with_the_dense_computation(number, n_iter, warm):
    model, problem = MODELS[number]
    kept = None
    if warm:
        kept, _ = fit_documents(problem, model.state, None, LocalSettings(10), HERE)
    found = {}
    for prune in (0.0, 1e-6):
        settings = LocalSettings(n_iter, 0.0, prune)
        found[prune] = fit_documents(problem, model.state, kept, settings, HERE)
    (dense_documents, dense), (documents, pruned) = found[0.0], found[1e-6]
    terms = dense.bound.items()
    size = sum(map(abs, terms.values()))
    assert pruned.bound.items() == pytest.approx(terms, rel=0.0, abs=1e-5 * size)
    tokens = dense.word_counts.sum()
    assert np.abs(pruned.word_counts - dense.word_counts).sum() < 1e-5 * tokens
    moved = np.abs(documents.token_counts - dense_documents.token_counts).sum()
    assert moved < 1e-4 * tokens
    # The threshold is at work: some topics hold exactly nothing.
    if warm or n_iter == 30:
        assert (documents.token_counts[:, : model.state.n_topics] == 0.0).mean() > 0.05
