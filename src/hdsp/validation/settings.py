"""Checks of settings: numbers, flags, choices and the random state."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hdsp.validation.wording import quoted

_LEARNED = (True, False, "corpus", "document")


# Beyond these, sums and logarithms lose what they are taken of.
_SMALLEST, _LARGEST = 1e-12, 1e12


def _check(holds: bool, rule: str, value: Any, name: str, owner: str = "HDSP") -> None:
    if not holds:
        raise ValueError(f"`{name}` of {owner} must {rule}. Got {value!r}.")


def check_whole(value: Any, name: str, smallest: int) -> None:
    """Raise unless `value` is a whole number of at least `smallest`."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    _check(whole and value >= smallest, f"be a whole number of at least {smallest}", value, name)


def check_positive(value: Any, name: str, owner: str = "HDSP") -> None:
    """Raise unless `value` is a positive number that can be computed with."""
    _check(_is_number(value) and 0 < value < np.inf, "be a positive number", value, name, owner)
    rule = f"be between {_SMALLEST:g} and {_LARGEST:g}"
    _check(_SMALLEST <= value <= _LARGEST, rule, value, name, owner)


def check_tolerance(value: Any, name: str, owner: str = "HDSP") -> None:
    """Raise unless `value` is a number of at least zero that can be computed with."""
    fits = _is_number(value) and 0 <= value <= _LARGEST
    _check(fits, "be a number, zero or more", value, name, owner)


def check_prior(value: Any, name: str) -> tuple[float, float]:
    """Return (shape, rate) of a gamma prior that has a mode, which takes a shape of 1 or more."""
    if isinstance(value, (tuple, list, np.ndarray)) and len(value) == 2:
        shape, rate = value
        numbers = _is_number(shape) and _is_number(rate)
        if numbers and 1 <= shape <= _LARGEST and _SMALLEST <= rate <= _LARGEST:
            return float(shape), float(rate)
    raise ValueError(
        f"`{name}` of HDSP must be (shape, rate) of a gamma distribution with a shape of at least "
        f"1 and a positive rate, neither beyond {_LARGEST:g}. Got {value!r}."
    )


def check_learned(value: Any) -> tuple[bool, bool]:
    """Return whether the corpus and the document concentration are learned."""
    fits = isinstance(value, (bool, np.bool_, str)) and value in _LEARNED
    _check(fits, "be True, False, 'corpus' or 'document'", value, "learn_concentrations")
    return value in (True, "corpus"), value in (True, "document")


def check_flag(value: Any, name: str, owner: str = "HDSP") -> None:
    """Raise unless `value` is True or False."""
    _check(isinstance(value, (bool, np.bool_)), "be True or False", value, name, owner)


def check_share(value: Any, name: str, owner: str) -> None:
    """Raise unless `value` lies between 0 and 1."""
    _check(_is_number(value) and 0 < value < 1, "lie between 0 and 1", value, name, owner)


def check_jobs(value: Any) -> None:
    """Raise unless `value` is None or a number of threads that joblib understands."""
    fits = value is None or (isinstance(value, (int, np.integer)) and value != 0)
    _check(fits, "be None or a whole number other than 0", value, "n_jobs")


def check_choice(value: Any, choices: tuple[str, ...], name: str, owner: str) -> None:
    """Raise unless `value` is one of `choices`."""
    fits = isinstance(value, str) and value in choices
    _check(fits, f"be one of {', '.join(map(repr, choices))}", value, name, owner)


def check_known(value: Any, known: Iterable[Any], name: str, owner: str, what: str) -> None:
    """Raise unless `value` is one of what is known, such as labels, and say which these are."""
    found = list(known)
    if value not in found:
        raise ValueError(
            f"`{name}` of {owner} must be {what}: {quoted(found) or 'there is none'}. "
            f"Got {value!r}."
        )


def check_folder(value: Any) -> None:
    """Raise unless `value`, the `checkpoint` of HDSP, is None or can name a folder."""
    fits = value is None or isinstance(value, (str, os.PathLike))
    _check(fits, "be None or the path of a folder", value, "checkpoint")
    if value is not None and Path(value).exists() and not Path(value).is_dir():
        raise ValueError(f"`checkpoint` of HDSP must be a folder. Got the file {str(value)!r}.")


def check_seeds(value: Any, n_components: int) -> None:
    """Raise unless `value`, the `seeds` of HDSP, is None or maps names to lists of words."""
    if value is None:
        return
    if not isinstance(value, Mapping) or not all(
        isinstance(name, str)
        and name.strip()
        and isinstance(words, (list, tuple))
        and words
        and all(isinstance(word, str) for word in words)
        for name, words in value.items()
    ):
        raise ValueError(
            "`seeds` of HDSP must map names of topics to lists of words, such as "
            f'{{"budget": ["tax", "deficit"]}}. Got {value!r}.'
        )
    if len(value) > n_components:
        raise ValueError(
            f"`seeds` of HDSP must not be more than the topics. Got {len(value)} for "
            f"n_components={n_components}: raise n_components."
        )


def check_content(value: Any) -> None:
    """Raise unless `value`, the `content` of HDSP, is None or may name a category."""
    fits = value is None or isinstance(value, str)
    _check(fits, "be None or the name of a category of the labels", value, "content")


def make_generator(random_state: Any) -> np.random.Generator:
    """Return a generator from a seed, a NumPy generator, a `RandomState` or None."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, (int, np.integer)) and random_state < 0:
        raise ValueError(
            f"`random_state` of HDSP, the seed, must be zero or more. Got {random_state}."
        )
    if random_state is None or isinstance(random_state, (int, np.integer)):
        return np.random.default_rng(random_state)
    from sklearn.utils import check_random_state

    return np.random.default_rng(check_random_state(random_state).randint(2**31))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
