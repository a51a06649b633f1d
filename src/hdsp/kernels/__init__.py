"""The compiled code: arrays in, arrays out; it knows nothing of models.

Letters: M documents, V words, K topics with padding, J labels, Q chosen topics or pairs of topics.
Kernels are imported at first use, as attributes of this package, because importing numba takes
longer than importing everything else.
"""

from importlib import import_module
from typing import Any

from hdsp.kernels.parallel import run_ranges, run_together, use_threads

__all__ = ["run_ranges", "run_together", "use_threads"]

_MODULES = {
    "documents": ("add_word_counts", "fill_word_table", "solve_documents"),
    "labels": ("sweep_gamma_weights", "sweep_normal_weights"),
    "matrices": ("csr_arrays", "descend_rows", "exp_product", "mix_words", "sparse_product"),
    "reading": ("add_softmax_loss", "predict_documents"),
    "bound": ("dirichlet_terms", "fill_document_terms", "sum_pair_entropies"),
    "words": ("count_ids", "find_words"),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            # Python then finds the name without this function.
            globals()[name] = getattr(import_module(f"hdsp.kernels.{module}"), name)
            return globals()[name]
    raise AttributeError(f"module 'hdsp.kernels' has no attribute {name!r}")
