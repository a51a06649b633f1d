"""Models and unfinished fits in files: versioned, checked on reading, free of code.

Internal: names here may change without notice.
"""

from hdsp.persistence.checkpoint import Checkpoint, check_folder
from hdsp.persistence.container import ModelFileError, not_usable
from hdsp.persistence.fingerprint import fingerprint
from hdsp.persistence.model_file import load_model, save_model

__all__ = [
    "Checkpoint",
    "ModelFileError",
    "check_folder",
    "fingerprint",
    "load_model",
    "not_usable",
    "save_model",
]
