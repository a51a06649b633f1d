"""Models by the names that the paper gives them, fitted as a study says."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.decomposition import LatentDirichletAllocation

from hdsp import HDSP, Corpus
from hdsp_studies.comparison import READINGS, CorpusFolder, Reading
from hdsp_studies.peers import FitSettings, Fitted, FittedHDSP, Peer, ScalingProcess, make_peer
from hdsp_studies.peers.base import without_none
from hdsp_studies.reproduction.study import Row, Settings
from hdsp_studies.types import FloatArray

# The tolerances of fits: the paper's, and one at which the weights of labels have settled.
TOLERANCES = {"published": 1e-3, "converged": 1e-5}
# The models of the paper that `HDSP.as_published` makes. They share a start, which takes longer
# than their fits.
PUBLISHED = ("HDSP", "wHDSP", "HDP")
# HDSP as the library fits it by default, with its own prior of topics and number of topics.
DEFAULT = "HDSP default"
_QUICK_PASSES = 15
# The last start alone: fits that share one follow one another.
_STARTS: dict[tuple[str, int, float, int], FloatArray] = {}


class PublishedModel(ScalingProcess):
    """HDSP, wHDSP or HDP with the settings of `HDSP.as_published`.

    Parameters
    ----------
    name : {"HDSP", "wHDSP", "HDP"}
        The model.
    fit : {"published", "converged"}, default="published"
        Which of `TOLERANCES` it is fitted to.
    init : str, default="lda"
        The start; ``"lda"`` is the paper's.
    """

    def __init__(self, name: Any, fit: str = "published", init: str = "lda") -> None:
        scaling: Any = HDSP.as_published(name).scaling
        super().__init__(scaling)
        self.name, self.tol, self.init = name, TOLERANCES[fit], init

    def estimator(self, train: Corpus, settings: FitSettings) -> HDSP:
        """The estimator to be fitted."""
        prior = without_none(topic_prior=settings.topic_prior)
        model: HDSP = HDSP.as_published(self.name, **prior).set_params(
            n_components=settings.n_topics,
            tol=self.tol,
            n_jobs=settings.n_jobs,
            random_state=settings.seed,
        )
        start: Any = self.init
        if start == "lda":
            start = _start(train.counts, settings.n_topics, float(model.topic_prior), settings.seed)
        model.set_params(init=start)
        if settings.quick:
            model.set_params(max_iter=_QUICK_PASSES)
        return model


# An author-topic model has the number of its topics in its name.
_ATM = "ATM-"
# Models that the paper compares with, and the library's default fit.
OTHERS: dict[str, Callable[[], Peer]] = {
    DEFAULT: lambda: make_peer("hdsp"),
    "L-LDA": lambda: make_peer("llda"),
    "PLDA-2": lambda: make_peer("plda-2"),
    "PLDA-5": lambda: make_peer("plda-5"),
    "ATM-50": lambda: make_peer("atm-gensim"),
    "ATM-100": lambda: make_peer("atm-gensim"),
    "ATM-150": lambda: make_peer("atm-gensim"),
}


class Measured(NamedTuple):
    """A fitted model, and how its fit went: columns of its rows."""

    fitted: Fitted
    facts: dict[str, Any]


def fit_unit(unit: Row, train: Corpus, settings: Settings) -> Measured:
    """Fit the model of a unit: one of the paper to the tolerance `fit`, or another."""
    name, chosen = unit["model"], fit_settings(settings, unit)
    if name in PUBLISHED:
        return _measured(PublishedModel(name, unit["fit"], unit.get("start", "lda")), train, chosen)
    if name not in OTHERS:
        known = ", ".join([*PUBLISHED, *OTHERS])
        raise ValueError(f"There is no model {name!r} to reproduce with. Choose from {known}.")
    if name == DEFAULT:
        chosen = replace(chosen, topic_prior=None)
    if name.startswith(_ATM):
        chosen = replace(chosen, n_topics=int(name.removeprefix(_ATM)))
    return _measured(OTHERS[name](), train, chosen)


def fit_whole(unit: Row, settings: Settings, corpora: CorpusFolder) -> tuple[Corpus, Measured]:
    """A unit's whole corpus, and the paper's HDSP fitted to it."""
    documents = corpora.whole(unit["corpus"], reading_of(unit["corpus"], settings))
    return documents, fit_unit({**unit, "model": "HDSP"}, documents, settings)


def describe_fit(fitted: Fitted, peer: Peer, settings: FitSettings) -> dict[str, Any]:
    """How a fit went: passes or sweeps, and of HDSP whether it has converged."""
    if isinstance(fitted, FittedHDSP):
        return {"passes": fitted.model.n_iter_, "converged": int(fitted.model.converged_)}
    details = peer.details(settings)
    return {"passes": details.get("sweeps", details.get("passes", "")), "converged": ""}


def _measured(peer: Peer, train: Corpus, settings: FitSettings) -> Measured:
    fitted = peer.fit(train, settings)
    return Measured(fitted, describe_fit(fitted, peer, settings))


def fits_of(models: Sequence[str], settings: Settings) -> list[dict[str, str]]:
    """The keys `model` and `fit` of units: other models are fitted in one way."""
    return [
        {"model": model, "fit": fit}
        for model in models
        for fit in (settings["fits"] if model in PUBLISHED else [""])
    ]


def split_unit(unit: Row, settings: Settings, corpora: CorpusFolder) -> tuple[Corpus, Corpus]:
    """Training and test documents of a unit."""
    return corpora.split(unit["corpus"], reading_of(unit["corpus"], settings))


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
        sweeps=settings["sweeps"],
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
