"""The paper's synthetic corpora (section 5.1), and how well a fit recovers what made them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import spearmanr

from hdsp import HDSP, Categorical
from hdsp.metrics import match_topics
from hdsp.model.simulate import Truth, draw_documents
from hdsp.numerics import weights_from_sticks
from hdsp_studies.reproduction.models import TOLERANCES
from hdsp_studies.types import FloatArray

_MEAN_LENGTH = 20.0
_N_LABELS = 4
# Total variation; topics that are merged or split are 0.4 and more away.
_FOUND = 0.3


@dataclass(frozen=True, eq=False)
class Drawn:
    """A corpus and what it was drawn from.

    Attributes
    ----------
    truth : Truth
        Topics, their weights, and the labels' scales.
    counts : sparse array of shape [M, V]
        Word counts.
    labels : sparse array of shape [M, J]
        Labels, 0 or 1.
    """

    truth: Truth
    counts: csr_array
    labels: csr_array


@dataclass(frozen=True, eq=False)
class Recovery:
    """A fit against the truth, its topics paired with the true ones.

    Attributes
    ----------
    topics : float array of shape [K, V]
        Found topics as distributions, in the order of the true ones.
    distance : float array of shape [K]
        Total variation between the topics of each pair.
    scales : float array of shape [K, J]
        Found scales of labels, in the same order.
    rho : float
        Spearman's rho of true and found scales over all pairs of label and topic.
    rho_by_label : float
        Mean over labels of rho between topics. A label's scales have a common factor that cancels
        when proportions are normalised, so only the order of topics under each label can be
        recovered.
    rho_recovered : float
        The same over the topics that were found, within `_FOUND` of the true ones.
    error : float
        Mean absolute error of the scales.
    facts : dict
        Passes of the fit, and whether it has converged.
    """

    topics: FloatArray
    distance: FloatArray
    scales: FloatArray
    rho: float
    rho_by_label: float
    rho_recovered: float
    error: float
    facts: dict[str, int]


def first_corpus(seed: int, n_documents: int = 500) -> Drawn:
    """500 documents of 20 words, 5 topics, 10 terms, 4 labels, two on a document."""
    rng = np.random.default_rng(seed)
    # The scale of label j on topic k, from a quarter to four.
    scales = np.exp(rng.uniform(-1.5, 1.5, size=(5, _N_LABELS)))
    truth = Truth(
        topic_weight=_weights(5, rng), word_share=bars(), weights=scales, document_concentration=1.0
    )
    return _draw(truth, n_documents, rng, seed)


def second_corpus(seed: int, side: float, n_documents: int = 1_000) -> Drawn:
    """Scales are the distances between topics and labels placed at random in a cube."""
    rng = np.random.default_rng(seed)
    topics, labels = side * rng.random((10, 3)), side * rng.random((_N_LABELS, 3))
    truth = Truth(
        topic_weight=_weights(10, rng),
        word_share=rng.dirichlet(np.full(20, 0.1), size=10),
        weights=np.linalg.norm(topics[:, None] - labels[None], axis=2),
        document_concentration=1.0,
    )
    return _draw(truth, n_documents, rng, seed)


def bars(n_topics: int = 5, n_words: int = 10) -> FloatArray:
    """Topics of two neighbouring terms each, with a little of everything else."""
    share = np.full((n_topics, n_words), 0.02)
    for k in range(n_topics):
        share[k, 2 * k : 2 * k + 2] = 1.0
    return np.asarray(share / share.sum(axis=1, keepdims=True))


def recover(drawn: Drawn, seed: int, name: Any = "HDSP", fit: str = "published") -> Recovery:
    """Fit HDSP, or the HDP, with twice as many topics, and pair its topics with the true ones."""
    truth = drawn.truth
    model = HDSP.as_published(name).set_params(
        n_components=2 * len(truth.topic_weight), tol=TOLERANCES[fit], n_jobs=1, random_state=seed
    )
    model.fit(drawn.counts, labels=drawn.labels.toarray())
    facts = {"passes": model.n_iter_, "converged": int(model.converged_)}
    index, distance = match_topics(truth.word_share, model.components_)
    topics = model.components_ / model.components_.sum(axis=1, keepdims=True)
    if name == "HDP":
        nothing = np.full_like(truth.weights, np.nan)
        unknown = np.nan, np.nan, np.nan, np.nan
        return Recovery(topics[index], distance, nothing, *unknown, facts)
    scales, near = model.label_scale_[index], distance < _FOUND
    by_label = [
        spearmanr(*columns).statistic for columns in zip(scales.T, truth.weights.T, strict=True)
    ]
    return Recovery(
        topics[index],
        distance,
        scales,
        rho=_rho(scales, truth.weights),
        rho_by_label=float(np.mean(by_label)),
        rho_recovered=_rho(scales[near], truth.weights[near]),
        error=float(np.abs(scales - truth.weights).mean()),
        facts=facts,
    )


def _rho(found: FloatArray, true: FloatArray) -> float:
    """Spearman's rho over all pairs; NaN without topics."""
    return float(spearmanr(found.ravel(), true.ravel()).statistic) if len(found) else np.nan


def _weights(n_topics: int, rng: np.random.Generator) -> FloatArray:
    """Weights of topics by breaking a stick, with alpha = 1 as in the paper."""
    return weights_from_sticks(rng.beta(1.0, 1.0, size=n_topics - 1))


def _draw(truth: Truth, n_documents: int, rng: np.random.Generator, seed: int) -> Drawn:
    labels = csr_array((rng.random((n_documents, _N_LABELS)) < 0.5).astype(np.float64))
    lengths = rng.poisson(_MEAN_LENGTH, size=n_documents).astype(np.float64)
    counts = draw_documents(truth, Categorical(), labels, lengths, np.random.default_rng(seed))
    return Drawn(truth, counts, labels)
