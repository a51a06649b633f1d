"""Topics as the report shows them: sizes, measures, and words for any relevance."""

from typing import Any

import numpy as np

from hdsp.analysis.checks import junk_sentence
from hdsp.analysis.fitted import FittedModel
from hdsp.analysis.topics import correlation_columns, topic_columns, word_share
from hdsp.analysis.words import label_word_columns
from hdsp.corpus.frames import as_series, open_columns
from hdsp.numerics import FloatArray
from hdsp.report.packing import rounded

# Words of a topic at one relevance, of a group's version of it, and the relevances whose words a
# page holds.
_WORDS, _SIDE_WORDS = 30, 8
_WEIGHTS = np.linspace(0.0, 1.0, 11)
# Related topics.
_MOST_PAIRS = 500


def topic_view(model: Any, stability: Any = None) -> dict[str, Any]:
    """The topics without their words; `stability` is the table of `HDSP.stability`, if any."""
    table, n_topics = topic_columns(model._model), len(model.components_)
    result: dict[str, Any] = {
        "n": n_topics,
        "in_use": int(model.n_topics_),
        **{name: rounded(table[name]) for name in ("weight", "share", "coherence")},
        "distinctive": table["distinctive_words"],
        "junk": junk_sentence(model._model),
    }
    if stability is not None:
        frame = open_columns(stability, "the table")
        if len(frame["similarity"]) != n_topics:
            raise ValueError(
                "`stability` must be the table that `stability` of the same model returns, got "
                f"{len(frame['similarity'])} topics for {n_topics}."
            )
        names = ("similarity", "found_in", "fits")
        similarity, found_in, fits = (as_series(frame[name]).tolist() for name in names)
        result |= {"similarity": rounded(similarity), "found_in": found_in, "fits": fits[0]}
    return result


def word_view(model: Any) -> dict[str, Any]:
    """The words of topics, with their probabilities, by any relevance.

    The relevance of word i to topic k is lambda ln phi_ki + (1 - lambda) ln(phi_ki / p_i) (Sievert
    and Shirley, 2014): probable words at 1, those that occur nowhere else at 0.
    """
    share = word_share(model._model)
    overall = word_frequency(model._model, share)
    # The words of each topic that have the largest relevance at some weight.
    orders = [np.argsort(-relevance(share, overall, w), kind="stable") for w in _WEIGHTS]
    chosen = [np.unique(row) for row in np.hstack([order[:, :_WORDS] for order in orders])]
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


def related_view(model: Any, level: float) -> list[list[Any]]:
    """Pairs of topics whose correlations surely differ from 0, the strongest first.

    Both numbers, the correlation and its interval.
    """
    import pandas as pd

    columns = ["topic", "other", "correlation", "lower", "upper"]
    table = pd.DataFrame(correlation_columns(model._model, level))[columns]
    table = table[(table["lower"] > 0) | (table["upper"] < 0)]
    table = table.sort_values("correlation", key=np.abs, ascending=False, kind="stable")
    rows = table[:_MOST_PAIRS].itertuples(index=False)
    return [[topic, other, *rounded(found, 4)] for topic, other, *found in rows]


def word_frequency(fitted: FittedModel, share: FloatArray) -> FloatArray:
    """The probability of each word over all topics, [V]."""
    return np.asarray(fitted.tokens @ share / fitted.tokens.sum())


def relevance(share: FloatArray, overall: FloatArray, weight: float) -> FloatArray:
    """The relevance of words to topics, [T, V] or [V]."""
    logarithm = np.log(np.maximum(share, 1e-300))
    return np.asarray(logarithm - (1.0 - weight) * np.log(np.maximum(overall, 1e-300)))
