"""Effects of a structural topic model on the same corpora: topica's STM and `estimate_effect`.

    python benchmarks/effects_peers.py

Writes benchmarks/results/effects_peers.csv. Corpora are those of effects_curves.py and
effects_groups.py, with as many topics as there are. STM knows the labels while it is fitted, as
its users do it, and its effects are a regression of draws of proportions (the method of
composition, with groups a cluster-robust one); HDSP is fitted without labels and learns effects
afterwards. What an interval should hold is the effect on the topic as it was found by each: what
fresh documents show that are read with the same topics.
"""

import time
import warnings

import effects_curves as curves
import effects_groups as groups
import numpy as np
import pandas as pd
from common import digits, parser, write
from scipy.stats import norm

from hdsp import HDSP, Corpus
from hdsp_studies.peers.documents import normalised, tokens

N_TOPICS, FRESH, DRAWS = 10, 40_000, 25
Z = norm.ppf(0.95)


def fit_stm(counts, design, seed):
    import topica

    model = topica.STM(N_TOPICS, seed=seed)
    model.fit(
        tokens(Corpus(counts).counts),
        prevalence=design,
        iters=100,
        keep_eta_cov=True,
        num_threads=1,
        progress=False,
    )
    return model


def read_stm(model, counts, design):
    import topica

    found = topica.stm.transform(model, tokens(Corpus(counts).counts), prevalence=design)
    return normalised(np.asarray(found))


def regressed(model, design, cluster=None):
    import topica

    return topica.estimate_effect(model, design, ci=0.9, cluster=cluster, nsims=DRAWS)


def along(share, x, grid):
    return curves.functions(grid) @ np.linalg.lstsq(curves.functions(x), share, rcond=None)[0]


def curve_rows(shape, seed):
    """Limits and targets of curves by both."""
    curves.FRESH = FRESH
    rng, truth, corpus, model = curves.prepare(shape, seed)
    block = corpus.labels.block("x")
    x = block.values.toarray()[:, 0]
    start = time.perf_counter()
    curve = model.estimate_effects(corpus, "~ s(x)").curve("x", n=curves.GRID)
    seconds = time.perf_counter() - start + sum(row["seconds"] for row in model.stages_)
    grid = curve["value"].unique()
    target = curves.fresh_means(model, truth, shape, grid, rng)[None].ravel()
    ours = pd.DataFrame({name: curve[name] for name in ("expected", "lower", "upper")})
    yield "HDSP", ours.assign(target=target), seconds
    fresh = rng.uniform(-1.0, 1.0, size=FRESH)
    counts = curves.draw(truth, shape, fresh, np.zeros(FRESH, dtype=bool), rng)
    # As stm's s(x): ten columns of a cubic spline.
    knots = np.concatenate([[-1.0] * 3, np.linspace(-1.0, 1.0, 9), [1.0] * 3])
    basis = lambda at: curves.BSpline.design_matrix(at, knots, 3).toarray()[:, 1:]  # noqa: E731
    start = time.perf_counter()
    stm = fit_stm(corpus.counts, basis(x), seed)
    found = regressed(stm, basis(x))
    seconds = time.perf_counter() - start
    rows = np.column_stack([np.ones(len(grid)), basis(grid)])
    middle = np.array([rows @ np.asarray(one.coef) for one in found]).T
    error = np.array(
        [np.sqrt(np.einsum("ij,jk,ik->i", rows, np.asarray(one.vcov), rows)) for one in found]
    ).T
    target = along(read_stm(stm, counts, basis(fresh)), fresh, grid)
    values = {"expected": middle, "lower": middle - Z * error, "upper": middle + Z * error}
    table = pd.DataFrame({name: value.ravel() for name, value in values.items()})
    yield "STM", table.assign(target=target.ravel()), seconds


def group_rows(spread, seed):
    """Limits and targets of tags' effects by both."""
    rng = np.random.default_rng([13, seed, round(10 * spread)])
    truth = groups.make_truth(spread, rng)
    counts, tags, author = groups.draw(truth, groups.AUTHORS, groups.EACH, rng)
    fresh, fresh_tags, _ = groups.draw(truth, groups.FRESH_AUTHORS, 5, rng)
    names = list(groups.LABELS)
    design, fresh_design = (
        np.array([[name in own for name in names] for own in lists], dtype=float)
        for lists in (tags, fresh_tags)
    )
    null = np.repeat([name.startswith("null") for name in names], N_TOPICS)
    label = np.repeat(names, N_TOPICS)
    start = time.perf_counter()
    model = HDSP(N_TOPICS, fixed_number=True, random_state=seed, n_jobs=1).fit(counts)
    corpus = Corpus(counts, model.words_, tags, groups=author)
    table = model.estimate_effects(corpus, "~ tags").effects()
    seconds = time.perf_counter() - start
    other = model.estimate_effects(Corpus(fresh, model.words_, fresh_tags), "~ tags").effects()
    table = table.merge(other[["label", "topic", "effect"]], on=["label", "topic"])
    chosen = table["label"].str.startswith("null")
    ours = pd.DataFrame(
        {
            "label": table["label"],
            "expected": table["effect_x"],
            "lower": table["lower"],
            "upper": table["upper"],
            "target": np.where(chosen, 0.0, table["effect_y"]),
        }
    )
    yield "HDSP", ours, seconds
    start = time.perf_counter()
    stm = fit_stm(counts, design, seed)
    found = regressed(stm, design, author)
    seconds = time.perf_counter() - start
    part = {
        name: np.array([np.asarray(getattr(one, own))[1:] for one in found]).T.ravel()
        for name, own in (("expected", "coef"), ("lower", "ci_low"), ("upper", "ci_high"))
    }
    share = read_stm(stm, fresh, fresh_design)
    both = np.column_stack([np.ones(len(fresh)), fresh_design])
    target = np.linalg.lstsq(both, share, rcond=None)[0][1:].ravel()
    yield (
        "STM",
        pd.DataFrame({"label": label, **part, "target": np.where(null, 0.0, target)}),
        seconds,
    )


def summary(table):
    inside = (table["lower"] <= table["target"]) & (table["target"] <= table["upper"])
    return {
        "covered": digits(inside.mean(), 3),
        "excludes 0": digits(((table["lower"] > 0) | (table["upper"] < 0)).mean(), 3),
        "half width": digits((table["upper"] - table["lower"]).mean() / 2, 4),
        "error": digits(np.sqrt(((table["expected"] - table["target"]) ** 2).mean()), 4),
        "size of the target": digits(np.sqrt((table["target"] ** 2).mean()), 4),
    }


def rows(seeds):
    for shape in curves.SHAPES:
        found = {}
        for seed in seeds:
            for name, table, seconds in curve_rows(shape, seed):
                found.setdefault(name, []).append((table, seconds))
        for name, runs in found.items():
            own = summary(pd.concat([table for table, _ in runs]))
            own["excludes 0"] = ""
            took = digits(np.mean([seconds for _, seconds in runs]), 1)
            yield {"corpus": f"{shape}, s(x)", "rows": "levels", "model": name, **own} | {
                "seconds": took,
                "seeds": len(seeds),
            }
    for spread in groups.SPREADS:
        found = {}
        for seed in seeds:
            for name, table, seconds in group_rows(spread, seed):
                found.setdefault(name, []).append((table, seconds))
        for kind in ("null author", "true author", "null document", "true document"):
            for name, runs in found.items():
                every = pd.concat([table for table, _ in runs])
                took = digits(np.mean([seconds for _, seconds in runs]), 1)
                corpus = f"authors' deviation {spread}, groups"
                own = summary(every[every["label"] == kind])
                yield {"corpus": corpus, "rows": kind, "model": name, **own} | {
                    "seconds": took,
                    "seeds": len(seeds),
                }


def main():
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--first", type=int, default=200)
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    write("effects_peers", rows(range(chosen.first, chosen.first + chosen.seeds)))


if __name__ == "__main__":
    main()
