"""Probabilities of labels given a document's words, by Bayes' rule in the generative model."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack
from scipy.special import expit, log_softmax

from hdsp.labels import Number
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction.calibration import Regression, design_scores, group_rows
from hdsp.scaling import LabelSpace


@dataclass(frozen=True, eq=False)
class Candidates:
    """The labels that a document may have.

    Attributes
    ----------
    target : str
        The label column that they belong to.
    names : tuple of str
        The candidates' names.
    positions : int array of shape [C]
        The candidates' places in the column; all 0 for values of a number.
    values : sparse array of shape [C, n_labels]
        The candidates' values, and no other labels.
    log_prior : float array of shape [C]
        Log prior probabilities of exclusive candidates; prior log odds of tags.
    exclusive : bool
        Whether exactly one candidate holds; otherwise each holds or not independently.
    """

    target: str
    names: tuple[str, ...]
    positions: IntArray
    values: csr_array
    log_prior: FloatArray
    exclusive: bool


@dataclass(frozen=True, eq=False)
class WordProbabilities:
    """What words of documents with given labels are drawn from.

    Attributes
    ----------
    space : LabelSpace
        The labels of training.
    regression : Regression
        Expected proportions given labels.
    word_share : float array of shape [V, T]
        E[phi].
    ratios : float array of shape [C, V]
        How many times more often each candidate uses words than its topics predict.
    """

    space: LabelSpace
    regression: Regression
    word_share: FloatArray
    ratios: FloatArray


def label_probabilities(
    counts: csr_array, known: csr_array, candidates: Candidates, words: WordProbabilities
) -> FloatArray:
    """The probability of every candidate for every document, [M, C].

    `known` [M, n_labels] are the values of the documents' other labels.
    """
    score = word_scores(counts, known, candidates, words)
    if candidates.exclusive:
        return np.asarray(np.exp(log_softmax(score[:, :-1] + candidates.log_prior, axis=1)))
    return np.asarray(expit(score[:, :-1] - score[:, -1:] + candidates.log_prior))


def word_scores(
    counts: csr_array, known: csr_array, candidates: Candidates, words: WordProbabilities
) -> FloatArray:
    """ln p(words | known labels and each candidate, or none of them), [M, C + 1].

    A word's probability is that of the expected topics times the candidate's ratio, normalised.
    """
    space, regression = words.space, words.regression
    n_labels = known.shape[1]
    values = csr_array(vstack([candidates.values, csr_array((1, n_labels))]))
    ratios = np.vstack([words.ratios, np.ones(words.ratios.shape[1])])
    scores = np.zeros((counts.shape[0], values.shape[0]))
    terms = space.depends(candidates.target)
    additive = len(terms) == 1 and isinstance(terms[0], Number) and not regression.functions
    added = regression.scores(space.design(values))
    # sum_i phi_ki f_ci, so that the normaliser is a sum over topics.
    inflation = ratios @ words.word_share
    first, group = group_rows(known)
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group))
    base = design_scores(space.design(known[first]), regression.coefficients, regression.functions)
    for number, rows in enumerate(np.split(order, ends[:-1])):
        if additive:
            score = added + base[number]
        else:
            same = csr_array(vstack([known[[first[number]]]] * values.shape[0]))
            design = space.design(csr_array(same + values))
            score = regression.scores(design)
        share = np.exp(score - score.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        documents = counts[rows]
        occurring = np.unique(documents.indices)
        probability = (share @ words.word_share[occurring].T) * ratios[:, occurring]
        probability /= (share * inflation).sum(axis=1, keepdims=True)
        scores[rows] = documents[:, occurring] @ np.log(probability).T
    return scores


def nearest_counts(values: FloatArray, observed: FloatArray) -> FloatArray:
    """How many training documents have a number nearest to each of `values`, [n].

    `observed` [2, k] are the training values, and how many documents have each.
    """
    nearest: IntArray = np.abs(observed[0][:, None] - values[None, :]).argmin(axis=1)
    counts: FloatArray = np.zeros(len(values))
    np.add.at(counts, nearest, observed[1])
    return counts
