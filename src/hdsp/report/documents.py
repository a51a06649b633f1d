"""Documents as the report shows them: typical ones, words by topic, observed against expected."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from hdsp.analysis.checks import cell_columns, check_sentence
from hdsp.analysis.effects import TopicRegression
from hdsp.analysis.label_effects import read_corpus
from hdsp.analysis.new_documents import in_memory
from hdsp.analysis.topics import word_share
from hdsp.corpus import Corpus, StoredCorpus
from hdsp.corpus.splitting import is_unspaced, splitter, stems
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


class Observed(NamedTuple):
    """Observed topic proportions in groups of documents, and those expected from their labels.

    Attributes
    ----------
    names : list of str
        The G groups: a label, or a range of a numeric label.
    sizes : int array of shape [G]
        Documents of each group.
    observed : float array of shape [G, T]
        Mean observed proportions.
    expected : float array of shape [G, T]
        Mean proportions expected from labels.
    error : float array of shape [G, T]
        Standard errors of `observed`.
    members : list of int array
        The documents of each group.
    """

    names: list[str]
    sizes: IntArray
    observed: FloatArray
    expected: FloatArray
    error: FloatArray
    members: list[IntArray]


def observed_by_label(model: Any, corpus: Corpus, proportions: FloatArray) -> Observed:
    """Observed and expected proportions by label; of numeric labels, by thirds of the documents.

    Parameters
    ----------
    model : HDSP
        A fitted model.
    corpus : Corpus
        Documents with the model's words.
    proportions : float array of shape [M, T]
        Observed proportions. Documents with NaN count in sizes alone.
    """
    schema = model.label_schema_
    values = original_labels(model, corpus).tocsc()
    kinds = [block.kind for block in schema.blocks for _ in block.columns]
    names, members = [], []
    for j, (name, kind) in enumerate(zip(schema.names, kinds, strict=True)):
        part = slice(values.indptr[j], values.indptr[j + 1])
        rows = values.indices[part]
        parts = _by_thirds(name, rows, values.data[part]) if kind == "number" else {name: rows}
        for shown, own in parts.items():
            if len(own):
                names.append(shown)
                members.append(own)
    expected = model.expected_topics(corpus.labels) if names else proportions
    known = ~np.isnan(proportions[:, 0])
    found = np.zeros((3, len(names), proportions.shape[1]))
    for group, rows in enumerate(members):
        if len(read := rows[known[rows]]):
            own = proportions[read]
            error = own.std(axis=0) / np.sqrt(len(read))
            found[:, group] = own.mean(axis=0), expected[read].mean(axis=0), error
    sizes = np.array(list(map(len, members)), dtype=np.int64)
    return Observed(names, sizes, found[0], found[1], found[2], members)


def _by_thirds(name: str, rows: IntArray, values: FloatArray) -> dict[str, IntArray]:
    """Documents by parts of a number's range that contain about as many of them."""
    if len(values) == 0:
        return {}
    edges = np.unique(np.quantile(values, np.linspace(0.0, 1.0, _PARTS + 1), method="lower"))
    if len(edges) == 1:
        return {f"{name} {edges[0]:.6g}": rows}
    last = len(edges) - 2
    third = np.minimum(np.searchsorted(edges, values, side="right") - 1, last)
    groups = {}
    for number, (low, high) in enumerate(pairwise(edges.tolist())):
        under = "" if number == last else "under "
        groups[f"{name} {low:.6g} to {under}{high:.6g}"] = rows[third == number]
    return groups


def typical_documents(
    proportions: FloatArray, lengths: FloatArray, groups: Observed, n: int = _TYPICAL
) -> tuple[list[IntArray], list[IntArray]]:
    """Typical documents of topics and of groups, the most typical first.

    Of a topic: those with the largest share of it. Of a group: its members with proportions nearest
    to the group's mean, by Hellinger's distance. Short documents come last.
    """
    short = np.asarray(lengths < min(_LEAST_TOKENS, float(np.median(lengths))))
    by_topic: list[IntArray] = [np.lexsort((-share, short))[:n] for share in proportions.T]
    # Unbiased means may be slightly negative.
    means, roots = np.sqrt(np.maximum(groups.observed, 0.0)), np.sqrt(proportions)
    by_group: list[IntArray] = [
        rows[np.lexsort((-(roots[rows] @ mean), short[rows]))[:n]]
        for rows, mean in zip(groups.members, means, strict=True)
    ]
    return by_topic, by_group


def choose_documents(
    n_documents: int, typical: Sequence[Sequence[IntArray]], most: int
) -> IntArray:
    """Which documents a page shows: all, or typical ones and others at random, in order."""
    if n_documents <= most:
        return np.arange(n_documents)
    lists = [documents.tolist() for kind in typical for documents in kind]
    by_rank = [own[rank] for rank in range(_TYPICAL) for own in lists if rank < len(own)]
    others = np.random.default_rng(0).permutation(n_documents).tolist()
    # Each once, the most typical first.
    chosen = list(dict.fromkeys([*by_rank, *others]))[:most]
    return np.array(sorted(chosen), dtype=np.int64)


def document_view(
    model: Any, corpus: Corpus, texts: Sequence[str] | None, most: int
) -> dict[str, Any]:
    """The documents that a page shows, at most so many; without texts, their words by counts."""
    proportions = np.asarray(model.transform(corpus), dtype=np.float64)
    read, check = read_from_words(model, corpus)
    groups = observed_by_label(model, corpus, read)
    lengths = np.asarray(corpus.counts.sum(axis=1))
    typical = typical_documents(proportions, lengths, groups)
    chosen = choose_documents(len(corpus), typical, most).tolist()
    position = {row: number for number, row in enumerate(chosen)}
    labels = original_labels(model, corpus)
    reader = _WordReader(model, corpus)
    entries = []
    for row in chosen:
        share = proportions[row]
        order = np.argsort(-share, kind="stable")
        shown = order[share[order] >= _LEAST_SHARE]
        part = slice(labels.indptr[row], labels.indptr[row + 1])
        entry = {
            "name": f"Document {row}" if corpus.ids is None else corpus.ids[row],
            "row": row,
            "tokens": float(lengths[row]),
            "topics": shown.tolist(),
            "shares": rounded(share[shown], 4),
            "labels": labels.indices[part].tolist(),
            "values": rounded(labels.data[part], 6),
        }
        entries.append(entry | reader.read(row, share, None if texts is None else texts[row]))
    typical_of = {
        name: [[position[row] for row in rows.tolist() if row in position] for rows in lists]
        for name, lists in zip(("topics", "groups"), typical, strict=True)
    }
    observed = {name: getattr(groups, name) for name in ("observed", "expected", "error")}
    return {
        "total": len(corpus),
        "documents": entries,
        "texts": texts is not None,
        "typical": typical_of,
        "observed": {name: pack_rounded(values) for name, values in observed.items()}
        | {"names": groups.names, "sizes": groups.sizes.tolist()},
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
    regression = TopicRegression(fitted, reading, fitted.space)
    return found, check_sentence(cell_columns(regression))


def original_labels(model: Any, corpus: Corpus) -> csr_array:
    """The documents' labels [M, J], numbers as they were before they were standardised."""
    schema = model.label_schema_
    found = schema.encode(corpus.labels, warn=False)
    mean, scale = np.zeros(schema.n_labels), np.ones(schema.n_labels)
    for block in schema.blocks:
        if block.kind == "number":
            mean[schema.slices()[block.name]] = block.mean
            scale[schema.slices()[block.name]] = block.scale
    values = found.data * scale[found.indices] + mean[found.indices]
    return csr_array((values, found.indices, found.indptr), found.shape)


class _WordReader:
    """Cuts documents into words that have a topic, and the text between them."""

    def __init__(self, model: Any, corpus: Corpus) -> None:
        self._share = word_share(model._model)
        self._words: tuple[str, ...] = model.words_
        self._position = {word: i for i, word in enumerate(self._words)}
        self._counts = corpus.counts
        settings = corpus.text_settings or TextSettings()
        self._lowercase = settings.lowercase or settings.tokenizer is not None
        self._split, self._stem = splitter(settings), settings.stem

    def read(self, row: int, proportions: FloatArray, text: str | None) -> dict[str, Any]:
        """Plain text and words in turn, beginning and ending with plain text; the words' topics.

        The topic of a word is the most probable one, given the document's proportions.
        """
        pieces, words = self._counted(row) if text is None else self._cut(text[:MOST_CHARACTERS])
        topics = (proportions[:, None] * self._share[:, words]).argmax(axis=0).tolist()
        return {"pieces": pieces, "of": topics, "cut": len(text or "") > MOST_CHARACTERS}

    def _cut(self, text: str) -> tuple[list[str], list[int]]:
        # Where letters change their number, they stay as they are.
        lower = text.lower() if self._lowercase else text
        plain = lower if len(lower) == len(text) else text
        found = list(self._split(plain))
        counted = found if self._stem is None else stems(found, self._stem)
        pieces: list[str] = []
        words: list[int] = []
        place = end = 0
        for word, name in zip(found, counted, strict=True):
            start = plain.find(word, place)
            if start < 0 or not word:
                continue
            # Pairs of characters overlap.
            place = start + (1 if is_unspaced(word) else len(word))
            if name in self._position and start >= end:
                pieces += [text[end:start], text[start : start + len(word)]]
                end = start + len(word)
                words.append(self._position[name])
        return [*pieces, text[end:]], words

    def _counted(self, row: int) -> tuple[list[str], list[int]]:
        part = slice(self._counts.indptr[row], self._counts.indptr[row + 1])
        counts, words = self._counts.data[part], self._counts.indices[part]
        order = np.argsort(-counts, kind="stable")
        pieces = [""]
        for count, word in zip(counts[order], words[order], strict=True):
            times = "" if count == 1 else f"\u202f×{count:.4g}"
            pieces += [self._words[word], f"{times}  "]
        return pieces, words[order].tolist()
