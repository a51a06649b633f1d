"""The regression of topics on labels: cross-fitted, shrunk by empirical Bayes, with its variance.

The weights of a scaling function match moments of rho pi, not of the proportions themselves; with
several labels per document the two differ. A regression of documents' topic tokens on a design of
their labels, made once after inference, predicts held-out words much better, and has better
calibrated intervals. The design need not be the one of the fit.
"""

from hdsp.prediction.calibration.calibrate import WEIGHTS, Calibrations, Weight, prepare_calibration
from hdsp.prediction.calibration.coefficients import Calibration, Joint
from hdsp.prediction.calibration.cross_fit import LeftOut
from hdsp.prediction.calibration.functions import design_scores
from hdsp.prediction.calibration.joint import joint_blocks
from hdsp.prediction.calibration.regression import Regression, group_rows, label_sets

__all__ = [
    "WEIGHTS",
    "Calibration",
    "Calibrations",
    "Joint",
    "LeftOut",
    "Regression",
    "Weight",
    "design_scores",
    "group_rows",
    "joint_blocks",
    "label_sets",
    "prepare_calibration",
]
