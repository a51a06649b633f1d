"""What a first use costs: the command line, imports, and a small fit with and without a cache.

    python benchmarks/startup.py

Writes benchmarks/results/startup.csv: CPU seconds of whole processes.
"""

import csv
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

COMMAND = "import sys; from hdsp.cli import main; sys.exit(main())"
FIT = """
import hdsp, warnings
warnings.simplefilter("ignore")
corpus, _ = hdsp.simulate([["a"], ["b"]] * 200, n_topics=5, random_state=0)
hdsp.HDSP(20, n_jobs=1, random_state=0).fit(corpus)
"""
# What is done, the program and its arguments, and how often; the median is kept.
MEASURED = (
    ("python, which does nothing", "", (), 9),
    ("import hdsp", "import hdsp", (), 9),
    ("hdsp --help", COMMAND, ("--help",), 9),
    ("hdsp fit --help", COMMAND, ("fit", "--help"), 9),
    ("hdsp --print-completion bash", COMMAND, ("--print-completion", "bash"), 9),
    ("import sklearn.base", "import sklearn.base", (), 5),
    ("from hdsp import HDSP", "from hdsp import HDSP", (), 5),
    ("a small fit, kernels compiled now", FIT, (), 1),
    ("a small fit, kernels from the cache", FIT, (), 3),
)


def cpu_seconds(program, arguments, cache):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=os.environ | {"NUMBA_CACHE_DIR": cache},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    out = Path(__file__).parent / "results" / "startup.csv"
    with tempfile.TemporaryDirectory() as cache, out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["first use", "CPU seconds"])
        for name, program, arguments, repeats in MEASURED:
            found = [cpu_seconds(program, arguments, cache) for _ in range(repeats)]
            row = [name, f"{statistics.median(found):.2f}"]
            writer.writerow(row)
            print(*row, sep="  ", flush=True)


if __name__ == "__main__":
    main()
