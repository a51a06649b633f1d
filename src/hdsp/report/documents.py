"""Documents as the report shows them: typical ones, words by topic, observed against expected."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

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
from hdsp.learning import running
from hdsp.numerics import FloatArray, IntArray, sample_rows
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


@dataclass(frozen=True, eq=False)
class Observed:
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
    members : sparse array of shape [G, M]
        Ones where a document belongs to a group.
    """

    names: list[str]
    sizes: IntArray
    observed: FloatArray
    expected: FloatArray
    error: FloatArray
    members: csr_array


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
    found: list[tuple[str, IntArray]] = []
    for j, (name, kind) in enumerate(zip(schema.names, kinds, strict=True)):
        part = slice(values.indptr[j], values.indptr[j + 1])
        groups = [(name, values.indices[part])]
        if kind == "number":
            groups = _by_thirds(name, values.indices[part], values.data[part])
        found += [(name, members) for name, members in groups if len(members)]
    names, rows = [name for name, _ in found], [members for _, members in found]
    sizes = np.array(list(map(len, rows)), dtype=np.int64)
    ends, columns = np.append(0, np.cumsum(sizes)), np.concatenate([np.zeros(0, np.int64), *rows])
    members = csr_array((np.ones(len(columns)), columns, ends), shape=(len(rows), len(corpus)))
    expected = np.asarray(model.expected_topics(corpus.labels)) if rows else proportions
    known = ~np.isnan(proportions[:, :1])
    proportions, expected = (np.where(known, part, 0.0) for part in (proportions, expected))
    size = np.maximum(members @ known.astype(np.float64), 1.0)
    observed = (members @ proportions) / size
    squares = (members @ proportions**2) / size
    error = np.sqrt(np.maximum(squares - observed**2, 0.0) / size)
    return Observed(names, sizes, observed, (members @ expected) / size, error, members)


def _by_thirds(name: str, rows: IntArray, values: FloatArray) -> list[tuple[str, IntArray]]:
    """Documents by parts of a number's range that hold about as many of them."""
    if len(values) == 0:
        return []
    edges = np.unique(np.quantile(values, np.linspace(0.0, 1.0, _PARTS + 1), method="lower"))
    if len(edges) == 1:
        return [(f"{name} {edges[0]:.6g}", rows)]
    groups = []
    for number, (low, high) in enumerate(pairwise(edges.tolist())):
        last = number == len(edges) - 2
        inside = (values >= low) & ((values <= high) if last else (values < high))
        shown = f"{low:.6g} to {high:.6g}" if last else f"{low:.6g} to under {high:.6g}"
        groups.append((f"{name} {shown}", rows[inside]))
    return groups


def typical_documents(
    proportions: FloatArray, lengths: FloatArray, groups: Observed, n: int = _TYPICAL
) -> tuple[list[IntArray], list[IntArray]]:
    """Typical documents of topics and of groups, the most typical first.

    Of a topic: those with the largest share of it. Of a group: its members with proportions nearest
    to the group's mean, by Hellinger's distance. Short documents come last.

    Parameters
    ----------
    proportions : float array of shape [M, T]
        Topics in documents.
    lengths : float array of shape [M]
        Tokens of documents.
    groups : Observed
        Groups of the documents.
    n : int, default=8
        How many documents of each.
    """
    short = np.asarray(lengths < min(_LEAST_TOKENS, float(np.median(lengths))))
    by_topic: list[IntArray] = [np.lexsort((-share, short))[:n] for share in proportions.T]
    roots = np.sqrt(proportions)
    by_group: list[IntArray] = []
    members = groups.members
    # Unbiased means may be slightly negative.
    for number, mean in enumerate(np.sqrt(np.maximum(groups.observed, 0.0))):
        own = members.indices[members.indptr[number] : members.indptr[number + 1]]
        by_group.append(own[np.lexsort((-(roots[own] @ mean), short[own]))[:n]])
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
    """The documents that a page shows.

    Parameters
    ----------
    model : HDSP
        A fitted model.
    corpus : Corpus
        Documents with the model's words.
    texts : sequence of str or None
        Texts of the documents; None shows their words in the order of their counts.
    most : int
        How many documents to show.
    """
    proportions = np.asarray(model.transform(corpus), dtype=np.float64)
    read, check = read_from_words(model, corpus)
    groups = observed_by_label(model, corpus, read)
    lengths = np.asarray(corpus.counts.sum(axis=1))
    by_topic, by_group = typical_documents(proportions, lengths, groups)
    chosen = choose_documents(len(corpus), (by_topic, by_group), most)
    position = {int(row): number for number, row in enumerate(chosen)}
    labels = original_labels(model, corpus)
    reader = _WordReader(model, corpus)
    entries = []
    for row in chosen.tolist():
        share = proportions[row]
        shown = np.flatnonzero(share >= _LEAST_SHARE)
        shown = shown[np.argsort(-share[shown], kind="stable")]
        part = slice(labels.indptr[row], labels.indptr[row + 1])
        pieces, topics, cut = reader.pieces(row, share, None if texts is None else texts[row])
        entries.append(
            {
                "name": f"Document {row}" if corpus.ids is None else corpus.ids[row],
                "row": row,
                "tokens": float(lengths[row]),
                "topics": shown.tolist(),
                "shares": rounded(share[shown], 4),
                "labels": labels.indices[part].tolist(),
                "values": rounded(labels.data[part], 6),
                "pieces": pieces,
                "of": topics,
                "cut": cut,
            }
        )
    return {
        "total": len(corpus),
        "documents": entries,
        "texts": texts is not None,
        "typical": {
            "topics": [[position[d] for d in rows.tolist() if d in position] for rows in by_topic],
            "groups": [[position[d] for d in rows.tolist() if d in position] for rows in by_group],
        },
        "observed": {
            "names": groups.names,
            "sizes": groups.sizes.tolist(),
            "observed": pack_rounded(groups.observed),
            "expected": pack_rounded(groups.expected),
            "error": pack_rounded(groups.error),
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
    with running(model._settings(), None) as run:
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
    """Cuts documents into words that have a topic, and what stands between them."""

    def __init__(self, model: Any, corpus: Corpus) -> None:
        self._share = word_share(model._model)
        self._words: tuple[str, ...] = model.words_
        self._position = {word: i for i, word in enumerate(self._words)}
        self._counts = corpus.counts
        settings = corpus.text_settings or TextSettings()
        self._lowercase = settings.lowercase or settings.tokenizer is not None
        self._split, self._stem = splitter(settings), settings.stem

    def pieces(
        self, row: int, proportions: FloatArray, text: str | None
    ) -> tuple[list[str], list[int], bool]:
        """Plain text and words in turn, beginning and ending with plain text; the words' topics.

        The topic of a word is the most probable one, given the document's proportions.
        """
        if text is None:
            return self._counted(row, proportions)
        cut = len(text) > MOST_CHARACTERS
        text = text[:MOST_CHARACTERS]
        # Where letters change their number, they stay as they are.
        lower = text.lower() if self._lowercase else text
        plain = lower if len(lower) == len(text) else text
        found = list(self._split(plain))
        counted = found if self._stem is None else stems(found, self._stem)
        spans: list[tuple[int, int]] = []
        words: list[int] = []
        place = 0
        for word, name in zip(found, counted, strict=True):
            start = plain.find(word, place)
            position = self._position.get(name)
            if start < 0 or not word:
                continue
            # Pairs of characters overlap.
            place = start + (1 if is_unspaced(word) else len(word))
            if position is not None and (not spans or start >= spans[-1][1]):
                spans.append((start, start + len(word)))
                words.append(position)
        topics = self._topics(words, proportions)
        pieces, end = [], 0
        for start, stop in spans:
            pieces += [text[end:start], text[start:stop]]
            end = stop
        return [*pieces, text[end:]], topics, cut

    def _counted(self, row: int, proportions: FloatArray) -> tuple[list[str], list[int], bool]:
        part = slice(self._counts.indptr[row], self._counts.indptr[row + 1])
        counts, words = self._counts.data[part], self._counts.indices[part]
        order = np.argsort(-counts, kind="stable")
        pieces = [""]
        for i in order.tolist():
            times = "" if counts[i] == 1 else f"\u202f×{counts[i]:.4g}"
            pieces += [self._words[words[i]], f"{times}  "]
        return pieces, self._topics(words[order].tolist(), proportions), False

    def _topics(self, words: list[int], proportions: FloatArray) -> list[int]:
        return list(map(int, (proportions[:, None] * self._share[:, words]).argmax(axis=0)))
