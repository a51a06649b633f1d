"""Appendix B: how many words the topics hold."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hdsp.metrics import effective_topics
from hdsp_studies.comparison import CorpusFolder
from hdsp_studies.reproduction import drawing
from hdsp_studies.reproduction.intervals import with_interval
from hdsp_studies.reproduction.models import fit_model, split_unit
from hdsp_studies.reproduction.studies.perplexity import TopicPriorStudy
from hdsp_studies.reproduction.study import Finding, Row, Settings, distinct, graded, mean, select

_SHADES = ("#08306b", "#2171b5", "#4eb3d3", "#fe9929", "#cc4c02")


class AppendixB(TopicPriorStudy):
    """Posterior word counts of topics, by eta, of HDP and HDSP."""

    name = "appendix-b"
    title = "Appendix B: posterior word counts of topics"
    about = (
        "Fits as in figure 4: T = 200 and every topic kept, on training documents. The word "
        "count of a topic is its expected number of training tokens. A topic is in use here "
        "when it holds at least an average document's worth of tokens (`HDSP.n_topics_`); the "
        "effective number is the exponential of the entropy of the topics' shares. The paper "
        "reads the number off its figure and does not name the corpus."
    )
    claims = (
        "Only a few of the 200 topics are used, 50 to 100 by HDSP",
        "HDSP tends to use more topics than HDP",
    )

    def measure(self, unit: Row, settings: Settings, corpora: CorpusFolder) -> list[dict[str, Any]]:
        """The tokens of every topic, largest first."""
        train, _, chosen = split_unit(unit, settings, corpora)
        tokens = np.asarray(fit_model(unit["model"], train, chosen).topic_tokens)
        tokens = np.sort(tokens)[::-1]
        in_use = int((tokens >= tokens.sum() / len(train)).sum())
        found = {"in use": in_use, "effective": effective_topics(tokens)}
        return [
            {"rank": rank, "tokens": float(count), **found} for rank, count in enumerate(tokens, 1)
        ]

    def draw(self, rows: Sequence[Row]) -> Any:
        """Word counts against rank, of the first seed, with a row of panels for each corpus."""
        corpora, models = distinct(rows, "corpus"), distinct(rows, "model")
        figure, panels = drawing.axes(
            len(corpora), len(models), 3.8, 2.6, sharey="row", sharex=True
        )
        for line, corpus in zip(panels, corpora, strict=True):
            for place, model in zip(line, models, strict=True):
                own = select(rows, corpus=corpus, model=model)
                for shade, eta in zip(_SHADES, distinct(own, "topic_prior"), strict=False):
                    seeds = select(own, topic_prior=eta)
                    curve = select(seeds, seed=rows[0]["seed"])
                    place.plot(
                        [row["rank"] for row in curve],
                        [row["tokens"] for row in curve],
                        color=shade,
                        label=f"{eta}: {_span([row['in use'] for row in seeds])} in use",
                    )
                place.set(title=f"{model}, {corpus}", yscale="log")
                # A topic with less than one word is not in use at all.
                place.set_ylim(bottom=1.0)
                place.legend(title="eta", fontsize=7, title_fontsize=7, loc="upper right")
            line[0].set_ylabel("tokens of the topic")
        for place in panels[-1]:
            place.set_xlabel("topics, largest first")
        return figure

    def assess(self, rows: Sequence[Row]) -> list[Finding]:
        """How many topics are used, and by which model more."""
        firsts = select(rows, rank=1)
        ours = select(firsts, model="HDSP")
        used = [row["in use"] for row in ours]
        inside = sum(50 <= number <= 100 for number in used)
        more = wider = total = 0
        for row in ours:
            keys = ("corpus", "topic_prior", "seed")
            for other in select(firsts, model="HDP", **{key: row[key] for key in keys}):
                more, total = more + (row["in use"] > other["in use"]), total + 1
                wider += row["effective"] > other["effective"]
        ranges = "; ".join(
            f"{corpus} {model} " + _span([r["in use"] for r in own]) + f" in use, effective {size}"
            for corpus in distinct(firsts, "corpus")
            for model in ("HDSP", "HDP")
            if (own := select(firsts, corpus=corpus, model=model))
            and (size := _span([round(r["effective"]) for r in own]))
        )
        largest = max(row["rank"] for row in rows)
        averages = [
            with_interval(
                [
                    mean([row["in use"] for row in select(firsts, model=m, seed=seed)])
                    for seed in distinct(firsts, "seed")
                ],
                ".1f",
            )
            for m in ("HDSP", "HDP")
        ]
        return [
            Finding(
                self.claims[0],
                graded(inside == len(used), inside > 0 or max(used) < 0.75 * largest),
                f"of {largest} topics, over eta and seeds: {ranges}",
            ),
            Finding(
                self.claims[1],
                graded(more == total, more > total / 2),
                f"more in {more} of {total} comparisons; in use on average: HDSP "
                f"{averages[0]}, HDP {averages[1]}; by the effective number more in {wider}",
            ),
        ]


def _span(numbers: Sequence[float]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"
