"""Versions of topics from their definition (equations 31 to 36), topic by topic."""

import numpy as np
from scipy.special import gammaln, psi


def differing(versions, topic):
    """The differing words of a topic, and the Dirichlet parameters of their shares."""
    own = versions.topics == topic
    return versions.words[own], versions.shared[own]


def prior_words(priors, seeded, n_words, n_topics):
    """eta of every word and topic, [V, T]."""
    prior = np.full((n_words, n_topics), priors.topic_prior)
    if priors.seeds is not None:
        for extra, topic in zip(priors.seeds.toarray(), seeded, strict=True):
            prior[:, topic] += extra
    return prior


def log_shares(versions, topic):
    """E[ln omega] of a topic: of the common words, and of each differing one."""
    _, shared = differing(versions, topic)
    total = versions.common[topic] + shared.sum()
    return psi(versions.common[topic]) - psi(total), psi(shared) - psi(total)


def log_table(state):
    """ln of the words' factors (35), [V, G + 1, T]."""
    versions, topics = state.versions, state.topics.astype(float)
    kappa, tokens = versions.strength, versions.by_group().astype(float)
    result = np.empty(tokens.shape)
    for k in range(topics.shape[1]):
        words, _ = differing(versions, k)
        common = np.setdiff1d(np.arange(len(topics)), words)
        of_common, of_words = log_shares(versions, k)
        inside = psi(topics[common, k]) - psi(topics[common, k].sum())
        result[common, 0, k], result[words, 0, k] = of_common + inside, of_words
        for g in range(1, tokens.shape[1]):
            n, whole = tokens[:, g, k], psi(kappa + tokens[:, g, k].sum())
            held = psi(kappa * np.exp(of_common) + n[common].sum())
            result[common, g, k] = held - whole + inside
            for word, share in zip(words, of_words, strict=True):
                x = kappa * np.exp(share)
                own = psi(x + n[word]) if n[word] >= 1.0 else np.log(x)
                result[word, g, k] = own - whole
    return result


def dirichlet_gap(parameters, prior):
    """E[ln p] - E[ln q] of one Dirichlet variable."""
    log_mean = psi(parameters) - psi(parameters.sum())
    result = gammaln(prior.sum()) - gammaln(prior).sum() + ((prior - 1.0) * log_mean).sum()
    result -= gammaln(parameters.sum()) - gammaln(parameters).sum()
    return result - ((parameters - 1.0) * log_mean).sum()


def topic_terms(state, priors):
    """The topics' part of the bound: (10) of common words and of shared shares, and (34)."""
    versions, topics = state.versions, state.topics.astype(float)
    kappa, tokens = versions.strength, versions.by_group().astype(float)
    prior = prior_words(priors, state.seeded, *topics.shape)
    total = 0.0
    for k in range(topics.shape[1]):
        words, shared = differing(versions, k)
        common = np.setdiff1d(np.arange(len(topics)), words)
        total += dirichlet_gap(topics[common, k], prior[common, k])
        parameters = np.append(versions.common[k], shared)
        total += dirichlet_gap(parameters, np.append(prior[common, k].sum(), prior[words, k]))
        of_common, of_words = log_shares(versions, k)
        for n in tokens[:, 1:, k].T:
            whole, held = n.sum(), n[common].sum()
            x = kappa * np.exp(of_common)
            total += gammaln(x + held) - gammaln(x) - held * psi(x + held)
            total -= gammaln(kappa + whole) - gammaln(kappa) - whole * psi(kappa + whole)
            for word, share in zip(words, of_words, strict=True):
                x = kappa * np.exp(share)
                if n[word] >= 1.0:
                    total += gammaln(x + n[word]) - gammaln(x) - n[word] * psi(x + n[word])
    return total


def word_shares(state):
    """E[phi] of every group, [V, G + 1, T]."""
    versions, topics = state.versions, state.topics.astype(float)
    kappa, tokens = versions.strength, versions.by_group().astype(float)
    result = np.empty(tokens.shape)
    for k in range(topics.shape[1]):
        words, shared = differing(versions, k)
        common = np.setdiff1d(np.arange(len(topics)), words)
        mean = np.append(versions.common[k], shared)
        mean /= mean.sum()
        inside = topics[common, k] / topics[common, k].sum()
        for g in range(tokens.shape[1]):
            n = tokens[:, g, k]
            own = kappa * mean + np.append(n[common].sum(), n[words])
            own = mean if g == 0 else own / own.sum()
            result[common, g, k], result[words, g, k] = own[0] * inside, own[1:]
    return result
