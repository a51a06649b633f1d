"""Appendix B: how many words the topics hold."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hdsp.metrics import effective_topics
from hdsp_studies.comparison import CorpusFolder
from hdsp_studies.reproduction import drawing
from hdsp_studies.reproduction.models import fit_unit, split_unit
from hdsp_studies.reproduction.studies.perplexity import TopicPriorStudy
from hdsp_studies.reproduction.study import Finding, Row, Settings, distinct, graded, of_fit, select

_SHADES = ("#08306b", "#2171b5", "#4eb3d3", "#fe9929", "#cc4c02")


class AppendixB(TopicPriorStudy):
    """Posterior word counts of topics, by eta, of HDP and HDSP."""

    name = "appendix-b"
    title = "Appendix B: posterior word counts of topics"
    about = (
        "Fits as in figure 4: T = 200 and every topic kept, on training documents. The word "
        "count of a topic is its expected number of training tokens. A topic is in use here "
        "when it holds at least an average document's worth of tokens (`HDSP.n_topics_`); the "
        "effective number is the exponential of the entropy of the topics' shares. The paper's "
        "start, three passes of LDA, leaves most topics without words before HDSP begins, so "
        "that fits from it compare nothing: claims are judged by fits from NMF, where all 200 "
        "topics have words. The paper reads the number off its figure and does not name the "
        "corpus."
    )
    claims = (
        "Only a few of the 200 topics are used, 50 to 100 by HDSP",
        "HDSP tends to use more topics than HDP",
    )
    reasons = (
        "From a start with 200 live topics coordinate ascent empties few; from the paper's start "
        "the number in use is the number that LDA left.",
        "Neither model empties topics, so both have the start's number.",
    )

    def units(self, settings: Settings) -> list[dict[str, Any]]:
        """The fits from each start."""
        return [
            {**unit, "start": start}
            for start in settings["starts"]
            for unit in super(AppendixB, self).units(settings)
        ]

    def measure(self, unit: Row, settings: Settings, corpora: CorpusFolder) -> list[dict[str, Any]]:
        """The tokens of every topic, largest first."""
        train, _ = split_unit(unit, settings, corpora)
        fitted, facts = fit_unit(unit, train, settings)
        tokens = np.sort(np.asarray(fitted.topic_tokens))[::-1]
        in_use = int((tokens >= tokens.sum() / len(train)).sum())
        found = {"in use": in_use, "effective": effective_topics(tokens), **facts}
        # Every topic would make a file of many thousand rows.
        ranks = sorted({*range(1, 21), *range(20, len(tokens) + 1, 10), len(tokens)})
        return [
            {"rank": k, "tokens": float(tokens[k - 1]), **found} for k in ranks if k <= len(tokens)
        ]

    def draw(self, rows: Sequence[Row]) -> Any:
        """Word counts against rank, of the first seed, by start and model."""
        corpora, starts = distinct(rows, "corpus"), distinct(rows, "start")
        panels_of = [(start, model) for start in starts for model in distinct(rows, "model")]
        figure, panels = drawing.axes(
            len(corpora), len(panels_of), 3.2, 2.6, sharey="row", sharex=True
        )
        for line, corpus in zip(panels, corpora, strict=True):
            for place, (start, model) in zip(line, panels_of, strict=True):
                own = select(of_fit(rows, "published"), corpus=corpus, model=model, start=start)
                for shade, eta in zip(_SHADES, distinct(own, "topic_prior"), strict=False):
                    seeds = select(own, topic_prior=eta)
                    curve = select(seeds, seed=rows[0]["seed"])
                    place.plot(
                        [row["rank"] for row in curve],
                        [row["tokens"] for row in curve],
                        color=shade,
                        label=f"{eta}: {_span([row['in use'] for row in seeds])} in use",
                    )
                place.set(title=f"{model}, {corpus}, start {start}", yscale="log")
                # A topic with less than one word is not in use at all.
                place.set_ylim(bottom=1.0)
                corner = "upper right" if start == "lda" else "lower left"
                place.legend(title="eta", fontsize=7, title_fontsize=7, loc=corner)
            line[0].set_ylabel("tokens of the topic")
        for place in panels[-1]:
            place.set_xlabel("topics, largest first")
        return figure

    def assess(self, rows: Sequence[Row]) -> list[Finding]:
        """How many topics are used, and by which model more, from the start with live topics."""
        firsts = select(rows, rank=1)
        live = select(firsts, start=distinct(rows, "start")[-1])
        used = [row["in use"] for row in select(live, model="HDSP")]
        inside = sum(50 <= number <= 100 for number in used)
        more = wider = total = 0
        for row in select(live, model="HDSP"):
            keys = ("corpus", "topic_prior", "seed")
            for other in select(live, model="HDP", **{key: row[key] for key in keys}):
                more, total = more + (row["in use"] > other["in use"]), total + 1
                wider += row["effective"] > other["effective"]
        ranges = "; ".join(
            f"{corpus} {model} from {start} {_span([r['in use'] for r in own])} (effective {size})"
            for corpus in distinct(firsts, "corpus")
            for start in distinct(firsts, "start")
            for model in ("HDSP", "HDP")
            if (own := select(firsts, corpus=corpus, model=model, start=start))
            and (size := _span([round(r["effective"]) for r in own]))
        )
        largest = max(row["rank"] for row in rows)
        return [
            Finding(
                self.claims[0],
                graded(inside == len(used), inside > 0 or max(used) < 0.75 * largest),
                f"in use of {largest} topics, over eta and seeds: {ranges}",
            ),
            Finding(
                self.claims[1],
                graded(more == total, more > total / 2),
                f"more in {more} of {total} comparisons, by the effective number in {wider}",
            ),
        ]


def _span(numbers: Sequence[float]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"
