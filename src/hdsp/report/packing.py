"""Plain data as text that a page can hold."""

import base64
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from hdsp.numerics import FloatArray

# What ends a script element, opens a comment in one, or ends a line in older JavaScript.
_ESCAPED = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})
_STEPS = 32_767


def pack_exact(values: FloatArray, dtype: str = "float32") -> dict[str, Any]:
    """An array as base64 of its little-endian bytes."""
    array = np.ascontiguousarray(values, dtype=np.dtype(dtype).newbyteorder("<"))
    return {"dtype": dtype, "shape": list(array.shape), "data": _base64(array)}


def pack_rounded(values: FloatArray) -> dict[str, Any]:
    """A matrix in two bytes a number: each row to 1/32,767 of its largest."""
    array = np.nan_to_num(np.asarray(values, dtype=np.float64))
    largest = np.abs(array).max(axis=1, initial=0.0)
    scale = np.where(largest > 0, largest, 1.0) / _STEPS
    steps = np.rint(array / scale[:, None]).astype("<i2")
    return {
        "dtype": "int16",
        "shape": list(array.shape),
        "scale": scale.tolist(),
        "data": _base64(np.ascontiguousarray(steps)),
    }


def to_json(value: object) -> str:
    r"""JSON for a script element; what is no finite number is null.

    Examples
    --------
    >>> to_json({"text": "</script>", "coherence": float("nan")})
    '{"text":"\\u003c/script\\u003e","coherence":null}'
    """
    text = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPED)


def rounded(values: Any, digits: int = 6) -> list[float | None]:
    """Numbers with some significant digits."""
    return [
        float(f"{value:.{digits}g}") if math.isfinite(value) else None
        for value in np.asarray(values, dtype=np.float64).tolist()
    ]


def _base64(array: Any) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        # Half of a surrogate pair is no text, and no file in UTF-8 can hold it.
        return value.encode("utf-8", "replace").decode("utf-8")
    return value
