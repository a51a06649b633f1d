"""Ratings from words: HDSP against classifiers, on reviews.

    python benchmarks/labels.py --data FOLDER

Writes benchmarks/results/labels.csv (macro and micro F1, means over splits) and confusion.csv (of
the first split, rows true, columns predicted). Splits of 90 to 10; vocabulary, tf-idf weights and
every model see the training documents only. All but naive Bayes and supervised LDA know a review's
department.
"""

import time
import warnings

import numpy as np
from common import digits, fixed, load, parser, write

from hdsp_studies.comparison import Reading, confusion_matrix, f1_scores
from hdsp_studies.peers import Classifier, FitSettings, make_peer, target_values
from hdsp_studies.reproduction.ratings import most_likely_ratings

CORPORA = ("clothing_reviews", "amazon_4domains")
TARGET, STARS = "rating", ("1", "2", "3", "4", "5")
AS_CATEGORY = Reading(tags=(), categories=("category", TARGET))
AS_NUMBER = Reading(tags=(), categories=("category",), numeric=(TARGET,))
# How the rating is read, the model, and its number of topics.
MODELS = {
    **{
        name + suffix: (AS_CATEGORY, Classifier(kind, balanced), 50)
        for name, kind in (
            ("naive Bayes", "nb"),
            ("logistic regression", "logistic"),
            ("linear SVM", "svm"),
        )
        for suffix, balanced in (("", False), (", balanced", True))
    },
    "LDA + SVM": (AS_CATEGORY, make_peer("lda-svm"), 50),
    "supervised LDA": (AS_NUMBER, make_peer("slda"), 50),
    "HDSP, rating as categories": (AS_CATEGORY, fixed(), 200),
    "HDSP, rating as number": (AS_NUMBER, fixed(), 200),
}


def uniform_prior(fitted, test):
    """What HDSP predicts where all ratings are as likely beforehand."""
    known = test.labels.without([TARGET])
    found = fitted.model.predict_labels(test.counts, TARGET, labels=known, prior=False)
    return list(found.columns[found.to_numpy().argmax(axis=1)])


def predictions(data, corpus, seed):
    """Yield name, true and predicted ratings, and seconds of the fit."""
    for name, (reading, peer, n_topics) in MODELS.items():
        train, test = load(data, corpus, reading, test_size=0.1, seed=seed)
        true = target_values(test.labels, TARGET)
        settings = FitSettings(n_topics, seed, n_jobs=2, target=TARGET)
        peer.warm_up(train)
        start = time.perf_counter()
        fitted = peer.fit(train, settings)
        seconds = time.perf_counter() - start
        yield name, true, fitted.predict(test.counts, test.labels), seconds
        if name.startswith("HDSP"):
            yield f"{name}, uniform prior", true, uniform_prior(fitted, test), seconds
        if name == "HDSP, rating as number":
            yield "the paper's rule", true, most_likely_ratings(fitted, train, test), seconds


def main():
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=3)
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    rows, matrices = [], []
    for corpus in CORPORA:
        scores = {}
        for seed in range(chosen.seeds):
            for name, true, found, seconds in predictions(chosen.data, corpus, seed):
                matrix = confusion_matrix(true, found, STARS)
                macro, micro = np.nanmean(f1_scores(matrix)), np.trace(matrix) / matrix.sum()
                scores.setdefault(name, []).append((macro, micro, seconds))
                print(corpus, seed, name, f"{macro:.3f} {micro:.3f} {seconds:.1f} s", flush=True)
                for star, line in zip(STARS, matrix.astype(int), strict=True):
                    if seed == 0 and line.any():
                        given = dict(zip(STARS, line, strict=True))
                        matrices.append({"corpus": corpus, "model": name, "true": star, **given})
        for name, found in sorted(scores.items(), key=lambda item: -np.mean(item[1], axis=0)[0]):
            macro, micro, seconds = np.mean(found, axis=0)
            shown = {"macro F1": digits(macro, 3), "micro F1": digits(micro, 3)}
            rows.append({"corpus": corpus, "model": name, **shown, "seconds": digits(seconds, 1)})
    write("labels", rows)
    write("confusion", matrices)


if __name__ == "__main__":
    main()
