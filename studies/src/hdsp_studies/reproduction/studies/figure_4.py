"""Figure 4: perplexity of held-out documents given their labels."""

from collections.abc import Sequence
from typing import Any

from hdsp_studies.comparison import CorpusFolder, perplexities
from hdsp_studies.reproduction.intervals import with_interval
from hdsp_studies.reproduction.models import fit_model, split_unit
from hdsp_studies.reproduction.studies.perplexity import (
    MEASURES,
    TopicPriorStudy,
    average,
    by_both,
    draw_lines,
    over_seeds,
    times_below,
)
from hdsp_studies.reproduction.study import Finding, Row, Settings, distinct, mean, select

_OWN = ("HDSP", "wHDSP")
_FOUND = "HDSP found"
_LLDA, _PLDA = ("L-LDA",), ("PLDA-2", "PLDA-5")
# Peers by the claims of the paper.
_CLAIMS = {
    "HDSP and wHDSP have lower perplexity than HDP": ("HDP",),
    "HDSP and wHDSP have lower perplexity than L-LDA": _LLDA,
    "HDSP and wHDSP have lower perplexity than PLDA": _PLDA,
    "HDSP and wHDSP have lower perplexity than ATM (NIPS)": ("ATM-50", "ATM-100", "ATM-150"),
}
_ORDER = "Of the labelled models L-LDA has the highest perplexity, then PLDA, then HDSP and wHDSP"


class Figure4(TopicPriorStudy):
    """Perplexity against the Dirichlet parameter of topics, by model and corpus."""

    name = "figure-4"
    title = "Figure 4: perplexity of held-out documents given their labels"
    about = (
        "A fifth of the documents is held out; words and labels (20 training documents or more; "
        "authors, two) are chosen by the training documents alone. HDSP, wHDSP and HDP are fitted "
        "as in the paper: T is 200 and all topics are kept; three passes of LDA to start from; "
        "everything but eta is learned; a fit stops when the bound changes by less than 0.001 of "
        "itself. `HDSP found`, which the paper does not have, is HDSP as the library fits it: it "
        "starts from NMF and finds the number of topics, 200 at most. Solid lines are the paper's "
        "measure, which takes what is expected of a document from the model's prior: beta p_k "
        "E[s_k] in HDSP, the same for all topics of its labels in L-LDA and PLDA, the mean over "
        "its authors in ATM. Dashed ones (`calibrated`) learn it from the training documents: "
        "HDSP by a regression of their topics on their labels, L-LDA and PLDA by how much "
        "documents use the topics that they may have. L-LDA and PLDA are tomotopy's (300 sweeps, "
        "of which the last is taken; the paper runs 5,000) with a symmetric prior, ATM is "
        "gensim's (20 passes). The corpora are not the paper's: rcv1_subset is a part of RCV1, "
        "medline_mesh has MEDLINE abstracts with 52 MeSH headings as the paper's OHSUMED has, "
        "ohsumed23 is OHSUMED with 23 disease categories, NIPS goes to 1999 (the paper: 2003). "
        "In NIPS a word may be in 90 % of the documents, elsewhere in 30 %. A claim holds if it "
        "does by both measures. The paper averages 20 runs."
    )
    claims = (*_CLAIMS, _ORDER)

    def measure(self, unit: Row, settings: Settings, corpora: CorpusFolder) -> list[dict[str, Any]]:
        """Perplexities of the test documents."""
        train, test, chosen = split_unit(unit, settings, corpora)
        return [perplexities(fit_model(unit["model"], train, chosen), test)]

    def draw(self, rows: Sequence[Row]) -> Any:
        """One panel for each corpus."""
        return draw_lines(rows, "topic_prior", "eta")

    def assess(self, rows: Sequence[Row]) -> list[Finding]:
        """HDSP and wHDSP against each peer, over corpora and etas."""
        result = [_against(rows, peers, claim) for claim, peers in _CLAIMS.items()]
        return [*result, _order(rows)]


def _compared(rows: Sequence[Row], models: Sequence[str]) -> list[Row]:
    """The rows of corpora on which one of these models is measured."""
    corpora = {row["corpus"] for row in rows if row["model"] in models}
    return [row for row in rows if row["corpus"] in corpora]


def _against(rows: Sequence[Row], named: Sequence[str], claim: str) -> Finding:
    """One claim: in how many settings are HDSP and wHDSP below every one of the peers?"""
    rows = _compared(rows, named)
    if not rows:
        return Finding(claim, "not yet run")
    peers = [name for name in named if select(rows, model=name)]
    etas = distinct(rows, "topic_prior")
    counted = []
    for measure in MEASURES:
        pairs = [times_below(rows, measure, own, peers, "topic_prior", etas) for own in _OWN]
        counted.append((sum(won for won, _ in pairs), sum(total for _, total in pairs)))
    parts = []
    for corpus in distinct(rows, "corpus"):
        own = select(rows, corpus=corpus)
        shown = (*_OWN, *peers, *([_FOUND] if select(own, model=_FOUND) else []))
        parts.append(f"{corpus} " + ", ".join(_best(own, model, etas) for model in shown))
    (won, total), (calibrated, _) = counted
    return Finding(
        claim,
        by_both(counted),
        f"lower in {won} of {total} comparisons by the paper's measure, {calibrated} calibrated; "
        f"best over eta, the paper's measure / calibrated: {'; '.join(parts)}",
    )


def _best(rows: Sequence[Row], model: str, etas: Sequence[float]) -> str:
    """A model's lowest perplexities over eta, by the paper's measure and calibrated."""
    found = []
    for measure in MEASURES:
        by_eta = [over_seeds(rows, measure, model=model, topic_prior=eta) for eta in etas]
        if any(by_eta):
            found.append(with_interval(min(filter(None, by_eta), key=mean), ",.0f"))
    return f"{model} {' / '.join(found)}"


def _order(rows: Sequence[Row]) -> Finding:
    """Whether L-LDA is above every PLDA, and every PLDA above HDSP and wHDSP."""
    rows = [row for row in _compared(rows, _LLDA) if row["model"] in (*_LLDA, *_PLDA, *_OWN)]
    if not rows:
        return Finding(_ORDER, "not yet run")
    counted, means = [], []
    settings = [(c, e) for c in distinct(rows, "corpus") for e in distinct(rows, "topic_prior")]
    for measure in MEASURES:
        kept = 0
        for corpus, eta in settings:
            at = {"corpus": corpus, "topic_prior": eta}
            levels = [
                [average(rows, measure, model=model, **at) for model in models]
                for models in (_LLDA, _PLDA, _OWN)
            ]
            kept += min(levels[0]) > max(levels[1]) and min(levels[1]) > max(levels[2])
        counted.append((kept, len(settings)))
        means.append({m: average(rows, measure, model=m) for m in distinct(rows, "model")})
    shown = ", ".join(f"{m} {means[0][m]:,.0f} / {means[1][m]:,.0f}" for m in means[0])
    return Finding(
        _ORDER,
        by_both(counted),
        f"in this order in {counted[0][0]} of {counted[0][1]} settings by the paper's measure, "
        f"{counted[1][0]} calibrated; means over corpora and eta: {shown}",
    )
