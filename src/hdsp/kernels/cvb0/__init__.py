"""Proportions of new documents: each token's topic is judged by the other tokens (CVB0).

The responsibilities gamma_ik of word i, which occurs c_i times in a document of N tokens, and the
tokens n_k that topics hold solve

    gamma_ik = phi_ik (beta p_k + n_k - o_i gamma_ik) / (b_k Z_i),  n_k = sum_i c_i gamma_ik  (22)

where Z_i makes sum_k gamma_ik = 1, and b_k = E[rho_k] + N / xi as in the document step (11, 12).
The c_i tokens of a word are alike, so they share one gamma_ik, and each leaves out its own share
alone: o_i = 1, or c_i where a count is a fraction below 1.

With x_ik = phi_ik / (b_k Z_i) and a_k = beta p_k + n_k, (22) says that gamma_ik is
a_k x_ik / (1 + o_i x_ik). Hence n_k = R_k a_k with R_k = sum_i c_i x_ik / (1 + o_i x_ik),
or n_k = beta p_k R_k / (1 - R_k). Most topics hold next to nothing, and the Z_i hardly depend on
them: they are solved by the last formula, two or three times, and form the background while the
others, the active topics, are iterated in a tile.

``solver`` alternates between the two, ``active_set`` solves the background and says which topics
are active, ``iteration`` updates and extrapolates those.
"""

from hdsp.kernels.cvb0.solver import predict_documents
from hdsp.kernels.cvb0.workspace import make_memory

__all__ = ["make_memory", "predict_documents"]
