"""Figure 2: topics and scaling parameters that made a synthetic corpus, recovered."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hdsp_studies.comparison import CorpusFolder
from hdsp_studies.reproduction import drawing
from hdsp_studies.reproduction.intervals import interval, with_interval
from hdsp_studies.reproduction.study import Finding, Row, Settings, Study, graded, mean, select
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
}


class Figure2(Study):
    """Heat maps of the truth and of what HDSP and HDP find."""

    name = "figure-2"
    title = "Figure 2: synthetic topics and scaling parameters, recovered"
    about = (
        "Documents of 20 words on average over ten terms, from five topics and four labels, two "
        "on a document, as in the paper; its scaling parameters are not published, so they are "
        "drawn anew for every seed, from exp(-1.5) to exp(1.5). T is twice the number of "
        "topics, and alpha and beta start at 1. Found topics are paired with true ones by total "
        "variation (the paper: KL divergence). Each label's scaling parameters share a factor "
        "that cancels when proportions are normalised; the lower heat maps are therefore "
        "divided by each label's geometric mean."
    )
    claims = (
        "HDSP and HDP both recover the topics, without significant differences",
        "The relative differences between scaling parameters are preserved",
    )
    needs_corpora = False
    spans = ("seeds",)

    def units(self, settings: Settings) -> list[dict[str, Any]]:
        """One synthetic corpus for each seed."""
        return [{"seed": seed} for seed in settings["seeds"]]

    def measure(self, unit: Row, settings: Settings, corpora: CorpusFolder) -> list[dict[str, Any]]:
        """Every cell of the heat maps, and the measures of the run."""
        drawn = first_corpus(unit["seed"], settings["documents"])
        hdsp = recover(drawn, unit["seed"])
        hdp = recover(drawn, unit["seed"], labelled=False)
        rows = [
            _cell("distance HDSP", hdsp.distance.mean()),
            _cell("distance HDP", hdp.distance.mean()),
            _cell("rho", hdsp.rho),
            _cell("rho by label", hdsp.rho_by_label),
        ]
        for panel, values in (
            ("topics", drawn.truth.word_share),
            ("topics HDSP", hdsp.topics),
            ("topics HDP", hdp.topics),
            ("scales", drawn.truth.weights),
            ("scales HDSP", hdsp.scales),
        ):
            rows += [_cell(panel, v, k, i) for (k, i), v in np.ndenumerate(values)]
        return rows

    def draw(self, rows: Sequence[Row]) -> Any:
        """Five heat maps of the first run, and the measures of all."""
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
        rhos = [_values(rows, name) for name in ("rho by label", "rho")]
        rho, pairs = (mean(values) for values in rhos)
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
                f"of a label {shown[2]}",
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
    return [float(row["value"]) for row in select(rows, item=item)]


def _matrix(rows: Sequence[Row]) -> FloatArray:
    shape = max(row["row"] for row in rows) + 1, max(row["column"] for row in rows) + 1
    values = np.zeros(shape)
    for row in rows:
        values[row["row"], row["column"]] = row["value"]
    return values
