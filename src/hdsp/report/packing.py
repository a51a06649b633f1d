"""Plain data as text that a page can hold."""

import base64
import json
import math
import sys
from typing import Any

import numpy as np

from hdsp.numerics import FloatArray
from hdsp.storage.delimited import plain

# What ends a script element, opens a comment in one, or ends a line in older JavaScript.
_ESCAPED = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})
_STEPS = 32_767


def pack_exact(values: FloatArray, dtype: str = "float32") -> dict[str, Any]:
    """An array as base64 of its little-endian bytes."""
    return _packed(np.asarray(values, dtype=dtype))


def pack_rounded(values: FloatArray) -> dict[str, Any]:
    """A matrix in two bytes a number: each row to 1/32,767 of its largest."""
    array = np.nan_to_num(np.asarray(values, dtype=np.float64))
    largest = np.abs(array).max(axis=1, initial=0.0)
    scale = np.where(largest > 0, largest, 1.0) / _STEPS
    return _packed(np.rint(array / scale[:, None]).astype(np.int16)) | {"scale": scale.tolist()}


def _packed(array: Any) -> dict[str, Any]:
    data = array.astype(array.dtype.newbyteorder("<")).tobytes()
    text = base64.b64encode(data).decode("ascii")
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": text}


def to_json(value: object) -> str:
    r"""JSON for a script element; NaN and infinity are null.

    Examples
    --------
    >>> to_json({"text": "</script>", "coherence": float("nan")})
    '{"text":"\\u003c/script\\u003e","coherence":null}'
    """
    data = plain(value, sys.float_info.max)
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Half of a surrogate pair is no text, and no file in UTF-8 can hold it.
    return text.translate(_ESCAPED).encode("utf-8", "replace").decode("utf-8")


def rounded(values: Any, digits: int = 6) -> list[float | None]:
    """Numbers with some significant digits; NaN and infinity are None."""
    numbers = np.asarray(values, dtype=np.float64).tolist()
    return [float(f"{own:.{digits}g}") if math.isfinite(own) else None for own in numbers]
