"""The paper's figures, made again: settings, measurements, figures, and whether claims hold."""

from hdsp.reproduction.corpora import Source
from hdsp.reproduction.models import MODELS
from hdsp.reproduction.page import claims_table
from hdsp.reproduction.runner import run_study
from hdsp.reproduction.studies import STUDIES
from hdsp.reproduction.study import Finding, Study

__all__ = [
    "MODELS",
    "STUDIES",
    "Finding",
    "Source",
    "Study",
    "claims_table",
    "run_study",
]
