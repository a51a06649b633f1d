"""Models and unfinished fits in files: versioned, checked on reading, free of code."""

from hdsp.exceptions import ModelFileError
from hdsp.persistence.checkpoint import Checkpoint
from hdsp.persistence.container import not_usable
from hdsp.persistence.fingerprint import fingerprint
from hdsp.persistence.model_file import SavedModel, load_model, save_model

__all__ = [
    "Checkpoint",
    "ModelFileError",
    "SavedModel",
    "fingerprint",
    "load_model",
    "not_usable",
    "save_model",
]
