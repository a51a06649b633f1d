"""Predicting proportions and words."""

from hdsp.prediction.calibration import Calibration, fit_calibration, label_sets
from hdsp.prediction.fitted import METHODS, FittedModel, Method, encode_labels
from hdsp.prediction.perplexity import split_tokens, word_log_likelihood
from hdsp.prediction.proportions import exact_proportions, ratio_proportions
from hdsp.prediction.summaries import distinctive_words

__all__ = [
    "METHODS",
    "Calibration",
    "FittedModel",
    "Method",
    "distinctive_words",
    "encode_labels",
    "exact_proportions",
    "fit_calibration",
    "label_sets",
    "ratio_proportions",
    "split_tokens",
    "word_log_likelihood",
]
