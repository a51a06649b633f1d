"""Models by the names that the paper gives them, fitted as a study says."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.decomposition import LatentDirichletAllocation

from hdsp import HDSP, Categorical, Constant, Corpus, LogLinear
from hdsp_studies.comparison import READINGS, CorpusFolder, Reading
from hdsp_studies.peers import FitSettings, Fitted, FittedHDSP, Peer, ScalingProcess, make_peer
from hdsp_studies.reproduction.study import Row, Settings
from hdsp_studies.types import FloatArray

# Labels' weights, by which the paper predicts, settle long after topics and words do: with the
# default, a fit of rcv1_subset stops after six passes, and with this after 169.
_TOL = 1e-5
# The last start alone: fits that share one follow one another.
_STARTS: dict[tuple[str, int, float, int], FloatArray] = {}


class PapersProcess(ScalingProcess):
    """HDSP, wHDSP or HDP as the paper fits it: all topics are kept, and LDA gives the start."""

    def estimator(self, train: Corpus, settings: FitSettings) -> HDSP:
        """The estimator to be fitted."""
        model = super().estimator(train, settings)
        prior = float(model.topic_prior)
        start = _start(train.counts, settings.n_topics, prior, settings.seed)
        model.set_params(init=start)
        return model


# An author-topic model has the number of its topics in its name.
_ATM = "ATM-"
MODELS: dict[str, Callable[[], Peer]] = {
    "HDSP": lambda: PapersProcess(Categorical(), tol=_TOL),
    "wHDSP": lambda: PapersProcess(LogLinear(), tol=_TOL),
    "HDP": lambda: PapersProcess(Constant(), tol=_TOL),
    "HDSP found": lambda: make_peer("hdsp"),
    "L-LDA": lambda: make_peer("llda"),
    "PLDA-2": lambda: make_peer("plda-2"),
    "PLDA-5": lambda: make_peer("plda-5"),
    "ATM-50": lambda: make_peer("atm-gensim"),
    "ATM-100": lambda: make_peer("atm-gensim"),
    "ATM-150": lambda: make_peer("atm-gensim"),
}

# Models with the same start, which takes longer than their fit.
SHARING_STARTS = ("HDSP", "wHDSP", "HDP")


def fit_model(name: str, train: Corpus, settings: FitSettings) -> Fitted:
    """Fit the model of that name."""
    if name not in MODELS:
        raise ValueError(
            f"There is no model {name!r} to reproduce with. Choose from {', '.join(MODELS)}."
        )
    if name.startswith(_ATM):
        settings = replace(settings, n_topics=int(name.removeprefix(_ATM)))
    return MODELS[name]().fit(train, settings)


def split_unit(
    unit: Row, settings: Settings, corpora: CorpusFolder
) -> tuple[Corpus, Corpus, FitSettings]:
    """Training and test documents of a unit, and how its model is fitted."""
    corpus = unit["corpus"]
    train, test = corpora.split(corpus, reading_of(corpus, settings))
    return train, test, fit_settings(settings, unit)


def fit_whole(unit: Row, settings: Settings, corpora: CorpusFolder) -> tuple[Corpus, FittedHDSP]:
    """A unit's corpus, of which nothing is held out, and the paper's HDSP fitted to it."""
    documents = corpora.whole(unit["corpus"], reading_of(unit["corpus"], settings))
    fitted = PapersProcess(Categorical(), tol=_TOL).fit(documents, fit_settings(settings, unit))
    return documents, fitted


def reading_of(corpus: str, settings: Settings) -> Reading:
    """How a study reads a corpus: its own settings first, then the usual reading of the corpus."""
    own: dict[str, Any] = {"most_documents": settings.get("most_documents")}
    own |= settings.get("reading", {}).get(corpus, {})
    for name, value in own.items():
        own[name] = tuple(value) if isinstance(value, list) else value
    return READINGS.get(corpus, Reading())._replace(**own)


def fit_settings(settings: Settings, unit: Row) -> FitSettings:
    """How a unit's model is fitted: by the unit's own values, else by those of the study."""

    def chosen(name: str) -> Any:
        return unit[name] if name in unit else settings[name]

    return FitSettings(
        n_topics=chosen("topics"),
        seed=chosen("seed"),
        quick=settings["quick"],
        topic_prior=chosen("topic_prior"),
    )


def _start(counts: csr_array, n_topics: int, topic_prior: float, seed: int) -> FloatArray:
    """The topics that ``init="lda"`` starts from, [T, V], kept for the fits that share them.

    They do not depend on labels, and finding them takes longer than a fit.
    """
    digest = hashlib.blake2b(digest_size=16)
    for array in (counts.data, counts.indices, counts.indptr):
        digest.update(np.ascontiguousarray(array).tobytes())
    key = digest.hexdigest(), n_topics, topic_prior, seed
    if key not in _STARTS:
        _STARTS.clear()
        rng = np.random.default_rng(seed)
        # The paper's three passes of online LDA.
        lda = LatentDirichletAllocation(
            n_topics,
            topic_word_prior=topic_prior,
            learning_method="online",
            max_iter=3,
            random_state=int(rng.integers(2**31)),
        )
        _STARTS[key] = lda.fit(counts).components_
    return _STARTS[key]
