"""Other people's models behind one small protocol, and our own beside them.

Not part of the public interface: what is here may change between releases. It is documented
because a model of your own joins `hdsp compare` as a `Peer`.
"""

from hdsp_studies.peers.base import FitSettings, Fitted, Peer, check_libraries
from hdsp_studies.peers.classifiers import Classifier
from hdsp_studies.peers.documents import labels_in_use, normalised, tokens
from hdsp_studies.peers.labelled import SampledByLabel
from hdsp_studies.peers.lda import VariationalLDA
from hdsp_studies.peers.registry import PEERS, make_peer
from hdsp_studies.peers.scaling import FittedHDSP, ScalingProcess
from hdsp_studies.peers.targets import target_values

__all__ = [
    "PEERS",
    "Classifier",
    "FitSettings",
    "Fitted",
    "FittedHDSP",
    "Peer",
    "SampledByLabel",
    "ScalingProcess",
    "VariationalLDA",
    "check_libraries",
    "labels_in_use",
    "make_peer",
    "normalised",
    "target_values",
    "tokens",
]
