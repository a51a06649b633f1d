"""The errors and warnings of hdsp, for callers to catch, to filter or to turn into errors.

A fit that stops early warns with scikit-learn's own `sklearn.exceptions.ConvergenceWarning`.
"""

import sys
import warnings


class ReadError(ValueError):
    """A file of documents that is damaged, or not in the format that its reader expects.

    The message names the file, the line (counted from 1) or the row (counted from 0, as in a
    table), what is wrong there, and what to do.
    """


class ModelFileError(ValueError):
    """A file that is not a model file, is damaged, or has a version that cannot be read."""


class ClusterError(RuntimeError):
    """The cluster of a fit cannot be reached, or was lost.

    A fit with a checkpoint goes on from there.
    """


class FitWarning(UserWarning):
    """Something about the settings or the data of a fit may not be as you intended.

    Examples: `max_components` may limit the number of topics, seed words are not in the corpus,
    `y` was passed although labels go in `labels`.
    """


class UnreliableTopicsWarning(UserWarning):
    """Topics may be due to chance, or split one subject by the words of two groups."""


class UnknownLabelWarning(UserWarning):
    """Labels that the model does not know were ignored."""


class LabelDataWarning(UserWarning):
    """A label column has no values, contains dates as text, or is determined by another column."""


class IntervalWarning(UserWarning):
    """An interval is based on few groups, or a contrast goes beyond the values in training."""


class StreamWarning(UserWarning):
    """A stream relearned its topics, or continues from a model without a document sample."""


class NotSavedWarning(UserWarning):
    """Something could not be saved or restored, such as a custom tokenizer or a checkpoint."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn with the line of the user's program, wherever in hdsp the warning arises."""
    frame, level = sys._getframe(1), 2
    # Cached properties call from functools.
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(("hdsp.", "functools")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
