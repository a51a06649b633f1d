"""The variational family of the HDSP: state, statistics, local and global steps, the bound.

Internal: names here may change without notice.
"""

from hdsp.model.data import Block, BlockSource, Data, Problem, make_block, make_problem
from hdsp.model.documents import DocumentView, LocalSettings, block_step
from hdsp.model.priors import Priors, seed_prior
from hdsp.model.reading import (
    HeldOut,
    PredictiveView,
    document_log_likelihood,
    split_tokens,
    word_log_likelihood,
    word_share,
)
from hdsp.model.simulate import Truth, draw_documents
from hdsp.model.state import BoundTerms, DocumentState, GlobalState, Statistics
from hdsp.model.updates import elbo, expected_tokens, global_step
from hdsp.model.versions import NO_CONTENT, Versions

__all__ = [
    "NO_CONTENT",
    "Block",
    "BlockSource",
    "BoundTerms",
    "Data",
    "DocumentState",
    "DocumentView",
    "GlobalState",
    "HeldOut",
    "LocalSettings",
    "PredictiveView",
    "Priors",
    "Problem",
    "Statistics",
    "Truth",
    "Versions",
    "block_step",
    "document_log_likelihood",
    "draw_documents",
    "elbo",
    "expected_tokens",
    "global_step",
    "make_block",
    "make_problem",
    "seed_prior",
    "split_tokens",
    "word_log_likelihood",
    "word_share",
]
