"""Other people's models behind one small protocol, and our own beside them."""

from hdsp.peers.base import Fitted, Peer, Settings, check_libraries
from hdsp.peers.documents import carried, normalised
from hdsp.peers.labelled import SampledByLabel
from hdsp.peers.registry import PEERS, make_peer
from hdsp.peers.scaling import FittedHDSP, ScalingProcess
from hdsp.peers.targets import target_values

__all__ = [
    "PEERS",
    "Fitted",
    "FittedHDSP",
    "Peer",
    "SampledByLabel",
    "ScalingProcess",
    "Settings",
    "carried",
    "check_libraries",
    "make_peer",
    "normalised",
    "target_values",
]
