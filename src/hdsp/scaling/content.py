"""The category whose levels have their own versions of topics (`content=`)."""

import numpy as np

from hdsp.checks import check_known
from hdsp.numerics import IntArray
from hdsp.scaling.space import LabelSpace

MOST_LEVELS = 50


def content_columns(space: LabelSpace, name: str | None) -> IntArray:
    """The columns of the design that tell the groups of documents, [G]; none without a name.

    Parameters
    ----------
    space : LabelSpace
        The labels, and how they scale topics.
    name : str or None
        The category, the parameter `content` of HDSP.
    """
    if name is None:
        return np.empty(0, dtype=np.int64)
    schema = space.schema
    check_known(name, schema.slices(), "content", "HDSP", "a column of the labels")
    if (kind := schema.kind(name)) != "category":
        raise ValueError(
            f"`content` of HDSP takes a category, each of whose levels has its own version of "
            f"topics. {name!r} is of kind {kind}: pass it as a column of strings."
        )
    columns = schema.slices()[name]
    if (n_levels := columns.stop - columns.start) > MOST_LEVELS:
        raise ValueError(
            f"`content` of HDSP takes a category of at most {MOST_LEVELS} levels, each of which "
            f"has its own version of every topic. {name!r} has {n_levels}: join levels that speak "
            "alike."
        )
    if not space.used_labels[columns].all():
        raise ValueError(
            f"`content` of HDSP names the category {name!r}, which `scaling` leaves out. Add it to "
            "`scaling`: groups that speak differently may also speak of other things."
        )
    return np.asarray(space.own[columns], dtype=np.int64)
