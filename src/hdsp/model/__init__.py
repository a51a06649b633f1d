"""The variational family of the HDSP: state, statistics, local and global steps, the bound."""

from hdsp.model.bound import Bound, elbo
from hdsp.model.documents import LocalSettings, local_step, prepare_globals
from hdsp.model.generative import Truth, draw_documents, simulate
from hdsp.model.problem import Priors, Problem, make_problem
from hdsp.model.state import DocumentState, GlobalState, Statistics
from hdsp.model.updates import (
    expected_proportions,
    global_step,
    scaling_sums,
    update_scaling,
    update_scaling_from_sums,
)

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
    "scaling_sums",
    "simulate",
    "update_scaling",
    "update_scaling_from_sums",
]
