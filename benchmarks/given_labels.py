"""How well do labels predict words, and words predict labels? Side by side with an earlier commit.

    python benchmarks/given_labels.py --data FOLDER --before COMMIT

Writes benchmarks/results/given_labels.csv: means over seeds, each with its own split and fit of 100
topics, each version in a process of its own. Perplexity of held-out documents given their labels,
with the words of labels and without; log loss and calibration error of `predict_labels` on the same
documents.
"""

import json
import os
import subprocess
import sys
import tempfile
import warnings
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
from common import digits, load, parser, write
from probabilities import calibration_error, encoded

from hdsp_studies.comparison import Reading

ROOT = Path(__file__).parent.parent
N_TOPICS, BINS = 100, 15
CORPORA = {
    "rcv1_subset": None,
    "medline_mesh": None,
    "ohsumed23": None,
    "clothing_reviews": Reading(tags=(), categories=("category", "rating")),
    "amazon_4domains": Reading(tags=(), categories=("category", "rating")),
    "nips_abstracts_1987_2018": Reading(tags=(), numeric=("year",)),
    "nips_abstracts_1987_2018, authors": Reading(least_documents=2),
    "searchsnippets": None,
    "tweets": None,
}
PLACES = {"with words": 2, "without words": 2, "log loss": 4, "calibration error": 4}


def measure(data, corpus, seed):
    """The measures of the imported version, by name."""
    from hdsp import HDSP

    warnings.simplefilter("ignore")
    train, test = load(data, corpus.partition(",")[0], CORPORA[corpus], seed=seed)
    model = HDSP(N_TOPICS, random_state=seed, n_jobs=1).fit(train)
    found = {"with words": model.perplexity(test, given="labels")}
    losses, errors = [], []
    for block in train.labels.blocks:
        if block.kind == "number":
            continue
        chance = model.predict_labels(test, block.name).to_numpy()
        own = encoded(model, test.labels, block.name) > 0
        if block.kind == "tags":
            kept = np.clip(chance, 1e-7, 1 - 1e-7)
            losses.append(-np.where(own, np.log(kept), np.log1p(-kept)).sum(axis=1).mean())
            place = np.minimum((chance * BINS).astype(int), BINS - 1)
            away = [abs((chance - own)[place == i].sum()) for i in range(BINS)]
            errors.append(sum(away) / own.size)
        else:
            known = own.any(axis=1)
            true, chance = own[known].argmax(axis=1), chance[known]
            losses.append(-np.log(np.maximum(chance[range(len(true)), true], 1e-12)).mean())
            errors.append(calibration_error(chance, true))
    if losses:
        found |= {"log loss": np.mean(losses), "calibration error": np.mean(errors)}
    fitted = model._model
    if hasattr(fitted, "answers"):
        fitted.answers["word_factors"] = None
    else:
        model._model = replace(fitted, word_factors=None)
    return found | {"without words": model.perplexity(test, given="labels")}


def child(tree, arguments):
    """The measures of the version in a folder."""
    path = os.pathsep.join(str(tree / part) for part in ("src", "studies/src"))
    command = [sys.executable, __file__, "--measure", json.dumps(arguments)]
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    out = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(out.stdout.splitlines()[-1])


def rows(before, chosen):
    for corpus in chosen.corpora:
        runs = {"before": [], "now": []}
        for seed in chosen.seeds:
            for name, tree in (("before", before), ("now", ROOT)):
                runs[name].append(child(tree, [str(chosen.data), corpus, seed]))
        for name, places in PLACES.items():
            if name in runs["now"][0]:
                old, new = (np.mean([run[name] for run in runs[side]]) for side in runs)
                yield {
                    "corpus": corpus,
                    "measure": name,
                    "before": digits(old, places),
                    "now": digits(new, places),
                    "change in %": f"{100 * (new / old - 1):+.2f}",
                    "seeds": len(chosen.seeds),
                }


def main():
    options = parser(__doc__)
    options.add_argument("--before", default="HEAD~1", help="the commit to compare with")
    options.add_argument("--corpora", nargs="+", default=list(CORPORA), choices=list(CORPORA))
    options.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    options.add_argument("--measure", help="measure this version; for the processes of a run")
    chosen = options.parse_args()
    if chosen.measure:
        print(json.dumps(measure(*json.loads(chosen.measure))))
        return
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        tree, git = folder / "before", ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--detach", "-q", str(tree), chosen.before], check=True)
        stack.callback(subprocess.run, [*git, "remove", "--force", str(tree)], check=True)
        write("given_labels", rows(tree, chosen))


if __name__ == "__main__":
    main()
