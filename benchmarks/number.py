"""How many topics: the bound by their number, and the number found, on real and simulated text.

    python benchmarks/number.py [bound pruned found simulated] --data FOLDER

Writes number_bound.csv, number_pruned.csv, number_found.csv and number_simulated.csv into
benchmarks/results. The last needs no data.
"""

import warnings

import numpy as np
from common import fixed, load, parser, write
from scipy.sparse import csr_array

from hdsp import HDSP, Categorical
from hdsp.comparison import fit_and_measure
from hdsp.model import Truth, draw_documents
from hdsp.peers import FitSettings, make_peer
from hdsp.scaling import Constant

FOUND_IN = ("medline_mesh", "rcv1_subset", "docstrings")
BOUND_OF = (*FOUND_IN, "ohsumed23", "clothing_reviews")
FIXED = (15, 30, 50, 100, 200)
NUMBERS = (*FIXED, 400)
CEILINGS = (200, 400)


def fit(split, n_topics, peer, seed=0):
    """The numbers of one fit."""
    fitted, found = fit_and_measure(peer, *split, FitSettings(n_topics, seed, n_jobs=2))
    return {
        "topics": len(fitted.model.topic_weight_),
        "bound": fitted.model.history_[-1]["bound"],
        "given labels": found["given_labels"],
        "completion": found["completion"],
        "npmi": found["npmi"],
        "seconds": found["seconds"],
    }


def shown(rows):
    """Rows with seven digits of each number."""
    for row in rows:
        yield {key: f"{v:.7g}" if isinstance(v, float) else v for key, v in row.items()}


def bound(data):
    """The final bound, and what it says of held-out documents, by the number of topics."""
    for name in BOUND_OF:
        split = load(data, name)
        for number in NUMBERS:
            found = fit(split, number, fixed())
            del found["seconds"]
            yield {"corpus": name, **found}


def pruned(data):
    """Many topics, merged, split and deleted as long as the bound rises; and the search."""
    for name in BOUND_OF:
        train, _ = load(data, name)
        many = HDSP(200, fixed_number=True, random_state=0).fit(train)
        moved = HDSP(200, init=many.components_, random_state=0).fit(train)
        searched = HDSP(200, random_state=0).fit(train)
        yield {
            "corpus": name,
            "bound of 200": many.history_[-1]["bound"],
            "left of 200": len(moved.topic_weight_),
            "their bound": moved.history_[-1]["bound"],
            "topics by search": len(searched.topic_weight_),
            "bound by search": searched.history_[-1]["bound"],
        }


def found(data, n_seeds):
    """The number found from two ceilings, beside the fixed fits it must not be worse than."""
    search = make_peer("hdsp")
    for name in FOUND_IN:
        split = load(data, name)
        search.warm_up(split[0])
        best = max(fit(split, number, fixed())["bound"] for number in FIXED)
        for ceiling in CEILINGS:
            for seed in range(n_seeds):
                one = fit(split, ceiling, search, seed)
                other = fit(split, one["topics"], fixed(), seed)
                yield {
                    "corpus": name,
                    "ceiling": ceiling,
                    "seed": seed,
                    "topics": one["topics"],
                    "bound": one["bound"],
                    "best fixed bound": best,
                    **{
                        f"{what}{suffix}": row[what]
                        for what in ("given labels", "completion", "npmi")
                        for suffix, row in (("", one), (" fixed", other))
                    },
                    "seconds": one["seconds"],
                    "times the fixed": one["seconds"] / other["seconds"],
                }


def draw(n_topics, length, labelled, seed):
    """A corpus of the model: topics over 20 words each, 40 documents a topic, beta = 1."""
    rng = np.random.default_rng(seed)
    n_documents, n_words = max(500, 40 * n_topics), max(200, 20 * n_topics)
    # Scales of a label lie about 1; of eight, a document carries some.
    scaling = Categorical(weight_shape=3.0, weight_rate=2.0) if labelled else Constant()
    carried = rng.random((n_documents, 8)) < 0.3
    design = csr_array(carried.astype(np.float64) if labelled else np.zeros(carried.shape))
    truth = Truth(
        topic_weight=rng.dirichlet(np.full(n_topics, 5.0)),
        word_share=rng.dirichlet(np.full(n_words, 0.05), size=n_topics),
        weights=scaling.draw_prior(n_topics, 8, rng),
        document_concentration=1.0,
    )
    lengths = rng.poisson(length, size=n_documents).astype(np.float64)
    counts, _ = draw_documents(truth, scaling, design, lengths, rng)
    return counts, design if labelled else None


def simulated(n_seeds):
    """The numbers found in corpora whose number is known."""
    for n_topics in (5, 10, 30, 100):
        for length in (25, 50, 150):
            for labelled in (False, True):
                corpora = [draw(n_topics, length, labelled, seed) for seed in range(n_seeds)]
                for times in (2, 8):
                    numbers = []
                    for seed, (counts, labels) in enumerate(corpora):
                        model = HDSP(times * n_topics, random_state=seed)
                        numbers.append(model.fit(counts, labels=labels).n_topics_)
                    close = np.abs(np.array(numbers) - n_topics) <= 0.1 * n_topics
                    yield {
                        "true": n_topics,
                        "words a document": length,
                        "labels": "yes" if labelled else "no",
                        "ceiling": times * n_topics,
                        "found": " ".join(map(str, numbers)),
                        "within 10 %": f"{close.sum()} of {n_seeds}",
                    }


def main():
    options = parser(__doc__)
    options.add_argument("parts", nargs="*", default=["bound", "pruned", "found", "simulated"])
    options.add_argument("--seeds", type=int, default=5, help="of real corpora (default 5)")
    options.add_argument("--simulations", type=int, default=10)
    chosen = options.parse_args()
    warnings.filterwarnings("ignore", message=".* topics are in use")
    parts = {
        "bound": lambda: bound(chosen.data),
        "pruned": lambda: pruned(chosen.data),
        "found": lambda: found(chosen.data, chosen.seeds),
        "simulated": lambda: simulated(chosen.simulations),
    }
    for name in chosen.parts:
        write(f"number_{name}", shown(parts[name]()))


if __name__ == "__main__":
    main()
