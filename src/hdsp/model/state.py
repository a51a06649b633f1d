"""The variational family: global state, documents' state, and the statistics between them."""

from dataclasses import dataclass, fields, replace

import numpy as np

from hdsp.numerics.sticks import sticks_from_weights, weights_from_sticks
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.scaling import Parameters, take_topics

# Topics are padded to whole vector registers in the compiled document step.
_PADDING = 16


def padded(n_topics: int) -> int:
    """The number of topics rounded up to a multiple of the padding."""
    return -(-n_topics // _PADDING) * _PADDING


@dataclass(frozen=True, eq=False)
class GlobalState:
    """Everything about a model but its documents.

    Attributes
    ----------
    topics : [V, T] Dirichlet parameters of q(phi), word-major
    sticks : [T - 1] the points V_k
    corpus_concentration, document_concentration : alpha and beta
    scaling : the scaling function's variational parameters
    """

    topics: FloatArray
    sticks: FloatArray
    corpus_concentration: float
    document_concentration: float
    scaling: Parameters

    @property
    def n_topics(self) -> int:
        """T."""
        return int(self.topics.shape[1])

    @property
    def topic_weight(self) -> FloatArray:
        """p, [T]."""
        return weights_from_sticks(self.sticks)

    @property
    def prior_shape(self) -> FloatArray:
        """beta p, [T]."""
        return self.document_concentration * self.topic_weight

    def reordered(self, order: IntArray) -> "GlobalState":
        """The same topics in another order; their weights go with them."""
        return replace(
            self,
            topics=np.ascontiguousarray(self.topics[:, order]),
            sticks=sticks_from_weights(self.topic_weight[order]),
            scaling=take_topics(self.scaling, order),
        )


@dataclass(frozen=True, eq=False)
class DocumentState:
    """q(pi) of a run of documents, as much as cannot be recomputed.

    Attributes
    ----------
    token_counts : [M, K] the tokens of document m that topic k is expected to hold,
        sum_i c_mi gamma_mik; K = T padded, padding is zero
    tangent : [M] xi_m

    The rest follows from these, the prior and the labels (equation 11): a_mk = beta p_k plus the
    tokens, b_mk = E[rho_mk] + N_m / xi_m. Keeping the tokens and not a_mk makes going on from an
    earlier solution an exact coordinate update of q(pi), whatever has changed meanwhile.
    """

    token_counts: FloatArray
    tangent: FloatArray

    def rows(self, rows: slice) -> "DocumentState":
        """The documents of one block."""
        return DocumentState(self.token_counts[rows], self.tangent[rows])


@dataclass(frozen=True, eq=False)
class Statistics:
    """What the global step and the bound need of the documents; the sum over any partition.

    Attributes
    ----------
    n_documents : M
    word_counts : [V, T] sum_m c_mi gamma_mik
    log_proportion : [T] sum_m E[ln pi_mk]
    words, tangent, proportions : terms (6), (7) and (8) + (9) of the bound
    inner_iterations : made in the document step
    """

    n_documents: int
    word_counts: FloatArray
    log_proportion: FloatArray
    words: float
    tangent: float
    proportions: float
    inner_iterations: int

    def __add__(self, other: "Statistics") -> "Statistics":
        return Statistics(*[getattr(self, f.name) + getattr(other, f.name) for f in fields(self)])
