"""The fitted model, and what it predicts: proportions, words, labels, effects.

Internal: names here may change without notice.
"""

from hdsp.prediction.calibration import (
    WEIGHTS,
    Calibration,
    Calibrations,
    Joint,
    Weight,
    calibrate,
    joint_blocks,
)
from hdsp.prediction.contrasts import make_contrasts
from hdsp.prediction.effects import Effects, over_refits
from hdsp.prediction.fitted import (
    LABEL_METHODS,
    METHODS,
    FitReport,
    FittedModel,
    LabelMethod,
    Method,
    Source,
    make_fitted,
    topic_tokens,
    with_label_regressions,
)
from hdsp.prediction.groups import TopicGroups
from hdsp.prediction.label_regression import LabelRegression, count_known_features
from hdsp.prediction.perplexity import bootstrap_interval
from hdsp.prediction.proportions import exact_proportions, ratio_proportions
from hdsp.prediction.sampled import SampledFit, make_fitted_from_sample
from hdsp.prediction.sides import Contrast, expected_sides
from hdsp.prediction.summaries import associated_labels, distinctive_words
from hdsp.prediction.targets import make_candidates, without_target
from hdsp.prediction.training import TrainingLabels

__all__ = [
    "LABEL_METHODS",
    "METHODS",
    "WEIGHTS",
    "Calibration",
    "Calibrations",
    "Contrast",
    "Effects",
    "FitReport",
    "FittedModel",
    "Joint",
    "LabelMethod",
    "LabelRegression",
    "Method",
    "SampledFit",
    "Source",
    "TopicGroups",
    "TrainingLabels",
    "Weight",
    "associated_labels",
    "bootstrap_interval",
    "calibrate",
    "count_known_features",
    "distinctive_words",
    "exact_proportions",
    "expected_sides",
    "joint_blocks",
    "make_candidates",
    "make_contrasts",
    "make_fitted",
    "make_fitted_from_sample",
    "over_refits",
    "ratio_proportions",
    "topic_tokens",
    "with_label_regressions",
    "without_target",
]
