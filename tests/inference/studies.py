"""The paper's synthetic studies (section 5.1), small enough to run as tests."""

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import spearmanr

from hdsp import HDSP, Categorical
from hdsp.metrics import match_topics
from hdsp.model import Truth, draw_documents
from hdsp.numerics.sticks import weights_from_sticks


def bars(n_topics=5, n_words=10):
    """Topics of two neighbouring terms each, with a little of everything else."""
    share = np.full((n_topics, n_words), 0.02)
    for k in range(n_topics):
        share[k, 2 * k : 2 * k + 2] = 1.0
    return share / share.sum(axis=1, keepdims=True)


def recover(truth, design, lengths, seed, with_hdp=False):
    """Draw a corpus, fit HDSP and HDP with twice the topics, and match them to the truth.

    Returns the total-variation distances of HDSP's and HDP's topics, Spearman's rho of
    topics' scales (mean over labels) and their mean absolute error.
    """
    rng = np.random.default_rng(seed)
    counts, _ = draw_documents(truth, Categorical(), design, lengths, rng)
    # As in the paper: twice the topics, three passes of LDA to start from, alpha = beta = 1.
    settings = {
        "n_components": 2 * len(truth.topic_weight),
        "fixed_number": True,
        "init": "lda",
        "document_concentration": 1.0,
        "random_state": seed,
    }
    model = HDSP(**settings).fit(counts, labels=design.toarray())
    hdp = HDSP(**settings).fit(counts) if with_hdp else model
    index, distance = match_topics(truth.word_share, model.components_)
    _, hdp_distance = match_topics(truth.word_share, hdp.components_)
    parameters = model._model.state.scaling
    scale = parameters["0:rate"] / (parameters["0:shape"] - 1.0)
    error = np.abs(scale[index] - truth.weights).mean()
    # A label's scales have a common factor that cancels when proportions are normalised, so what
    # can be recovered is the order of topics under each label.
    rho = np.mean(
        [
            spearmanr(found, true).statistic
            for found, true in zip(scale[index].T, truth.weights.T, strict=True)
        ]
    )
    return distance, hdp_distance, float(rho), float(error)


def first_study(seed, n_documents=500):
    """500 documents of 20 words, 5 topics, 10 terms, 4 labels, two on a document."""
    rng = np.random.default_rng(seed)
    # The weight of label j on topic k: far (small scale) or near (large scale).
    weights = np.exp(rng.uniform(-1.5, 1.5, size=(5, 4)))
    truth = Truth(
        topic_weight=weights_from_sticks(np.array([0.2, 0.25, 1 / 3, 0.5])),
        word_share=bars(),
        weights=weights,
        document_concentration=1.0,
    )
    design = csr_array((rng.random((n_documents, 4)) < 0.5).astype(float))
    lengths = rng.poisson(20.0, size=n_documents).astype(float)
    return recover(truth, design, lengths, seed, with_hdp=True)


def second_study(seed, side, n_documents=1_000):
    """Scales are distances of topics and labels placed at random in a cube of this side."""
    rng = np.random.default_rng(seed)
    topics, labels = side * rng.random((10, 3)), side * rng.random((4, 3))
    weights = np.linalg.norm(topics[:, None] - labels[None], axis=2)
    truth = Truth(
        topic_weight=np.full(10, 0.1),
        word_share=rng.dirichlet(np.full(20, 0.1), size=10),
        weights=weights,
        document_concentration=1.0,
    )
    design = csr_array((rng.random((n_documents, 4)) < 0.5).astype(float))
    return recover(truth, design, rng.poisson(20.0, size=n_documents).astype(float), seed)
