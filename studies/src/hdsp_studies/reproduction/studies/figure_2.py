"""Figure 2: topics and scaling parameters that made a synthetic corpus, recovered."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hdsp_studies.comparison import CorpusFolder
from hdsp_studies.reproduction import drawing
from hdsp_studies.reproduction.intervals import interval, with_interval
from hdsp_studies.reproduction.study import (
    Finding,
    Row,
    Settings,
    Study,
    graded,
    mean,
    of_fit,
    select,
)
from hdsp_studies.reproduction.synthetic import first_corpus, recover
from hdsp_studies.types import FloatArray

# Total variation: topics that are merged or split are 0.4 and more away.
_RECOVERED, _ALIKE = 0.15, 0.05
_HIGH, _FAIR = 0.7, 0.4
_PANELS = {
    "topics": "Synthetic topics",
    "topics HDSP": "HDSP topics",
    "topics HDP": "HDP topics",
    "scales": "Synthetic scaling parameters",
    "scales HDSP": "HDSP scaling parameters",
}

_MEASURES = {
    "distance HDSP": "distance, HDSP",
    "distance HDP": "distance, HDP",
    "rho": "rho, all pairs",
    "rho by label": "rho by label",
    "rho recovered": "rho, topics found",
}


class Figure2(Study):
    """Heat maps of the truth and of what HDSP and HDP find."""

    name = "figure-2"
    title = "Figure 2: synthetic topics and scaling parameters, recovered"
    about = (
        "500 documents of 20 words on average over ten terms, from five topics, whose weights come "
        "from breaking a stick (alpha = 1), and four labels, two on a document, as in the paper. "
        "The paper does not publish its scaling parameters: each seed simulates others, from "
        "exp(-1.5) to exp(1.5). T is twice the number of topics. Found topics are paired with true "
        "ones by total variation (the paper: KL divergence). Each label's scaling parameters share "
        "a factor that cancels when proportions are normalised; the lower heat maps are therefore "
        "divided by each label's geometric mean."
    )
    claims = (
        "HDSP and HDP both recover the topics, without significant differences",
        "The relative differences between scaling parameters are preserved",
    )
    reasons = (
        "In seeds where it does not hold, breaking a stick left a topic with hardly a word, which "
        "neither model recovers.",
        "Breaking a stick leaves one or two of five topics with under 5% of the words, whose "
        "parameters stay near their prior. The others keep their order better.",
    )
    needs_corpora = False

    def units(self, settings: Settings) -> list[dict[str, Any]]:
        """One fit for each seed and tolerance."""
        return [{"seed": s, "fit": fit} for s in settings["seeds"] for fit in settings["fits"]]

    def measure(self, unit: Row, settings: Settings, corpora: CorpusFolder) -> list[dict[str, Any]]:
        """Every cell of the heat maps, and the measures of the run."""
        drawn = first_corpus(unit["seed"], settings["documents"])
        hdsp, hdp = (recover(drawn, unit["seed"], name, unit["fit"]) for name in ("HDSP", "HDP"))
        rows = [
            _cell("distance HDSP", hdsp.distance.mean()),
            _cell("distance HDP", hdp.distance.mean()),
            _cell("rho", hdsp.rho),
            _cell("rho by label", hdsp.rho_by_label),
            _cell("rho recovered", hdsp.rho_recovered),
        ]
        for panel, values in (
            ("topics", drawn.truth.word_share),
            ("topics HDSP", hdsp.topics),
            ("topics HDP", hdp.topics),
            ("scales", drawn.truth.weights),
            ("scales HDSP", hdsp.scales),
        ):
            rows += [_cell(panel, v, k, i) for (k, i), v in np.ndenumerate(values)]
        return [{**row, **hdsp.facts} for row in rows]

    def draw(self, rows: Sequence[Row]) -> Any:
        """Five heat maps of the first run, and the measures of all, of converged fits."""
        rows = of_fit(rows, rows[-1]["fit"])
        first = select(rows, seed=rows[0]["seed"])
        figure, panels = drawing.axes(2, 3, 3.1, 2.4)
        for place, (panel, title) in zip(panels.flat, _PANELS.items(), strict=False):
            values = _matrix(select(first, item=panel))
            scaled = panel.startswith("scales")
            if scaled:
                values = np.log(values)
                values = values - values.mean(axis=0)
            low, high = (-1.6, 1.6) if scaled else (0.0, 0.5)
            colours = "RdBu_r" if scaled else "Blues"
            image = place.imshow(values, aspect="auto", cmap=colours, vmin=low, vmax=high)
            place.set(title=title, xlabel="label" if scaled else "term", ylabel="topic")
            place.set_xticks(range(values.shape[1]), range(1, values.shape[1] + 1))
            place.set_yticks(range(values.shape[0]), range(1, values.shape[0] + 1))
            if panel in ("topics HDP", "scales HDSP"):
                label = "ln scale, centred by label" if scaled else "probability"
                figure.colorbar(image, ax=list(panels[int(scaled)]), label=label)
        _draw_measures(panels.flat[-1], rows)
        return figure

    def assess(self, rows: Sequence[Row]) -> list[Finding]:
        """Topics by their distance, parameters by their order."""
        found = {name: _values(rows, name) for name in ("distance HDSP", "distance HDP")}
        hdsp, hdp = (mean(values) for values in found.values())
        both = max(hdsp, hdp) < _RECOVERED
        rhos = [_values(rows, name) for name in ("rho by label", "rho", "rho recovered")]
        rho, pairs, _ = (mean(values) for values in rhos)
        shown = [with_interval(values, ".3f") for values in found.values()]
        shown += [with_interval(values) for values in rhos]
        return [
            Finding(
                self.claims[0],
                graded(both and abs(hdsp - hdp) < _ALIKE, min(hdsp, hdp) < _RECOVERED),
                f"mean total variation from the true topics: HDSP {shown[0]}, HDP {shown[1]}",
            ),
            Finding(
                self.claims[1],
                graded(min(rho, pairs) >= _HIGH, max(rho, pairs) >= _FAIR),
                f"Spearman's rho over all pairs of label and topic {shown[3]}, between the topics "
                f"of a label {shown[2]}; over all pairs with topics that were found {shown[4]}",
            ),
        ]


def _draw_measures(place: Any, rows: Sequence[Row]) -> None:
    """Every run's measures as points, their means with intervals."""
    for height, item in enumerate(_MEASURES):
        values = _values(rows, item)
        place.plot(values, [height] * len(values), "o", ms=3, color="#999999", alpha=0.6)
        place.plot(interval(values), [height] * 2, color="#000000")
        place.plot(mean(values), height, "D", ms=4, color="#000000")
    place.set_yticks(range(len(_MEASURES)), _MEASURES.values())
    place.set(title="All runs", xlim=(0.0, 1.0))
    place.invert_yaxis()


def _cell(item: str, value: Any, row: int = 0, column: int = 0) -> dict[str, Any]:
    return {"item": item, "row": row, "column": column, "value": float(value)}


def _values(rows: Sequence[Row], item: str) -> list[float]:
    values = [float(row["value"]) for row in select(rows, item=item)]
    return [value for value in values if value == value]


def _matrix(rows: Sequence[Row]) -> FloatArray:
    shape = max(row["row"] for row in rows) + 1, max(row["column"] for row in rows) + 1
    values = np.zeros(shape)
    for row in rows:
        values[row["row"], row["column"]] = row["value"]
    return values
