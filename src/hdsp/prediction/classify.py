"""Probabilities of labels given a document's words, by Bayes' rule in the generative model."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack
from scipy.special import expit, log_softmax

from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction.label_sets import group_rows
from hdsp.prediction.regression import Regression
from hdsp.scaling import Design


@dataclass(frozen=True, eq=False)
class Candidates:
    """The labels that a document may have.

    Attributes
    ----------
    target : str
        The block of labels that they belong to.
    names : tuple of str
        The candidates' names.
    positions : int array of shape [C]
        The candidates' places in the block; all 0 for values of a number.
    design : sparse array of shape [C, J]
        The candidates' labels.
    log_prior : float array of shape [C]
        Log prior probabilities of exclusive candidates; prior log odds of tags.
    ratios : float array of shape [C, V]
        How many times more often each candidate uses words than its topics predict.
    exclusive : bool
        Whether exactly one candidate holds; otherwise each holds or not independently.
    """

    target: str
    names: tuple[str, ...]
    positions: IntArray
    design: Design
    log_prior: FloatArray
    ratios: FloatArray
    exclusive: bool


def label_probabilities(
    counts: csr_array,
    known: Design,
    candidates: Candidates,
    regression: Regression,
    word_share: FloatArray,
) -> FloatArray:
    """The probability of every candidate for every document, [M, C].

    `known` [M, J] are the documents' other labels, and `word_share` [V, T] is E[phi].
    """
    if candidates.exclusive:
        score = word_scores(
            counts, known, candidates.design, candidates.ratios, regression, word_share
        )
        return np.asarray(np.exp(log_softmax(score + candidates.log_prior, axis=1)))
    nothing = csr_array((1, known.shape[1]))
    score = word_scores(
        counts,
        known,
        csr_array(vstack([candidates.design, nothing])),
        np.vstack([candidates.ratios, np.ones(candidates.ratios.shape[1])]),
        regression,
        word_share,
    )
    return np.asarray(expit(score[:, :-1] - score[:, -1:] + candidates.log_prior))


def word_scores(
    counts: csr_array,
    known: Design,
    candidates: Design,
    ratios: FloatArray,
    regression: Regression,
    word_share: FloatArray,
) -> FloatArray:
    """ln p(words | known labels and each candidate), [M, C].

    A word's probability is that of the expected topics times the candidate's ratio, normalised.
    """
    scores = np.zeros((counts.shape[0], candidates.shape[0]))
    added = np.asarray(candidates @ regression.coefficients) + regression.intercept
    # sum_i phi_ki f_ci, so that the normaliser is a sum over topics.
    inflation = ratios @ word_share
    first, group = group_rows(known)
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group))
    base = np.asarray(known[first] @ regression.coefficients)
    for number, rows in enumerate(np.split(order, ends[:-1])):
        score = added + base[number]
        share = np.exp(score - score.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        documents = counts[rows]
        words = np.unique(documents.indices)
        probability = (share @ word_share[words].T) * ratios[:, words]
        probability /= (share * inflation).sum(axis=1, keepdims=True)
        scores[rows] = documents[:, words] @ np.log(probability).T
    return scores


def nearest_counts(values: FloatArray, observed: FloatArray) -> FloatArray:
    """How many training documents have a number nearest to each of `values`, [n].

    `observed` [2, k] are the training values, and how many documents have each.
    """
    nearest: IntArray = np.abs(observed[0][:, None] - values[None, :]).argmin(axis=1)
    counts: FloatArray = np.zeros(len(values))
    np.add.at(counts, nearest, observed[1])
    return counts
