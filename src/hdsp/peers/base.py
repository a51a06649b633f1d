"""The protocol: what a model is fitted with, and what a fitted one can be asked for."""

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from scipy.sparse import csr_array

from hdsp.corpus import Corpus, Labels
from hdsp.numerics.types import FloatArray


@dataclass(frozen=True)
class Settings:
    """What every model of a comparison is told alike.

    Parameters
    ----------
    n_topics : topics; a nonparametric model takes it as the most there may be, and one whose
        topics belong to labels leaves it aside
    seed : of whatever is random
    quick : fewer sweeps, to see that everything works; not for conclusions
    n_jobs : threads. With one, every model gives the same numbers again
    target : the label column that models predict from words, or None
    topic_prior : the Dirichlet parameter of words in topics, where a model has one; None is each
        model's own default
    """

    n_topics: int = 50
    seed: int = 0
    quick: bool = False
    n_jobs: int = 1
    target: str | None = None
    topic_prior: float | None = None


class Fitted:
    """A fitted model. What it cannot do is None.

    Attributes
    ----------
    topics : [T, V] word shares over the training corpus' vocabulary; positive, rows sum to 1
    topic_tokens : [T] tokens of the training documents that each topic took
    """

    topics: FloatArray | None = None
    topic_tokens: FloatArray | None = None

    def given_labels(self, labels: Labels) -> FloatArray | None:
        """Expected proportions of topics in documents of which only labels are known, [M, T].

        Labels that training did not see are ignored. A model that takes no labels expects the
        same of every document.
        """
        return None

    def given_words(self, counts: csr_array, labels: Labels) -> FloatArray | None:
        """Proportions of topics in documents of which words and labels are known, [M, T].

        Parameters
        ----------
        counts : [M, V]; a document may be empty
        labels : of the M documents
        """
        return None

    def predict(self, counts: csr_array, labels: Labels) -> list[str] | None:
        """The target's value for each document, from its words and its other labels."""
        return None


def given(**options: Any) -> dict[str, Any]:
    """The options that are not None: the others are left to a library's defaults."""
    return {name: value for name, value in options.items() if value is not None}


class Peer(ABC):
    """A model that can be fitted to a corpus.

    Attributes
    ----------
    libraries : packages beyond those of hdsp that it needs
    needs_target : whether it does nothing but predict the target
    """

    libraries: ClassVar[tuple[str, ...]] = ()
    needs_target: ClassVar[bool] = False

    @abstractmethod
    def fit(self, train: Corpus, settings: Settings) -> Fitted:
        """Fit to documents."""

    def details(self, settings: Settings) -> dict[str, object]:
        """What else decides the result, such as the number of sweeps; for the record."""
        return {}

    def warm_up(self, train: Corpus) -> None:  # noqa: B027 - most have nothing to warm up
        """Do whatever happens once a process, so that its time is not taken for the fit's."""


def check_libraries(names: Iterable[str], owner: str) -> None:
    """Raise where a package is missing that `owner` needs."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            raise ImportError(f"{owner} needs {name}: pip install 'hdsp[compare]'.")
