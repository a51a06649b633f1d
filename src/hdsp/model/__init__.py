"""The variational family of the HDSP: state, statistics, local and global steps, the bound."""

from hdsp.model.elbo import Bound, elbo
from hdsp.model.global_step import expected_proportions, global_step
from hdsp.model.local_step import LocalSettings, local_step, prepare_globals
from hdsp.model.problem import Priors, Problem, make_problem
from hdsp.model.simulate import Truth, draw_documents, simulate
from hdsp.model.state import DocumentState, GlobalState, Statistics

__all__ = [
    "Bound",
    "DocumentState",
    "GlobalState",
    "LocalSettings",
    "Priors",
    "Problem",
    "Statistics",
    "Truth",
    "draw_documents",
    "elbo",
    "expected_proportions",
    "global_step",
    "local_step",
    "make_problem",
    "prepare_globals",
    "simulate",
]
