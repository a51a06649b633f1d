"""Topics: their names, those that a reader has merged, and tables of them and their words."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from hdsp.checks import check_known, check_merges, check_share, check_topic_names, count_of
from hdsp.exceptions import UnreliableTopicsWarning, warn_caller
from hdsp.fit.run import topics_in_use
from hdsp.metrics import frex, topic_top_words
from hdsp.numerics import FloatArray
from hdsp.storage.codec import require

if TYPE_CHECKING:
    from hdsp.analysis.fitted import FittedModel

# A table before it is a frame of some library.
Columns: TypeAlias = dict[str, list[Any]]
# Words of a topic in tables of something else.
_WORDS = 5
# Labels in each of the columns `raised_by` and `lowered_by` of the table of topics.
_ASSOCIATED = 3


@dataclass(frozen=True)
class TopicGroups:
    """The fitted topics that each topic holds: a reader has merged some.

    A model keeps the topics of its fit, and computes with them. Merged topics are sums on top: the
    proportions of documents, what labels lead one to expect, effects and every draw of them add up
    exactly, and no prediction of words or labels changes.

    Attributes
    ----------
    members : tuple of tuple of int
        Every fitted topic is in one of them.
    """

    members: tuple[tuple[int, ...], ...]

    def check_stored(self) -> None:
        """Raise if a file holds groups that nobody makes."""
        topics = sorted(topic for group in self.members for topic in group)
        once = all(self.members) and topics == list(range(len(topics)))
        require(once, "its merged topics are not each of the fitted ones once")

    @classmethod
    def single(cls, n_topics: int) -> "TopicGroups":
        """Every topic on its own, as it was fitted."""
        return cls(tuple((k,) for k in range(n_topics)))

    def __len__(self) -> int:
        return len(self.members)

    def sum(self, values: FloatArray) -> FloatArray:
        """Add up the last axis, over fitted topics, within each topic."""
        if self == TopicGroups.single(len(self)):
            return values
        starts = np.cumsum([0, *map(len, self.members[:-1])])
        return np.asarray(np.add.reduceat(values[..., np.concatenate(self.members)], starts, -1))

    def joined(self, sets: Iterable[Sequence[int]]) -> "TopicGroups":
        """The groups where each of `sets` is one topic, in the place of its first; others stay."""
        members = list(self.members)
        gone: set[int] = set()
        for topics in sets:
            first, *others = topics
            members[first] = tuple(sorted(m for k in topics for m in self.members[k]))
            gone.update(others)
        return TopicGroups(tuple(own for k, own in enumerate(members) if k not in gone))

    def grown(self, n_topics: int) -> "TopicGroups":
        """With further fitted topics, each on its own, up to so many."""
        known = sum(len(own) for own in self.members)
        return TopicGroups((*self.members, *((k,) for k in range(known, n_topics))))

    def ordered(self, order: Iterable[int]) -> "TopicGroups":
        """The same topics in another order."""
        return TopicGroups(tuple(self.members[k] for k in order))


def with_topic_names(fitted: "FittedModel", names: Mapping[int, str | None]) -> "FittedModel":
    """The model with other names of topics; see `HDSP.name_topics`."""
    check_topic_names(names, len(fitted.groups))
    changed = {**fitted.topic_names, **{int(topic): name for topic, name in names.items()}}
    kept = {topic: " ".join(name.split()) for topic, name in sorted(changed.items()) if name}
    return replace(fitted, topic_names=kept)


def with_merged_topics(
    fitted: "FittedModel", topics: Sequence[int] | Sequence[Sequence[int]]
) -> "FittedModel":
    """The model in which some topics are one; see `HDSP.merge_topics`."""
    groups = fitted.groups.joined(check_merges(topics, len(fitted.groups)))
    tokens = groups.sum(fitted.topic_tokens())
    groups = groups.ordered(np.argsort(-tokens, kind="stable").tolist())
    names = {}
    for topic, members in enumerate(groups.members):
        parts = [k for k, own in enumerate(fitted.groups.members) if set(own) <= set(members)]
        named = [fitted.topic_names[k] for k in parts if k in fitted.topic_names]
        if named:
            names[topic] = " + ".join(named)
    report = replace(fitted.report, n_topics=topics_in_use(tokens, fitted.n_documents))
    return replace(fitted, report=report, topic_names=names, merged_topics=groups)


def name_column(fitted: "FittedModel", topics: Iterable[int]) -> Columns:
    """The column `name` of a table with a row for each of `topics`, if topics have names."""
    names = fitted.topic_names
    return {"name": [names.get(int(k), "") for k in topics]} if names else {}


def topic_part(fitted: "FittedModel", topics: Iterable[int]) -> Columns:
    """The columns `topic`, `name` if topics have names, and `words`, of a row for each topic."""
    numbers = [int(k) for k in topics]
    words = joined(top_words(fitted, _WORDS))
    named = name_column(fitted, numbers)
    return {"topic": numbers, **named, "words": [words[k] for k in numbers]}


def top_words(fitted: "FittedModel", n: int = 10) -> list[list[str]]:
    """The most probable words of each topic, as `HDSP.top_words` returns them."""
    return _spelled(fitted, topic_top_words(fitted.components, n))


def frex_words(fitted: "FittedModel", n: int) -> list[list[str]]:
    """The words of each topic that are frequent in it and exclusive to it."""
    return _spelled(fitted, topic_top_words(frex(fitted.components), n))


def distinctive_words(fitted: "FittedModel", n: int) -> list[list[str]]:
    """The words whose probability each topic raises most, by phi_ki ln(phi_ki / mean_i)."""
    share = word_share(fitted)
    gain = share * (np.log(share) - np.log(fitted.topic_weight @ share))
    return _spelled(fitted, np.argsort(-gain, axis=1, kind="stable")[:, :n])


def _spelled(fitted: "FittedModel", rows: Iterable[Iterable[int]]) -> list[list[str]]:
    return [[fitted.source.words[i] for i in row] for row in rows]


def joined(lists: Iterable[list[str]]) -> list[str]:
    """The words of each topic as one text."""
    return [" ".join(words) for words in lists]


def topic_columns(
    fitted: "FittedModel", n_words: int = 10, effects: Columns | None = None
) -> Columns:
    """The columns of `HDSP.topics`; `effects` are the columns of `HDSP.label_effects`."""
    # Whoever reads topics learns that they may be chance.
    count_returning(fitted)
    topics = range(len(fitted.groups))
    columns: Columns = {
        "topic": list(topics),
        "name": [fitted.topic_names.get(k, "") for k in topics],
        "share": (fitted.tokens / fitted.tokens.sum()).tolist(),
        "words": joined(top_words(fitted, n_words)),
        "distinctive_words": joined(distinctive_words(fitted, n_words)),
        "frex_words": joined(frex_words(fitted, n_words)),
        "coherence": fitted.coherence.tolist(),
        "weight": fitted.topic_weight.tolist(),
    }
    if fitted.merged_topics is not None:
        columns["fitted_topics"] = ["+".join(map(str, own)) for own in fitted.groups.members]
    if effects is not None and effects["label"]:
        effect, lower, upper = (
            np.reshape(effects[name], (-1, len(topics))) for name in ("effect", "lower", "upper")
        )
        names, sure = effects["label"][:: len(topics)], (lower > 0) | (upper < 0)
        for name, signed in (("raised_by", effect), ("lowered_by", -effect)):
            size = np.where(sure, signed, 0.0)
            order = np.argsort(-size, axis=0, kind="stable")[:_ASSOCIATED].T
            columns[name] = [
                [names[j] for j in row if size[j, k] > 0] for k, row in enumerate(order)
            ]
    return columns


def word_columns(fitted: "FittedModel", word: str) -> Columns:
    """The columns of `HDSP.topics_of_word`."""
    words = fitted.source.words
    if word not in words:
        near = difflib.get_close_matches(str(word), words, n=3) or words
        what = f"one of {len(words)} words, such as"
        check_known(word, near, "word", "HDSP.topics_of_word", what)
    probability = word_share(fitted)[:, words.index(word)]
    tokens = probability * fitted.tokens
    order = np.argsort(-tokens, kind="stable")
    texts = joined(top_words(fitted))
    return {
        "topic": order.tolist(),
        **name_column(fitted, order),
        "share": (tokens[order] / tokens.sum()).tolist(),
        "probability": probability[order].tolist(),
        "words": [texts[k] for k in order],
    }


def correlation_columns(fitted: "FittedModel", level: float) -> Columns:
    """The columns of `HDSP.topic_correlations`."""
    check_share(level, "level", "HDSP.topic_correlations")
    correlations = fitted.correlations
    # A merged topic has no correlations.
    number = np.full(fitted.state.n_topics, -1)
    for k, own in enumerate(fitted.groups.members):
        number[own[0]] = k if len(own) == 1 else -1
    pairs = np.sort(number[np.array(np.triu_indices(correlations.n_topics, 1))], axis=0)
    rows = np.lexsort(pairs[::-1])
    rows = rows[pairs[0, rows] >= 0]
    first, second = pairs[:, rows].tolist()
    columns: Columns = {"topic": first, **name_column(fitted, first), "other": second}
    columns |= {f"other_{name}": own for name, own in name_column(fitted, second).items()}
    limits = np.stack(correlations.intervals(level), axis=1)[:, :, rows].reshape(6, -1)
    names = ("correlation", "lower", "upper", "raw", "raw_lower", "raw_upper")
    return columns | dict(zip(names, limits.tolist(), strict=True))


def word_share(fitted: "FittedModel") -> FloatArray:
    """E[phi], [T, V]; rows sum to 1."""
    return np.asarray(fitted.components / fitted.components.sum(axis=1, keepdims=True))


# Of fewer topics than this share that short fits to two halves of the documents share, and of a
# coherence below the least, a warning says that topics may be chance.
_SHARE_RETURNING = 0.25
_LEAST_COHERENCE = 0.0
# So does a larger condition number of its topics.
_MOST_ALIKE = 1e4


def number_sentence(fitted: "FittedModel") -> str:
    """The number of topics, which others are about as good, and which would predict better."""
    report, n_topics = fitted.report, fitted.state.n_topics
    rows = [row for row in report.search if row["init"] == report.init]
    rows.sort(key=lambda row: row["topics"])
    topics = count_of(n_topics, "topic")
    if report.n_topics_range is None or len(rows) < 2:
        given = report.init == "array"
        return f"{topics}, {'of those that were given' if given else 'as many as were asked for'}."
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


def mixture_message(fitted: "FittedModel") -> str | None:
    """A warning of topics that are mixtures of others; None if there are none."""
    condition = fitted.reading.condition
    if condition <= _MOST_ALIKE:
        return None
    return (
        f"Some topics are nearly mixtures of others (condition number {condition:.0e}), so label "
        "effects on them can hardly be separated: fit fewer topics."
    )


def count_returning(fitted: "FittedModel") -> int | None:
    """Topics that two halves of the documents share; the first call warns if they are few."""
    known = "returning" in fitted.answers
    returning, n_topics = fitted.n_returning, fitted.state.n_topics
    if known or returning is None:
        return returning
    reasons = []
    if returning < _SHARE_RETURNING * n_topics:
        reasons.append(f"two halves of the documents share only {returning} of {n_topics}")
    if np.mean(fitted.coherence) <= _LEAST_COHERENCE:
        reasons.append("their words hardly go together")
    if reasons:
        length = fitted.tokens.sum() / fitted.n_documents
        warn_caller(
            f"Topics may be chance ({' and '.join(reasons)}): {fitted.n_documents:,} documents of "
            f"{length:.0f} words on average are too few or too short for {n_topics} topics; take "
            "fewer topics, or more or longer documents.",
            UnreliableTopicsWarning,
        )
    return returning


def provenance(model: "FittedModel", estimator: Any) -> dict[str, Any]:
    """The record of a fit as plain values; versions are empty in models of older files."""
    seed = estimator.random_state
    return {
        "versions": dict(model.report.versions),
        "random_state": None if seed is None or not hasattr(seed, "__index__") else int(seed),
        "settings": " ".join(repr(estimator).split()),
        "documents": model.n_documents,
        "words": len(model.source.words),
        "tokens": round(float(model.topic_tokens().sum())),
        "labels": len(model.schema.names),
        "topics": model.report.n_topics,
        "fingerprint": model.source.fingerprint,
    }
