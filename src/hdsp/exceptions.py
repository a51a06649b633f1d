"""The errors and warnings of hdsp, for callers to catch, to filter or to turn into errors.

A fit that stops early warns with scikit-learn's own `sklearn.exceptions.ConvergenceWarning`.
"""

import sys
import warnings


class ReadError(ValueError):
    """A file of documents that is damaged, or not in the format that its reader expects.

    The message is one sentence: the file, the line (counted from 1) or the row (counted from 0,
    as in a table), what is wrong there, and what to do.
    """


class ModelFileError(ValueError):
    """A file that is not a model file, is damaged, or has a version that cannot be read."""


class ClusterError(RuntimeError):
    """The processes or the cluster of a fit cannot be reached, or were lost.

    A fit with a checkpoint goes on from there.
    """


class TopicLimitWarning(UserWarning):
    """`n_components` may have limited the number of topics."""


class UnreliableTopicsWarning(UserWarning):
    """Topics may be chance: halves of the documents differ in them, or words do not go together."""


class IgnoredTargetWarning(UserWarning):
    """`HDSP.fit` was given a target `y`, which it ignores; labels go in `labels`."""


class UnknownLabelWarning(UserWarning):
    """Labels that the model does not know were ignored."""


class MissingLabelsWarning(UserWarning):
    """A column of labels has no value, or a table none of the model's label columns."""


class FewGroupsWarning(UserWarning):
    """Documents come in so few groups that intervals of labels' effects rest on little."""


class OverlappingLabelsWarning(UserWarning):
    """Labels determine each other, so that each has only a part of their effects."""


class ExtrapolationWarning(UserWarning):
    """A contrast names values of a number that documents of training hardly have."""


class SplitTopicsWarning(UserWarning):
    """Topics may be one subject in the words of two groups, and effects on them about words."""


class DatesAsLevelsWarning(UserWarning):
    """A column of strings that are dates is read as a category, each date a level."""


class NoSampleWarning(UserWarning):
    """A model goes on with new documents, and has kept none of those that it was fitted to."""


class SmallCorpusWarning(UserWarning):
    """Stochastic inference of so few documents that batch inference ends better, as soon."""


class TopicsChangedWarning(UserWarning):
    """A stream learned its topics again: numbers or names of some now mean other topics."""


class UnspacedTextWarning(UserWarning):
    """Texts in a script without spaces between words are split into pairs of characters."""


class TokenizerNotSavedWarning(UserWarning):
    """A model was saved without the function, or the pattern, that splits texts into words."""


class OtherModelWarning(UserWarning):
    """Names of topics were saved from another model, whose topics may be others."""


class UnknownSeedWarning(UserWarning):
    """Words of `seeds` that the corpus does not have were ignored."""


class CheckpointWarning(RuntimeWarning):
    """A checkpoint could not be written; the fit goes on without it."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn with the line of the user's program, wherever in hdsp the warning arises."""
    frame, level = sys._getframe(1), 2
    # Cached properties call from functools.
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(
        ("hdsp.", "functools")
    ):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
