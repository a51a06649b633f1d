"""What can be asked of a fitted model, one file for each answer.

Each function takes a `FittedModel`, and what the method of `HDSP` takes that it is behind; it
returns an array, or the columns of a table. Internal: names here may change without notice.
"""

from hdsp.answers.document_topics import transformed, transformed_parts, typical_columns
from hdsp.answers.effect_refits import Resampling, refit_sides
from hdsp.answers.expected_topics import expected_topics, label_scale
from hdsp.answers.held_out_words import mean_log_probability, perplexity
from hdsp.answers.label_effects import effect_columns
from hdsp.answers.label_probabilities import joined_columns, probability_parts
from hdsp.answers.new_documents import read_counts, read_documents
from hdsp.answers.simulation import simulate
from hdsp.answers.topic_stability import Refits, refit, stability_columns
from hdsp.answers.topic_tables import top_words, topic_columns, word_columns

__all__ = [
    "Refits",
    "Resampling",
    "effect_columns",
    "expected_topics",
    "joined_columns",
    "label_scale",
    "mean_log_probability",
    "perplexity",
    "probability_parts",
    "read_counts",
    "read_documents",
    "refit",
    "refit_sides",
    "simulate",
    "stability_columns",
    "top_words",
    "topic_columns",
    "transformed",
    "transformed_parts",
    "typical_columns",
    "word_columns",
]
