"""The paper's figures, made again: settings, measurements, figures, and whether claims hold.

Not part of the public interface: what is here may change between releases.
"""

from hdsp.reproduction.models import MODELS
from hdsp.reproduction.page import claims_table
from hdsp.reproduction.runner import run_study
from hdsp.reproduction.studies import STUDIES
from hdsp.reproduction.study import Finding, Study

__all__ = [
    "MODELS",
    "STUDIES",
    "Finding",
    "Study",
    "claims_table",
    "run_study",
]
