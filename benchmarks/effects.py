"""Do intervals of label effects hold what they promise? Corpora drawn from the model.

    python benchmarks/effects.py

Writes benchmarks/results/effects.csv. For each setting: corpora are drawn with known topics and
label weights, fitted with as many topics as there are or twice as many, found topics matched to
true ones, and the effects of labels compared with the true ones (by quadrature at the true
parameters). Coverage of 90 % intervals is over effects of real size: two points or more of the
expected proportion. Topics further than 0.3 (total variation) from the truth are not compared.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from common import digits, write
from scipy.sparse import csr_array

from hdsp import HDSP, Categorical, LogLinear
from hdsp.metrics import match_topics
from hdsp.model import Truth, draw_documents
from hdsp.numerics.quadrature import normalised_gamma_mean

REAL_SIZE = 0.02
FARTHEST = 0.3
METHODS = ("calibrated", "ratio")


@dataclass(frozen=True)
class Setting:
    """A kind of corpus: ten topics, six labels, 400 words."""

    labels: str
    n_documents: int
    length: int
    beta: float
    n_topics: int = 10
    n_labels: int = 6
    n_words: int = 400


SETTINGS = [
    Setting("tags", 500, 100, 10.0),
    Setting("tags", 2000, 100, 10.0),
    Setting("tags", 1000, 30, 10.0),
    Setting("tags", 1000, 100, 3.0),
    Setting("tags", 1000, 100, 30.0),
    Setting("numbers", 1000, 100, 10.0),
    Setting("numbers", 1000, 30, 10.0),
]


def draw(setting, seed):
    """Counts, labels [M, J] and the true effects [J, K]."""
    rng = np.random.default_rng(seed)
    topic_weight = np.sort(rng.dirichlet(np.full(setting.n_topics, 3.0)))[::-1]
    word_share = rng.dirichlet(np.full(setting.n_words, 0.05), size=setting.n_topics)
    shape = (setting.n_documents, setting.n_labels)
    size = (setting.n_topics, setting.n_labels)
    if setting.labels == "tags":
        scaling, labels = Categorical(), (rng.random(shape) < 0.3).astype(float)
        weights = np.exp(rng.normal(0.0, 1.0, size=size))
    else:
        scaling, labels = LogLinear(), rng.normal(size=shape)
        weights = rng.normal(0.0, 0.5, size=size)
    truth = Truth(topic_weight, word_share, weights, setting.beta)
    lengths = np.maximum(rng.poisson(setting.length, size=len(labels)), 5).astype(float)
    counts, _ = draw_documents(truth, scaling, csr_array(labels), lengths, rng)

    def expected(rows):
        rate = scaling.rate(weights, csr_array(rows))
        return normalised_gamma_mean(setting.beta * topic_weight, rate).mean(axis=0)

    some = labels[:300]
    effects = []
    for j in range(setting.n_labels):
        without, with_label = some.copy(), some.copy()
        if setting.labels == "tags":
            without[:, j], with_label[:, j] = 0.0, 1.0
        else:
            # One standard deviation of the column, as label_effects has it.
            with_label[:, j] += labels[:, j].std()
        effects.append(expected(with_label) - expected(without))
    return counts, labels, truth, np.array(effects)


def compare(setting, seed, factor):
    """For each method the found effects, their limits and the true ones, [n, 4], and n matched."""
    counts, labels, truth, true = draw(setting, seed)
    model = HDSP(factor * setting.n_topics, fixed_number=True, random_state=seed)
    model.fit(counts, labels=csr_array(labels) if setting.labels == "tags" else labels)
    index, distance = match_topics(truth.word_share, model.components_)
    near = distance < FARTHEST
    chosen = (np.abs(true) >= REAL_SIZE) & near
    found = {}
    for method in METHODS:
        table = model.label_effects(0.9, method=method)
        shape = (setting.n_labels, factor * setting.n_topics)
        columns = [
            table[name].to_numpy().reshape(shape)[:, index] for name in ("effect", "lower", "upper")
        ]
        found[method] = np.column_stack([*[c[chosen] for c in columns], true[chosen]])
    return found, int(near.sum())


def rows(n_seeds):
    for setting in SETTINGS:
        for factor in (1, 2):
            runs = [compare(setting, seed, factor) for seed in range(n_seeds)]
            share = sum(n for _, n in runs) / (n_seeds * setting.n_topics)
            for method in METHODS:
                effect, lower, upper, true = np.vstack([found[method] for found, _ in runs]).T
                yield {
                    "labels": setting.labels,
                    "documents": setting.n_documents,
                    "length": setting.length,
                    "beta": f"{setting.beta:g}",
                    "fitted topics": factor * setting.n_topics,
                    "method": method,
                    "coverage": digits(np.mean((lower <= true) & (true <= upper)), 2),
                    "sign right": digits(np.mean(np.sign(effect) == np.sign(true)), 3),
                    "error": digits(np.sqrt(np.mean((effect - true) ** 2)), 4),
                    "half width": digits(np.mean(upper - lower) / 2, 4),
                    "effects": len(true),
                    "matched": digits(share, 2),
                }


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=10)
    write("effects", rows(options.parse_args().seeds))
