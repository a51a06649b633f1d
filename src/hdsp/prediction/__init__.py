"""The fitted model, and what it predicts: proportions, words, labels, effects.

Internal: names here may change without notice.
"""

from hdsp.prediction.after_fit import make_fitted, with_evidence
from hdsp.prediction.calibration import (
    WEIGHTS,
    Calibration,
    Calibrations,
    Joint,
    LeftOut,
    Weight,
    joint_blocks,
    prepare_calibration,
)
from hdsp.prediction.checks import expected_errors, make_cells, measure_misfit
from hdsp.prediction.contrasts import make_contrasts
from hdsp.prediction.correlations import Correlations
from hdsp.prediction.dependence import (
    find_dependence,
    warn_few_groups,
    warn_of_dependence,
    warn_overlaps,
)
from hdsp.prediction.effects import Effects, over_refits
from hdsp.prediction.fitted import (
    LABEL_METHODS,
    METHODS,
    FitReport,
    FittedModel,
    LabelMethod,
    Method,
    Source,
    topic_tokens,
)
from hdsp.prediction.groups import TopicGroups
from hdsp.prediction.label_regression import LabelRegression, count_known_features
from hdsp.prediction.levels import (
    Estimates,
    Setting,
    contrast_settings,
    estimate_levels,
    label_setting,
)
from hdsp.prediction.other_labels import ReadDocuments, is_training, read_tokens, with_other_labels
from hdsp.prediction.perplexity import bootstrap_interval
from hdsp.prediction.proportions import exact_proportions, ratio_proportions
from hdsp.prediction.sampled import SampledFit, make_fitted_from_sample
from hdsp.prediction.sides import Contrast, expected_sides
from hdsp.prediction.split_topics import warn_of_split_topics
from hdsp.prediction.summaries import associated_labels, distinctive_words
from hdsp.prediction.targets import make_candidates, without_target
from hdsp.prediction.training import TrainingLabels
from hdsp.prediction.word_factors import WordFactors

__all__ = [
    "LABEL_METHODS",
    "METHODS",
    "WEIGHTS",
    "Calibration",
    "Calibrations",
    "Contrast",
    "Correlations",
    "Effects",
    "Estimates",
    "FitReport",
    "FittedModel",
    "Joint",
    "LabelMethod",
    "LabelRegression",
    "LeftOut",
    "Method",
    "ReadDocuments",
    "SampledFit",
    "Setting",
    "Source",
    "TopicGroups",
    "TrainingLabels",
    "Weight",
    "WordFactors",
    "associated_labels",
    "bootstrap_interval",
    "contrast_settings",
    "count_known_features",
    "distinctive_words",
    "estimate_levels",
    "exact_proportions",
    "expected_errors",
    "expected_sides",
    "find_dependence",
    "is_training",
    "joint_blocks",
    "label_setting",
    "make_candidates",
    "make_cells",
    "make_contrasts",
    "make_fitted",
    "make_fitted_from_sample",
    "measure_misfit",
    "over_refits",
    "prepare_calibration",
    "ratio_proportions",
    "read_tokens",
    "topic_tokens",
    "warn_few_groups",
    "warn_of_dependence",
    "warn_of_split_topics",
    "warn_overlaps",
    "with_evidence",
    "with_other_labels",
    "without_target",
]
