"""Figure 9: perplexity when training documents have lost some of their labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import spearmanr

from hdsp.reproduction.corpora import Source
from hdsp.reproduction.models import fit_settings, make_model
from hdsp.reproduction.studies.perplexity import JUDGED, average, draw_lines, times_below
from hdsp.reproduction.study import (
    Finding,
    Row,
    Settings,
    Study,
    distinct,
    graded,
    mean,
    select,
)

_FALLING = -0.9


class Figure9(Study):
    """Perplexity against the share of labels that are kept, by scaling function."""

    name = "figure-9"
    title = "Figure 9: perplexity with partially labelled training documents"
    about = (
        "Every label of every training document is kept with the probability shown, else "
        "removed; test documents keep all of theirs, and perplexity is given labels. A seed "
        "removes nested sets: what is kept at 0.1 is kept at 0.2 too, so that lines differ by "
        "the labels alone. Fits, measures (solid: the paper's; dashed: the library's calibrated "
        "regression) and corpora are those of figure 4, with eta = 0.1 and medline_mesh in the "
        "place of OHSUMED."
    )
    spans = ("models", "corpora", "kept", "seeds")

    def units(self, settings: Settings) -> list[dict[str, Any]]:
        """One fit a corpus, model, share of labels and seed."""
        return [
            {"corpus": corpus, "model": model, "kept": kept, "seed": seed}
            for seed in settings["seeds"]
            for corpus in settings["corpora"]
            for kept in settings["kept"]
            for model in settings["models"]
        ]

    def measure(self, unit: Row, settings: Settings, source: Source) -> list[dict[str, Any]]:
        """Perplexities of the test documents."""
        split = source.load(unit["corpus"], most_documents=settings.get("most_documents"))
        chosen = fit_settings(settings, settings["topic_prior"], unit["seed"], source.n_jobs)
        labels = thinned(split.labels, unit["kept"], unit["seed"])
        model = make_model(unit["model"], chosen).fit(split.counts, labels)
        return [model.perplexities(split.test_counts, split.test_labels)]

    def draw(self, rows: Sequence[Row]) -> Any:
        """A panel a corpus."""
        return draw_lines(rows, "kept", "share of training labels kept")

    def judge(self, rows: Sequence[Row]) -> list[Finding]:
        """Whether labels help, and which function does better with few."""
        claims = (
            "For both scaling functions perplexity decreases as more labels are observed",
            "HDSP outperforms wHDSP when less than half of the labels are observed",
            "HDSP reaches the perplexity of PLDA with 20 % of the labels",
        )
        if not rows:
            return [Finding(claim, "not yet run", "") for claim in claims]
        trends, parts, ratios = [], [], []
        few = [share for share in distinct(rows, "kept") if share < 0.5]
        for corpus in distinct(rows, "corpus"):
            both = select(rows, corpus=corpus)
            for model in ("HDSP", "wHDSP"):
                own = select(both, model=model)
                kept = distinct(own, "kept")
                values = [average(own, "perplexity", kept=share) for share in kept]
                trends.append(float(spearmanr(kept, values).statistic))
                parts.append(
                    f"{corpus} {model} {values[0]:,.0f} at {kept[0]} to {values[-1]:,.0f} at "
                    f"{kept[-1]} (rank correlation {trends[-1]:.2f})"
                )
            ratio = mean(
                [
                    average(both, "perplexity", kept=share, model="HDSP")
                    / average(both, "perplexity", kept=share, model="wHDSP")
                    for share in few
                ]
            )
            ratios.append(f"{corpus} {ratio:.2f}")
        falls = [trend <= _FALLING for trend in trends]
        n = len(distinct(rows, "seed"))
        (won, total), *others = (
            times_below(rows, measure, "HDSP", ["wHDSP"], "kept", few) for measure in JUDGED
        )
        calibrated, exact = (below for below, _ in others)
        return [
            Finding(claims[0], graded(all(falls), any(falls)), f"{'; '.join(parts)}; {n} run(s)"),
            Finding(
                claims[1],
                graded(won == total, won > total / 2),
                f"lower in {won} of {total} comparisons below 0.5 ({calibrated} by the "
                f"calibrated and {exact} by the exact expected topics); "
                f"HDSP's perplexity over wHDSP's there, on average: {'; '.join(ratios)}",
            ),
            Finding(claims[2], "not yet run", ""),
        ]


def thinned(labels: csr_array, kept: float, seed: int) -> csr_array:
    """Labels [M, J] of which each is kept with the same probability; smaller shares are nested."""
    result = labels.copy()
    result.data = (np.random.default_rng(seed).random(labels.nnz) < kept).astype(np.float64)
    result.eliminate_zeros()
    return result
