"""The bound, itemised (equations 6 to 10)."""

from dataclasses import dataclass, fields

import numpy as np
from scipy.special import gammaln, psi

from hdsp import kernels
from hdsp.kernels import run_ranges
from hdsp.model.documents import WORD_RANGE
from hdsp.model.problem import BlockProblem, Priors
from hdsp.model.seeds import prior_totals, seed_bound
from hdsp.model.state import GlobalState, Statistics
from hdsp.numerics.gamma import log_gamma_density


@dataclass(frozen=True)
class Bound:
    """A lower bound of the log joint density of the words and of the points, term by term.

    Points are the sticks, the concentrations and log-linear weights.

    Attributes
    ----------
    words : float
        (6) The words, given topics and proportions.
    tangent : float
        (7) The normaliser of the proportions.
    proportions : float
        (8) + (9) E[ln p(pi)] - E[ln q(pi)].
    topics : float
        (10) E[ln p(phi)] - E[ln q(phi)].
    scaling : float
        (10) E[ln p(w)] - E[ln q(w)].
    sticks : float
        (10) ln p(V).
    concentrations : float
        (10) ln p(alpha) + ln p(beta), for those that are learned.
    """

    words: float
    tangent: float
    proportions: float
    topics: float
    scaling: float
    sticks: float
    concentrations: float

    @property
    def total(self) -> float:
        """The bound."""
        return sum(self.items().values())

    @property
    def comparable(self) -> float:
        """The bound without the densities of sticks and concentrations, by which merges are judged.

        These have point posteriors. Their densities have no common scale, and each stick would add
        a few units even if its topic holds nothing. Log-linear weights are points too, and their
        densities stay: they are what a topic pays for weights that differ from zero.
        """
        return self.total - self.sticks - self.concentrations

    def items(self) -> dict[str, float]:
        """The terms by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


def elbo(problem: BlockProblem, state: GlobalState, statistics: Statistics) -> Bound:
    """The bound at `state`, from the statistics of documents fitted with it."""
    alpha = state.corpus_concentration
    priors = problem.priors
    concentrations = 0.0
    if priors.corpus_concentration is not None:
        concentrations += log_gamma_density(alpha, *priors.corpus_concentration)
    if priors.document_concentration is not None:
        beta = state.document_concentration
        concentrations += log_gamma_density(beta, *priors.document_concentration)
    return Bound(
        words=statistics.words,
        tangent=statistics.tangent,
        proportions=statistics.proportions,
        topics=topic_terms(state, priors),
        scaling=float(problem.scaling.prior_terms(state.scaling).sum()),
        sticks=float(
            len(state.sticks) * np.log(alpha) + (alpha - 1.0) * np.log1p(-state.sticks).sum()
        ),
        concentrations=concentrations,
    )


def topic_terms(state: GlobalState, priors: Priors) -> float:
    """E[ln p(phi)] - E[ln q(phi)] of all topics.

    For one topic, with L = sum_i lambda_i and H = sum_i eta_i: ln Gamma(H) - ln Gamma(L)
    + (L - H) psi(L) + sum_i (ln Gamma(lambda_i) - ln Gamma(eta_i)
    + (eta_i - lambda_i) psi(lambda_i)).
    """
    topics, topic_prior = state.topics, priors.topic_prior
    n_words, n_topics = topics.shape
    gap = np.empty(n_words)
    run_ranges(
        kernels.dirichlet_terms,
        n_words,
        WORD_RANGE,
        np.ascontiguousarray(topics),
        topics.dtype.type(topic_prior),
        gap,
    )
    total = topics.sum(axis=0, dtype=np.float64)
    prior_total = prior_totals(n_words, n_topics, topic_prior, priors.seeds, state.seeded)
    whole = gammaln(prior_total) - gammaln(total) + (total - prior_total) * psi(total)
    seeds = seed_bound(topics, topic_prior, priors.seeds, state.seeded)
    return float(gap.sum() + whole.sum()) + seeds
