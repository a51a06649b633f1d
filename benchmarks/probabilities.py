"""Are probabilities of labels true, and how near do they come to classifiers of the words?

    python benchmarks/probabilities.py --data FOLDER

Writes benchmarks/results/probabilities_categories.csv, probabilities_tags.csv and
probabilities_numbers.csv: medians over seeds, each with its own split and fit. Logistic and ridge
regression see tf-idf weights of the same words; HDSP has 100 topics.
"""

import statistics
import warnings

import numpy as np
from common import digits, load, parser, write

from hdsp import HDSP
from hdsp_studies.comparison import Reading

REVIEWS = ("clothing_reviews", "amazon_4domains")
TAGGED = ("rcv1_subset", "medline_mesh", "ohsumed23")
METHODS = ("calibrated", "generative")
BINS = 15


def encoded(model, labels, target):
    """The target's columns of the design, [M, C]."""
    schema = model.label_schema_
    return schema.encode(labels, warn=False)[:, schema.slices()[target]].toarray()


def word_weights(train, test):
    from sklearn.feature_extraction.text import TfidfTransformer

    weights = TfidfTransformer(sublinear_tf=True).fit(train.counts)
    return weights.transform(train.counts), weights.transform(test.counts)


def calibration_error(chance, true):
    """Mean difference of confidence and accuracy, over bins of confidence."""
    sure, right = chance.max(axis=1), chance.argmax(axis=1) == true
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    return sum(abs(sure[place == i].sum() - right[place == i].sum()) for i in range(BINS)) / len(
        true
    )


def of_alternatives(chance, true):
    from sklearn.metrics import f1_score

    chosen = np.maximum(chance[np.arange(len(true)), true], 1e-12)
    return {
        "log loss": -np.log(chosen).mean(),
        "calibration error": calibration_error(chance, true),
        "accuracy": (chance.argmax(axis=1) == true).mean(),
        "macro F1": f1_score(true, chance.argmax(axis=1), average="macro"),
    }


def of_tags(chance, carried):
    from sklearn.metrics import average_precision_score

    kept = np.clip(chance, 1e-7, 1 - 1e-7)
    loss = -(carried * np.log(kept) + (1 - carried) * np.log1p(-kept)).sum(axis=1).mean()
    likely = chance > 0.9
    return {
        "log loss": loss,
        "micro AP": average_precision_score(carried.ravel(), chance.ravel()),
        "p > .9 right": carried[likely].mean() if likely.any() else np.nan,
        "expected": chance.sum(axis=1).mean(),
        "true": carried.sum(axis=1).mean(),
    }


def fit(train, seed):
    return HDSP(100, random_state=seed, n_jobs=1).fit(train)


def categories(data, corpus, seed):
    """Yield target, model and measures."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.svm import LinearSVC

    reading = Reading(tags=(), categories=("category", "rating"))
    train, test = load(data, corpus, reading, test_size=0.1, seed=seed)
    model = fit(train, seed)
    words = word_weights(train, test)
    for target in ("rating", "category"):
        true = encoded(model, test.labels, target).argmax(axis=1)
        values = encoded(model, train.labels, target).argmax(axis=1)
        share = np.bincount(values) / len(values)
        yield target, "base rate", of_alternatives(np.tile(share, (len(true), 1)), true)
        for name, balance in (("logistic regression", None), ("balanced logistic", "balanced")):
            classifier = LogisticRegression(max_iter=500, class_weight=balance)
            chance = classifier.fit(words[0], values).predict_proba(words[1])
            yield target, name, of_alternatives(chance, true)
        for name, classifier, (seen, new) in (
            ("naive Bayes", MultinomialNB(), (train.counts, test.counts)),
            ("linear SVM", LinearSVC(class_weight="balanced"), words),
        ):
            chosen = classifier.fit(seen, values).predict(new)
            measures = of_alternatives(np.eye(len(share))[chosen], true)
            yield target, name, {**measures, "log loss": np.nan, "calibration error": np.nan}
        for method in METHODS:
            for prior in (True, False):
                found = model.predict_labels(test, target, method=method, prior=prior)
                name = f"HDSP, {method}" + ("" if prior else ", uniform prior")
                yield target, name, of_alternatives(found.to_numpy(), true)


def tags(data, corpus, seed):
    from sklearn.linear_model import LogisticRegression

    train, test = load(data, corpus, None, seed=seed)
    model = fit(train, seed)
    seen, new = word_weights(train, test)
    values = encoded(model, train.labels, "labels")
    carried = encoded(model, test.labels, "labels")
    yield "labels", "base rate", of_tags(np.tile(values.mean(axis=0), (len(carried), 1)), carried)
    chance = np.column_stack(
        [LogisticRegression(max_iter=500).fit(seen, y).predict_proba(new)[:, 1] for y in values.T]
    )
    yield "labels", "logistic regression", of_tags(chance, carried)
    for method in METHODS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = model.predict_labels(test, "labels", method=method)
        yield "labels", f"HDSP, {method}", of_tags(found.to_numpy(), carried)


def numbers(data, corpus, seed):
    from sklearn.linear_model import Ridge

    reading = Reading(tags=(), categories=("category",), numeric=("rating",))
    train, test = load(data, corpus, reading, test_size=0.1, seed=seed)
    model = fit(train, seed)
    seen, new = word_weights(train, test)
    values, true = (part.labels.block("rating").values.toarray()[:, 0] for part in (train, test))

    def error(found):
        return {"RMSE": np.sqrt(np.mean((found - true) ** 2))}

    yield "rating", "mean", error(values.mean())
    yield "rating", "ridge regression", error(Ridge(1.0).fit(seen, values).predict(new))
    for method in METHODS:
        found = model.predict_labels(test, "rating", method=method)
        yield "rating", f"HDSP, {method}", error(found.to_numpy() @ found.columns.astype(float))


def rows(measure, corpora, data, n_seeds):
    for corpus in corpora:
        found = {}
        for seed in range(n_seeds):
            for target, name, measures in measure(data, corpus, seed):
                found.setdefault((target, name), []).append(measures)
        for (target, name), runs in found.items():
            middle = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
            shown = {key: "" if np.isnan(v) else digits(v, 3) for key, v in middle.items()}
            yield {"corpus": corpus, "target": target, "model": name, **shown, "seeds": n_seeds}


def main():
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=10)
    chosen = options.parse_args()
    for name, measure, corpora in (
        ("categories", categories, REVIEWS),
        ("tags", tags, TAGGED),
        ("numbers", numbers, REVIEWS),
    ):
        write(f"probabilities_{name}", rows(measure, corpora, chosen.data, chosen.seeds))


if __name__ == "__main__":
    main()
