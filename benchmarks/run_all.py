"""Run every benchmark, then write the tables of the documentation.

make bench HDSP_DATA=FOLDER
"""

import subprocess
import sys
from pathlib import Path

from common import parser

BENCHMARKS = ("quality", "number", "effects", "fits", "stages", "cost", "streams")


def main():
    chosen = parser(__doc__).parse_args()
    if chosen.data is None:
        raise SystemExit("Name the folder of the corpora with --data or HDSP_DATA.")
    folder = Path(__file__).parent
    for name in (*BENCHMARKS, "startup", "render"):
        print(f"== {name}", flush=True)
        data = ["--data", str(chosen.data)] if name in BENCHMARKS else []
        subprocess.run([sys.executable, str(folder / f"{name}.py"), *data], check=True)


if __name__ == "__main__":
    main()
