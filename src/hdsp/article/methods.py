"""The methods section of an article, from the model's record."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.resources import files
from typing import Any

import numpy as np

from hdsp.analysis.design import formula_of
from hdsp.analysis.fitted import FittedModel
from hdsp.analysis.label_effects import own_regression
from hdsp.analysis.reading import MANY_DOCUMENTS
from hdsp.checks import count_of, listed, quoted
from hdsp.corpus import Corpus, TextSettings
from hdsp.numerics import library_versions
from hdsp.report.fit import search_rows

_STARTS = {
    "nmf": "a non-negative matrix factorisation of the documents",
    "words": "clusters of documents with similar words",
    "pairs": "a factorisation of word co-occurrences",
    "lda": "three passes of latent Dirichlet allocation",
    "random": "random topics",
    "array": "given topics",
}
_CHOICE = (
    "we chose the number that predicts held-out words best or, if more topics always predict "
    "better, the number beyond which they hardly do"
)


def read_asset(name: str) -> str:
    """A template or the references of an article."""
    return (files("hdsp.article") / "assets" / name).read_text(encoding="utf-8")


def methods_text(
    model: Any,
    corpus: Corpus | None,
    stability: Mapping[str, str] | None,
    refits: int | None = None,
) -> str:
    """Paragraphs of methods in Markdown, with citations for Pandoc.

    The text is ``assets/methods.md``, without the sentences that need an unknown fact.

    Parameters
    ----------
    model : HDSP
        A fitted model.
    corpus : Corpus or None
        Its training documents, which show the range of numeric labels.
    stability : mapping of str to str, or None
        The results of fits with other numbers of topics and seeds; None without them.
    refits : int or None, default=None
        The number of refits to resampled documents that effects are pooled over.
    """
    fitted: FittedModel = model._model
    known = dict(_facts(model, fitted, corpus))
    if "labelled" in known:
        known |= dict(_effect_facts(fitted, refits))
    facts = {name: str(value) for name, value in known.items() if value not in (None, False)}
    facts |= {"fitted_once": ""} if stability is None else stability
    paragraphs = []
    for paragraph in read_asset("methods.md").strip().split("\n\n"):
        title, *sentences = paragraph.splitlines()
        told = []
        for sentence in sentences:
            with suppress(KeyError):
                told.append(sentence.format_map(facts))
        if told or not sentences:
            paragraphs.append(" ".join([title, *told]))
    return "\n\n".join(paragraphs) + "\n"


def _facts(model: Any, fitted: FittedModel, corpus: Corpus | None) -> Iterator[tuple[str, object]]:
    """Facts by name; "" lets a sentence pass that contains no number or name."""
    n_documents, tokens = fitted.n_documents, float(fitted.tokens.sum())
    yield "n_documents", f"{n_documents:,}"
    yield "n_tokens", f"{tokens:,.0f}"
    yield "mean_length", f"{tokens / n_documents:,.0f}"
    yield "n_words", f"{len(fitted.source.words):,}"
    if fitted.source.text_settings is None:
        yield "counted", ""
    else:
        yield from _text_facts(fitted.source.text_settings, n_documents)
    labels = [*filter(None, (_label(fitted, name, corpus) for name in fitted.schema.slices()))]
    yield ("labelled" if labels else "unlabelled"), ""
    yield "labels", listed(labels) if labels else None
    written = formula_of(fitted.space) if str(model.scaling) == "auto" else model.scaling
    yield "scaling", as_code(written) if labels else None
    yield "content", model.content and as_code(model.content)
    yield "seeds", quoted(model.seeds, len(model.seeds)) if model.seeds else None
    stochastic = "stochastic variational inference [@hoffman2013]"
    yield "inference", stochastic if model.inference == "stochastic" else "variational Bayes"
    yield "start", _STARTS.get(model.init_, model.init_)
    yield "passes", "1 pass" if model.n_iter_ == 1 else f"{model.n_iter_} passes"
    yield "settled", "converged" if model.converged_ else "stopped before convergence"
    seeded = isinstance(model.random_state, (int, np.integer))
    yield "seed", str(model.random_state) if seeded else None
    if tried := [row["topics"] for row in search_rows(model)]:
        yield from {"fewest": tried[0], "most": tried[-1], "choice": _CHOICE}.items()
    yield "number", model.number_summary_
    if model.n_returning_ is not None:
        yield "returning", f"{model.n_returning_} of {model.n_topics_}"
    merged = [f"topics {listed(own)}" for own in fitted.groups.members if len(own) > 1]
    yield "merged", listed(merged) if merged else None
    if set(model.topic_names_.values()) - set(model.seeds or ()) and not merged:
        yield "named", ""
    versions = dict(fitted.report.versions) or library_versions()
    versions["Python"] = versions.pop("python")
    yield "software", listed([f"{name} {version}" for name, version in versions.items()])


def _effect_facts(fitted: FittedModel, refits: int | None) -> Iterator[tuple[str, object]]:
    """Facts about the regressions of topics on labels."""
    regression, reading = own_regression(fitted), fitted.reading
    n_used, n_groups = regression.n_documents, regression.n_groups
    flags = {
        "cross_fitted": fitted.n_documents <= MANY_DOCUMENTS,
        "independent": n_groups is None,
        "fixed_topics": refits is None,
        "curves": curve_labels(fitted),
    }
    yield from ((name, "") for name, is_so in flags.items() if is_so)
    if n_used < fitted.n_documents:
        yield "complete" if len(reading) == fitted.n_documents else "sampled", f"{n_used:,}"
    yield "n_groups", n_groups and f"{n_groups:,}"
    yield "refits", refits


def curve_labels(fitted: FittedModel) -> list[str]:
    """The numeric labels that have effects, and so a curve."""
    used, slices = fitted.used & ~fitted.missing(), fitted.schema.slices()
    numbers = [own for own in fitted.schema.blocks if own.kind == "number"]
    names = [block.name for block in numbers if len(block.columns) == 1]
    return [name for name in names if used[slices[name]].all()]


def _text_facts(settings: TextSettings, n_documents: int) -> Iterator[tuple[str, object]]:
    split = "into words of three letters or more"
    if settings.tokenizer is not None:
        own = callable(settings.tokenizer)
        split = "by a function of our own" if own else f"by {settings.tokenizer}"
    elif settings.token_pattern != TextSettings().token_pattern:
        split = f"by the pattern {as_code(settings.token_pattern)}"
    yield "split", f"{split}{' and set in lower case' * settings.lowercase}"
    yield "stem", settings.stem and settings.stem.capitalize()
    removed = list(_removed_words(settings, n_documents))
    yield "removed", listed(removed) if removed else None
    yield "ngrams", settings.ngrams if settings.ngrams > 1 else None
    yield "max_features", settings.max_features and f"{settings.max_features:,}"


def _removed_words(settings: TextSettings, n_documents: int) -> Iterator[str]:
    if settings.language is not None:
        yield f"{settings.language.capitalize()} stop words"
    if settings.stop_words:
        yield count_of(len(settings.stop_words), "other word")
    few = "five documents (or 2% of them, if that is less)"
    bounds = ((settings.min_df, "fewer", few), (settings.max_df, "more", "half of the documents"))
    for bound, words, usual in bounds:
        limit = f"{bound:.3g} of the documents" if type(bound) is float else f"{bound} documents"
        if bound not in (0, 1) and (bound is not None or n_documents >= 20):
            yield f"words in {words} than {usual if bound is None else limit}"


def _label(fitted: FittedModel, name: str, corpus: Corpus | None) -> str | None:
    """A label column in words; None where it has no effect."""
    block, own = fitted.schema.block(name), fitted.schema.slices()[name]
    if not (fitted.used & ~fitted.missing())[own].any():
        return None
    kind = {"tags": "tag", "category": "level", "number": "numeric label"}[block.kind]
    told, known = count_of(len(block.columns), kind), fitted.carriers[own]
    if block.kind == "number" and corpus is not None:
        values = corpus.labels.block(name).values.data
        told = f"from {values.min():.6g} to {values.max():.6g}"
    known = known.max() if block.kind == "number" else known.sum()
    missing = 0 if block.kind == "tags" else round(fitted.n_documents - float(known))
    gaps = f", missing in {count_of(missing, 'document')}" if missing > 0 else ""
    return f"{as_code(name)} ({told}{gaps})"


def as_code(value: object) -> str:
    """A name as Markdown prints it, whatever is in it."""
    text = value if isinstance(value, str) else repr(value)
    return f"`{' '.join(text.split()).replace('`', chr(39))}`"
