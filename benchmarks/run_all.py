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
    "correlations",
    "seeds",
    "content",
    "label_words",
    "reading",
    "streams",
    "sensitivity",
    "effects",
    "effects_seeds",
    "given_labels",
)
WITHOUT_DATA = ("startup", "report", "simulate", "cluster")


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
