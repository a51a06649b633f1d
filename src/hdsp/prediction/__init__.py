"""The fitted model, and what it predicts: proportions, words, labels, effects.

Internal: names here may change without notice.
"""

from hdsp.prediction.calibration import Calibration
from hdsp.prediction.contrasts import make_contrasts
from hdsp.prediction.effects import Contrast, Effects
from hdsp.prediction.fitted import (
    METHODS,
    FitReport,
    FittedModel,
    Method,
    Source,
    encode_labels,
    make_fitted,
    topic_tokens,
)
from hdsp.prediction.perplexity import bootstrap_interval
from hdsp.prediction.proportions import exact_proportions, ratio_proportions
from hdsp.prediction.summaries import associated_labels, distinctive_words
from hdsp.prediction.targets import make_candidates, without_target
from hdsp.prediction.training import TrainingLabels

__all__ = [
    "METHODS",
    "Calibration",
    "Contrast",
    "Effects",
    "FitReport",
    "FittedModel",
    "Method",
    "Source",
    "TrainingLabels",
    "associated_labels",
    "bootstrap_interval",
    "distinctive_words",
    "encode_labels",
    "exact_proportions",
    "make_candidates",
    "make_contrasts",
    "make_fitted",
    "ratio_proportions",
    "topic_tokens",
    "without_target",
]
