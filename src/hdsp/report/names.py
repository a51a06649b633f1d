"""Topic names that a reader gave in a report's page."""

import json
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from hdsp.exceptions import NotSavedWarning, warn_caller

FORMAT = "hdsp-names-1"


def read_names(path: str | os.PathLike[str], model: Any) -> dict[int, str]:
    """The names in a file that a report's page has saved, by topic."""
    file = Path(path)
    try:
        data = json.loads(file.read_text(encoding="utf-8-sig"))
        if data["format"] != FORMAT:
            raise ValueError
        names = {int(topic): str.strip(name) for topic, name in data["names"].items()}
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(
            f"{file} is not a file of topic names: save one from a report's page."
        ) from error
    n_topics = len(model.components_)
    if unknown := [topic for topic in names if not 0 <= topic < n_topics]:
        raise ValueError(
            f"{file} names topic {unknown[0]}, but the model's topics are 0 to {n_topics - 1}: "
            "use a file saved from this model's report."
        )
    if data.get("model") not in (None, model_key(model)):
        warn_caller(
            f"{file} was saved from the report of another model: check the names.", NotSavedWarning
        )
    return {topic: name for topic, name in names.items() if name}


def model_key(model: Any) -> str:
    """A short text that differs between models, for names that readers give to its topics."""
    topics = np.ascontiguousarray(model.components_, dtype=np.float32)
    return f"{zlib.crc32(topics.tobytes()):08x}"
