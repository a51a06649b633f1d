"""Do curves, levels and checks hold where effects bend or depend on each other?

    python benchmarks/effects_curves.py

Writes benchmarks/results/effects_curves.csv and effects_checks.csv. Documents are drawn from a
model that is not ours: their topics are a softmax of normal variables around a function of a number
x, which bends (quadratic, threshold, sine), is straight, or has a slope that is positive in four
fifths of documents and negative in the others. The fit knows nothing of x. What a band should hold
is the mean proportion of documents at x of the topic as it was found: what forty thousand other
documents show that are read with the same topics. Checks count how often a verdict is
given, of the form that is right and of one that is not.
"""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
from common import digits, parser, write
from scipy.interpolate import BSpline

from hdsp import HDSP, Corpus
from hdsp.execution import InProcess, fit_documents
from hdsp.model import LocalSettings, make_problem
from hdsp.model.updates import update_scaling
from hdsp.scaling import bind_labels

N_TOPICS, N_WORDS, WORDS, DOCUMENTS = 10, 800, 80, 1_500
FRESH, GRID = 40_000, 25
DOCUMENT, SIZE = 0.7, 0.6
SHAPES = {
    "line": lambda x: x,
    "quadratic": lambda x: 1.5 * x**2 - 0.5,
    "threshold": lambda x: np.sign(x - 0.2),
    "sine": lambda x: 1.3 * np.sin(np.pi * 1.3 * x),
}
SMALL = 0.2
PASSES, SETTLED = 5, LocalSettings(max_iter=100, tol=1e-4)


def make_truth(rng):
    return {
        "base": 0.5 * rng.normal(size=N_TOPICS),
        "weights": SIZE * rng.normal(size=N_TOPICS),
        "group": SIZE * rng.normal(size=N_TOPICS),
        "topics": rng.dirichlet(np.full(N_WORDS, 0.05), size=N_TOPICS),
    }


def draw(truth, shape, x, small, rng):
    """Counts of documents with a number x and, in an interaction, a small group."""
    effect = x * np.where(small, -1.0, 1.0) if shape == "interaction" else SHAPES[shape](x)
    score = truth["base"] + np.outer(effect, truth["weights"])
    if shape == "interaction":
        score = score + np.outer(small, truth["group"])
    score = score + DOCUMENT * rng.normal(size=score.shape)
    share = np.exp(score - score.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    lengths = np.maximum(rng.poisson(WORDS * rng.lognormal(-0.125, 0.5, size=len(x))), 5)
    words = share @ truth["topics"]
    return np.array(
        [rng.multinomial(n, row / row.sum()) for n, row in zip(lengths, words, strict=True)]
    ).astype(float)


def table(x, small):
    return pd.DataFrame({"x": x, "group": np.where(small, "small", "large")})


def fresh_means(model, truth, shape, grid, rng):
    """Mean proportions along x by group, [G, T], of fresh documents read with the model's topics.

    They are read with labels' weights of a flexible form, learned anew; what is found in them is
    regressed on functions that hold every shape that was drawn.
    """
    fitted = model._model
    x, small = rng.uniform(-1.0, 1.0, size=FRESH), rng.random(FRESH) < SMALL
    corpus = Corpus(draw(truth, shape, x, small, rng), words=model.words_, labels=table(x, small))
    formula = "~ group * s(x, 16)" if shape == "interaction" else "~ s(x, 16)"
    values = corpus.schema.encode(corpus.labels)
    space = bind_labels(formula, corpus.schema, values)
    problem = make_problem(corpus.counts, space.design(values), space.scaling, fitted.priors)
    scaling = space.scaling.initial(fitted.state.n_topics, space.n_columns)
    state, documents = replace(fitted.state, scaling=scaling), None
    for _ in range(PASSES):
        documents, _ = fit_documents(problem, state, documents, SETTLED, InProcess(), reuse=True)
        state = replace(state, scaling=update_scaling(problem, state, documents))
    tokens = documents.token_counts[:, : state.n_topics].astype(float)
    share = tokens / tokens.sum(axis=1, keepdims=True)
    if shape != "interaction":
        return {None: functions(grid) @ np.linalg.lstsq(functions(x), share, rcond=None)[0]}
    powers = [np.vander(own, 4) for own in (x, grid)]
    return {
        name: powers[1] @ np.linalg.lstsq(powers[0][chosen], share[chosen], rcond=None)[0]
        for name, chosen in (("large", ~small), ("small", small))
    }


def functions(x):
    """A cubic spline and a step, [n, F]."""
    knots = np.concatenate([[-1.0] * 3, np.linspace(-1.0, 1.0, 7), [1.0] * 3])
    return np.column_stack([BSpline.design_matrix(x, knots, 3).toarray(), x > 0.2])


def prepare(shape, seed):
    rng = np.random.default_rng([11, seed, sorted([*SHAPES, "interaction"]).index(shape)])
    truth = make_truth(rng)
    x = rng.uniform(-1.0, 1.0, size=DOCUMENTS)
    small = rng.random(DOCUMENTS) < SMALL
    corpus = Corpus(draw(truth, shape, x, small, rng), labels=table(x, small))
    model = HDSP(N_TOPICS, fixed_number=True, random_state=seed, n_jobs=1).fit(corpus.counts)
    corpus = Corpus(corpus.counts, words=model.words_, labels=table(x, small))
    return rng, truth, corpus, model


def compare(shape, seed):
    """Rows of curves with their targets, and of checks."""
    rng, truth, corpus, model = prepare(shape, seed)
    interacting = shape == "interaction"
    forms = {"line": "~ x", "Spline": "~ s(x)"}
    if interacting:
        forms = {"no product": "~ group + x", "product": "~ group * x", "s(x)": "~ group * s(x)"}
    curves, checks = [], []
    targets = {}
    for name, formula in forms.items():
        found = model.estimate_effects(corpus, formula)
        curve = found.curve("x", by="group" if interacting else None, n=GRID)
        grid = curve["value"].unique()
        if not targets:
            targets = fresh_means(model, truth, shape, grid, rng)
        for group in targets:
            part = curve if group is None else curve[curve["group"] == group]
            part = part.assign(target=targets[group].ravel(), form=name, part=group or "all")
            curves.append(part)
        verdicts = found.check()
        pair = verdicts["label"].str.contains("×")
        kinds = {"curvature": ~pair, "interaction": pair}
        for kind, chosen in kinds.items():
            own = verdicts[chosen & (verdicts["label"] != "group")]
            if len(own):
                checks.append(
                    {
                        "form": name,
                        "cells": kind,
                        "verdicts": (own["verdict"] == kind).mean(),
                        "any": float((own["verdict"] == kind).any()),
                        "beyond 3": (own["z"].abs() > 3).mean(),
                    }
                )
    return pd.concat(curves), pd.DataFrame(checks)


def slopes_right(table):
    """The share of topics whose curve goes the way that the target does, where that is clear."""
    right = []
    for _, own in table.groupby("topic"):
        ends = own.sort_values("value").iloc[[0, -1]]
        change, target = np.diff(ends["expected"])[0], np.diff(ends["target"])[0]
        if abs(target) > 0.02:
            right.append(change * target > 0)
    return right


def run(seeds):
    curves, checks = [], []
    for shape in [*SHAPES, "interaction"]:
        found = [compare(shape, seed) for seed in seeds]
        all_curves = pd.concat([own.assign(seed=n) for n, (own, _) in enumerate(found)])
        for (form, part), own in all_curves.groupby(["form", "part"], sort=False):
            inside = (own["lower"] <= own["target"]) & (own["target"] <= own["upper"])
            right = [one for _, by_seed in own.groupby("seed") for one in slopes_right(by_seed)]
            curves.append(
                {
                    "truth": shape,
                    "form": form,
                    "documents": part,
                    "covered": digits(inside.mean(), 3),
                    "half width": digits((own["upper"] - own["lower"]).mean() / 2, 4),
                    "error": digits(np.sqrt(((own["expected"] - own["target"]) ** 2).mean()), 4),
                    "right direction": digits(np.mean(right), 3) if right else "",
                    "seeds": len(seeds),
                }
            )
            print(curves[-1], flush=True)
        all_checks = pd.concat([own for _, own in found])
        for (form, kind), own in all_checks.groupby(["form", "cells"], sort=False):
            checks.append(
                {
                    "truth": shape,
                    "form": form,
                    "cells": kind,
                    "verdicts": digits(own["verdicts"].mean(), 3),
                    "corpora with one": digits(own["any"].mean(), 3),
                    "beyond 3": digits(own["beyond 3"].mean(), 3),
                    "seeds": len(seeds),
                }
            )
            print(checks[-1], flush=True)
    return curves, checks


def main():
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--first", type=int, default=100)
    options.add_argument("--try", action="store_true", dest="dry", help="write nothing")
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    curves, checks = run(range(chosen.first, chosen.first + chosen.seeds))
    if not chosen.dry:
        write("effects_curves", curves)
        write("effects_checks", checks)


if __name__ == "__main__":
    main()
