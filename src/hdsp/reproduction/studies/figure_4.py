"""Figure 4: perplexity of held-out documents given their labels."""

from collections.abc import Sequence
from typing import Any

from hdsp.reproduction.corpora import Source
from hdsp.reproduction.models import fit_settings, make_model
from hdsp.reproduction.studies.perplexity import (
    JUDGED,
    average,
    draw_lines,
    fits_by_topic_prior,
    times_below,
)
from hdsp.reproduction.study import Finding, Row, Settings, Study, distinct, graded, select

_OWN = ("HDSP", "wHDSP")
# Peers of the paper by their claims; those without rows are not yet run.
_PEERS = {
    "HDP": "HDSP and wHDSP have lower perplexity than HDP",
    "L-LDA": "HDSP and wHDSP have lower perplexity than L-LDA",
    "PLDA": "HDSP and wHDSP have lower perplexity than PLDA",
    "ATM": "HDSP and wHDSP have lower perplexity than ATM (NIPS)",
}


class Figure4(Study):
    """Perplexity against the Dirichlet parameter of topics, by model and corpus."""

    name = "figure-4"
    title = "Figure 4: perplexity of held-out documents given their labels"
    about = (
        "A fifth of the documents is held out; words and labels (20 training documents or more) "
        "are chosen by the training documents alone. T is 200 and all topics are kept; three "
        "passes of LDA to start from; everything but eta is learned; a fit stops when the bound "
        "changes by less than 0.001 of itself. Solid lines are the paper's measure, which "
        "expects topics in proportion to beta p_k E[s_k]; dashed ones (`calibrated`) take the "
        "library's own expected topics, a regression of the training documents' topics on their "
        "labels. The corpora are not the paper's: rcv1_subset is a part of RCV1, medline_mesh "
        "has MEDLINE abstracts with 52 MeSH headings as the paper's OHSUMED has, ohsumed23 is "
        "OHSUMED with 23 disease categories. The paper averages 20 runs; the number here is in "
        "`config.toml`."
    )
    spans = ("models", "corpora", "topic_priors", "seeds")

    def units(self, settings: Settings) -> list[dict[str, Any]]:
        """One fit a corpus, model, eta and seed."""
        return fits_by_topic_prior(settings)

    def measure(self, unit: Row, settings: Settings, source: Source) -> list[dict[str, Any]]:
        """Perplexities of the test documents."""
        split = source.load(unit["corpus"], most_documents=settings.get("most_documents"))
        chosen = fit_settings(settings, unit["topic_prior"], unit["seed"], source.n_jobs)
        model = make_model(unit["model"], chosen).fit(split.counts, split.labels)
        return [model.perplexities(split.test_counts, split.test_labels)]

    def draw(self, rows: Sequence[Row]) -> Any:
        """A panel a corpus."""
        return draw_lines(rows, "topic_prior", "eta", ylim=(0, None))

    def judge(self, rows: Sequence[Row]) -> list[Finding]:
        """HDSP and wHDSP against each peer, over corpora and etas."""
        models = distinct(rows, "model")
        result = []
        for peer, claim in _PEERS.items():
            found = [model for model in models if str(model).partition("-")[0] == peer]
            found = found or [model for model in models if model == peer]
            if not found:
                result.append(Finding(claim, "not yet run", ""))
                continue
            result.append(_against(rows, found, claim))
        return result


def _against(rows: Sequence[Row], peers: Sequence[str], claim: str) -> Finding:
    """One claim: in how many settings are HDSP and wHDSP below every one of `peers`?"""
    etas = distinct(rows, "topic_prior")
    counted = {}
    for measure in JUDGED:
        pairs = [times_below(rows, measure, own, peers, "topic_prior", etas) for own in _OWN]
        counted[measure] = sum(won for won, _ in pairs), sum(total for _, total in pairs)
    parts = []
    for corpus in distinct(rows, "corpus"):
        own = select(rows, corpus=corpus)
        best = {
            model: min(average(own, "perplexity", model=model, topic_prior=e) for e in etas)
            for model in (*_OWN, *peers)
        }
        parts.append(f"{corpus} " + ", ".join(f"{m} {value:,.0f}" for m, value in best.items()))
    won, total = counted["perplexity"]
    n = len(distinct(rows, "seed"))
    return Finding(
        claim,
        graded(won == total, won > total / 2),
        f"lower in {won} of {total} comparisons ({counted['calibrated'][0]} by the "
        f"calibrated and {counted['exact'][0]} by the exact expected topics); "
        f"best over eta: {'; '.join(parts)}; {n} run(s)",
    )
