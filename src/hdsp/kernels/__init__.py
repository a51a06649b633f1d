"""The compiled code: arrays in, arrays out; it knows nothing of models.

Letters: M documents, V words, K topics with padding, J labels, Q chosen topics or pairs of them.
The kernels are loaded at first use, because importing numba takes longer than importing everything
else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hdsp.kernels.ahead import compile_ahead, wait_for
from hdsp.kernels.parallel import run_ranges, run_together, use_threads
from hdsp.kernels.products import csr_arrays, exp_product, sparse_product

if TYPE_CHECKING:
    from hdsp.kernels.cvb0 import make_memory, predict_documents
    from hdsp.kernels.documents import solve_documents
    from hdsp.kernels.factors import descend_rows
    from hdsp.kernels.labels import sweep_gamma_weights, sweep_normal_weights
    from hdsp.kernels.likelihood import mixture_log_likelihood
    from hdsp.kernels.merges import sum_log_gamma, sum_pair_entropies, sum_proportion_terms
    from hdsp.kernels.softmax import add_softmax_loss, share_tokens
    from hdsp.kernels.terms import dirichlet_terms, fill_document_terms, mean_proportions
    from hdsp.kernels.topics import add_word_counts, fill_word_table
    from hdsp.kernels.words import count_ids, find_words, merge_words

__all__ = [
    "add_softmax_loss",
    "add_word_counts",
    "compile_ahead",
    "count_ids",
    "csr_arrays",
    "descend_rows",
    "dirichlet_terms",
    "exp_product",
    "fill_document_terms",
    "fill_word_table",
    "find_words",
    "make_memory",
    "mean_proportions",
    "merge_words",
    "mixture_log_likelihood",
    "predict_documents",
    "run_ranges",
    "run_together",
    "share_tokens",
    "solve_documents",
    "sparse_product",
    "sum_log_gamma",
    "sum_pair_entropies",
    "sum_proportion_terms",
    "sweep_gamma_weights",
    "sweep_normal_weights",
    "use_threads",
]


_MODULES = (
    "cvb0",
    "documents",
    "factors",
    "labels",
    "likelihood",
    "merges",
    "softmax",
    "terms",
    "topics",
    "words",
)


def __getattr__(name: str) -> Any:
    wait_for(name)
    for module in _MODULES if name in __all__ else ():
        found = getattr(import_module(f"hdsp.kernels.{module}"), name, None)
        if found is not None:
            # Python asks for a name that it finds here no more.
            globals()[name] = found
            return found
    raise AttributeError(f"module 'hdsp.kernels' has no attribute {name!r}")
