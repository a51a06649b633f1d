"""Topics as the report shows them: sizes, measures, and words for any relevance."""

from typing import Any

import numpy as np

from hdsp.analysis.checks import junk_sentence
from hdsp.analysis.topics import correlation_columns, topic_columns, word_share
from hdsp.analysis.words import label_word_columns
from hdsp.corpus.frames import as_series, open_columns
from hdsp.numerics import FloatArray, IntArray
from hdsp.report.packing import rounded

# Words of a topic at one relevance, of a group's version of it, and the relevances whose words a
# page holds.
_WORDS = 30
_SIDE_WORDS = 8
_RELEVANCES = np.linspace(0.0, 1.0, 11)
# Related topics that each topic brings.
_LINKS = 2


def topic_view(model: Any, stability: Any = None) -> dict[str, Any]:
    """The topics without their words; `stability` is the table of `HDSP.stability`, if any."""
    table = topic_columns(model._model)
    result: dict[str, Any] = {
        "n": len(model.components_),
        "in_use": int(model.n_topics_),
        "weight": rounded(model.topic_weight_),
        "share": rounded(table["share"]),
        "coherence": rounded(table["coherence"]),
        "distinctive": table["distinctive_words"],
        "junk": junk_sentence(model._model),
    }
    if stability is None:
        return result
    frame = open_columns(stability, "the table")
    again = {name: as_series(column).to_numpy() for name, column in frame.items()}
    if len(again["similarity"]) != result["n"]:
        raise ValueError(
            "`stability` must be the table that `stability` of the same model returns, got "
            f"{len(again['similarity'])} topics for {result['n']}."
        )
    found = {"similarity": rounded(again["similarity"]), "fits": int(again["fits"][0])}
    return result | found | {"found_in": again["found_in"].astype(int).tolist()}


def word_view(model: Any) -> dict[str, Any]:
    """The words of topics, with their probabilities, by any relevance.

    The relevance of word i to topic k is lambda ln phi_ki + (1 - lambda) ln(phi_ki / p_i) (Sievert
    and Shirley, 2014): probable words at 1, those that occur nowhere else at 0.
    """
    share = word_share(model._model)
    overall = word_frequency(model, share)
    chosen = [_candidates(row, overall) for row in share]
    used = np.unique(np.concatenate(chosen))
    return {
        "words": [model.words_[i] for i in used],
        "overall": rounded(overall[used]),
        "topics": [
            {"words": np.searchsorted(used, own).tolist(), "p": rounded(row[own])}
            for row, own in zip(share, chosen, strict=True)
        ],
    }


def side_view(model: Any) -> list[list[dict[str, Any]]] | None:
    """Words that levels of `content` use more than others, by topic; None without versions."""
    if model._model.state.versions is None:
        return None
    import pandas as pd

    columns = ["topic", "label", "word", "ratio", "lower", "upper", "n"]
    table = pd.DataFrame(label_word_columns(model._model, None, None, 0.9))[columns]
    table = table.sort_values("ratio", ascending=False, kind="stable")
    table = table.groupby(["topic", "label"]).head(_SIDE_WORDS)
    table = table[table["lower"] > 1.0].sort_values("label", kind="stable")
    numbers = ["ratio", "lower", "upper", "n"]
    table[numbers] = np.array([rounded(table[name], 4) for name in numbers], dtype=float).T
    rows: Any = table.to_dict("records")
    return [[row for row in rows if row["topic"] == k] for k in range(len(model.components_))]


def related_view(model: Any, level: float) -> list[list[float | None]]:
    """Pairs of topics whose correlation is sure: both numbers, the correlation and its interval.

    Each topic brings its strongest.
    """
    table = correlation_columns(model._model, level)
    names = ("topic", "other", "correlation", "lower", "upper")
    rows = np.array([table[name] for name in names], dtype=np.float64).T
    rows = rows[(rows[:, 3] > 0) | (rows[:, 4] < 0)]
    rows = rows[np.argsort(-np.abs(rows[:, 2]), kind="stable")]
    kept = np.zeros(len(rows), dtype=bool)
    for topic in np.unique(rows[:, :2]):
        kept[np.flatnonzero((rows[:, :2] == topic).any(axis=1))[:_LINKS]] = True
    return [[int(a), int(b), *rounded(found, 4)] for a, b, *found in rows[kept].tolist()]


def word_frequency(model: Any, share: FloatArray) -> FloatArray:
    """The probability of each word over all topics, [V]."""
    return np.asarray(model.topic_tokens_ @ share / model.topic_tokens_.sum())


def relevance(share: FloatArray, overall: FloatArray, weight: float) -> FloatArray:
    """The relevance of words to one topic, [V]."""
    logarithm = np.log(np.maximum(share, 1e-300))
    return np.asarray(logarithm - (1.0 - weight) * np.log(np.maximum(overall, 1e-300)))


def _candidates(share: FloatArray, overall: FloatArray) -> IntArray:
    """The words of a topic that have the largest relevance at some weight."""
    orders = [np.argsort(-relevance(share, overall, w), kind="stable") for w in _RELEVANCES]
    return np.unique([order[:_WORDS] for order in orders])
