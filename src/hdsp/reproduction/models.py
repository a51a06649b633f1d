"""Models by the names that the paper gives them."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, eye_array

from hdsp.comparison import perplexity
from hdsp.corpus import Corpus
from hdsp.estimator import HDSP
from hdsp.inference.start import lda_topics
from hdsp.numerics.types import FloatArray
from hdsp.peers import (
    Fitted,
    FittedHDSP,
    Peer,
    SampledByLabel,
    ScalingProcess,
    Settings,
    make_peer,
    normalised,
)
from hdsp.prediction import METHODS
from hdsp.reproduction.corpora import Source, reading_of
from hdsp.reproduction.study import Row
from hdsp.reproduction.study import Settings as StudySettings
from hdsp.scaling import Categorical, Constant, LogLinear

# The last start alone: fits that share one follow one another.
_STARTS: dict[tuple[str, int, float, int], FloatArray] = {}
# The paper's measure: what is expected of documents by beta p_k E[s_k].
_OF_THE_PAPER = "ratio"


class PapersProcess(ScalingProcess):
    """HDSP, wHDSP or HDP as the paper fits it: all T topics are kept, from a start by LDA."""

    def estimator(self, train: Corpus, settings: Settings) -> HDSP:
        """The estimator to be fitted."""
        model = super().estimator(train, settings)
        prior = float(model.topic_prior)
        start = _start(train.counts, settings.n_topics, prior, settings.seed)
        model.set_params(fixed_number=True, init=start)
        return model


# An author-topic model has the number of its topics in its name.
_ATM = "ATM-"
MODELS: dict[str, Callable[[], Peer]] = {
    "HDSP": lambda: PapersProcess(Categorical()),
    "wHDSP": lambda: PapersProcess(LogLinear()),
    "HDP": lambda: PapersProcess(Constant(), labelled=False),
    "HDSP found": lambda: make_peer("hdsp"),
    "L-LDA": lambda: make_peer("llda"),
    "PLDA-2": lambda: make_peer("plda-2"),
    "PLDA-5": lambda: make_peer("plda-5"),
    "ATM-50": lambda: make_peer("atm-gensim"),
    "ATM-100": lambda: make_peer("atm-gensim"),
    "ATM-150": lambda: make_peer("atm-gensim"),
}

# Those whose start, which takes longer than their fit, is the same.
SHARING_STARTS = ("HDSP", "wHDSP", "HDP")


def fit_model(name: str, train: Corpus, settings: Settings) -> Fitted:
    """The model of that name, fitted."""
    if name not in MODELS:
        raise ValueError(
            f"There is no model {name!r} to reproduce with. Choose from {', '.join(MODELS)}."
        )
    if name.startswith(_ATM):
        settings = replace(settings, n_topics=int(name.removeprefix(_ATM)))
    return MODELS[name]().fit(train, settings)


def fit_whole(unit: Row, settings: StudySettings, source: Source) -> tuple[Corpus, HDSP]:
    """A unit's corpus, of which nothing is held out, and the paper's HDSP fitted to it."""
    documents = source.whole(unit["corpus"], reading_of(unit["corpus"], settings))
    chosen = fit_settings(settings, unit, source.n_jobs)
    return documents, PapersProcess(Categorical()).fit(documents, chosen).model


def perplexities(fitted: Fitted, test: Corpus) -> dict[str, float | None]:
    """Perplexity of words given labels, by the name of each way that the model has.

    `perplexity` is the paper's way, which takes what is expected of a document from the model's
    prior; `calibrated` takes it from how training documents with such labels use topics.
    """
    if isinstance(fitted, FittedHDSP):
        found: dict[str, float | None] = {
            method: perplexity(test.counts, fitted, fitted.given_labels(test.labels, method))
            for method in METHODS
        }
        return {"perplexity": found.pop(_OF_THE_PAPER), **found}
    expected = fitted.given_labels(test.labels)
    if isinstance(fitted, SampledByLabel):
        prior = normalised(fitted.prior(test.labels))
        return {
            "perplexity": perplexity(test.counts, fitted, prior),
            "calibrated": perplexity(test.counts, fitted, expected),
        }
    return {"perplexity": perplexity(test.counts, fitted, expected)}


def fit_settings(settings: StudySettings, unit: Row, n_jobs: int) -> Settings:
    """How a unit's model is fitted: by its own values, else by those of the study."""

    def chosen(name: str) -> Any:
        return unit[name] if name in unit else settings[name]

    return Settings(
        n_topics=chosen("topics"),
        seed=chosen("seed"),
        quick=settings["quick"],
        n_jobs=n_jobs,
        topic_prior=chosen("topic_prior"),
    )


def label_scales(model: HDSP) -> FloatArray:
    """What each label multiplies each topic's weight by, [T, J]: the inferred parameters."""
    fitted = model._model
    alone = csr_array(eye_array(fitted.schema.n_labels, format="csr", dtype=np.float64))
    return np.asarray(fitted.scaling.expected_scale(fitted.state.scaling, alone)).T


def _start(counts: csr_array, n_topics: int, topic_prior: float, seed: int) -> FloatArray:
    """What ``init="lda"`` starts from, [T, V], kept for the fits that share it.

    It knows no labels, so models and label sets share it; and it takes longer than a fit.
    """
    digest = hashlib.blake2b(digest_size=16)
    for array in (counts.data, counts.indices, counts.indptr):
        digest.update(np.ascontiguousarray(array).tobytes())
    key = digest.hexdigest(), n_topics, topic_prior, seed
    if key not in _STARTS:
        _STARTS.clear()
        rng = np.random.default_rng(seed)
        _STARTS[key] = np.ascontiguousarray(lda_topics(counts, n_topics, topic_prior, rng).T)
    return _STARTS[key]
