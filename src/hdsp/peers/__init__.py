"""Other people's models behind one small protocol, and our own beside them.

Not part of the public interface: what is here may change between releases. It is documented
because a model of your own joins `hdsp compare` as a `Peer`.
"""

from hdsp.peers.base import FitSettings, Fitted, Peer, check_libraries
from hdsp.peers.classifiers import Classifier
from hdsp.peers.documents import labels_in_use, normalised, tokens
from hdsp.peers.labelled import SampledByLabel
from hdsp.peers.lda import VariationalLDA
from hdsp.peers.registry import PEERS, make_peer
from hdsp.peers.scaling import FittedHDSP, ScalingProcess
from hdsp.peers.targets import target_values

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
