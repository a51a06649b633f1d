"""Words of labels: what they gain in the perplexity given labels, and how often they are false.

    python benchmarks/label_words.py --data FOLDER

Writes benchmarks/results/label_words.csv and label_words_placebo.csv. Fits have 100 topics and
start by NMF; each seed has its own split and fit. Without words of labels, the same fit predicts by
topics alone.

Placebo tags are dealt out to documents at random, in a label column of their own, or as further
tags among the true ones, whose strength they then share. Every word of theirs is false.
"""

import time
import warnings

import numpy as np
import pandas as pd
from common import digits, load, parser, write

from hdsp import HDSP, Corpus
from hdsp.analysis.label_words import FEWEST_TOKENS
from hdsp_studies.comparison import Reading

BOTH = Reading(tags=(), categories=("category", "rating"))
CORPORA = {
    "rcv1_subset": ("rcv1_subset", None),
    "medline_mesh": ("medline_mesh", None),
    "ohsumed23": ("ohsumed23", None),
    "amazon_4domains": ("amazon_4domains", None),
    "amazon_4domains, rating": ("amazon_4domains", BOTH),
    "clothing_reviews": ("clothing_reviews", None),
    "clothing_reviews, rating": ("clothing_reviews", BOTH),
    "docstrings": ("docstrings", None),
    "nips_abstracts": ("nips_abstracts_1987_2018", Reading(least_documents=5)),
    "nips_fulltext": ("nips_fulltext_1987_1999", None),
    "searchsnippets": ("searchsnippets", None),
    "tweets": ("tweets", None),
    "pascal_flickr": ("pascal_flickr", None),
}
PLACEBO = ("rcv1_subset", "medline_mesh", "clothing_reviews", "nips_fulltext")
SHARES = (0.01, 0.05, 0.2, 0.5)


def fit(train, seed):
    settings = {"init": "nmf", "random_state": seed, "n_jobs": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return HDSP(100, **settings).fit(train)


def split(data, name, seed):
    corpus, reading = CORPORA[name]
    if corpus == "docstrings":
        return load(data, corpus)
    return load(data, corpus, reading, seed=seed)


def perplexity(model, test):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.perplexity(test, given="labels")


def gain_rows(data, seeds):
    for name in CORPORA:
        found = []
        for seed in seeds:
            train, test = split(data, name, seed)
            began = time.perf_counter()
            model = fit(train, seed)
            seconds = time.perf_counter() - began
            answers = model._model.answers
            answers["word_factors"] = None
            before = perplexity(model, test)
            del answers["word_factors"]
            began = time.perf_counter()
            factors = model._model.word_factors
            own = time.perf_counter() - began
            after = perplexity(model, test)
            found.append((before, after, after / before - 1.0, own / seconds))
            pairs = factors.observed.nnz
        before, after, change, share = np.array(found).T
        yield {
            "corpus": name,
            "labels": len(factors.strength) - 1,
            "topics alone": digits(before.mean(), 1),
            "with words of labels": digits(after.mean(), 1),
            "change %": digits(100 * change.mean(), 2),
            "worst %": digits(100 * change.max(), 2),
            "factors": pairs,
            "share of the fit %": digits(100 * np.median(share), 1),
            "seeds": len(seeds),
        }


def with_placebo(corpus, seed, among):
    """The corpus with random tags, and the tokens [P, V] of words in their documents."""
    rng = np.random.default_rng(seed)
    shares = np.repeat(SHARES, 5)
    drawn = rng.random((corpus.n_documents, len(shares))) < shares
    names = np.array([f"placebo {number}" for number in range(len(shares))])
    block = corpus.labels.block("labels")
    true, false = (
        [list(np.array(columns)[row]) for row in values]
        for columns, values in ((block.columns, block.values.toarray() > 0), (names, drawn))
    )
    table = {"labels": [a + b for a, b in zip(true, false, strict=True)]}
    if not among:
        table = {"labels": true, "placebo": false}
    labels = pd.DataFrame({name: pd.Series(values) for name, values in table.items()})
    return Corpus(corpus.counts, corpus.words, labels), drawn.T.astype(float) @ corpus.counts


def placebo_rows(data, seeds):
    for name in PLACEBO:
        for among in (True, False):
            tested = shown = real = 0
            for seed in seeds:
                train, _ = split(data, name, seed)
                corpus, tokens = with_placebo(train, seed, among)
                table = fit(corpus, seed).label_words()
                false = table["label"].str.startswith("placebo")
                tested += int((tokens >= FEWEST_TOKENS).sum())
                shown += int(false.sum())
                real += int((~false).sum())
            yield {
                "corpus": name,
                "placebo tags": "among true ones" if among else "a column of their own",
                "words tested": tested,
                "exclude 1": shown,
                "share %": digits(100 * shown / tested, 3),
                "words of true tags": real,
                "seeds": len(seeds),
            }


if __name__ == "__main__":
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--seeds", type=int, default=2)
    options.add_argument("--first-seed", type=int, default=2)
    chosen = options.parse_args()
    seeds = range(chosen.first_seed, chosen.first_seed + chosen.seeds)
    write("label_words", gain_rows(chosen.data, seeds))
    write("label_words_placebo", placebo_rows(chosen.data, seeds))
