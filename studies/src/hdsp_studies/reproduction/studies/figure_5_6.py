"""Figures 5 and 6: labels and topics in one plane."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from hdsp.plots.drawing import draw_points
from hdsp_studies.comparison import CorpusFolder
from hdsp_studies.peers import FittedHDSP
from hdsp_studies.reproduction import drawing
from hdsp_studies.reproduction.embedding import unfold
from hdsp_studies.reproduction.intervals import with_interval
from hdsp_studies.reproduction.models import fit_whole
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
from hdsp_studies.types import FloatArray

# What counts as near: the nearest quarter of the topics shown.
_NEAR = 0.25


class Figure56(Study):
    """Multidimensional scaling of the inferred parameters."""

    name = "figure-5-6"
    title = "Figures 5 and 6: labels and topics embedded together"
    about = (
        "`HDSP.as_published` on all documents. A label and a topic are the further apart the less "
        "the label scales the topic: their distance is ln scale of the topic that the label scales "
        "most, less their own. Only differences under a label count, because a factor common "
        "to its topics cancels. Distances between two labels or two topics are not given to the "
        "scaling (SMACOF, weighted by relative error), so that they lie close by what they have in "
        "common. Shown are chosen labels (those of the paper where the corpora "
        "have them) and the topics most expected with each. A topic that the paper names is "
        "found by its words. Near means among the nearest quarter of the topics shown, on average "
        "over seeds; the figure shows the first. NIPS goes "
        "to 1999 here (the paper: 2003), with authors of two papers or more; MeSH headings are "
        "those of medline_mesh (the paper: OHSUMED)."
    )
    claims = (
        "Hinton and LeCun lie close to neural network topics ('learning network error', "
        "'recognition character network')",
        "Sutton lies close to the topic 'state learning policy'",
        "The labels Preschool, Pregnancy and Infant lie close to one another",
    )
    reasons = (
        "By the parameters the topics are among the first for each author; the plane loses some "
        "of this order.",
        "In seeds that fail, the topic is just outside the nearest quarter.",
        "",
    )
    spans = ("corpora",)

    def units(self, settings: Settings) -> list[dict[str, Any]]:
        """One fit for each corpus, seed and tolerance."""
        return [
            {"corpus": corpus, "seed": seed, "fit": fit}
            for seed in settings["seeds"]
            for corpus in settings["corpora"]
            for fit in settings["fits"]
        ]

    def group(self, unit: Row) -> Hashable:
        """Fits that share a start."""
        return unit["corpus"], unit["seed"]

    def measure(self, unit: Row, settings: Settings, corpora: CorpusFolder) -> list[dict[str, Any]]:
        """Places of labels and topics, and the measures of the claims."""
        corpus = unit["corpus"]
        documents, (fitted, facts) = fit_whole(unit, settings, corpora)
        assert isinstance(fitted, FittedHDSP)
        model, share = fitted.model, np.asarray(fitted.topics)
        column = {name: j for j, name in enumerate(documents.labels.blocks[0].columns)}
        labels = [name for name in settings["labels"][corpus] if name in column]
        scales = model.label_scale_[:, [column[name] for name in labels]]
        expected = model.topic_weight_[:, None] * scales
        most = np.argsort(-expected, axis=0)[: settings["topics_of_a_label"]]
        named = {
            label: _topic_of(words, share, documents.words)
            for label, words in settings["near"].items()
            if label in labels
        }
        topics = sorted({*most.ravel().tolist(), *named.values()})
        strength = np.log(scales[topics])
        strength = strength - strength.max(axis=0)
        rng = np.random.default_rng(unit["seed"])
        places, label_places, stress = unfold(-strength, rng)
        words = [" ".join(documents.words[i] for i in np.argsort(-share[k])[:3]) for k in topics]
        rows = [_point("topic", name, at) for name, at in zip(words, places, strict=True)]
        rows += [_point("label", name, at) for name, at in zip(labels, label_places, strict=True)]
        rows.append({"kind": "stress", "value": stress})
        for label, topic in named.items():
            j, k = labels.index(label), topics.index(topic)
            away = np.linalg.norm(places - label_places[j], axis=1)
            rows.append(
                {
                    "kind": "near",
                    "name": label,
                    "other": words[k],
                    "value": int((away < away[k]).sum()) + 1,
                    "by parameter": int((strength[:, j] > strength[k, j]).sum()) + 1,
                    "of": len(topics),
                }
            )
        together = [name for name in settings["together"].get(corpus, []) if name in labels]
        if len(together) > 1:
            own = _pairs(label_places[[labels.index(name) for name in together]])
            every = _pairs(label_places)
            rows.append(
                {
                    "kind": "together",
                    "name": ", ".join(together),
                    "value": own.mean(),
                    "all": every.mean(),
                    "closer": float((every < own.mean()).mean()),
                }
            )
        return [{**row, **facts} for row in rows]

    def draw(self, rows: Sequence[Row]) -> Any:
        """One panel for each corpus: labels in red, topics in blue; first seed, converged."""
        rows = of_fit(rows, rows[-1]["fit"])
        corpora = distinct(rows, "corpus")
        figure, panels = drawing.axes(len(corpora), 1, 8.0, 5.6)
        for place, corpus in zip(panels.flat, corpora, strict=True):
            for kind in ("topic", "label"):
                own = select(rows, corpus=corpus, kind=kind, seed=rows[0]["seed"])
                places = np.array([(row["x"], row["y"]) for row in own]).reshape(-1, 2)
                draw_points(place, kind, places, [row["name"] for row in own])
            place.set_title(corpus)
        return figure

    def assess(self, rows: Sequence[Row]) -> list[Finding]:
        """Nearness of the authors' topics, and of the three headings."""
        near = select(rows, kind="near")
        together = [row for row in rows if row["kind"] == "together"]
        result = []
        authors = (("Hinton_G", "LeCun_Y"), ("Sutton_R",))
        for claim, names in zip(self.claims, authors, strict=False):
            found = [own for name in names if (own := select(near, name=name))]
            if not found:
                result.append(Finding(claim, "not yet run"))
                continue
            close = [mean([row["value"] / row["of"] for row in own]) <= _NEAR for own in found]
            shown = "; ".join(
                f"{own[0]['name']}: of {_each(own, 'of')} topics '{own[0]['other']}' is number "
                f"{_each(own, 'value')} by nearness in the plane, number "
                f"{_each(own, 'by parameter')} by the parameters"
                for own in found
            )
            result.append(Finding(claim, graded(all(close), any(close)), shown))
        if not together:
            return [*result, Finding(self.claims[2], "not yet run")]
        away, every, closer = ([row[n] for row in together] for n in ("value", "all", "closer"))
        result.append(
            Finding(
                self.claims[2],
                graded(mean(closer) < 0.25, mean(closer) < 0.5),
                f"{together[0]['name']}: mean distance {with_interval(away)}, that of all labels "
                f"shown {with_interval(every)}; {with_interval(closer, '.0%')} of all pairs are "
                "closer",
            )
        )
        return result


def _each(rows: Sequence[Row], name: str) -> str:
    """The values of a column by seed, or the one that all seeds have."""
    values = [str(row[name]) for row in rows]
    return values[0] if len(set(values)) == 1 else ", ".join(values)


def _point(kind: str, name: str, at: FloatArray) -> dict[str, Any]:
    return {"kind": kind, "name": name, "x": float(at[0]), "y": float(at[1])}


def _topic_of(words: Sequence[str], share: FloatArray, known: Sequence[str]) -> int:
    """The topic with the largest share of these words."""
    columns = [i for i, word in enumerate(known) if word in words]
    return int(share[:, columns].sum(axis=1).argmax())


def _pairs(places: FloatArray) -> FloatArray:
    away = np.linalg.norm(places[:, None] - places[None], axis=2)
    return np.asarray(away[np.triu_indices(len(places), 1)])
