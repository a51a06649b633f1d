"""Real corpora, from a folder that is not part of the project.

Each is a Parquet file with a column of texts and columns of labels.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hdsp.comparison import split_corpus
from hdsp.corpus import Corpus, Labels, TextSettings, read_table
from hdsp.peers import carried

_SPLIT_SEED = 0
# The protocol of docs/quality.md.
_LEAST_DOCUMENTS_OF_A_WORD = 10
_PATTERN = "[a-zA-Z]{3,}"
# Public sources that each corpus can be made from, for who does not have it.
ORIGINS = {
    "rcv1_subset": "RCV1-v2, of which any part will do, such as data/rcv1_dev.json of "
    "github.com/Tencent/NeuralNLP-NeuralClassifier (`labels`: topic codes)",
    "medline_mesh": "datasets/Cohen_2006 of github.com/asreview/systematic-review-datasets "
    "(`text`: title and abstract; `labels`: the 52 commonest MeSH headings; `mesh_all`: all)",
    "ohsumed23": "ohsumed-first-20000-docs of github.com/walterwang/ohsumed-classification "
    "(`labels`: the disease categories)",
    "nips_fulltext_1987_1999": "nips-corpus-20111211.zip of github.com/gregoryyy/knowceans (`bow`: "
    "each word as often as it is counted; `labels`: authors)",
    "clothing_reviews": "Women's E-Commerce Clothing Reviews of kaggle.com (`text`: title and "
    "review; `category`: department; `rating`: stars)",
    "amazon_4domains": "sorted_data_acl of github.com/lorenzoritter/domainadaption (`text`: title "
    "and review; `category`: domain; `rating`: stars)",
}


class Reading(NamedTuple):
    """What is read of a corpus' file, and which of it is kept.

    Attributes
    ----------
    text : the column of texts
    tags, categories, numeric : the columns of labels
    largest_share : of the training documents that a word may be in; more is too common
    least_documents : the fewest training documents that a label is kept for
    most_documents : a random part of the corpus, for quick runs
    """

    text: str = "text"
    tags: tuple[str, ...] = ("labels",)
    categories: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    largest_share: float = 0.3
    least_documents: int = 20
    most_documents: int | None = None

    def settings(self) -> TextSettings:
        """How words are cut and chosen."""
        return TextSettings(
            min_df=_LEAST_DOCUMENTS_OF_A_WORD,
            max_df=self.largest_share,
            token_pattern=_PATTERN,
        )


# How corpora are read that are not read as most are.
READINGS = {
    # Words such as "network" and "learning" are in most of these papers, and in the paper's topics.
    "nips_fulltext_1987_1999": Reading(text="bow", largest_share=0.9, least_documents=2),
}


def reading_of(corpus: str, settings: Mapping[str, Any]) -> Reading:
    """How a study reads a corpus: its own way, then the corpus' way, then the usual one."""
    own: dict[str, Any] = {"most_documents": settings.get("most_documents")}
    own |= settings.get("reading", {}).get(corpus, {})
    for name, value in own.items():
        own[name] = tuple(value) if isinstance(value, list) else value
    return READINGS.get(corpus, Reading())._replace(**own)


@dataclass(frozen=True)
class Source:
    """The folder of the corpora; None where there is none.

    Attributes
    ----------
    folder : of the Parquet files
    n_jobs : processes that a study is measured by; a fit has one thread
    """

    folder: Path | None = None
    n_jobs: int = 1

    def whole(self, name: str, reading: Reading) -> Corpus:
        """A corpus of which nothing is held out."""
        corpus = _read(self.path(name), reading)
        kept = np.flatnonzero(reading.settings().kept(corpus.counts))
        words = [corpus.words[i] for i in kept]
        labels = carried(corpus.labels, reading.least_documents)
        return Corpus(corpus.counts[:, kept], words, labels)

    def split(
        self, name: str, reading: Reading, test_share: float = 0.2, seed: int = _SPLIT_SEED
    ) -> tuple[Corpus, Corpus]:
        """Training and test documents.

        Words and labels are chosen by the training documents alone: a word that only test
        documents have is dropped from them.
        """
        corpus = _read(self.path(name), reading)
        train, test = split_corpus(corpus, test_share, seed, reading.settings())
        labels: Labels = carried(train.labels, reading.least_documents)
        return Corpus(train.counts, train.words, labels), test

    def path(self, name: str) -> Path:
        """The file of a corpus; one that is not there is named, with where to obtain it."""
        if self.folder is None:
            raise ValueError("Name the folder of the corpora with --data or HDSP_DATA.")
        path = self.folder / f"{name}.parquet"
        if not path.is_file():
            origin = f" It can be made from {ORIGINS[name]}." if name in ORIGINS else ""
            raise FileNotFoundError(
                f"The folder of the corpora, {str(self.folder)!r}, has no {path.name}.{origin}"
            )
        return path


@lru_cache(maxsize=1)
def _read(path: Path, reading: Reading) -> Corpus:
    """All documents and words of a file, or a random part of the documents."""
    corpus = read_table(
        path,
        reading.text,
        reading.tags,
        reading.categories,
        reading.numeric,
        text_settings=reading.settings().all_words,
    )
    most = reading.most_documents
    if most is not None and most < len(corpus):
        chosen = np.random.default_rng(0).choice(len(corpus), most, replace=False)
        corpus = corpus[np.sort(chosen)]
    return corpus
