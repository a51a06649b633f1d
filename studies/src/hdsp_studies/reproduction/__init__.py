"""The paper's figures, made again: settings, measurements, figures, and whether claims hold.

Not part of the public interface: what is here may change between releases.
"""

from hdsp_studies.reproduction.page import claims_by_study
from hdsp_studies.reproduction.runner import run_study
from hdsp_studies.reproduction.studies import STUDIES
from hdsp_studies.reproduction.study import Finding, Study

__all__ = ["STUDIES", "Finding", "Study", "claims_by_study", "run_study"]
