"""Every model by its name on the command line."""

import importlib
from collections.abc import Callable

from hdsp import Constant, LogLinear
from hdsp_studies.peers.authors import AuthorTopic, VariationalAuthors
from hdsp_studies.peers.base import Peer
from hdsp_studies.peers.classifiers import Classifier, TopicClassifier
from hdsp_studies.peers.dmr import DMR, CollapsedDMR
from hdsp_studies.peers.labelled import LabelledLDA
from hdsp_studies.peers.lda import LDA, HDPSampler, VariationalLDA
from hdsp_studies.peers.scaling import ScalingProcess
from hdsp_studies.peers.short import ShortTextModel
from hdsp_studies.peers.slda import SupervisedLDA
from hdsp_studies.peers.stm import StructuralTopicModel

PEERS: dict[str, Callable[[], Peer]] = {
    "hdsp": lambda: ScalingProcess("auto"),
    "whdsp": lambda: ScalingProcess(LogLinear()),
    "hdp": lambda: ScalingProcess(Constant()),
    "hdp-tomotopy": HDPSampler,
    "lda": LDA,
    "lda-sklearn": VariationalLDA,
    "llda": lambda: LabelledLDA(topics_per_label=1, background=0),
    "plda": lambda: LabelledLDA(topics_per_label=2, background=2),
    "plda-2": lambda: LabelledLDA(topics_per_label=2, background=2),
    "plda-5": lambda: LabelledLDA(topics_per_label=5, background=5),
    "dmr": DMR,
    "dmr-topica": CollapsedDMR,
    "slda": SupervisedLDA,
    "stm": StructuralTopicModel,
    "gsdmm": lambda: ShortTextModel("GSDMM"),
    "btm": lambda: ShortTextModel("BTM"),
    "pt": lambda: ShortTextModel("PT"),
    "atm": AuthorTopic,
    "atm-gensim": VariationalAuthors,
    "lda-svm": TopicClassifier,
    "svm": lambda: Classifier("svm"),
    "logistic": lambda: Classifier("logistic"),
    "nb": lambda: Classifier("nb"),
    "tree": lambda: Classifier("tree"),
}


def make_peer(name: str) -> Peer:
    """Make a model by its name.

    Parameters
    ----------
    name : str
        A name of `PEERS`, or ``module:name`` of a class or function that makes a `Peer`.

    Returns
    -------
    Peer
        The model, to be fitted.
    """
    if name in PEERS:
        return PEERS[name]()
    module, colon, attribute = name.partition(":")
    if not colon:
        raise ValueError(
            f"There is no model {name!r}. Choose from {', '.join(PEERS)}, or name one of your own "
            "as module:name."
        )
    try:
        make = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"The model {name!r} cannot be imported: {error}.") from error
    peer = make()
    if not isinstance(peer, Peer):
        raise TypeError(f"{name!r} must make a Peer. Got {type(peer).__name__}.")
    return peer
