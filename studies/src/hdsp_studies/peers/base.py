"""The protocol: what a model is fitted with, and what a fitted one can be asked for."""

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from scipy.sparse import csr_array

from hdsp import Corpus, Labels
from hdsp_studies.types import FloatArray


@dataclass(frozen=True)
class FitSettings:
    """Settings that every model of a comparison shares.

    Attributes
    ----------
    n_topics : int, default=50
        Number of topics. A nonparametric model takes it as the most there may be, and one whose
        topics belong to labels ignores it.
    seed : int, default=0
        Seed of all random draws.
    quick : bool, default=False
        Whether to run few sweeps, to see that everything works; not for conclusions.
    n_jobs : int, default=1
        Number of threads. With one, every model gives the same numbers again.
    target : str or None, default=None
        Label column that models predict from words.
    topic_prior : float or None, default=None
        Dirichlet parameter of words in topics, where a model has one; None is each model's own
        default.
    sweeps : int or None, default=None
        Number of Gibbs sweeps; None is each sampler's own default.
    """

    n_topics: int = 50
    seed: int = 0
    quick: bool = False
    n_jobs: int = 1
    target: str | None = None
    topic_prior: float | None = None
    sweeps: int | None = None


class Fitted:
    """A fitted model. What it cannot do is None.

    Attributes
    ----------
    topics : float array of shape [T, V] or None
        Probabilities of the training corpus' words; positive, and rows sum to 1.
    topic_tokens : float array of shape [T] or None
        Number of tokens of the training documents that belong to each topic.
    """

    topics: FloatArray | None = None
    topic_tokens: FloatArray | None = None

    def given_labels(self, labels: Labels) -> FloatArray | None:
        """Expected proportions of topics in documents of which only the labels are known.

        Labels that training did not see are ignored. A model that takes no labels expects the
        same of every document.

        Parameters
        ----------
        labels : Labels
            Labels of M documents.

        Returns
        -------
        float array of shape [M, T] or None
            Rows sum to 1.
        """
        return None

    def given_words(self, counts: csr_array, labels: Labels) -> FloatArray | None:
        """Proportions of topics in documents of which words and labels are known.

        Parameters
        ----------
        counts : sparse array of shape [M, V]
            Word counts; a document may be empty.
        labels : Labels
            Labels of the M documents.

        Returns
        -------
        float array of shape [M, T] or None
            Rows sum to 1.
        """
        return None

    def predict(self, counts: csr_array, labels: Labels) -> list[str] | None:
        """Predict the target's value of each document from its words and its other labels.

        Parameters
        ----------
        counts : sparse array of shape [M, V]
            Word counts; a document may be empty.
        labels : Labels
            Labels of the M documents.

        Returns
        -------
        list of str or None
            One value for each document.
        """
        return None


class Peer(ABC):
    """A model that can be fitted to a corpus.

    Attributes
    ----------
    libraries : tuple of str
        Packages that it needs beyond those that hdsp needs.
    needs_target : bool
        Whether predicting the target is all that it does.
    """

    libraries: ClassVar[tuple[str, ...]] = ()
    needs_target: ClassVar[bool] = False

    @abstractmethod
    def fit(self, train: Corpus, settings: FitSettings) -> Fitted:
        """Fit the model to documents.

        Parameters
        ----------
        train : Corpus
            The training documents.
        settings : FitSettings
            Settings that all models share.

        Returns
        -------
        Fitted
            The fitted model.
        """

    def details(self, settings: FitSettings) -> dict[str, object]:
        """Whatever else decides the result, such as the number of sweeps, for the record."""
        return {}

    def warm_up(self, train: Corpus) -> None:  # noqa: B027 - most have nothing to warm up
        """Compile or load what a process needs once, so that it is not timed with a fit."""


def without_none(**options: Any) -> dict[str, Any]:
    """The options that are not None; a library has its own defaults for the others."""
    return {name: value for name, value in options.items() if value is not None}


def check_libraries(names: Iterable[str], owner: str) -> None:
    """Raise an ImportError if a package is missing that `owner` needs."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            raise ImportError(f"{owner} needs {name}: pip install {name}.")
