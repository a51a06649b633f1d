"""Tables of topics, and of the topics that a word is in."""

import difflib

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hdsp.metrics import topic_top_words
from hdsp.numerics.types import FloatArray
from hdsp.prediction import associated_labels, distinctive_words, make_contrasts
from hdsp.queries.attributes import Columns, FittedAttributes
from hdsp.validation import quoted

# Labels in each of the columns `raised_by` and `lowered_by` of the table of topics.
_ASSOCIATED = 3


def top_words(model: FittedAttributes, n: int = 10) -> list[list[str]]:
    """The most probable words of each topic, as `HDSP.top_words` returns them."""
    check_is_fitted(model)
    return [[model.words_[i] for i in row] for row in topic_top_words(model.components_, n)]


def topic_columns(model: FittedAttributes, n_words: int = 10) -> Columns:
    """The columns of `HDSP.topics`."""
    check_is_fitted(model)
    fitted = model._model
    distinctive = distinctive_words(_word_share(model), model.topic_weight_, n_words)
    tokens = model.topic_tokens_
    n_topics = len(tokens)
    columns: Columns = {"topic": list(range(n_topics))}
    if fitted.topic_names:
        columns["name"] = [fitted.topic_names.get(k, "") for k in range(n_topics)]
    if fitted.merged_topics is not None:
        columns["fitted_topics"] = ["+".join(map(str, own)) for own in model.fitted_topics_]
    columns |= {
        "weight": model.topic_weight_.tolist(),
        "token_share": (tokens / tokens.sum()).tolist(),
        "top_words": [" ".join(words) for words in top_words(model, n_words)],
        "distinctive_words": [" ".join(model.words_[i] for i in row) for row in distinctive],
        "coherence": model._model.report.coherence.tolist(),
    }
    contrasts = make_contrasts(fitted.schema, model._used(), None, None, fitted.missing())
    if contrasts:
        effect = fitted.groups.sum(fitted.typical_effects(contrasts))
        names = [contrast.label for contrast in contrasts]
        raised, lowered = associated_labels(effect, _ASSOCIATED)
        columns["raised_by"] = [[names[j] for j in row] for row in raised]
        columns["lowered_by"] = [[names[j] for j in row] for row in lowered]
    return columns


def word_columns(model: FittedAttributes, word: str) -> Columns:
    """The columns of `HDSP.topics_of_word`."""
    check_is_fitted(model)
    if word not in model.words_:
        near = difflib.get_close_matches(str(word), model.words_, n=3)
        raise ValueError(
            f"`word` of HDSP.topics_of_word must be one of the model's {len(model.words_)} words. "
            f"Got {word!r}. {f'Did you mean {quoted(near)}?' if near else 'It counts others.'}"
        )
    fitted = model._model
    probability = _word_share(model)[:, model.words_.index(word)]
    share = probability * model.topic_tokens_
    share = share / share.sum()
    order = np.argsort(-share, kind="stable")
    words = top_words(model)
    columns: Columns = {"topic": order.tolist()}
    if fitted.topic_names:
        columns["name"] = [fitted.topic_names.get(int(k), "") for k in order]
    return columns | {
        "share": share[order].tolist(),
        "probability": probability[order].tolist(),
        "top_words": [" ".join(words[k]) for k in order],
    }


def _word_share(model: FittedAttributes) -> FloatArray:
    """E[phi], [T, V]; rows sum to 1."""
    return np.asarray(model.components_ / model.components_.sum(axis=1, keepdims=True))
