"""What a first use costs: imports, and a small fit before and after kernels are compiled.

    python benchmarks/startup.py

Writes benchmarks/results/startup.csv.
"""

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """
import time
marks = [time.perf_counter()]
import sklearn.base, sklearn.decomposition, sklearn.feature_extraction.text
marks.append(time.perf_counter())
import hdsp
marks.append(time.perf_counter())
import warnings
warnings.simplefilter("ignore")
corpus, _ = hdsp.simulate([["a"], ["b"]] * 200, n_topics=5, random_state=0)
start = time.perf_counter()
hdsp.HDSP(20, random_state=0).fit(corpus)
print(marks[1] - marks[0], marks[2] - marks[1], time.perf_counter() - start)
"""


def measure(cache):
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(part) for part in finished.stdout.split()]


def main():
    out = Path(__file__).parent / "results" / "startup.csv"
    with tempfile.TemporaryDirectory() as cache, out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["kernels", "import scikit-learn", "then import hdsp", "first small fit"])
        for name in ("compiled now", "from the cache"):
            row = [name, *[f"{seconds:.2f}" for seconds in measure(cache)]]
            writer.writerow(row)
            print(*row, sep="  ", flush=True)


if __name__ == "__main__":
    main()
