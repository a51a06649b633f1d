"""A study: one figure of the paper, from its settings to what can be said of its claims."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from hdsp.reproduction.corpora import Source

# A row of results: the unit it belongs to, and what was measured.
Row = Mapping[str, Any]
Settings = Mapping[str, Any]
Verdict = Literal["holds", "holds in part", "does not hold here", "not yet run"]


@dataclass(frozen=True)
class Finding:
    """A claim of the paper, what was measured for it, and whether it holds."""

    claim: str
    verdict: Verdict
    measured: str


class Table(NamedTuple):
    """Numbers for a study's page."""

    title: str
    header: Sequence[str]
    body: Sequence[Sequence[str]]


class Study(ABC):
    """One figure of the paper.

    A study divides its work into units (such as one model on one corpus with one seed). A unit is
    measured on its own and gives rows, each of which repeats the unit's keys; figures and findings
    come from the rows alone, so that they can be made again without measuring again.

    Attributes
    ----------
    name : of its folder, and on the command line
    title : what the figure shows
    about : how it was done here, and where that differs from the paper
    needs_corpora : whether it reads corpora from a folder
    spans : the settings that units are made from; others change what a unit gives
    libraries : packages that it needs beyond those of the library
    """

    name: str
    title: str
    about: str
    needs_corpora: bool = True
    spans: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ("matplotlib",)

    @abstractmethod
    def units(self, settings: Settings) -> list[dict[str, Any]]:
        """The work, divided: the keys of every unit."""

    def together(self, unit: Row) -> Hashable:
        """Equal for units that share work: one process measures them, one after another."""
        return tuple(unit.values())

    @abstractmethod
    def measure(self, unit: Row, settings: Settings, source: Source) -> list[dict[str, Any]]:
        """The rows of one unit, without its keys."""

    @abstractmethod
    def draw(self, rows: Sequence[Row]) -> Any:
        """The figure of all rows, a matplotlib figure."""

    def tables(self, rows: Sequence[Row]) -> list[Table]:
        """Tables for the page, where a figure does not show the numbers."""
        return []

    @abstractmethod
    def judge(self, rows: Sequence[Row]) -> list[Finding]:
        """What the rows say of the paper's claims; without rows, all are not yet run."""


def mean(values: Sequence[float]) -> float:
    """The mean; NaN of nothing."""
    return sum(values) / len(values) if values else float("nan")


def graded(whole: bool, part: bool) -> Verdict:
    """Holds, holds in part, or does not hold here."""
    return "holds" if whole else "holds in part" if part else "does not hold here"


def select(rows: Sequence[Row], **wanted: Any) -> list[Row]:
    """The rows with these values."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def distinct(rows: Sequence[Row], name: str) -> list[Any]:
    """The values of a column, in the order of their first row."""
    return list(dict.fromkeys(row[name] for row in rows))
