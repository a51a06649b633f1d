"""How the number of topics was found, in a sentence; and when topics are not to be trusted."""

import numpy as np

from hdsp.prediction import FittedModel

# Of fewer topics than this share that short fits to two halves of the documents share, and of a
# coherence below the least, a fit says that its topics may be chance.
_SHARE_RETURNING = 0.25
_LEAST_COHERENCE = 0.0


def number_sentence(fitted: FittedModel) -> str:
    """The number of topics, which others are about as good, and which would predict better."""
    report, n_topics = fitted.report, fitted.state.n_topics
    rows = sorted(
        (row for row in report.search if row["init"] == report.init), key=lambda row: row["topics"]
    )
    topics = "1 topic" if n_topics == 1 else f"{n_topics} topics"
    if report.n_topics_range is None or len(rows) < 2:
        given = (
            "of those that were given" if report.init == "array" else "as many as were asked for"
        )
        return f"{topics}, {given}."
    low, high = report.n_topics_range
    sentence = topics if low == high else f"{topics} ({low} to {high} are about as good)"
    best = min(rows, key=lambda row: row["perplexity"])
    tried = [row["topics"] for row in rows]
    here = np.interp(np.log(n_topics), np.log(tried), [row["perplexity"] for row in rows])
    better = 1.0 - best["perplexity"] / float(here)
    if best["topics"] > high and better >= 0.005:
        more = f"{best['topics']} or more" if best is rows[-1] else str(best["topics"])
        return f"{sentence}; {more} would predict new words better, by {100 * better:.2g} %."
    return f"{sentence}; neither more nor fewer predict new words better."


def doubts(fitted: FittedModel) -> str | None:
    """Why topics may be chance, and what to do, in a sentence; None if nothing speaks for it."""
    report, n_topics = fitted.report, fitted.state.n_topics
    if report.returning is None:
        return None
    n_documents = fitted.training.n_documents
    length = fitted.tokens.sum() / n_documents
    found = []
    if report.returning < _SHARE_RETURNING * n_topics:
        found.append(f"two halves of the documents share only {report.returning} of {n_topics}")
    if float(np.mean(report.coherence)) <= _LEAST_COHERENCE:
        found.append("their words hardly go together")
    if not found:
        return None
    return (
        f"Topics may be chance ({' and '.join(found)}): {n_documents:,} documents of "
        f"{length:.0f} words on average are too few or too short for {n_topics} topics; take fewer "
        "topics, or more or longer documents."
    )
