"""What can be asked of a fitted model.

`FittedQueries` has the methods, on top of `FittedAttributes`; the functions that fill their tables
are also what the commands call. Internal: names here may change without notice.
"""

from hdsp.queries.attributes import VALIDATION, FittedAttributes
from hdsp.queries.documents import transformed_parts, typical_columns
from hdsp.queries.effects import effect_columns
from hdsp.queries.labels import probability_columns, probability_parts
from hdsp.queries.methods import FittedQueries
from hdsp.queries.topics import topic_columns, word_columns

__all__ = [
    "VALIDATION",
    "FittedAttributes",
    "FittedQueries",
    "effect_columns",
    "probability_columns",
    "probability_parts",
    "topic_columns",
    "transformed_parts",
    "typical_columns",
    "word_columns",
]
