"""Do 90% intervals of label effects, levels and curves cover the truth?

    python benchmarks/effects.py --data FOLDER [--designs tags groups ...] [--seeds 700 701 ...]

Writes benchmarks/results/effects.csv, one row per design, case, measure and seed; designs and seeds
that are not run keep their rows. The true topic proportions of a simulated corpus are logistic
normal around a sum of label effects, which is not the model that is fitted. The truth for a fitted
topic is the difference in a very large simulated population, with its proportions projected onto
the fitted topics (`projection`). On real text, placebo tags have no effect by construction. Needs
statsmodels for the comparison with cluster-robust least squares.
"""

import subprocess
import warnings
from csv import DictReader
from itertools import chain, product
from pathlib import Path

import numpy as np
import pandas as pd
from common import RESULTS, load, parser, write
from scipy.sparse import csr_array

from hdsp import HDSP, Corpus, read_table
from hdsp_studies.synthetic import add_placebo_tags

N_TOPICS, N_WORDS, N_DOCUMENTS, WORDS = 10, 800, 1_000, 80
# Standard deviations of base rates and of effects, in log proportions; and of documents, which have
# few of the topics with the larger one. With the smaller one, fitted topics are mixtures.
BASE, EFFECT = 0.5, 0.5
DEVIATIONS = {"few topics": 1.5, "many topics": 0.7}
POPULATION, AT_EACH_VALUE = 200_000, 10_000
COMMON, RARE = 0.4, 20
SHARES = {"40%": 0.4, "30%": 0.3, "20%": 0.2, "8%": 0.08, "2%": 0.02}
SHAPES = {
    "quadratic": lambda x: 1.5 * x**2 - 0.5,
    "sine": lambda x: 1.3 * np.sin(1.3 * np.pi * x),
    "threshold": lambda x: np.sign(x - 0.2),
}
REAL_TOPICS, PLACEBO = 50, ("rcv1_subset", "medline_mesh")
THINNED = ("rcv1_subset", "medline_mesh", "clothing_reviews")
# The range that each measure should be in: by design, the beginning of the case, and the measure.
TARGETS = {
    ("tags", "common", "covered"): (0.87, 0.97),
    ("tags", "rare", "covered"): (0.87, 0.97),
    ("tags", "null", "excludes 0"): (0.0, 0.12),
    ("groups", "null", "excludes 0"): (0.0, 0.13),
    ("groups", "true", "covered"): (0.86, 1.0),
    ("categories", "few topics", "covered"): (0.85, 1.0),
    ("curves", "few topics, quadratic", "covered"): (0.85, 0.97),
    ("curves", "few topics, sine", "covered"): (0.85, 0.97),
    ("curves", "few topics, threshold", "covered"): (0.77, 0.97),
    ("placebo", "", "excludes 0"): (0.0, 0.12),
    ("length", "", "excludes 0"): (0.0, 0.13),
    ("thinned", "", "excludes 0"): (0.0, 0.18),
    ("interaction", "interaction / additive", "width ratio"): (0.0, 1.5),
    ("interaction", "all / a quarter", "width ratio"): (0.4, 0.6),
    ("interaction", "halves", "RMS difference in standard errors"): (0.8, 1.15),
}


class Simulation:
    """Documents whose log proportions are normal around a sum of effects."""

    def __init__(self, seeds, kind="many topics", overlap=0.1):
        self.rng = rng = np.random.default_rng(seeds)
        self.base, self.deviation = BASE * rng.normal(size=N_TOPICS), DEVIATIONS[kind]
        own = rng.dirichlet(np.full(N_WORDS, 0.05), size=N_TOPICS)
        self.topics = (1 - overlap) * own + overlap * rng.dirichlet(np.full(N_WORDS, 1.0))

    def proportions(self, added):
        """Proportions [M, K] of documents with the effects `added` [M, K]."""
        score = self.base + added + self.deviation * self.rng.normal(size=added.shape)
        share = np.exp(score - score.max(axis=1, keepdims=True))
        return share / share.sum(axis=1, keepdims=True)

    def counts(self, share, words=WORDS):
        """Word counts [M, V] of documents of about `words` words."""
        mean = words * self.rng.lognormal(-0.125, 0.5, size=len(share))
        lengths = np.maximum(self.rng.poisson(mean), 5)
        rows = [
            self.rng.multinomial(n, p) for n, p in zip(lengths, share @ self.topics, strict=True)
        ]
        return np.array(rows, dtype=float)

    def mean(self, added):
        """Mean proportions [K] of documents with the same effects `added` [K]."""
        return self.proportions(np.tile(added, (AT_EACH_VALUE, 1))).mean(axis=0)

    def carriers(self, n, size):
        """Which of n documents have a tag, [n]: a share of them, or exactly so many."""
        if size < 1:
            return self.rng.random(n) < size
        return np.isin(np.arange(n), self.rng.choice(n, size, replace=False))


def fit(counts, labels, seed, groups=None, **options):
    """A model with as many topics as were simulated."""
    model = HDSP(N_TOPICS, random_state=seed, n_jobs=1, **options)
    return model.fit(counts, labels=labels, groups=groups)


def fit_real(corpus, seed, **options):
    """A model of a real corpus."""
    model = HDSP(REAL_TOPICS, random_state=seed, n_jobs=1, **options)
    return model.fit(corpus)


def projection(model, topics):
    """The share of each fitted topic in documents of each true topic, [K, T].

    The weighted least squares of a very long document's words on the fitted topics.
    """
    tokens = np.maximum(model.components_[: model.n_topics_] - model.topic_prior, 0.0)
    phi, frequency = tokens / tokens.sum(axis=1, keepdims=True), tokens.sum(axis=0) / tokens.sum()
    known = frequency > 0
    weighted = phi[:, known] / frequency[known]
    found = topics[:, known] @ weighted.T @ np.linalg.inv(weighted @ phi[:, known].T)
    return found / topics[:, known].sum(axis=1, keepdims=True)


def tag_lists(carried, names):
    return [[name for name, has in zip(names, row, strict=True) if has] for row in carried]


def coverage(case, table, truth):
    """How often the intervals of a table cover the truth, and exclude 0."""
    lower, upper = table["lower"].to_numpy(), table["upper"].to_numpy()
    yield case, "covered", np.mean((lower <= truth) & (truth <= upper))
    yield case, "excludes 0", np.mean((lower > 0) | (upper < 0))
    yield case, "half width", np.mean(upper - lower) / 2


def effect_rows(model, truth, names, setting):
    """Coverage of every kind of label; a name is the kind and a number."""
    table = model.label_effects()
    table["truth"] = truth[[names.index(label) for label in table["label"]], table["topic"]]
    table["kind"] = [label.rpartition(" ")[0] for label in table["label"]]
    for kind, own in table.groupby("kind"):
        yield from coverage(f"{kind}, {setting}", own, own["truth"].to_numpy())


def regressed(columns, share, null):
    """Coefficients [J, K] of a population's proportions on columns [M, J]; 0 where nothing acts."""
    design = np.column_stack([np.ones(len(columns)), columns])
    return np.where(null[:, None], 0.0, np.linalg.lstsq(design, share, rcond=None)[0][1:])


def tags(seed, data):
    """Common and rare tags, with effects and without."""
    kinds = {"common": COMMON, "rare": RARE, "null common": COMMON, "null rare": RARE}
    names = [f"{kind} {number}" for kind, number in product(kinds, range(2))]
    sizes = [kinds[name.rpartition(" ")[0]] for name in names]
    null = np.array([name.startswith("null") for name in names])
    for words, kind in product((80, 20), DEVIATIONS):
        made = Simulation([1, seed, words], kind)
        weights = EFFECT * made.rng.normal(size=(len(names), N_TOPICS)) * ~null[:, None]
        carried = np.column_stack([made.carriers(N_DOCUMENTS, size) for size in sizes])
        shares = [size if size < 1 else size / N_DOCUMENTS for size in sizes]
        everyone = made.rng.random((POPULATION, len(names))) < shares
        effects = regressed(everyone, made.proportions(everyone @ weights), null)
        counts = made.counts(made.proportions(carried @ weights), words)
        model = fit(counts, tag_lists(carried, names), seed)
        truth = effects @ projection(model, made.topics)
        yield from effect_rows(model, truth, names, f"{words} words, {kind}")


def groups(seed, data, n_authors=60, each=20):
    """Tags of authors and of documents, where documents of an author are alike."""
    names = ["null author 0", "true author 0", "null document 0", "true document 0"]
    null = np.array([True, False, True, False])

    def draw(made, weights, deviation, n, each):
        author = np.repeat(np.arange(n), each)
        halves = [made.rng.permutation(n)[author] % 2 for _ in range(2)]
        documents = [made.rng.random(len(author)) < COMMON for _ in range(2)]
        carried = np.column_stack([*halves, *documents]).astype(bool)
        own = deviation * made.rng.normal(size=(n, N_TOPICS))
        return author, carried, made.proportions(carried @ weights + own[author])

    for deviation in (0.0, 0.5, 1.0):
        made = Simulation([2, seed, int(10 * deviation)])
        weights = EFFECT * made.rng.normal(size=(len(names), N_TOPICS)) * ~null[:, None]
        _, everyone, share = draw(made, weights, deviation, POPULATION // 5, 5)
        effects = regressed(everyone, share, null)
        author, carried, share = draw(made, weights, deviation, n_authors, each)
        model = fit(made.counts(share), tag_lists(carried, names), seed, groups=author)
        truth = effects @ projection(model, made.topics)
        yield from effect_rows(model, truth, names, f"author sd {deviation:g}")


def categories(seed, data):
    """Levels of a category that few documents have and that many have."""
    for kind in DEVIATIONS:
        made = Simulation([3, seed], kind)
        weights = EFFECT * made.rng.normal(size=(len(SHARES), N_TOPICS))
        drawn = made.rng.choice(len(SHARES), N_DOCUMENTS, p=list(SHARES.values()))
        names = np.array(list(SHARES))
        counts = made.counts(made.proportions(weights[drawn]))
        model = fit(counts, pd.DataFrame({"level": names[drawn]}), seed)
        table = model.estimate_effects().levels("level")
        onto = projection(model, made.topics)
        for weight, name in zip(weights, names, strict=True):
            own = table[table["value"] == name]
            truth = (made.mean(weight) @ onto)[own["topic"]]
            yield from coverage(f"{kind}, level of {name}", own, truth)


def curves(seed, data, n_documents=1_500, n_values=25):
    """Splines of a numeric label whose effect bends."""
    for kind, (number, shape) in product(DEVIATIONS, enumerate(SHAPES)):
        made, function = Simulation([4, seed, number], kind), SHAPES[shape]
        weights = EFFECT * made.rng.normal(size=N_TOPICS)
        x = made.rng.uniform(-1, 1, size=n_documents)
        counts = made.counts(made.proportions(np.outer(function(x), weights)))
        model = fit(counts, pd.DataFrame({"x": x}), seed, scaling="~ s(x)")
        table = model.estimate_effects().curve("x", n=n_values)
        onto, truth = projection(model, made.topics), np.zeros(len(table))
        for value, own in table.groupby("value"):
            truth[own.index] = (made.mean(function(value) * weights) @ onto)[own["topic"]]
        yield from coverage(f"{kind}, {shape}", table, truth)


def placebo(seed, data):
    """Tags of random documents, beside the labels of a real corpus."""
    for name in PLACEBO:
        corpus, _ = load(data, name, seed=seed)
        sizes = {"30%": int(0.3 * len(corpus)), "2%": int(0.02 * len(corpus)), "20": 20, "5": 5}
        drawn = add_placebo_tags(corpus, np.repeat(list(sizes.values()), 2), random_state=seed)
        table = fit_real(drawn, seed).label_effects("placebo")
        table["size"] = np.repeat(list(sizes), len(table) // len(sizes))
        for size, own in table.groupby("size", sort=False):
            yield from coverage(f"{name}, {size} documents", own, np.zeros(len(own)))


def length(seed, data):
    """A tag of long documents (200 words against 20), whose topics are the same."""
    made = Simulation([6, seed], overlap=0.5)
    long = made.carriers(N_DOCUMENTS, 0.5)
    share = made.proportions(np.zeros((N_DOCUMENTS, N_TOPICS)))
    model = fit(
        made.counts(share, np.where(long, 200, 20)), tag_lists(long[:, None], ["long"]), seed
    )
    table = model.label_effects()
    yield from coverage("200 against 20 words", table, np.zeros(len(table)))


def thinned(seed, data):
    """A tag of documents of which three quarters of the words were removed at random."""
    for name in THINNED:
        corpus, _ = load(data, name, seed=seed)
        rng = np.random.default_rng([7, seed])
        chosen = rng.random(len(corpus)) < 0.5
        counts = csr_array(corpus.counts, dtype=np.int64)
        kept = np.repeat(np.where(chosen, 0.25, 1.0), np.diff(counts.indptr))
        counts = csr_array((rng.binomial(counts.data, kept), counts.indices, counts.indptr))
        labels = tag_lists(chosen[:, None], ["thinned"])
        table = fit_real(Corpus(counts, labels=labels), seed).label_effects()
        yield from coverage(name, table, np.zeros(len(table)))


def interaction(seed, data):
    """Averaged effects under an interaction, against an additive formula and least squares."""
    file = Path(data) / "clothing_reviews.parquet"
    corpus = read_table(file, categories="category", numeric="rating", groups="product_id")
    products = np.array(corpus.groups)
    rng = np.random.default_rng([8, seed])
    names = rng.permutation(np.unique(products))
    half = np.isin(products, names[: len(names) // 2])
    sizes = pd.Series(products).value_counts()[names].cumsum()
    quarter = np.isin(products, names[: np.searchsorted(sizes, len(products) // 4)])
    formulas = {"interaction": "~ category * o(rating)", "additive": "~ category + o(rating)"}
    widths = {}
    for name, formula in formulas.items():
        model = fit_real(corpus, seed, scaling=formula)
        table = model.label_effects()
        widths[name] = (table["upper"] - table["lower"]).to_numpy()
        yield name, "half width", np.nanmedian(widths[name]) / 2
        fewer = model.estimate_effects(formula, corpus=corpus[np.flatnonzero(quarter)]).effects()
        ratio = widths[name] / (fewer["upper"] - fewer["lower"])
        yield f"all / a quarter, {name}", "width ratio", np.nanmedian(ratio)
        expected = least_squares(model, data, table, name == "interaction")
        yield f"hdsp / least squares, {name}", "width ratio", np.nanmedian(widths[name] / expected)
        first = fit_real(corpus[np.flatnonzero(half)], seed, scaling=formula)
        own = first.label_effects()
        other = first.estimate_effects(formula, corpus=corpus[np.flatnonzero(~half)]).effects()
        error = np.hypot(own["standard_error"], other["standard_error"])
        away = np.sqrt(np.nanmean(((own["effect"] - other["effect"]) / error) ** 2))
        yield f"halves, {name}", "RMS difference in standard errors", away
    yield (
        "interaction / additive",
        "width ratio",
        np.nanmedian(widths["interaction"] / widths["additive"]),
    )


def least_squares(model, data, table, interacting):
    """Widths of the effects in a table by statsmodels: cluster-robust least squares."""
    import statsmodels.api as sm

    frame = pd.read_parquet(Path(data) / "clothing_reviews.parquet")
    category, levels = pd.factorize(frame["category"], sort=True)
    rating, stars = pd.factorize(frame["rating"], sort=True)

    def design(category, rating):
        if interacting:
            return np.eye(len(levels) * len(stars))[category * len(stars) + rating]
        return np.hstack([np.eye(len(levels))[category], np.eye(len(stars))[rating][:, 1:]])

    n = len(frame)
    at_level = np.array([design(np.full(n, j), rating).mean(axis=0) for j in range(len(levels))])
    at_rating = np.array([design(category, np.full(n, j)).mean(axis=0) for j in range(len(stars))])
    rows = []
    for label in dict.fromkeys(table["label"]):
        if label == "rating":
            low, high = np.quantile(rating, [0.1, 0.9], method="inverted_cdf")
            rows.append(at_rating[high] - at_rating[low])
        else:
            own = levels == label
            others = np.bincount(category) * ~own
            rows.append(at_level[own][0] - others @ at_level / others.sum())
    clusters = {"groups": pd.factorize(frame["product_id"])[0]}
    widths = []
    for share in model.proportions_.T.astype(float)[: model.n_topics_]:
        fitted = sm.OLS(share, design(category, rating)).fit(cov_type="cluster", cov_kwds=clusters)
        widths.append(np.diff(fitted.t_test(np.array(rows)).conf_int(alpha=0.1), axis=1)[:, 0])
    return np.column_stack(widths).ravel()


SIMULATED = (tags, groups, categories, curves, length)
REAL = (placebo, thinned, interaction)
DESIGNS = {design.__name__: design for design in (*SIMULATED, *REAL)}


def target(design, case, measure):
    """The range that a measure should be in, or none."""
    for (own, beginning, name), limits in TARGETS.items():
        if own == design and case.startswith(beginning) and measure == name:
            return limits
    return None


def earlier(designs, seeds):
    """The rows of other designs and seeds."""
    path = RESULTS / "effects.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        found = list(DictReader(file))
    return [row for row in found if row["design"] not in designs or int(row["seed"]) not in seeds]


def rows(designs, seeds, data, commit):
    """A row per case, measure and seed."""
    for design, seed in product(designs, seeds):
        for case, measure, value in DESIGNS[design](seed, data):
            named = {"design": design, "case": case, "measure": measure, "seed": seed}
            yield {**named, "value": f"{value:.4f}", "commit": commit}


def main():
    options = parser(__doc__)
    options.add_argument("--designs", nargs="+", default=list(DESIGNS), choices=list(DESIGNS))
    options.add_argument("--seeds", nargs="+", type=int, default=list(range(700, 710)))
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    real = [design.__name__ for design in REAL]
    designs = [one for one in chosen.designs if chosen.data is not None or one not in real]
    describe = ["git", "-C", str(RESULTS), "describe", "--always", "--dirty"]
    commit = subprocess.run(describe, check=True, capture_output=True, text=True).stdout.strip()
    kept = earlier(designs, chosen.seeds)
    write("effects", chain(kept, rows(designs, chosen.seeds, chosen.data, commit)))
    table = pd.read_csv(RESULTS / "effects.csv")
    mean = table.groupby(["design", "case", "measure"], sort=False)["value"].mean()
    for key, value in mean.items():
        limits = target(*key)
        if limits is not None:
            verdict = "" if limits[0] <= round(value, 2) <= limits[1] else "  MISSED"
            print(
                *key, f"{value:.3f}", f"(must be {limits[0]:g} to {limits[1]:g}){verdict}", sep="  "
            )


if __name__ == "__main__":
    main()
