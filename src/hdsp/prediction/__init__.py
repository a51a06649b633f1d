"""Predicting proportions and words."""

from hdsp.prediction.calibration import Calibration
from hdsp.prediction.contrasts import make_contrasts
from hdsp.prediction.effects import Contrast, Effects
from hdsp.prediction.fitted import METHODS, FittedModel, Method, encode_labels, finish
from hdsp.prediction.perplexity import bootstrap_interval, split_tokens, word_log_likelihood
from hdsp.prediction.proportions import exact_proportions, ratio_proportions
from hdsp.prediction.summaries import associated_labels, distinctive_words
from hdsp.prediction.targets import make_candidates, without_target
from hdsp.prediction.training import TrainingLabels

__all__ = [
    "METHODS",
    "Calibration",
    "Contrast",
    "Effects",
    "FittedModel",
    "Method",
    "TrainingLabels",
    "associated_labels",
    "bootstrap_interval",
    "distinctive_words",
    "encode_labels",
    "exact_proportions",
    "finish",
    "make_candidates",
    "make_contrasts",
    "ratio_proportions",
    "split_tokens",
    "without_target",
    "word_log_likelihood",
]
