"""What all benchmarks share: the command line, the corpora and their splits, results on disk.

Real corpora are Parquet files in a folder that is not part of the project. Name it with
``--data FOLDER`` or the environment variable ``HDSP_DATA``.
"""

import argparse
import csv
import os
from pathlib import Path

from hdsp.corpus import Corpus
from hdsp.datasets import load_docstrings
from hdsp_studies.comparison import CorpusFolder, split_corpus
from hdsp_studies.peers import ScalingProcess

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
