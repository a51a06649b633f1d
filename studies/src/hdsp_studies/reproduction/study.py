"""A study: one figure of the paper, from its settings to verdicts on its claims."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple

from hdsp_studies.comparison import CorpusFolder

# A row of results: the unit it belongs to, and what was measured.
Row = Mapping[str, Any]
Verdict = Literal["holds", "holds in part", "does not hold here", "not yet run"]
# The fits that claims are judged by, each by itself, with what pages call them.
FITS = {"published": "at the paper's tolerance", "converged": "converged"}
# From the best to the worst.
_GRADES: tuple[Verdict, ...] = ("holds", "holds in part", "does not hold here")


class Settings(dict[str, Any]):
    """Settings of a study by name, as in its config."""

    def __missing__(self, name: str) -> Any:
        raise ValueError(f"The config of {self['study']} lacks {name!r}: add it.")


@dataclass(frozen=True)
class Finding:
    """A claim of the paper, what was measured for it, and whether it holds.

    Attributes
    ----------
    claim : str
        The claim.
    verdict : {"holds", "holds in part", "does not hold here", "not yet run"}
        Whether it holds, by means over seeds.
    measured : str, default=""
        What was measured.
    by_seed : tuple of str, default=()
        The verdict on each seed alone, of those that can test the claim.
    """

    claim: str
    verdict: Verdict
    measured: str = ""
    by_seed: tuple[Verdict, ...] = ()

    @property
    def conclusion(self) -> str:
        """The verdict in words, with how many seeds agree with it."""
        n = len(self.by_seed)
        if self.verdict == "not yet run" or not n:
            return self.verdict
        held, part = (self.by_seed.count(grade) for grade in _GRADES[:2])
        if 0 < held < n:
            return f"holds in {held} of {n} seeds"
        if 0 < part < n:
            return f"holds in part in {part} of {n} seeds"
        # All seeds agree: neither they nor their means are enough alone.
        worse = max(self.verdict, self.by_seed[0], key=_GRADES.index)
        return f"{worse} ({n} seed{'s' if n > 1 else ''})"


class Table(NamedTuple):
    """Numbers for a study's page.

    Attributes
    ----------
    title : str
        Title above the table.
    header : sequence of str
        Names of the columns.
    body : sequence of sequence of str
        The rows.
    """

    title: str
    header: Sequence[str]
    body: Sequence[Sequence[str]]


class Study(ABC):
    """One figure of the paper.

    A study divides its work into units (such as one model on one corpus with one seed). Each unit
    is measured on its own and gives rows, which repeat the unit's keys. Figures and findings are
    made from the rows alone, so they can be made again without measuring again.

    Attributes
    ----------
    name : str
        Name of its folder, and on the command line.
    title : str
        What the figure shows.
    about : str
        How it was done here, and where that differs from the paper.
    claims : tuple of str
        What the paper says of the figure.
    spans : tuple of str
        Settings that units are made from; all others change what a unit gives.
    needs_corpora : bool
        Whether it reads corpora from a folder.
    reasons : tuple of str
        For each claim, why it may not hold here.
    """

    name: str
    title: str
    about: str
    claims: tuple[str, ...] = ()
    spans: tuple[str, ...] = ()
    needs_corpora: bool = True
    reasons: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def units(self, settings: Settings) -> list[dict[str, Any]]:
        """The keys of every unit."""

    def group(self, unit: Row) -> Hashable:
        """Equal for units that share work: one process measures them, one after another."""
        return tuple(unit.values())

    @abstractmethod
    def measure(self, unit: Row, settings: Settings, corpora: CorpusFolder) -> list[dict[str, Any]]:
        """The rows of one unit, without its keys."""

    @abstractmethod
    def draw(self, rows: Sequence[Row]) -> Any:
        """The matplotlib figure of all rows."""

    def tables(self, rows: Sequence[Row]) -> list[Table]:
        """Tables for the page, where a figure does not show the numbers."""
        return []

    def findings(self, rows: Sequence[Row], fit: str = "published") -> list[Finding]:
        """What one fit's rows say of the paper's claims; without rows, none is tested yet."""
        rows = of_fit(rows, fit)
        if not any(row.get("fit", fit) == fit for row in rows):
            return [Finding(claim, "not yet run") for claim in self.claims]
        seeds = [self.assess(own) for own in _seed_by_seed(rows)]
        return [
            replace(found, by_seed=tuple(v for v in alone if v != "not yet run"))
            for found, *others in zip(self.assess(rows), *seeds, strict=True)
            for alone in [[other.verdict for other in others]]
        ]

    @abstractmethod
    def assess(self, rows: Sequence[Row]) -> list[Finding]:
        """One finding for each claim, from at least one row."""


def mean(values: Sequence[float]) -> float:
    """The mean; NaN without values."""
    return sum(values) / len(values) if values else float("nan")


def graded(whole: bool, part: bool) -> Verdict:
    """The verdict on a claim that holds as a whole, or in part, or not."""
    return "holds" if whole else "holds in part" if part else "does not hold here"


def select(rows: Sequence[Row], **wanted: Any) -> list[Row]:
    """The rows with these values."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def of_fit(rows: Sequence[Row], fit: str) -> list[Row]:
    """The rows of one fit of the paper's models, and all those of other models."""
    return [row for row in rows if row.get("fit") in (fit, "", None)]


def distinct(rows: Sequence[Row], name: str) -> list[Any]:
    """The values of a column, in the order of their first row."""
    return list(dict.fromkeys(row[name] for row in rows))


def _seed_by_seed(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each seed that has every corpus; a claim is about all of them."""
    own = [row for row in rows if row.get("fit") != ""]
    if "seed" not in rows[0]:
        return []
    found = [select(rows, seed=seed) for seed in distinct(own, "seed")]
    corpora = [{row.get("corpus") for row in own} for own in found]
    return [own for own, has in zip(found, corpora, strict=True) if has == set.union(*corpora)]
