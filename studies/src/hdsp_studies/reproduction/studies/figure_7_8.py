"""Figures 7 and 8: the topics to expect with a set of labels."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from hdsp import Labels
from hdsp.metrics import topic_top_words
from hdsp.plots.drawing import draw_matrix
from hdsp_studies.comparison import CorpusFolder
from hdsp_studies.peers import FittedHDSP
from hdsp_studies.reproduction import drawing
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

_AND = " + "
# A topic of one label counts as expected with several where it is among so many.
_AMONG = 5


class Figure78(Study):
    """Expected topic distributions given chosen sets of labels."""

    name = "figure-7-8"
    title = "Figures 7 and 8: expected topics given labels"
    about = (
        "`HDSP.as_published` on all documents, and its predictor. The sets are chosen by hand "
        "(the paper's are random for RCV and OHSUMED). The heat maps show the two topics that "
        "each set expects most, "
        "filled up with the largest topics, in the order of their word counts, of the first "
        "seed. For the claim, a "
        "label's own topic is the one whose share it raises most when it is given alone; with a "
        "set of labels, the own topic of each member should still be expected more than without "
        "labels, and be among the five most expected."
    )
    claims = (
        "With several labels, high probabilities for topics that are similar to all of them",
        "With Market and Sports: high probabilities for sports topics and relatively high ones "
        "for market topics",
    )
    reasons = (
        "For the few labels that fail, the second label lowers the topic of the first by more than "
        "the first raises it.",
        "In seeds that fail, one of the two topics is not among the five most expected.",
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
        """Shares of the topics shown, and what becomes of each label's own topic."""
        corpus = unit["corpus"]
        documents, (fitted, facts) = fit_whole(unit, settings, corpora)
        assert isinstance(fitted, FittedHDSP)
        model = fitted.model
        block = documents.labels.blocks[0]
        sets = [tags for tags in settings["sets"][corpus] if set(block.columns).issuperset(tags)]

        def expected(tags: Sequence[Sequence[str]]) -> FloatArray:
            return model.expected_topics(Labels.from_tags(tags, block.name))

        shares = expected([[], *sets])
        base, shares = shares[0], shares[1:]
        most = {int(k) for row in shares for k in np.argsort(-row)[:2]}
        largest = np.argsort(-np.asarray(fitted.topic_tokens))
        shown = [k for k in largest if k in most]
        shown += [k for k in largest if k not in most][: max(settings["shown"] - len(shown), 0)]
        words = [
            [documents.words[i] for i in row] for row in topic_top_words(model.components_, 10)
        ]
        names = settings["names"]

        def called(labels: Sequence[str]) -> str:
            return _AND.join(names.get(label, label) for label in labels)

        rows = [
            {"kind": "share", "set": called(labels), "words": " ".join(words[k]), "share": share[k]}
            for labels, share in zip(sets, shares, strict=True)
            for k in sorted(shown, key=list(largest).index)
        ]
        singles = sorted({label for labels in sets if len(labels) > 1 for label in labels})
        alone = expected([[label] for label in singles])
        own = {
            label: int((share - base).argmax()) for label, share in zip(singles, alone, strict=True)
        }
        for labels, share in zip(sets, shares, strict=True):
            for label in labels if len(labels) > 1 else ():
                k = own[label]
                rows.append(
                    {
                        "kind": "member",
                        "set": called(labels),
                        "words": " ".join(words[k]),
                        "share": share[k],
                        "label": called([label]),
                        "without labels": base[k],
                        "rank": int((share > share[k]).sum()) + 1,
                    }
                )
        return [{**row, **facts} for row in rows]

    def draw(self, rows: Sequence[Row]) -> Any:
        """A heat map for each corpus: sets of labels by topics; first seed, converged."""
        rows = of_fit(rows, rows[-1]["fit"])
        corpora = distinct(rows, "corpus")
        figure, panels = drawing.axes(len(corpora), 1, 10.5, 3.7)
        for place, corpus in zip(panels.flat, corpora, strict=True):
            own = select(rows, corpus=corpus, kind="share", seed=rows[0]["seed"])
            sets, topics = distinct(own, "set"), distinct(own, "words")
            share = {(row["set"], row["words"]): row["share"] for row in own}
            values = [[share[labels, topic] for topic in topics] for labels in sets]
            draw_matrix(
                place,
                values,
                sets,
                [" ".join(str(topic).split()[:3]) for topic in topics],
                label="expected share",
                cmap="Blues",
                vmin=0.0,
                vmax=0.3,
                extend="max",
            )
            place.set_title(corpus)
        return figure

    def assess(self, rows: Sequence[Row]) -> list[Finding]:
        """Whether a set expects what its members expect."""
        members = [row for row in rows if row["kind"] == "member"]
        if not members:
            return [Finding(claim, "not yet run") for claim in self.claims]
        raised = sum(row["share"] > row["without labels"] for row in members)
        among = sum(row["rank"] <= _AMONG for row in members)
        result = [
            Finding(
                self.claims[0],
                graded(raised == among == len(members), raised > len(members) / 2),
                f"of {len(members)} labels in sets of two, all seeds added up, the label's own "
                f"topic is expected more than without labels in {raised}, and among the {_AMONG} "
                f"most expected in {among}",
            )
        ]
        both = select(members, set=_AND.join(_PAIR))
        pair = {label: select(both, label=label) for label in distinct(both, "label")}
        if len(pair) < len(_PAIR):
            return [*result, Finding(self.claims[1], "not yet run")]
        good, shown = [], []
        for label, own in pair.items():
            share, base, rank = (
                [row[name] for row in own] for name in ("share", "without labels", "rank")
            )
            good.append(mean(share) > mean(base) and mean(rank) <= _AMONG)
            shown.append(
                f"{label}: '{' '.join(own[0]['words'].split()[:3])}' {with_interval(share, '.1%')},"
                f" rank {with_interval(rank, '.1f')}, without labels {with_interval(base, '.1%')}"
            )
        return [*result, Finding(self.claims[1], graded(all(good), any(good)), "; ".join(shown))]


_PAIR = ("Markets", "Sports")
