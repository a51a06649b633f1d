"""Run every benchmark, then write the tables of the documentation.

make bench HDSP_DATA=FOLDER
"""

import subprocess
import sys
from pathlib import Path

from common import parser

BENCHMARKS = (
    "quality",
    "number",
    "defaults",
    "document_step",
    "fits",
    "stages",
    "transform",
    "cost",
    "labels",
    "terms",
    "many_labels",
    "correlations",
    "seeds",
    "content",
    "label_words",
    "reading",
    "streams",
    "sensitivity",
    "effects_groups",
    "effects_seeds",
)
WITHOUT_DATA = (
    "startup",
    "effects",
    "effects_curves",
    "effects_peers",
    "functions",
    "report",
    "simulate",
    "cluster",
)


def main():
    chosen = parser(__doc__).parse_args()
    if chosen.data is None:
        raise SystemExit("Name the folder of the corpora with --data or HDSP_DATA.")
    folder = Path(__file__).parent
    for name in BENCHMARKS:
        print(f"== {name}", flush=True)
        script = str(folder / f"{name}.py")
        subprocess.run([sys.executable, script, "--data", str(chosen.data)], check=True)
    for name in (*WITHOUT_DATA, "render"):
        subprocess.run([sys.executable, str(folder / f"{name}.py")], check=True)


if __name__ == "__main__":
    main()
