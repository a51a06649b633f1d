"""Groups of documents that are not independent: those of one author, outlet or respondent."""

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from hdsp.checks import count_of
from hdsp.corpus.values import is_missing, level_name
from hdsp.numerics import IntArray


def as_groups(groups: Any, n_documents: int, owner: str) -> tuple[str, ...] | None:
    """The names of documents' groups; "" for a document without one, which is its own group.

    Parameters
    ----------
    groups : iterable of values or None
        One value per document, None or NaN where it has no group; None where there are no groups.
    n_documents : int
        The number of documents.
    owner : str
        What was given the groups, for messages.
    """
    if groups is None:
        return None
    if isinstance(groups, (str, bytes)) or not isinstance(groups, Iterable):
        raise TypeError(
            f"`groups` of {owner} must hold one value per document, such as its author. "
            f"Got {type(groups).__name__}."
        )
    names = ["" if is_missing(value) else level_name(value) for value in groups]
    if len(names) != n_documents:
        raise ValueError(
            f"`groups` of {owner} must hold one value for each of the "
            f"{count_of(n_documents, 'document')}. Got {count_of(len(names), 'value')}."
        )
    if None in names:
        raise TypeError(
            f"`groups` of {owner} must hold texts or numbers, one per document. "
            f"The value of document {names.index(None)} is neither."
        )
    return tuple(map(str, names))


def group_numbers(groups: tuple[str, ...]) -> IntArray:
    """A number for each document's group, that follows from the group's name; -1 for none."""
    numbers = {name: _number(name) for name in set(groups)}
    return np.array([numbers[name] for name in groups], dtype=np.int64)


def _number(name: str) -> int:
    if not name:
        return -1
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 2
