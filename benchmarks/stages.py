"""Where the time of a fit goes, stage by stage, side by side with an earlier commit.

    python benchmarks/stages.py --data FOLDER --before COMMIT

Fits of the two versions take turns in processes of their own, and the fastest of each counts.
Writes benchmarks/results/stages.csv. Quality is that of held-out documents.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from common import digits, load, parser, write

ROOT = Path(__file__).parent.parent
N_TOPICS = 100


def measure(data, corpus, n_jobs, search, quality):
    """Fit once to compile, and once to measure: seconds by stage, and perplexities."""
    from hdsp import HDSP

    warnings.simplefilter("ignore")
    train, test = load(data, corpus)
    # Everything is compiled or loaded by a short fit of few documents.
    HDSP(N_TOPICS, max_iter=2, random_state=0, n_jobs=n_jobs).fit(train[:400])
    began, worked = time.perf_counter(), time.process_time()
    model = HDSP(N_TOPICS, fixed_number=not search, random_state=0, n_jobs=n_jobs).fit(train)
    total, worked = time.perf_counter() - began, time.process_time() - worked
    stages = {row["stage"]: row["seconds"] for row in model.stages_}
    found = {**stages, "untimed": total - sum(stages.values()), "total": total, "cpu": worked}
    if quality:
        found["completion"] = model.perplexity(test, given="completion")
        found["given labels"] = model.perplexity(test, given="labels")
    return found


def child(tree, arguments):
    """The measurement by the version in a folder."""
    path = os.pathsep.join(str(tree / part) for part in ("src", "studies/src"))
    path += os.pathsep + str(ROOT / "benchmarks")
    command = [sys.executable, __file__, "--measure", json.dumps(arguments)]
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    out = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(out.stdout.splitlines()[-1])


def rows(before, chosen):
    for corpus in chosen.corpora:
        for search in (False, True) if chosen.search else (False,):
            for n_jobs in chosen.threads:
                runs = {"before": [], "now": []}
                for turn in range(chosen.repeat):
                    arguments = [str(chosen.data), corpus, n_jobs, search, turn == 0]
                    for name, tree in (("before", before), ("now", ROOT)):
                        runs[name].append(child(tree, arguments))
                old, new = (min(own, key=lambda run: run["total"]) for own in runs.values())
                for name in dict.fromkeys([*runs["now"][0], *runs["before"][0]]):
                    if name in ("completion", "given labels"):
                        values = [runs[side][0].get(name) for side in ("before", "now")]
                        places = 1
                    else:
                        values, places = [old.get(name), new.get(name)], 2
                    yield {
                        "corpus": corpus,
                        "number": "searched" if search else "fixed",
                        "threads": n_jobs,
                        "stage": name,
                        "before": digits(values[0], places),
                        "now": digits(values[1], places),
                    }


def main():
    options = parser(__doc__)
    options.add_argument("--before", default="HEAD~1", help="the commit to compare with")
    options.add_argument("--corpora", nargs="+", default=["medline_mesh"])
    options.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument("--search", action="store_true", help="fits that choose their number, too")
    options.add_argument("--measure", help="measure this version; for the processes of a run")
    chosen = options.parse_args()
    if chosen.measure:
        print(json.dumps(measure(*json.loads(chosen.measure))))
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "before"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--detach", "-q", str(tree), chosen.before], check=True)
        try:
            write("stages", rows(tree, chosen))
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


if __name__ == "__main__":
    main()
