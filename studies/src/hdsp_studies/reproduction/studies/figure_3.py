"""Figure 3: the order and the size of scaling parameters as their space grows."""

from collections.abc import Sequence
from typing import Any

from scipy.stats import kruskal, spearmanr

from hdsp_studies.comparison import CorpusFolder
from hdsp_studies.reproduction import drawing
from hdsp_studies.reproduction.intervals import interval, with_interval
from hdsp_studies.reproduction.study import (
    Finding,
    Row,
    Settings,
    Study,
    distinct,
    graded,
    mean,
    of_fit,
    select,
)
from hdsp_studies.reproduction.synthetic import recover, second_corpus

_RISING = 0.9
_HIGH = 0.7
# Stable: runs at the larger half of the sides differ no more than chance would have them
# (Kruskal and Wallis' test at this level).
_CHANCE = 0.05
_MEASURES = {"error": "mean absolute error", "rho": "Spearman's rho"}


class Figure3(Study):
    """Mean absolute error and Spearman's rho against the side of the cube."""

    name = "figure-3"
    title = "Figure 3: scaling parameters against the volume of their space"
    about = (
        "Documents of 20 words on average (the paper gives a length for its first study only) "
        "over 20 terms, from ten topics of Dirichlet(0.1), whose weights come from breaking a "
        "stick (alpha = 1), and four labels; scaling parameters are the distances of topics and "
        "labels placed at random in a cube of side x. T is 20. Spearman's rho is taken over all "
        "pairs of label and topic, as in the paper, and, dashed, between the topics of each "
        "label, because a factor common to a label's topics cancels and cannot be recovered. "
        "Note that x multiplies all scaling parameters alike and so cancels in every document's "
        "proportions: documents have the same distribution at every x, so that rho cannot "
        "depend on it but by chance, and the error, which is measured in units of x, must grow "
        "with it."
    )
    claims = (
        "The mean absolute error increases with the volume of the space",
        "Spearman's rho is high and stabilises as the volume grows",
    )
    reasons = (
        "",
        "Breaking a stick gives about half of the ten topics under 2% of the words, too few to be "
        "found; their parameters count as much as the others. Rho is stable because the side "
        "cancels in every document.",
    )
    needs_corpora = False
    spans = ("sides",)

    def units(self, settings: Settings) -> list[dict[str, Any]]:
        """One fit for each side, seed and tolerance."""
        return [
            {"side": side, "seed": seed, "fit": fit}
            for seed in settings["seeds"]
            for side in settings["sides"]
            for fit in settings["fits"]
        ]

    def measure(self, unit: Row, settings: Settings, corpora: CorpusFolder) -> list[dict[str, Any]]:
        """One row of measures."""
        # Every side has its own draws: with the same ones, the documents would be the same too.
        seed = 1_000 * unit["side"] + unit["seed"]
        drawn = second_corpus(seed, float(unit["side"]), settings["documents"])
        found = recover(drawn, seed, "HDSP", unit["fit"])
        return [
            {
                **found.facts,
                "error": found.error,
                "rho": found.rho,
                "rho by label": found.rho_by_label,
                "rho recovered": found.rho_recovered,
                "topics found": float((found.distance < 0.3).sum()),
                "distance": float(found.distance.mean()),
            }
        ]

    def draw(self, rows: Sequence[Row]) -> Any:
        """Two panels, with intervals over seeds, of converged fits."""
        rows = of_fit(rows, rows[-1]["fit"])
        figure, panels = drawing.axes(1, 2, 3.8, 2.9)
        sides = distinct(rows, "side")
        colour = drawing.colour("HDSP")
        for place, (measure, title) in zip(panels.flat, _MEASURES.items(), strict=True):
            values = [[row[measure] for row in select(rows, side=x)] for x in sides]
            # Run by run: an unfinished side has fewer.
            drawing.band(place, sides, [interval(runs) for runs in values], colour)
            shown = "over all pairs" if measure == "rho" else None
            place.plot(
                sides, [mean(v) for v in values], color=colour, marker="o", ms=3, label=shown
            )
            if measure == "rho":
                by_label = [mean([r["rho by label"] for r in select(rows, side=x)]) for x in sides]
                place.plot(
                    sides, by_label, color=colour, ls="--", label="between the topics of a label"
                )
                place.set_ylim(0.0, 1.0)
                place.legend(loc="upper right")
            else:
                place.set_ylim(bottom=0.0)
            place.set(xlabel="x, the side of the cube", ylabel=title)
        return figure

    def assess(self, rows: Sequence[Row]) -> list[Finding]:
        """Whether the error rises, and whether the order is stable and high."""
        sides = distinct(rows, "side")
        average = {
            name: [
                mean([v for row in select(rows, side=x) if (v := row.get(name, 0.0)) == v])
                for x in sides
            ]
            for name in ("error", "rho", "rho by label", "rho recovered", "topics found")
        }
        rise = float(spearmanr(sides, average["error"]).statistic)
        settled = average["rho"][len(sides) // 2 :]
        spread = max(settled) - min(settled)
        level, by_label = mean(settled), mean(average["rho by label"][len(sides) // 2 :])
        groups = [[row["rho"] for row in select(rows, side=x)] for x in sides[len(sides) // 2 :]]
        compared = len(groups) > 1 and len(groups[0]) > 1
        chance = float(kruskal(*groups).pvalue) if compared else 1.0
        stable = chance > _CHANCE
        ends = [
            with_interval([row[name] for row in select(rows, side=x)])
            for name in ("error", "rho")
            for x in (sides[0], sides[-1])
        ]
        return [
            Finding(
                self.claims[0],
                graded(rise >= _RISING, rise > 0.5),
                f"from {ends[0]} at x = {sides[0]} to {ends[1]} at x = {sides[-1]}, rank "
                f"correlation of the mean with x {rise:.2f}",
            ),
            Finding(
                self.claims[1],
                graded(stable and level >= _HIGH, stable),
                f"rho {ends[2]} at x = {sides[0]}, {ends[3]} at x = {sides[-1]}; over "
                f"the larger half of x its mean is {level:.2f} ({by_label:.2f} between the "
                f"topics of a label) and ranges over {spread:.2f}, which is chance with p = "
                f"{chance:.2f}; on average {mean(average['topics found']):.1f} of 10 topics are "
                f"found, and over these rho is {mean(average['rho recovered']):.2f}",
            ),
        ]
