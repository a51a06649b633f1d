"""Documents as the report shows them: typical ones, words by topic, observed against expected."""

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise, zip_longest
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.analysis.checks import cell_columns, check_sentence
from hdsp.analysis.documents import in_memory
from hdsp.analysis.effects import TopicRegression
from hdsp.analysis.label_effects import read_corpus
from hdsp.analysis.topics import word_share
from hdsp.corpus import Corpus, StoredCorpus
from hdsp.corpus.splitting import Splitter, is_unspaced, splitter, stems
from hdsp.corpus.text import TextSettings
from hdsp.numerics import FloatArray, IntArray, sample_rows
from hdsp.pipeline import running
from hdsp.report.packing import pack_rounded, rounded

# Longer texts are cut.
MOST_CHARACTERS = 20_000
# Topics with less of a document are left out of its bar.
_LEAST_SHARE = 0.005
_TYPICAL = 8
# Fewer words say little of what a document is about.
_LEAST_TOKENS = 20
# Parts that documents are put in by a number.
_PARTS = 3
# Of a larger stored corpus, a sample is read again.
_MOST_READ = 20_000


def label_groups(model: Any, values: csr_array) -> dict[str, IntArray]:
    """Documents by label, and by thirds of numeric labels, from their `original_labels`."""
    groups: dict[str, IntArray] = {}
    by_label = values.tocsc()
    kinds = [block.kind for block in model.label_schema_.blocks for _ in block.columns]
    for j, (name, kind) in enumerate(zip(model.label_names_, kinds, strict=True)):
        part = slice(by_label.indptr[j], by_label.indptr[j + 1])
        rows, numbers = by_label.indices[part], by_label.data[part]
        if len(rows):
            groups |= _thirds(name, rows, numbers) if kind == "number" else {name: rows}
    return groups


def _thirds(name: str, rows: IntArray, numbers: FloatArray) -> dict[str, IntArray]:
    """Documents by parts of a number's range that contain about as many of them."""
    edges = np.unique(np.quantile(numbers, np.linspace(0.0, 1.0, _PARTS + 1), method="lower"))
    if len(edges) == 1:
        return {f"{name} {edges[0]:.6g}": rows}
    part = np.searchsorted(edges[1:-1], numbers, side="right")
    groups = {}
    for number, (low, high) in enumerate(pairwise(edges.tolist())):
        under = "under " if number < len(edges) - 2 else ""
        groups[f"{name} {low:.6g} to {under}{high:.6g}"] = rows[part == number]
    return groups


def group_means(
    model: Any, corpus: Corpus, proportions: FloatArray, groups: Collection[IntArray]
) -> FloatArray:
    """Of groups of documents mean proportions, means expected from labels, errors, [3, G, T].

    Errors are standard errors of mean proportions. Documents with NaN are left out.
    """
    found = np.zeros((3, len(groups), proportions.shape[1]))
    expected = model.expected_topics(corpus.labels) if groups else proportions
    for group, rows in enumerate(groups):
        if len(known := rows[~np.isnan(proportions[rows, 0])]):
            own, wanted = proportions[known], expected[known]
            error = own.std(axis=0) / np.sqrt(len(known))
            found[:, group] = own.mean(axis=0), wanted.mean(axis=0), error
    return found


def typical_documents(
    proportions: FloatArray, lengths: FloatArray, groups: Iterable[IntArray], means: FloatArray
) -> tuple[list[list[int]], list[list[int]]]:
    """Typical documents of topics and of groups, the most typical first.

    Of a topic: those with the largest share of it. Of a group: its members with proportions nearest
    to the group's mean, by Hellinger's distance. Short documents come last.
    """
    short = np.asarray(lengths < min(_LEAST_TOKENS, float(np.median(lengths))))
    roots, mean_roots = np.sqrt(proportions), np.sqrt(np.maximum(means, 0.0))
    by_topic = [np.lexsort((-share, short))[:_TYPICAL].tolist() for share in proportions.T]
    by_group = [
        rows[np.lexsort((-(roots[rows] @ mean), short[rows]))[:_TYPICAL]].tolist()
        for rows, mean in zip(groups, mean_roots, strict=True)
    ]
    return by_topic, by_group


def choose_documents(n_documents: int, typical: Iterable[list[int]], most: int) -> list[int]:
    """Which documents a page shows: all, or typical ones and others at random, in order."""
    if n_documents <= most:
        return list(range(n_documents))
    by_rank = [row for rank in zip_longest(*typical) for row in rank if row is not None]
    others = np.random.default_rng(0).permutation(n_documents).tolist()
    # Each once, the most typical first.
    return sorted(list(dict.fromkeys([*by_rank, *others]))[:most])


def document_view(
    model: Any, corpus: Corpus, texts: Sequence[str] | None, most: int
) -> dict[str, Any]:
    """The documents that a page shows, at most so many; without texts, their words by counts."""
    proportions = np.asarray(model.transform(corpus), dtype=np.float64)
    read, check = read_from_words(model, corpus)
    labels = original_labels(model, corpus)
    groups = label_groups(model, labels)
    observed, expected, error = group_means(model, corpus, read, groups.values())
    lengths = np.asarray(corpus.counts.sum(axis=1))
    by_topic, by_group = typical_documents(proportions, lengths, groups.values(), observed)
    chosen = choose_documents(len(corpus), [*by_topic, *by_group], most)
    share, position = word_share(model._model), {word: i for i, word in enumerate(model.words_)}
    settings = corpus.text_settings or TextSettings()
    split, entries = splitter(settings), []
    for row in chosen:
        order = np.argsort(-proportions[row], kind="stable")
        topics = order[proportions[row, order] >= _LEAST_SHARE]
        part = slice(labels.indptr[row], labels.indptr[row + 1])
        if texts is None:
            pieces, words = _list_words(corpus.counts[[row]], model.words_)
        else:
            pieces, words = _cut_text(texts[row][:MOST_CHARACTERS], settings, split, position)
        entries.append(
            {
                "name": f"Document {row}" if corpus.ids is None else corpus.ids[row],
                "row": row,
                "topics": topics,
                "shares": rounded(proportions[row, topics], 4),
                "labels": labels.indices[part],
                "values": rounded(labels.data[part]),
                "pieces": pieces,
                # The most probable topics of words, given the document's proportions.
                "of": (proportions[row][:, None] * share[:, words]).argmax(axis=0),
                "cut": texts is not None and len(texts[row]) > MOST_CHARACTERS,
            }
        )
    place = {row: number for number, row in enumerate(chosen)}
    return {
        "total": len(corpus),
        "documents": entries,
        "texts": texts is not None,
        "typical": {
            name: [[place[row] for row in rows if row in place] for rows in lists]
            for name, lists in (("topics", by_topic), ("groups", by_group))
        },
        "observed": {
            "names": list(groups),
            "sizes": [len(rows) for rows in groups.values()],
            "observed": pack_rounded(observed),
            "expected": pack_rounded(expected),
            "error": pack_rounded(error),
        },
        "check": check,
    }


def read_from_words(model: Any, corpus: Corpus) -> tuple[FloatArray, str]:
    """Unbiased proportions by words alone, [M, T], and how documents differ from what is expected.

    Documents that are not read, as some of a large corpus, have NaN.
    """
    fitted, owner = model._model, "HDSP.report"
    most = _MOST_READ if isinstance(corpus, StoredCorpus) else len(corpus)
    rows = sample_rows(len(corpus), most)
    part = in_memory(corpus[rows] if most < len(corpus) else corpus, owner)
    with running(model, local=True) as run:
        reading, _ = read_corpus(fitted, part, None, run, owner, own_labels=True)
    found = np.full((len(corpus), len(fitted.groups)), np.nan)
    found[rows[reading.rows]] = fitted.groups.sum(reading.proportions.astype(np.float64))
    if not model.label_names_:
        return found, ""
    return found, check_sentence(cell_columns(TopicRegression(fitted, reading, fitted.space)))


def original_labels(model: Any, corpus: Corpus) -> csr_array:
    """The documents' labels [M, J], numbers as they were before they were standardised."""
    schema = model.label_schema_
    found = schema.encode(corpus.labels, warn=False)
    mean, scale = schema._standards()
    values = found.data * scale[found.indices] + mean[found.indices]
    return csr_array((values, found.indices, found.indptr), found.shape)


def _cut_text(
    text: str, settings: TextSettings, split: Splitter, position: dict[str, int]
) -> tuple[list[str], list[int]]:
    """Plain text and counted words in turn, from plain text to plain text; and the words."""
    # Where letters change their number, they stay as they are.
    lower = text.lower() if settings.lowercase or settings.tokenizer is not None else text
    plain = lower if len(lower) == len(text) else text
    found = list(split(plain))
    counted = found if settings.stem is None else stems(found, settings.stem)
    pieces: list[str] = []
    words: list[int] = []
    place = end = 0
    for word, name in zip(found, counted, strict=True):
        start = plain.find(word, place)
        if start < 0 or not word:
            continue
        # Pairs of characters overlap.
        place = start + (1 if is_unspaced(word) else len(word))
        if name in position and start >= end:
            pieces += [text[end:start], text[start : start + len(word)]]
            end = start + len(word)
            words.append(position[name])
    return [*pieces, text[end:]], words


def _list_words(counts: csr_array, names: Sequence[str]) -> tuple[list[str], list[int]]:
    """The same without a text: words with their counts, the most frequent first."""
    order = np.argsort(-counts.data, kind="stable")
    words = counts.indices[order].tolist()
    pieces = [""]
    for word, count in zip(words, counts.data[order], strict=True):
        pieces += [names[word], "  " if count == 1 else f"\u202f×{count:.4g}  "]
    return pieces, words
