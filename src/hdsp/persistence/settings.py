"""The constructor's parameters as plain data."""

from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Convert a value to JSON types: NumPy scalars to numbers, sequences to lists.

    Examples
    --------
    >>> plain({"prior": (np.float64(1.0), 2), "name": "corpus"})
    {'prior': [1.0, 2], 'name': 'corpus'}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (np.generic, np.ndarray)):
        return plain(value.tolist())
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"HDSP cannot store a setting of type {type(value).__name__}.")


def is_seed(random_state: Any) -> bool:
    """Whether a random state can be stored: an integer or None."""
    return random_state is None or isinstance(random_state, (int, np.integer))
