"""From texts to counts, and to corpora on disk: speed, memory, and that the counts are right.

    python benchmarks/reading.py --data FOLDER [--repeats N]

Writes benchmarks/results/reading.csv: documents per second of `TextSettings` and of scikit-learn's
`CountVectorizer`. Each corpus is counted by both in turn, several times, and the fastest of each is
kept, so that what else the machine does falls on both; `CPU times` divides the CPU seconds of both,
those of all threads together. The words and counts of both must be identical.

Writes benchmarks/results/preparing.csv: time and memory of `hdsp.prepare_corpus`, each in a process
of its own, for one corpus as it is and repeated. Memory must not grow with the documents.
"""

import json
import subprocess
import sys
import tempfile
import time
import unicodedata
from pathlib import Path

import joblib
import numpy as np
from common import digits, parser, write
from sklearn.feature_extraction.text import CountVectorizer

from hdsp import TextSettings
from hdsp.corpus.word_counts import stop_list
from hdsp.datasets import load_docstrings

_WAYS = {"words": TextSettings(), "phrases of two": TextSettings(ngrams=2)}


def texts_of(folder):
    """The texts of every corpus, by name."""
    from pyarrow import parquet

    yield "docstrings", load_docstrings(as_frame=True)["text"].tolist()
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
    """Seconds, CPU seconds of all threads, and what was counted."""
    start, cpu_start = time.perf_counter(), time.process_time()
    result = count(*arguments)
    return (time.perf_counter() - start, time.process_time() - cpu_start), result


def is_same(ours, theirs):
    """Whether words and counts are identical."""
    if list(ours[1]) != theirs[1].tolist():
        return False
    theirs[0].sort_indices()
    return all(
        np.array_equal(getattr(ours[0], part), getattr(theirs[0], part))
        for part in ("indptr", "indices", "data")
    )


def counted(folder, n_repeats):
    """One row per corpus and way of counting."""
    TextSettings().count(["load the compiled code first"])
    for name, texts in texts_of(folder):
        for way, settings in _WAYS.items():
            ours, theirs, same = [], [], True
            for _ in range(n_repeats):
                taken, found = timed(settings.count, texts)
                ours.append(taken)
                taken, expected = timed(scikit_learn, settings, texts)
                theirs.append(taken)
                same &= is_same(found, expected)
            (seconds, cpu), (their_seconds, their_cpu) = np.min(ours, 0), np.min(theirs, 0)
            yield {
                "corpus": name,
                "counted": way,
                "documents": len(texts),
                "kept": len(found[1]),
                "threads": joblib.effective_n_jobs(-1),
                "per second": round(len(texts) / seconds),
                "scikit-learn per second": round(len(texts) / their_seconds),
                "times": digits(their_seconds / seconds, 1),
                "CPU times": digits(their_cpu / cpu, 1),
                "same": "yes" if same else "NO",
            }


_PREPARE = """
import json, sys, time
import hdsp
# Not ru_maxrss, which begins with that of the parent process.
def peak():
    status = open("/proc/self/status").read()
    return int(status.split("VmHWM:")[1].split()[0])
hdsp.TextSettings().count(["load the compiled code first"])
loaded = peak()
start = time.perf_counter()
corpus = hdsp.prepare_corpus([sys.argv[1]] * int(sys.argv[2]), sys.argv[3], tags="labels")
seconds = time.perf_counter() - start
prepared = peak()
start = time.perf_counter()
for part in corpus.parts():
    pass
reading = time.perf_counter() - start
print(json.dumps([len(corpus), seconds, loaded, prepared, reading]))
"""


def prepared(folder, name="ohsumed23", times=(1, 4, 16)):
    """One row per number of times that a corpus is repeated."""
    table = str(folder / f"{name}.parquet")
    for n_times in times:
        with tempfile.TemporaryDirectory() as place:
            run = subprocess.run(
                [sys.executable, "-c", _PREPARE, table, str(n_times), f"{place}/corpus"],
                capture_output=True,
                check=True,
            )
        documents, seconds, loaded, peak, reading = json.loads(run.stdout)
        yield {
            "corpus": f"{name}, {n_times} times",
            "documents": documents,
            "seconds": digits(seconds, 1),
            "per second": round(documents / seconds),
            "MB before": round(loaded / 1024),
            "peak MB": round(peak / 1024),
            "read again per second": round(documents / reading),
        }


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--repeats", type=int, default=5)
    chosen = options.parse_args()
    write("reading", counted(Path(chosen.data), chosen.repeats))
    write("preparing", prepared(Path(chosen.data)))
