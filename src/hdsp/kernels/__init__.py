"""The compiled code: arrays in, arrays out; it knows nothing of models.

The kernels are loaded at first use, because importing numba costs more than all the rest of the
package.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hdsp.kernels.parallel import Threads
from hdsp.kernels.products import csr_arrays, exp_product, sparse_product

if TYPE_CHECKING:
    from hdsp.kernels.cvb0 import predict_documents
    from hdsp.kernels.documents import fit_documents
    from hdsp.kernels.factors import descend_rows
    from hdsp.kernels.labels import sweep_gamma_weights, sweep_normal_weights
    from hdsp.kernels.likelihood import mixture_log_likelihood
    from hdsp.kernels.moves import (
        divide_topics,
        sum_log_gamma,
        sum_pair_entropies,
        sum_proportion_terms,
    )
    from hdsp.kernels.softmax import sweep_softmax_weights
    from hdsp.kernels.terms import dirichlet_terms, document_terms, mean_proportions
    from hdsp.kernels.topics import add_word_counts, fill_word_table

_HOME = {
    "fit_documents": "documents",
    "dirichlet_terms": "terms",
    "divide_topics": "moves",
    "document_terms": "terms",
    "descend_rows": "factors",
    "mean_proportions": "terms",
    "mixture_log_likelihood": "likelihood",
    "predict_documents": "cvb0",
    "sum_log_gamma": "moves",
    "sum_pair_entropies": "moves",
    "sum_proportion_terms": "moves",
    "sweep_gamma_weights": "labels",
    "sweep_normal_weights": "labels",
    "sweep_softmax_weights": "softmax",
    "add_word_counts": "topics",
    "fill_word_table": "topics",
}

__all__ = [
    "Threads",
    "add_word_counts",
    "csr_arrays",
    "descend_rows",
    "dirichlet_terms",
    "divide_topics",
    "document_terms",
    "exp_product",
    "fill_word_table",
    "fit_documents",
    "mean_proportions",
    "mixture_log_likelihood",
    "predict_documents",
    "sparse_product",
    "sum_log_gamma",
    "sum_pair_entropies",
    "sum_proportion_terms",
    "sweep_gamma_weights",
    "sweep_normal_weights",
    "sweep_softmax_weights",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"hdsp.kernels.{_HOME[name]}"), name)
    raise AttributeError(f"module 'hdsp.kernels' has no attribute {name!r}")
