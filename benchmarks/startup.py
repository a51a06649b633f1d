"""What a first use costs: the command line, imports, and small fits with and without a cache.

    python benchmarks/startup.py

Writes benchmarks/results/startup.csv, CPU seconds of whole programs, how many of these a second
process took beside the first, and how many functions were compiled (each for one type of
arguments); and compilation.csv, the CPU seconds that each kernel of the first of the small fits
takes to compile.
"""

import csv
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from common import write

# The CPU seconds of processes that the program has started.
BESIDE = """
import atexit, resource, sys
def tell():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(used.ru_utime + used.ru_stime, file=sys.stderr)
atexit.register(tell)
"""
COMMAND = "import sys; from hdsp.cli import main; sys.exit(main())"
FIT = """
import json, sys, time, warnings
import hdsp
from numba.core import event

class Compiling(event.Listener):
    begun, seconds = [], []

    def on_start(self, event):
        self.begun.append(time.process_time())

    def on_end(self, event):
        took = time.process_time() - self.begun.pop()
        if not self.begun:
            self.seconds.append((event.data["dispatcher"].__name__, took))

event.register("numba:compile", Compiling())
warnings.simplefilter("ignore")
corpus, _ = hdsp.simulate([["a"], ["b"]] * 200, n_topics=5, random_state=0)
hdsp.HDSP(max_components=20, n_jobs=int(sys.argv[1]), random_state=0).fit(corpus)
json.dump(Compiling.seconds, sys.stdout)
"""
TABLE = ["--category", "label", "--topics", "20", "-q"]
# What is done, the program and its arguments, how often (the median is kept), and whether the cache
# is empty at first; else it is the one that the program above has left.
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
    """CPU seconds of a program, those of them beside its first process, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    finished = subprocess.run(
        [sys.executable, "-c", BESIDE + program, *arguments],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        cwd=folder,
        capture_output=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, float(finished.stderr.split()[-1]), finished.stdout


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
    """The rows of the table; those about kernels are written between them."""
    cache = folder / "cache 0"
    for number, (name, program, arguments, repeats, is_empty) in enumerate(MEASURED):
        cache = folder / f"cache {number}" if is_empty else cache
        before = len(list(cache.rglob("*.nbc")))
        found = [run(program, arguments, folder, cache) for _ in range(repeats)]
        if program == FIT and arguments == ("1",) and is_empty:
            kernels = sorted(json.loads(found[0][2]), key=lambda row: -row[1])
            write("compilation", ({"kernel": k, "CPU seconds": f"{s:.2f}"} for k, s in kernels))
        yield {
            "first use": name,
            "CPU seconds": f"{statistics.median(cpu for cpu, _, _ in found):.2f}",
            "beside": f"{statistics.median(beside for _, beside, _ in found):.2f}",
            "compiled": len(list(cache.rglob("*.nbc"))) - before,
        }


def main():
    with tempfile.TemporaryDirectory() as folder:
        write_texts(Path(folder) / "texts.csv")
        write("startup", measured(Path(folder)))


if __name__ == "__main__":
    main()
