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
# Related topics that each topic brings.
_LINKS = 2
_RELEVANCES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def topic_view(model: Any, stability: Any = None) -> dict[str, Any]:
    """The topics without their words.

    Parameters
    ----------
    model : HDSP
        A fitted model.
    stability : table or None, default=None
        What ``HDSP.stability`` returned.
    """
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
    if model.n_returning_ is not None:
        result["returning"] = model.n_returning_ / len(model.components_)
    if stability is not None:
        frame = open_columns(stability, "the table")
        again: dict[str, Any] = {
            name: as_series(column).to_numpy() for name, column in frame.items()
        }
        if len(again["similarity"]) != result["n"]:
            raise ValueError(
                "`stability` of HDSP.report must be the table that stability of the same "
                f"model returns. Got {len(again['similarity'])} topics for {result['n']}."
            )
        result["similarity"] = rounded(again["similarity"])
        result["found_in"] = [int(n) for n in again["found_in"]]
        result["fits"] = int(again["fits"][0])
    return result


def word_view(model: Any) -> dict[str, Any]:
    """The words of topics, with their probabilities, by any relevance.

    The relevance of word i to topic k is lambda ln phi_ki + (1 - lambda) ln(phi_ki / p_i) (Sievert
    and Shirley, 2014): probable words at 1, those that occur nowhere else at 0.
    """
    share = word_share(model._model)
    overall = word_frequency(model, share)
    chosen = [np.unique(np.concatenate(_candidates(row, overall))) for row in share]
    used = np.unique(np.concatenate(chosen))
    position = np.full(len(overall), -1)
    position[used] = np.arange(len(used))
    return {
        "words": [model.words_[i] for i in used],
        "overall": rounded(overall[used]),
        "topics": [
            {"words": position[own].tolist(), "p": rounded(row[own])}
            for row, own in zip(share, chosen, strict=True)
        ],
    }


def side_view(model: Any) -> list[list[dict[str, Any]]] | None:
    """Words that levels of `content` use more than others, by topic; None without versions."""
    if model._model.state.versions is None:
        return None
    table = label_word_columns(model._model, None, None, 0.9)
    rows: list[list[dict[str, Any]]] = [[] for _ in range(len(model.components_))]
    shown: dict[tuple[int, str], int] = {}
    for n in np.argsort(-np.asarray(table["ratio"]), kind="stable"):
        topic, label = int(table["topic"][n]), str(table["label"][n])
        shown[topic, label] = shown.get((topic, label), 0) + 1
        if table["lower"][n] <= 1.0 or shown[topic, label] > _SIDE_WORDS:
            continue
        limits = {name: float(f"{table[name][n]:.4g}") for name in ("ratio", "lower", "upper", "n")}
        rows[topic].append({"label": label, "word": str(table["word"][n]), **limits})
    return [sorted(own, key=lambda row: row["label"]) for own in rows]


def related_view(model: Any, level: float) -> list[list[float | None]]:
    """Pairs of topics whose correlation is sure: both numbers, the correlation and its interval.

    Each topic brings its strongest.
    """
    table = correlation_columns(model._model, level)
    names = ("topic", "other", "correlation", "lower", "upper")
    rows = np.array([np.asarray(table[name], dtype=np.float64) for name in names]).T
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


def _candidates(share: FloatArray, overall: FloatArray) -> list[IntArray]:
    n = min(_WORDS, len(share))
    return [np.argsort(-relevance(share, overall, w), kind="stable")[:n] for w in _RELEVANCES]
