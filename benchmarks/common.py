"""What all benchmarks share: the command line, the corpora and their splits, results on disk.

Real corpora are Parquet files in a folder that is not part of the project. Name it with
``--data FOLDER`` or the environment variable ``HDSP_DATA``.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from hdsp.corpus import Corpus
from hdsp.datasets import load_docstrings
from hdsp_studies.comparison import CorpusFolder, split_corpus
from hdsp_studies.peers import ScalingProcess

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results"
NAMES = ("medline_mesh", "rcv1_subset", "ohsumed23")


def parser(description):
    """A command line with the option that every benchmark has."""
    result = argparse.ArgumentParser(description=description)
    result.add_argument("--data", type=Path, default=os.environ.get("HDSP_DATA"))
    return result


def load(folder, name, *options, **named):
    """Training and test documents, by the protocol of docs/quality.md."""
    if name == "docstrings":
        return split_docstrings()
    return CorpusFolder(None if folder is None else Path(folder)).split(name, *options, **named)


def split_docstrings():
    """The built-in corpus, with words chosen by the training documents."""
    labels, settings = load_docstrings().labels, load_docstrings().text_settings
    counts, words = settings.all_words.count(load_docstrings(as_frame=True)["text"].tolist())
    return split_corpus(Corpus(counts, words, labels), 0.2, 0, settings)


def fixed(**options):
    """HDSP with exactly as many topics as the settings say."""
    return ScalingProcess(options.pop("scaling", "auto"), **options)


def write(name, rows):
    """Write rows as they come to a file of results, and show them on the terminal."""
    with (RESULTS / f"{name}.csv").open("w", newline="") as file:
        writer = None
        for row in rows:
            if writer is None:
                writer = csv.DictWriter(file, list(row), lineterminator="\n")
                writer.writeheader()
            writer.writerow(row)
            file.flush()
            print(name, *[f"{key} {value}" for key, value in row.items()], sep="  ", flush=True)


def digits(value, n):
    """A number with n digits after the point; nothing for what a model cannot do."""
    return "" if value is None else f"{value:.{n}f}"


@contextmanager
def checkout(commit):
    """The source trees to compare by name: "before" at a commit, if there is one, and "now"."""
    if commit is None:
        yield {"now": ROOT}
        return
    git = ["git", "-C", str(ROOT), "worktree"]
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "before"
        subprocess.run([*git, "add", "--detach", "-q", str(tree), commit], check=True)
        try:
            yield {"before": tree, "now": ROOT}
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def run_version(tree, script, arguments):
    """The JSON that a script's `--measure` prints with the packages of a source tree."""
    parts = [tree / "src", tree / "studies/src", ROOT / "benchmarks"]
    path = os.pathsep.join(map(str, parts))
    command = [sys.executable, script, "--measure", json.dumps(arguments)]
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    out = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(out.stdout.splitlines()[-1])
