"""Fits that use every kernel, in a process of their own: ``python -m tests.kernels.fits``."""

import hashlib
import json
import re
import sys
import warnings

import numpy as np
import pandas as pd

from hdsp import HDSP, Categorical, LogLinear, TextSettings, simulate
from hdsp.execution.executor import InProcess
from hdsp.model.documents import LocalSettings
from hdsp.model.priors import Priors
from tests.problems import fit_documents, without_labels


def simulated():
    tags = pd.Series([["a"], ["b"], ["a", "b"], []] * 60)
    rating = np.random.default_rng(0).normal(size=len(tags))
    frame = pd.DataFrame({"tags": tags, "rating": rating})
    return simulate(frame, n_topics=8, n_words=200, document_length=40, random_state=0)[0]


def digest(values):
    return hashlib.sha256(np.ascontiguousarray(values, dtype=np.float64).tobytes()).hexdigest()


def wide_fit(corpus):
    """A fit with more topics than two vector registers hold: loops of every kind are run."""
    model = HDSP(60, max_iter=3, n_jobs=1, random_state=0).fit(corpus.counts, labels=None)
    return {"wide": digest(model.components_), "bound": digest(model.history_[-1]["bound"])}


def count_words():
    """Words of texts, in characters of every width."""
    counts, words = TextSettings(min_df=1, max_df=1.0).count(["naïve ძაღლი dog", "𝒜𝒜𝒜 dogs dog"])
    return {"words": [counts.toarray().tolist(), words]}


def search(corpus):
    """A search with labels of each kind, and what can be asked of it."""
    scaling = Categorical("tags") * LogLinear("rating")
    model = HDSP(max_components=40, scaling=scaling, tol=1e-3, n_jobs=1, random_state=0).fit(corpus)
    return {
        "search": digest([row["perplexity"] for row in model.search_]),
        "components": digest(model.components_),
        "transform": digest(model.transform(corpus)),
        "expected": digest(model.expected_topics(corpus.labels)),
        "perplexity": digest(model.perplexity(corpus)),
    }


def one_pass(dtype):
    """A pass over documents, by kernels that are compiled for this type."""
    rng = np.random.default_rng(0)
    counts, priors = rng.poisson(1.0, size=(20, 30)), Priors(0.05, None, None)
    problem, state = without_labels(counts, 60, rng, priors, dtype)
    documents, _ = fit_documents(problem, state, None, LocalSettings(), InProcess())
    return {"pass": digest(documents.token_counts)}


def loaded_kernels():
    """Every kernel that has been imported, by name."""
    return {
        name: value
        for module in [key for key in sys.modules if key.startswith("hdsp.kernels.")]
        for name, value in vars(sys.modules[module]).items()
        if getattr(value, "__module__", None) == module
        and hasattr(value, "overloads")
        and not value.targetoptions.get("no_cpython_wrapper")
    }


def functions_beside(kernel):
    """The functions that a kernel's compiled code defines and calls, but for memory's."""
    code = "\n".join(kernel.inspect_llvm().values())
    names = re.findall(r'^define linkonce_odr [^@]*@"?([^"(]+)', code, flags=re.MULTILINE)
    return [name for name in names if not name.startswith("NRT_")]


def main(what):
    warnings.simplefilter("ignore")
    if what == "other types first":
        one_pass(np.float64)
    bits = one_pass(np.float32)
    if what == "everything":
        corpus = simulated()
        bits |= wide_fit(corpus) | search(corpus) | count_words()
    kernels = loaded_kernels()
    # The code of a kernel that came from the cache cannot be read.
    compiled = [name for name, kernel in kernels.items() if not kernel.stats.cache_hits]
    report = {
        "bits": bits,
        "unused": [name for name, kernel in kernels.items() if not kernel.signatures],
        "kernels": list(kernels),
        "compiled": compiled,
        "functions beside": {name: functions_beside(kernels[name]) for name in compiled},
    }
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
