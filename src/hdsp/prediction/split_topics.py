"""Topics that may be one subject in the words of two groups.

Where groups use other words for the same subject, a model without versions of topics gives each
group a topic of its own. The two share most of the words that set them apart from others, and a
label raises the one and lowers the other: effects that are about words, and not about subjects.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from hdsp.exceptions import SplitTopicsWarning
from hdsp.metrics import topic_top_words
from hdsp.numerics.types import FloatArray
from hdsp.prediction.contrasts import make_contrasts
from hdsp.prediction.fitted import FittedModel
from hdsp.validation import quoted

# Two topics are alike if they share this part of the words that set them apart from the corpus. In
# real corpora next to no pair shares a third; half of it warns of every corpus, and twice of it
# only where nearly all words are the same.
_SHARED = 1.0 / 3.0
# Labels that are looked at, those with the surest coefficients, and the level of their intervals.
_MOST_LABELS, _LEVEL = 10, 0.9
_WORDS = 3


@dataclass(frozen=True)
class SplitTopics:
    """A pair of topics that share words, and a label whose effects on them are opposite.

    Attributes
    ----------
    label, column : str
        The label, and the label column that it belongs to.
    topics : tuple of two int
        The topic that the label raises, and the one that it lowers.
    shared : float
        The share of the words that set the topics apart from others which they have in common.
    effects : tuple of two float
        The effects of the label.
    """

    label: str
    column: str
    topics: tuple[int, int]
    shared: float
    effects: tuple[float, float]


def shared_words(word_share: FloatArray, weight: FloatArray) -> FloatArray:
    """How much of the words that set topics apart from the corpus two of them share, [T, T].

    Parameters
    ----------
    word_share : float array of shape [V, T]
        The words of topics; columns sum to 1.
    weight : float array of shape [T]
        How much of the corpus is in each.
    """
    corpus = word_share @ (weight / max(weight.sum(), 1e-300))
    own = np.maximum(word_share - corpus[:, None], 0.0)
    total = np.maximum(own.sum(axis=0), 1e-300)
    # The affinity of two topics is no less than what they share, and one product for all pairs.
    root = np.sqrt(own)
    found = (root.T @ root) / np.minimum(total[:, None], total)
    np.fill_diagonal(found, 0.0)
    for k, m in np.argwhere(np.triu(found >= _SHARED)):
        found[k, m] = np.minimum(own[:, k], own[:, m]).sum() / min(total[k], total[m])
        found[m, k] = found[k, m]
    return np.where(found >= _SHARED, found, 0.0)


def find_split_topics(model: FittedModel) -> list[SplitTopics]:
    """Pairs of topics that are alike and have opposite effects, each with its surest label.

    Of a model whose topics nobody has merged.
    """
    if model.state.versions is not None or not model.used.any():
        return []
    alike = shared_words(model.word_share(), model.topic_tokens())
    first, second = np.nonzero(np.triu(alike))
    if not len(first):
        return []
    calibration = model.calibration
    contrasts = make_contrasts(model.schema, model.used, None, None, model.missing())
    columns = model.space.own[[contrast.second for contrast in contrasts]]
    # A topic gains by what its coefficient is above their mean, which is known much better.
    share = model.topic_tokens() / model.topic_tokens().sum()
    moved = calibration.coefficients[columns]
    moved = moved - (moved @ share)[:, None]
    ratio = moved / np.sqrt(np.maximum(calibration.variance[columns], 1e-300))
    sure = np.minimum(np.abs(ratio[:, first]), np.abs(ratio[:, second]))
    sure[ratio[:, first] * ratio[:, second] > 0.0] = 0.0
    best = sure.max(axis=1)
    chosen = np.argsort(-best, kind="stable")[:_MOST_LABELS]
    least = -ndtri((1.0 - _LEVEL) / 2.0)
    chosen = chosen[best[chosen] > least]
    contrasts = [contrasts[n] for n in chosen]
    effects = model.typical_effects(contrasts)
    sign = np.sign(effects) * (np.abs(ratio[chosen]) > least)
    found: dict[tuple[int, int], SplitTopics] = {}
    for n, contrast in enumerate(contrasts):
        for k, m in zip(first.tolist(), second.tolist(), strict=True):
            if sign[n, k] * sign[n, m] >= 0 or (k, m) in found:
                continue
            pair = (k, m) if sign[n, k] > 0 else (m, k)
            found[k, m] = SplitTopics(
                contrast.label,
                contrast.block,
                pair,
                float(alike[k, m]),
                (float(effects[n, pair[0]]), float(effects[n, pair[1]])),
            )
    return sorted(found.values(), key=lambda one: -one.shared)


def warn_of_split_topics(model: FittedModel) -> None:
    """Name topics that may be one subject in the words of two groups."""
    found = find_split_topics(model)
    if not found:
        return
    words = topic_top_words(model.state.topics.T, _WORDS)
    names = [f"{k} ({' '.join(model.source.words[i] for i in words[k])})" for k in found[0].topics]
    others = "" if len(found) == 1 else f", and {len(found) - 1} more pairs like these,"
    label, (up, down) = found[0].label, found[0].effects
    checked, remedy = label, ""
    if model.schema.kind(found[0].column) == "category":
        checked = found[0].column
        remedy = f"HDSP(content={checked!r}) gives groups their own words of a topic, and "
    warnings.warn(
        f"Topics {names[0]} and {names[1]}{others} share {found[0].shared:.0%} of the words that "
        f"set them apart, and {quoted([label])} raises the one by {100 * up:.1f} points and lowers "
        f"the other by {-100 * down:.1f}: they may be one subject in the words of two groups. "
        f"{remedy}check_labels(corpus, words={checked!r}) shows effects without such words.",
        SplitTopicsWarning,
        stacklevel=4,
    )
