"""Real corpora, from a folder that is not part of the project.

Each is a Parquet file with a column of texts and columns of labels. Comparisons, reproductions and
benchmarks all read them here, and split them by `split_corpus`.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hdsp import Corpus, TextSettings, read_table
from hdsp_studies.comparison.split import choose_words, split_corpus
from hdsp_studies.peers import labels_in_use

# Public sources that each corpus can be made from.
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
    text : str, default="text"
        Column of texts.
    tags : tuple of str, default=("labels",)
        Columns of tags.
    categories : tuple of str, default=()
        Columns of categories.
    numeric : tuple of str, default=()
        Columns of numbers.
    largest_share : float, default=0.3
        Largest share of the training documents that a word may be in.
    least_documents : int, default=20
        Least number of training documents that must carry a label.
    most_documents : int or None, default=None
        Size of a random part of the corpus to read, for quick runs; None reads all.
    """

    text: str = "text"
    tags: tuple[str, ...] = ("labels",)
    categories: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    largest_share: float = 0.3
    least_documents: int = 20
    most_documents: int | None = None

    def text_settings(self) -> TextSettings:
        """How words are cut and chosen."""
        return TextSettings(min_df=10, max_df=self.largest_share, token_pattern="[a-zA-Z]{3,}")


# Corpora that are not read in the usual way.
READINGS = {
    # Words such as "network" and "learning" are in most of these papers, and in the paper's topics.
    "nips_fulltext_1987_1999": Reading(text="bow", largest_share=0.9, least_documents=2)
}


@dataclass(frozen=True)
class CorpusFolder:
    """A folder of corpora.

    Attributes
    ----------
    path : Path or None, default=None
        Folder of the Parquet files; None where there is none.
    """

    path: Path | None = None

    def whole(self, name: str, reading: Reading | None = None) -> Corpus:
        """Read a corpus of which nothing is held out.

        Parameters
        ----------
        name : str
            Name of the corpus' file, without its suffix.
        reading : Reading or None, default=None
            What to read; None is the usual reading of this corpus.

        Returns
        -------
        Corpus
            All documents, with the words and labels that are frequent enough among them.
        """
        reading = reading or READINGS.get(name, Reading())
        corpus = _read(self.file(name), reading)
        labels = labels_in_use(corpus.labels, reading.least_documents)
        words = choose_words(corpus, reading.text_settings())
        return Corpus(corpus.counts[:, words], [corpus.words[i] for i in words], labels)

    def split(
        self, name: str, reading: Reading | None = None, test_size: float = 0.2, seed: int = 0
    ) -> tuple[Corpus, Corpus]:
        """Read a corpus and split it; words and labels are chosen by training documents alone.

        Parameters
        ----------
        name : str
            Name of the corpus' file, without its suffix.
        reading : Reading or None, default=None
            What to read; None is the usual reading of this corpus.
        test_size : float, default=0.2
            Share of test documents.
        seed : int, default=0
            Seed of the split.

        Returns
        -------
        train : Corpus
            The training documents.
        test : Corpus
            The test documents, over the same words.
        """
        reading = reading or READINGS.get(name, Reading())
        corpus = _read(self.file(name), reading)
        return split_corpus(
            corpus, test_size, seed, reading.text_settings(), reading.least_documents
        )

    def file(self, name: str) -> Path:
        """The file of a corpus; the error for a missing one says where to obtain it."""
        if self.path is None:
            raise ValueError("Name the folder of the corpora with --data or HDSP_DATA.")
        file = self.path / f"{name}.parquet"
        if not file.is_file():
            origin = f" It can be made from {ORIGINS[name]}." if name in ORIGINS else ""
            raise FileNotFoundError(
                f"The folder of the corpora, {str(self.path)!r}, has no {file.name}.{origin}"
            )
        return file


@lru_cache(maxsize=1)
def _read(file: Path, reading: Reading) -> Corpus:
    """All documents and words of a file, or a random part of the documents."""
    corpus = read_table(
        file,
        reading.text,
        reading.tags,
        reading.categories,
        reading.numeric,
        text_settings=reading.text_settings().all_words,
    )
    most = reading.most_documents
    if most is not None and most < len(corpus):
        chosen = np.random.default_rng(0).choice(len(corpus), most, replace=False)
        corpus = corpus[np.sort(chosen)]
    return corpus
