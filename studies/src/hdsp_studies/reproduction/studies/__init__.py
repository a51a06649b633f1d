"""The studies: one module a figure of the paper."""

from hdsp_studies.reproduction.studies.appendix_b import AppendixB
from hdsp_studies.reproduction.studies.figure_2 import Figure2
from hdsp_studies.reproduction.studies.figure_3 import Figure3
from hdsp_studies.reproduction.studies.figure_4 import Figure4
from hdsp_studies.reproduction.studies.figure_5_6 import Figure56
from hdsp_studies.reproduction.studies.figure_7_8 import Figure78
from hdsp_studies.reproduction.studies.figure_9 import Figure9
from hdsp_studies.reproduction.studies.tables_1_2 import Tables12
from hdsp_studies.reproduction.studies.tables_3_4 import Tables34
from hdsp_studies.reproduction.study import Study

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        Tables12(),
        Figure2(),
        Figure3(),
        Figure4(),
        Figure56(),
        Figure78(),
        Figure9(),
        Tables34(),
        AppendixB(),
    )
}

__all__ = ["STUDIES"]
