"""Models by the names that the paper gives them, behind one small protocol."""

import hashlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from scipy.sparse import csr_array, eye_array

from hdsp.estimator import HDSP
from hdsp.inference.start import lda_topics
from hdsp.numerics.types import FloatArray
from hdsp.prediction import METHODS
from hdsp.scaling import Categorical, Constant, LogLinear, ScalingFunction

# Enough for the values of eta on one corpus.
_KEPT_STARTS = 5
_STARTS: dict[tuple[str, int, float, int], FloatArray] = {}


@dataclass(frozen=True)
class FitSettings:
    """What a model is fitted with.

    Attributes
    ----------
    topic_prior : eta
    n_topics : T
    seed : of the random start
    max_iter, tol : when a fit stops
    n_jobs : threads
    """

    topic_prior: float
    n_topics: int
    seed: int
    max_iter: int = 100
    tol: float = 1e-3
    n_jobs: int | None = None


class Model(Protocol):
    """A model that predicts documents' words from their labels."""

    def fit(self, counts: csr_array, labels: csr_array) -> Self:
        """Fit to training documents: counts [M, V] and 0/1 labels [M, J]."""

    def perplexities(self, counts: csr_array, labels: csr_array) -> dict[str, float]:
        """Perplexity of words given labels, by the name of each way the model has.

        `perplexity` is the paper's way; a model may add others.
        """


class ScalingModel:
    """HDSP, wHDSP or HDP: one estimator, told apart by the scaling function."""

    estimator: HDSP

    def __init__(self, scaling: ScalingFunction, settings: FitSettings) -> None:
        self.scaling = scaling
        self.settings = settings

    def fit(self, counts: csr_array, labels: csr_array) -> Self:
        """Fit to training documents."""
        self.estimator = fit_fixed(self.scaling, self.settings, counts, labels)
        return self

    def perplexities(self, counts: csr_array, labels: csr_array) -> dict[str, float]:
        """By the paper's formula (the ratio), and by the library's own two methods."""
        found: dict[str, float] = {
            method: float(self.estimator.perplexity(counts, labels=labels, method=method))
            for method in METHODS
        }
        return {"perplexity": found.pop("ratio"), **found}


def fit_fixed(
    scaling: ScalingFunction, settings: FitSettings, counts: csr_array, labels: csr_array
) -> HDSP:
    """The estimator as the paper uses it, fitted: all T topics are kept, from a start by LDA."""
    model = HDSP(
        settings.n_topics,
        fixed_number=True,
        scaling=scaling,
        topic_prior=settings.topic_prior,
        init=_start(counts, settings.n_topics, settings.topic_prior, settings.seed),
        max_iter=settings.max_iter,
        tol=settings.tol,
        n_jobs=settings.n_jobs,
        random_state=settings.seed,
    )
    with warnings.catch_warnings():
        # The advice that a fixed number of topics, or of passes, calls for.
        warnings.simplefilter("ignore")
        return model.fit(counts, labels=labels)


def _start(counts: csr_array, n_topics: int, topic_prior: float, seed: int) -> FloatArray:
    """What ``init="lda"`` starts from, [T, V], kept for the fits that share it.

    It knows no labels, so models and label sets share it; and it takes longer than a fit.
    """
    digest = hashlib.blake2b(digest_size=16)
    for array in (counts.data, counts.indices, counts.indptr):
        digest.update(np.ascontiguousarray(array).tobytes())
    key = digest.hexdigest(), n_topics, topic_prior, seed
    if key not in _STARTS:
        if len(_STARTS) >= _KEPT_STARTS:
            del _STARTS[next(iter(_STARTS))]
        rng = np.random.default_rng(seed)
        _STARTS[key] = np.ascontiguousarray(lda_topics(counts, n_topics, topic_prior, rng).T)
    return _STARTS[key]


def label_scales(model: HDSP) -> FloatArray:
    """What each label multiplies each topic's weight by, [T, J]: the inferred parameters."""
    fitted = model._model
    alone = csr_array(eye_array(fitted.schema.n_labels, format="csr", dtype=np.float64))
    return np.asarray(fitted.scaling.expected_scale(fitted.state.scaling, alone)).T


# Others join by an entry here and their name in a study's config.
MODELS: dict[str, Callable[[FitSettings], Model]] = {
    "HDSP": lambda settings: ScalingModel(Categorical(), settings),
    "wHDSP": lambda settings: ScalingModel(LogLinear(), settings),
    "HDP": lambda settings: ScalingModel(Constant(), settings),
}


def make_model(name: str, settings: FitSettings) -> Model:
    """The model of that name, not yet fitted."""
    if name not in MODELS:
        raise ValueError(
            f"There is no model {name!r} to reproduce with. Choose from {', '.join(MODELS)}."
        )
    return MODELS[name](settings)


def fit_settings(
    settings: Mapping[str, Any], topic_prior: float, seed: int, n_jobs: int | None
) -> FitSettings:
    """The part of a study's settings that concerns a fit."""
    return FitSettings(
        topic_prior=topic_prior,
        n_topics=settings["topics"],
        seed=seed,
        max_iter=settings["most_passes"],
        tol=settings["tolerance"],
        n_jobs=n_jobs,
    )
