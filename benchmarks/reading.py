"""Documents per second from texts to counts, and that they are those of scikit-learn.

Each corpus is counted by `TextSettings` and by scikit-learn's `CountVectorizer` in turn, several
times, and the fastest of each is kept, so that what else the machine does falls on both. The words
and counts of both must be identical.

Run with ``python -m benchmarks.reading --data FOLDER [--repeats N]``.
"""

import time
import unicodedata

import joblib
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.common import digits, parser, write
from hdsp import TextSettings
from hdsp.corpus.word_counts import stop_list
from hdsp.datasets import collect_docstrings

_WAYS = {"default": TextSettings(), "phrases of two": TextSettings(ngrams=2)}


def texts_of(folder):
    """The texts of every corpus, by name."""
    from pyarrow import parquet

    yield "docstrings", [record.text for record in collect_docstrings()]
    for path in sorted(folder.glob("*.parquet")):
        yield path.stem, parquet.read_table(path, columns=["text"])["text"].to_pylist()


def scikit_learn(settings, texts):
    """The same words and counts by scikit-learn's vectoriser."""
    vectorizer = CountVectorizer(
        lowercase=settings.lowercase,
        token_pattern=settings.token_pattern,
        stop_words=sorted(stop_list(settings)),
        ngram_range=(1, settings.ngrams),
        dtype=np.float64,
    )
    counts = vectorizer.fit_transform(unicodedata.normalize("NFC", text) for text in texts)
    kept = settings.kept(counts)
    return counts[:, np.flatnonzero(kept)], vectorizer.get_feature_names_out()[kept]


def timed(count, *arguments):
    """Seconds, and what was counted."""
    start = time.perf_counter()
    result = count(*arguments)
    return time.perf_counter() - start, result


def is_same(ours, theirs):
    """Whether words and counts are identical."""
    if list(ours[1]) != theirs[1].tolist():
        return False
    theirs[0].sort_indices()
    return all(
        np.array_equal(getattr(ours[0], part), getattr(theirs[0], part))
        for part in ("indptr", "indices", "data")
    )


def rows(folder, n_repeats):
    """One row per corpus and way of counting."""
    TextSettings().count(["load the compiled code first"])
    for name, texts in texts_of(folder):
        for way, settings in _WAYS.items():
            ours, theirs, same = [], [], True
            for _ in range(n_repeats):
                seconds, found = timed(settings.count, texts)
                ours.append(seconds)
                seconds, expected = timed(scikit_learn, settings, texts)
                theirs.append(seconds)
                same &= is_same(found, expected)
            yield {
                "corpus": name,
                "counted": way,
                "documents": len(texts),
                "words": len(found[1]),
                "threads": joblib.effective_n_jobs(-1),
                "per_second": round(len(texts) / min(ours)),
                "scikit_learn_per_second": round(len(texts) / min(theirs)),
                "times": digits(min(theirs) / min(ours), 3),
                "same": same,
            }


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--repeats", type=int, default=3)
    chosen = options.parse_args()
    write("reading", rows(chosen.data, chosen.repeats))
