"""Do functions beside the log-linear one find scales of their own form?

    python benchmarks/functions.py

Writes benchmarks/results/functions.csv. Documents are drawn from a model that is not ours: their
topics are Dirichlet distributed, of a precision that is the same for all, around proportions whose
log scales a number x gives in one of several forms, with weights of each topic. Each corpus is
fitted with `LogLinear` and with the function of the form that was drawn. Curves are compared with
the mean proportions of the topics as they were found in eight thousand other documents, as in
effects_curves.py, where the topic has 5 % or more and where it has less; words of a thousand
documents are predicted from x alone.
"""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
from common import digits, parser, write
from effects_curves import GRID, N_TOPICS, N_WORDS, PASSES, SETTLED
from scipy.special import softmax

from hdsp import HDSP, Corpus, Custom, LogLinear, Monotone, Power, Softplus
from hdsp.answers.label_levels import curve_columns
from hdsp.execution import InProcess, fit_documents
from hdsp.model import make_problem
from hdsp.model.updates import update_scaling
from hdsp.scaling import bind_labels

DOCUMENTS, TEST, FRESH, WORDS, PRECISION = 1_500, 1_000, 8_000, 120, 15.0
PRESENT = 0.05


def levelling(labels, weights):
    """Linear near the mean, and level where a topic's second weight says."""
    return weights[0] * np.tanh(labels[0] * np.exp(weights[1]))


def steps(x, w):
    """Most of the way within a small part of the range, another one for each topic."""
    places = np.linspace(-0.6, 0.6, w.shape[1])
    return 0.7 * np.sign(w[0]) * np.tanh((x - places) / 0.15)


# By form: log scales [M, T] at x in [-1, 1] with standard normal weights [2, T].
TRUTHS = {
    "softplus": (
        lambda x, w: np.log(np.logaddexp(0.0, 6.0 * w[0] * x)),
        {"Softplus": Softplus("x")},
    ),
    "levelling": (
        lambda x, w: 0.6 * w[0] * np.tanh(4.0 * np.exp(0.5 * w[1]) * x),
        {"Custom": Custom("x", log_scale=levelling, n_weights=2)},
    ),
    "steps": (steps, {"Monotone": Monotone("x")}),
    "power": (lambda x, w: 2.0 * np.arcsinh(2.5 * w[0] * x), {"Power": Power("x")}),
    "line": (lambda x, w: 0.6 * w[0] * x, {"Monotone": Monotone("x")}),
}


def mean_shares(truth, name, x):
    """Mean proportions of topics, [M, T]."""
    return softmax(truth["base"] + TRUTHS[name][0](x[:, None], truth["weights"]), axis=1)


def draw(truth, name, n, rng):
    """A corpus of n documents with a number."""
    x = rng.uniform(-1.0, 1.0, size=n)
    share = rng.gamma(np.maximum(PRECISION * mean_shares(truth, name, x), 1e-3))
    words = share / share.sum(axis=1, keepdims=True) @ truth["topics"]
    lengths = np.maximum(rng.poisson(WORDS * rng.lognormal(-0.125, 0.5, size=n)), 5)
    counts = [rng.multinomial(n, row / row.sum()) for n, row in zip(lengths, words, strict=True)]
    return Corpus(np.array(counts, dtype=float), labels=pd.DataFrame({"x": x})), x


def fresh_means(model, truth, name, corpus, x, grid):
    """Mean proportions along x, [G, T], of fresh documents read with the model's topics."""
    fitted = model._model
    values = corpus.schema.encode(corpus.labels)
    space = bind_labels("~ s(x, 16)", corpus.schema, values)
    problem = make_problem(corpus.counts, space.design(values), space.scaling, fitted.priors)
    scaling = space.scaling.initial(fitted.state.n_topics, space.n_columns)
    state, documents = replace(fitted.state, scaling=scaling), None
    for _ in range(PASSES):
        documents, _ = fit_documents(problem, state, documents, SETTLED, InProcess(), reuse=True)
        state = replace(state, scaling=update_scaling(problem, state, documents))
    tokens = documents.token_counts[:, : state.n_topics].astype(float)
    share = tokens / tokens.sum(axis=1, keepdims=True)
    # Found topics are mixtures of those that were drawn.
    there, here = (mean_shares(truth, name, own) for own in (grid, x))
    return there @ np.linalg.lstsq(here, share, rcond=None)[0]


def compare(name, seed):
    rng = np.random.default_rng([17, seed, sorted(TRUTHS).index(name)])
    truth = {
        "base": 0.3 * rng.normal(size=N_TOPICS),
        "weights": rng.normal(size=(2, N_TOPICS)),
        "topics": rng.dirichlet(np.full(N_WORDS, 0.03), size=N_TOPICS),
    }
    (train, _), (test, _), (fresh, x) = (
        draw(truth, name, n, rng) for n in (DOCUMENTS, TEST, FRESH)
    )
    for form, scaling in {"LogLinear": LogLinear("x"), **TRUTHS[name][1]}.items():
        model = HDSP(
            N_TOPICS, fixed_number=True, scaling=scaling, init="nmf", random_state=seed, n_jobs=1
        ).fit(train)
        fitted = model._model
        curve = pd.DataFrame(
            curve_columns(fitted, None, "x", None, GRID, 0.9, "documents", "benchmark")
        )
        target = fresh_means(model, truth, name, fresh, x, curve["value"].unique()).ravel()
        inside = (curve["lower"] <= target) & (target <= curve["upper"])
        yield {
            "form": form,
            "perplexity": model.perplexity(test, given="labels"),
            "error": ((curve["expected"] - target) ** 2).mean(),
            # A topic that is nearly absent is found in some words that are not its own.
            "covered": inside[target >= PRESENT].mean(),
            "covered below": inside[target < PRESENT].mean(),
            "half width": (curve["upper"] - curve["lower"])[target >= PRESENT].mean() / 2,
        }


def run(names, seeds):
    for name in names:
        found = pd.DataFrame([row for seed in seeds for row in compare(name, seed)])
        plain = found.loc[found["form"] == "LogLinear", "perplexity"].to_numpy()
        for form, own in found.groupby("form", sort=False):
            ratio = own["perplexity"].to_numpy() / plain
            yield {
                "truth": name,
                "form": form,
                "perplexity": digits(own["perplexity"].mean(), 1),
                "of LogLinear's": digits(ratio.mean(), 4),
                "better": int((ratio < 1.0).sum()),
                "error": digits(np.sqrt(own["error"].mean()), 4),
                "covered": digits(own["covered"].mean(), 3),
                "covered below": digits(own["covered below"].mean(), 3),
                "half width": digits(own["half width"].mean(), 4),
                "seeds": len(seeds),
            }


def main():
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--first", type=int, default=100)
    options.add_argument("--truths", nargs="*", default=list(TRUTHS))
    options.add_argument("--try", action="store_true", dest="dry", help="write nothing")
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    rows = run(chosen.truths, range(chosen.first, chosen.first + chosen.seeds))
    if chosen.dry:
        for row in rows:
            print(row, flush=True)
    else:
        write("functions", rows)


if __name__ == "__main__":
    main()
