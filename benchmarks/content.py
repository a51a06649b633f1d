"""Groups that use other words for the same topics: numbers of topics, false and true effects.

    python benchmarks/content.py --data FOLDER

Writes benchmarks/results/content_drawn.csv, content_peers.csv, content_checks.csv,
content_renamed.csv and content_words.csv.

Drawn corpora have ten topics and documents of 80 words of two parties; the second party has other
words for a share of each topic's words. Parties speak of the same topics equally often, or do not:
then an interval should hold the difference of expected proportions in the distribution that
documents are drawn from, for the true topic that a found one resembles most. On real text, a share
of all words is renamed in a random half of the documents, so that every effect of the half is
false, and ratios of words between the halves should exclude 1 for renamed words alone. All with
the default search for the number of topics, with and without ``content``. topica's STM is given
the ten topics that there are, and its effects are those of `estimate_effect`. Checks are those of
models without ``content``: of the warning, and of effects without the words of the party.
"""

import time
import warnings
from itertools import product

import numpy as np
import pandas as pd
from common import digits, load, parser, write
from scipy.sparse import csr_array, hstack

from hdsp import HDSP, Corpus
from hdsp.analysis.label_effects import own_regression
from hdsp.analysis.label_words import FEWEST_TOKENS, word_ratios
from hdsp.analysis.topic_checks import find_split_topics
from hdsp.metrics import match_topics

N_TOPICS, N_WORDS, LENGTH, TEST = 10, 800, 80, 500
EFFECT = 1.0
CORPORA = ("clothing_reviews", "amazon_4domains")


def draw(seed, differ, n_documents, effect):
    """Counts, the party of each document, the topics [T, V], and the true effects [T]."""
    rng = np.random.default_rng(seed)
    own = rng.dirichlet(np.full(N_WORDS, 0.05), size=N_TOPICS)
    other = np.where(rng.random(own.shape) < differ, own, 0.0)
    topics = np.stack([np.hstack([own, 0.0 * own]), np.hstack([own - other, other])])
    tilt = rng.normal(0.0, effect, size=N_TOPICS)

    def proportions(party):
        shape = np.full((len(party), N_TOPICS), 1.0 / N_TOPICS)
        weight = rng.gamma(shape) * np.exp((party - 0.5)[:, None] * tilt) + 1e-300
        return weight / weight.sum(axis=1, keepdims=True)

    party = rng.integers(2, size=n_documents)
    theta = proportions(party)
    counts = np.array(
        [rng.multinomial(LENGTH, t @ topics[g]) for t, g in zip(theta, party, strict=True)]
    )
    many = 200_000
    first, second = (proportions(np.full(many, g)).mean(axis=0) for g in (0, 1))
    return csr_array(counts.astype(float)), party, topics.mean(axis=0), second - first


def fit(counts, group, content, seed):
    """A fit to documents of two groups: the model, its table of the second group, and seconds."""
    labels = pd.DataFrame({"group": np.where(group == 1, "second", "first")})
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HDSP(content="group" if content else None, random_state=seed, n_jobs=1)
        model.fit(Corpus(counts, labels=labels))
    seconds = time.perf_counter() - began
    table = model.label_effects(0.9)
    return model, table[table["label"] == "second"], seconds


def completion(model, counts, group):
    """The completion perplexity of further documents."""
    labels = pd.DataFrame({"group": np.where(group == 1, "second", "first")})
    return model.perplexity(counts, labels=labels, given="completion")


def excludes(table):
    """The share of intervals without 0."""
    return float(((table["lower"] > 0) | (table["upper"] < 0)).mean())


def shift(table):
    """How much of the proportions the effects say to differ."""
    return float(table["effect"].abs().sum() / 2.0)


def summary(found):
    """The means over seeds of what fits found."""
    topics = [one["topics"] for one in found]
    mean = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
    return {
        "topics": digits(mean["topics"], 1),
        "fewest": min(topics),
        "most": max(topics),
        "excludes 0": digits(mean["excludes"], 3),
        "shift": digits(mean["shift"], 3),
        "largest shift": digits(max(one["shift"] for one in found), 3),
        "completion": digits(mean["completion"], 1),
        "seconds": digits(mean["seconds"], 2),
    }


def drawn_rows(seeds):
    for n_documents, differ, content in product((1_500, 3_000), (0.0, 0.1, 0.3), (False, True)):
        found, covered = [], []
        for seed in seeds:
            counts, party, topics, _ = draw(seed, differ, n_documents + TEST, 0.0)
            train, test = slice(0, n_documents), slice(n_documents, None)
            model, table, seconds = fit(counts[train], party[train], content, seed)
            found.append(
                {
                    "topics": model.n_topics_,
                    "excludes": excludes(table),
                    "shift": shift(table),
                    "completion": completion(model, counts[test], party[test]),
                    "seconds": seconds,
                }
            )
            counts, party, topics, effects = draw(seed, differ, n_documents, EFFECT)
            model, table, _ = fit(counts, party, content, seed)
            partner, _ = match_topics(model.components_, topics)
            known = partner >= 0
            true = effects[partner[known]]
            rows = table.sort_values("topic")[known]
            covered.append(((rows["lower"] <= true) & (true <= rows["upper"])).mean())
        yield {
            "documents": n_documents,
            "words differ": differ,
            "content": content,
            **summary(found),
            "true effects covered": digits(float(np.mean(covered)), 3),
        }


def stm(counts, party, content, seed):
    """The topics [T, V] of an STM with ten topics, and the table of the second party's effects."""
    import topica

    from hdsp_studies.peers.documents import tokens

    model = topica.STM(N_TOPICS, seed=seed)
    settings = {"iters": 100, "keep_eta_cov": True, "num_threads": 1, "progress": False}
    design = party[:, None].astype(float)
    names = np.where(party == 1, "second", "first").tolist() if content else None
    model.fit(tokens(Corpus(counts).counts), prevalence=design, content=names, **settings)
    found = topica.estimate_effect(model, design, ci=0.9, nsims=25)
    columns = {"effect": "coef", "lower": "ci_low", "upper": "ci_high"}
    table = pd.DataFrame(
        {
            name: [float(np.asarray(getattr(one, own))[1]) for one in found]
            for name, own in columns.items()
        }
    )
    words = [int(word) for word in model.vocabulary]
    topics = np.zeros((N_TOPICS, counts.shape[1]))
    topics[:, words] = np.asarray(model.topic_word)
    return topics, table


def peer_rows(seeds):
    """False effects, and how many of the ten topics are found, within .3, with equal parties."""
    for differ, content in product((0.1, 0.3), (False, True)):
        for name in ("HDSP", "STM"):
            found = []
            for seed in seeds:
                counts, party, truth, _ = draw(seed, differ, 1_500, 0.0)
                if name == "STM":
                    topics, table = stm(counts, party, content, seed)
                else:
                    model, table, _ = fit(counts, party, content, seed)
                    topics = model.components_
                _, distance = match_topics(truth, topics)
                found.append((excludes(table), shift(table), (distance < 0.3).sum()))
            mean = np.mean(found, axis=0)
            yield {
                "words differ": differ,
                "content": content,
                "model": name,
                "excludes 0": digits(float(mean[0]), 3),
                "shift": digits(float(mean[1]), 3),
                "topics found": digits(float(mean[2]), 1),
            }


def check_rows(folder, seeds):
    """Fits without versions: how many warn, and effects without the words of the group."""

    def described(corpus, differ, fits):
        warned, found = 0, []
        for counts, group, seed in fits:
            model, _, _ = fit(counts, group, False, seed)
            labels = pd.DataFrame({"group": np.where(group == 1, "second", "first")})
            table = model.check_labels(Corpus(counts, labels=labels), words="group")
            table = table[table["label"] == "second"]
            warned += bool(find_split_topics(own_regression(model._model)))
            without = table[["effect_without", "lower_without", "upper_without"]]
            without = without.set_axis(["effect", "lower", "upper"], axis=1)
            found.append((excludes(table), excludes(without), shift(table), shift(without)))
        mean = [digits(float(value), 3) for value in np.mean(found, axis=0)]
        names = ("excludes 0", "without words", "shift", "shift without words")
        row = {"corpus": corpus, "words differ": differ, "warned": f"{warned} of {len(found)}"}
        return row | dict(zip(names, mean, strict=True))

    for differ, effect in product((0.0, 0.1, 0.3), (0.0, EFFECT)):
        fits = ((*draw(seed, differ, 1_500, effect)[:2], seed) for seed in seeds)
        yield described(f"drawn, effects of {effect:g}", differ, fits)
    if folder is None:
        return
    for name in CORPORA:
        train, _ = load(folder, name)
        for share in (0.0, 0.1, 0.3):
            some = seeds[: max(len(seeds) // 3, 1)]
            yield described(name, share, ((*rename(train, share, seed), seed) for seed in some))


def rename(corpus, share, seed):
    """A corpus in whose random half a share of the words have another name: counts, and halves."""
    rng = np.random.default_rng(seed)
    renamed = rng.random(len(corpus.words)) < share
    half = rng.integers(2, size=corpus.n_documents)
    second = csr_array(corpus.counts.multiply(half[:, None]))
    other = csr_array(second.multiply(renamed[None, :]))
    counts = csr_array(hstack([corpus.counts - other, other[:, renamed]], format="csr"))
    counts.eliminate_zeros()
    return counts, half


def renamed_rows(folder, seeds):
    for name in CORPORA:
        train, test = load(folder, name)
        for share, content in product((0.0, 0.1, 0.3), (False, True)):
            found = []
            for seed in seeds:
                counts, half = rename(train, share, seed)
                model, table, seconds = fit(counts, half, content, seed)
                fresh, other = rename(test, share, seed)
                found.append(
                    {
                        "topics": model.n_topics_,
                        "excludes": excludes(table),
                        "shift": shift(table),
                        "completion": completion(model, fresh, other),
                        "seconds": seconds,
                    }
                )
            yield {"corpus": name, "words renamed": share, "content": content, **summary(found)}


def word_rows(folder, seeds):
    """Words of topics whose ratio excludes 1: among words that keep their name, and others."""
    for name, share in product(CORPORA, (0.0, 0.1)):
        train, _ = load(folder, name)
        false, true = [], []
        for seed in seeds:
            counts, half = rename(train, share, seed)
            model, _, _ = fit(counts, half, True, seed)
            renamed = np.random.default_rng(seed).random(len(train.words)) < share
            changed = np.append(renamed, np.ones(renamed.sum(), dtype=bool))
            versions = model._model.state.versions
            by_group = versions.by_group()[:, 1:].astype(float)
            tokens = by_group.sum(axis=1)
            # Of two levels each ratio is the inverse of the other.
            own = word_ratios(by_group, versions.spread, 0.9)
            found = np.zeros(tokens.shape, dtype=bool)
            found[own["word"], own["topic"]] = (own["lower"] > 1.0) | (own["upper"] < 1.0)
            enough = tokens >= FEWEST_TOKENS
            false.append(found[~changed][enough[~changed]].mean())
            if share:
                true.append(found[changed][enough[changed]].mean())
        yield {
            "corpus": name,
            "words renamed": share,
            "others exclude 1": digits(float(np.mean(false)), 4),
            "renamed exclude 1": digits(float(np.mean(true)), 3) if true else "",
        }


if __name__ == "__main__":
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--first-seed", type=int, default=0)
    chosen = options.parse_args()
    seeds = range(chosen.first_seed, chosen.first_seed + chosen.seeds)
    write("content_drawn", drawn_rows(seeds))
    write("content_peers", peer_rows(seeds))
    write("content_checks", check_rows(chosen.data, seeds))
    if chosen.data is not None:
        write("content_renamed", renamed_rows(chosen.data, seeds[: max(chosen.seeds // 3, 1)]))
        write("content_words", word_rows(chosen.data, seeds[: max(chosen.seeds // 3, 1)]))
