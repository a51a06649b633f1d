"""Models and unfinished fits in files: versioned, checked on reading, free of code.

Internal: names here may change without notice.
"""

from hdsp.corpus.fingerprint import fingerprint
from hdsp.exceptions import ModelFileError
from hdsp.persistence.checkpoint import Checkpoint
from hdsp.persistence.container import not_usable
from hdsp.persistence.model_file import load_model, save_model
from hdsp.storage import replacing

__all__ = [
    "Checkpoint",
    "ModelFileError",
    "fingerprint",
    "load_model",
    "not_usable",
    "replacing",
    "save_model",
]
