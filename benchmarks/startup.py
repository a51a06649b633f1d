"""What a first use costs: the command line, imports, and small fits with and without a cache.

    python benchmarks/startup.py

Writes benchmarks/results/startup.csv: CPU seconds of whole programs, and how many functions were
compiled, each for one type of arguments.
"""

import csv
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from common import write

COMMAND = "import sys; from hdsp.cli import main; sys.exit(main())"
FIT = """
import sys, warnings
import hdsp

warnings.simplefilter("ignore")
corpus, _ = hdsp.simulate([["a"], ["b"]] * 200, n_topics=5, random_state=0)
hdsp.HDSP(max_components=20, n_jobs=int(sys.argv[1]), random_state=0).fit(corpus)
"""
TABLE = ["--categories", "label", "--max-components", "20", "-q"]
# The name, the program and its arguments, the number of runs (the median counts), and whether the
# cache is empty at first. Otherwise it is the one that the program above left.
MEASURED = (
    ("python, which does nothing", "", (), 9, False),
    ("import hdsp", "import hdsp", (), 9, False),
    ("hdsp --help", COMMAND, ("--help",), 9, False),
    ("hdsp fit --help", COMMAND, ("fit", "--help"), 9, False),
    ("hdsp --print-completion bash", COMMAND, ("--print-completion", "bash"), 9, False),
    ("import sklearn.base", "import sklearn.base", (), 5, False),
    ("from hdsp import HDSP", "from hdsp import HDSP", (), 5, False),
    ("a small fit, compiled now", FIT, ("1",), 1, True),
    ("a small fit, from the cache", FIT, ("1",), 3, False),
    ("a small fit on two threads, compiled now", FIT, ("2",), 1, True),
    ("a small fit on two threads, from the cache", FIT, ("2",), 3, False),
    (
        "hdsp fit of 400 texts, compiled now",
        COMMAND,
        ("fit", "texts.csv", "-o", "m", *TABLE),
        1,
        True,
    ),
    (
        "hdsp fit of 400 texts, from the cache",
        COMMAND,
        ("fit", "texts.csv", "-o", "m", *TABLE),
        3,
        False,
    ),
)


def run(program, arguments, folder, cache):
    """CPU seconds of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        cwd=folder,
        capture_output=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write_texts(file):
    """A table of texts with a label, drawn from a model."""
    import hdsp

    corpus, _ = hdsp.simulate([["a"], ["b"]] * 200, n_topics=5, random_state=0)
    names = ["".join(letters) for letters in product("bcdfghklmnprstvw", repeat=4)]
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["text", "label"])
        for number, counts in enumerate(corpus.counts.toarray().astype(int)):
            words = [names[i] for i in counts.nonzero()[0] for _ in range(counts[i])]
            writer.writerow([" ".join(words), "ab"[number % 2]])


def measured(folder):
    """The rows of the table."""
    cache = folder / "cache 0"
    for number, (name, program, arguments, repeats, is_empty) in enumerate(MEASURED):
        cache = folder / f"cache {number}" if is_empty else cache
        before = len(list(cache.rglob("*.nbc")))
        seconds = [run(program, arguments, folder, cache) for _ in range(repeats)]
        yield {
            "first use": name,
            "CPU seconds": f"{statistics.median(seconds):.2f}",
            "compiled": len(list(cache.rglob("*.nbc"))) - before,
        }


def main():
    with tempfile.TemporaryDirectory() as folder:
        write_texts(Path(folder) / "texts.csv")
        write("startup", measured(Path(folder)))


if __name__ == "__main__":
    main()
