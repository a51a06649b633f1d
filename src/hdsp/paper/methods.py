"""The methods of an analysis in words, from the model's own record."""

import platform
from collections.abc import Iterator
from dataclasses import fields
from importlib.metadata import version
from typing import Any

import numpy as np

from hdsp.corpus import Corpus, TextSettings
from hdsp.corpus.schema import BlockSchema
from hdsp.prediction import FittedModel
from hdsp.report.fit import PACKAGES
from hdsp.validation import count_of, listed, quoted

_STARTS = {
    "nmf": "a non-negative matrix factorisation of the documents",
    "words": "clusters of documents whose words go together",
    "pairs": "a factorisation of pairs of words that go together",
    "lda": "three passes of latent Dirichlet allocation",
    "random": "random topics",
    "array": "topics that were given",
}
_CHOICES = {
    "prediction": "the number that predicts held-out words best was taken",
    "elbow": "the number beyond which one per cent more topics add less than .15 per cent to what "
    "they tell of held-out words was taken",
    "auto": "the number that predicts held-out words best was taken or, if more topics go on "
    "predicting better, the one beyond which they hardly add to it",
}


def methods_text(model: Any, corpus: Corpus | None, robustness: str | None) -> str:
    """Paragraphs of methods in Markdown, with Pandoc's citations.

    Parameters
    ----------
    model : HDSP
        A fitted model.
    corpus : Corpus or None
        Its training documents, which know more of labels and groups than the model's record.
    robustness : str or None
        What refits say, in a few sentences; None where there were none.
    """
    fitted: FittedModel = model._model
    paragraphs = {
        "Documents": [*_documents(fitted), *_labels(fitted, corpus)],
        "Model": [*_model(model, fitted), *_number(model, fitted)],
        "Topics": _topics(model),
        "Effects": _effects(fitted, corpus),
        "Robustness": [
            robustness
            or "How far topics and effects depend on the number of topics and on the seed was not "
            "examined."
        ],
        "Software": [
            f"All computations used hdsp {version('hdsp')} with Python {platform.python_version()}",
            *(f"{name} {version(name)}" for name in PACKAGES[1:]),
        ],
    }
    paragraphs["Software"] = [", ".join(paragraphs["Software"]) + "."]
    texts = (f"**{title}.** {' '.join(told)}" for title, told in paragraphs.items() if told)
    return "# Methods\n\n" + "\n\n".join(texts) + "\n"


def _documents(fitted: FittedModel) -> Iterator[str]:
    n_documents, tokens = fitted.training.n_documents, float(fitted.tokens.sum())
    yield (
        f"The corpus has {n_documents:,} documents with {tokens:,.0f} tokens "
        f"({tokens / n_documents:,.0f} per document on average) of {len(fitted.source.words):,} "
        "different words."
    )
    settings = fitted.source.text_settings
    if settings is None:
        yield "Words were counted beforehand."
        return
    usual = TextSettings()
    how = f"by the pattern {_code(settings.token_pattern)}"
    if settings.tokenizer is not None:
        how = "by a function of our own"
    elif settings.token_pattern == usual.token_pattern:
        how = "into words of three letters or more"
    yield f"Texts were split {how}{' and set in lower case' * settings.lowercase}."
    removed = []
    if settings.language is not None:
        removed.append(f"{settings.language.capitalize()} stop words")
    if settings.stop_words:
        removed.append(count_of(len(settings.stop_words), "further word"))
    removed += _rare(settings, n_documents)
    if removed:
        yield f"We removed {listed(removed)}."
    if settings.ngrams > 1:
        yield f"Phrases of up to {settings.ngrams} words were counted as well."
    if settings.max_features is not None:
        yield f"Of the words that were left, the {settings.max_features:,} most frequent were kept."
    told = {"language", "stop_words", "min_df", "max_df", "token_pattern", "lowercase", "ngrams"}
    for field in fields(settings):
        value = getattr(settings, field.name)
        if field.name not in {*told, "max_features", "tokenizer"} and value != field.default:
            yield f"The setting {_code(field.name)} of texts was {_code(value)}."


def _rare(settings: TextSettings, n_documents: int) -> Iterator[str]:
    def frequency(value: float) -> str:
        return f"{value:.3g} of the documents" if isinstance(value, float) else f"{value} documents"

    least, most = settings.min_df, settings.max_df
    if least is None and n_documents >= 20:
        yield "words in fewer than five documents (or in fewer than 2 % of them, if that is less)"
    elif least is not None and least not in (0, 1):
        yield f"words in fewer than {frequency(least)}"
    if most is None and n_documents >= 20:
        yield "words in more than half of the documents"
    elif most is not None and not (isinstance(most, float) and most >= 1.0):
        yield f"words in more than {frequency(most)}"


def _labels(fitted: FittedModel, corpus: Corpus | None) -> Iterator[str]:
    slices = fitted.schema.slices()
    used = [block for block in fitted.schema.blocks if fitted.used[slices[block.name]].any()]
    if used:
        yield f"The model takes {listed([_label(fitted, block, corpus) for block in used])}."


def _label(fitted: FittedModel, block: BlockSchema, corpus: Corpus | None) -> str:
    own, training = fitted.schema.slices()[block.name], fitted.training
    if block.kind == "tags":
        return f"{_code(block.name)} ({count_of(len(block.columns), 'tag')})"
    told = count_of(len(block.columns), "level" if block.kind == "category" else "number")
    if block.kind == "number" and len(block.columns) == 1:
        told = "a number"
        if corpus is not None:
            values = corpus.labels.block(block.name).values.data
            told = f"a number from {values.min():.6g} to {values.max():.6g}"
    known = training.carriers[own].sum() / (len(block.columns) if block.kind == "number" else 1)
    missing = round(training.n_documents - float(known))
    gaps = f", missing in {count_of(missing, 'document')}" if missing > 0 else ""
    return f"{_code(block.name)} ({told}{gaps})"


def _model(model: Any, fitted: FittedModel) -> Iterator[str]:
    if fitted.used.any():
        yield (
            "We fitted the hierarchical Dirichlet scaling process [@kim2017], a Bayesian "
            "nonparametric topic model in which the labels of a document scale its expected "
            "proportions of topics; it extends the hierarchical Dirichlet process [@teh2006]."
        )
        if not isinstance(model.scaling, str) or model.scaling != "auto":
            yield f"Labels enter as {_code(model.scaling)}."
    else:
        yield (
            "We fitted the hierarchical Dirichlet process [@teh2006], a Bayesian nonparametric "
            "topic model."
        )
    if model.content is not None:
        yield f"Each level of {_code(model.content)} has its own version of every topic's words."
    if model.seeds:
        yield f"Some topics were steered by seed words: {quoted(model.seeds, len(model.seeds))}."
    stochastic = model.inference == "stochastic"
    how = "stochastic variational inference [@hoffman2013]" if stochastic else "variational Bayes"
    settled = "until the bound settled" if model.converged_ else "before the bound had settled"
    seed = model.random_state
    seeded = isinstance(seed, (int, np.integer))
    yield (
        f"Inference was by {how}, from {_STARTS.get(model.init_, model.init_)}, and took "
        f"{model.n_iter_} pass{'es' * (model.n_iter_ != 1)} {settled}"
        f"{f', with the random seed {seed}' if seeded else ''}."
    )


def _number(model: Any, fitted: FittedModel) -> Iterator[str]:
    tried = [row["topics"] for row in model.search_ if row["init"] == model.init_]
    if len(tried) > 1:
        yield (
            f"Of numbers of topics from {min(tried)} to {max(tried)}, "
            f"{_CHOICES[model.number_by]} (`selection.pdf`)."
        )
    summary = model.number_summary_
    yield f"The model has {summary}"
    if model.n_returning_ is not None:
        yield (
            "Of two shorter fits, of one half of the documents each, "
            f"{count_of(model.n_returning_, 'topic')} came back."
        )
    merged = [own for own in fitted.groups.members if len(own) > 1]
    if merged:
        yield (
            f"We merged {listed(['topics ' + ' and '.join(map(str, own)) for own in merged])} of "
            f"the fit, so that {count_of(len(fitted.groups), 'topic')} are reported."
        )


def _topics(model: Any) -> list[str]:
    told = [
        "Topics are described by their most probable words and by FREX words, which are frequent "
        "in a topic and exclusive to it [@bischof2012], with equal weights. Their coherence is the "
        "mean normalised pointwise mutual information of the ten most probable words in the "
        "documents [@bouma2009]."
    ]
    if set(model.topic_names_.values()) - set(model.seeds or ()):
        told.append("Names of topics were given by hand.")
    return told


def _effects(fitted: FittedModel, corpus: Corpus | None) -> list[str]:
    if not fitted.used.any():
        return []
    told = [
        "An effect is the change of a topic's expected proportion, averaged over documents with "
        "their other labels as they are: with a tag against without it, at a level against the "
        "other levels, or with a number raised by one standard deviation. It comes from a "
        "multinomial regression of the documents' topics on their labels, in which every document "
        "weighs the same. Intervals are of 90 % and take the topics as they are."
    ]
    if fitted.calibration.degrees is not None:
        groups = "" if corpus is None or corpus.groups is None else _groups(corpus.groups)
        told.append(f"They allow for documents of one group{groups} not being independent.")
    told.append("Effects are associations, unless labels were assigned at random.")
    return told


def _groups(groups: tuple[str, ...]) -> str:
    return f" ({len(set(groups) - {''}):,} groups)"


def _code(value: object) -> str:
    """A name as Markdown prints it, whatever is in it."""
    text = value if isinstance(value, str) else repr(value)
    return f"`{' '.join(text.split()).replace('`', chr(39))}`"
