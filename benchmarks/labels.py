"""Ratings from words: HDSP against classifiers, on reviews.

    python benchmarks/labels.py --data FOLDER

Writes benchmarks/results/labels.csv (macro and micro F1, means over splits) and confusion.csv (of
the first split, rows true, columns predicted). Splits of 90 to 10; vocabulary, tf-idf weights and
every model see the training documents only. HDSP and the paper's rule know a review's department.
"""

import csv
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from corpora import parser
from scipy.sparse import csr_array
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, f1_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from hdsp import HDSP

CORPORA = ("clothing_reviews", "amazon_4domains")


def split(frame, seed):
    """Counts of training and test documents, and their rows."""
    test = np.random.default_rng(seed).random(len(frame)) < 0.1
    vectorizer = CountVectorizer(
        stop_words="english", min_df=10, max_df=0.3, token_pattern="[a-zA-Z][a-zA-Z]{2,}"
    )
    counts = csr_array(vectorizer.fit_transform(frame["text"][~test]), dtype=float)
    new = csr_array(vectorizer.transform(frame["text"][test]), dtype=float)
    parts = (frame[part].reset_index(drop=True) for part in (~test, test))
    return counts, new, *parts


def classifiers(seed):
    """scikit-learn's, with their usual settings."""

    def tfidf():
        return TfidfTransformer(sublinear_tf=True)

    balanced = {"class_weight": "balanced"}
    lda = LatentDirichletAllocation(
        50, learning_method="online", max_iter=5, random_state=seed, n_jobs=1
    )
    return {
        "naive Bayes": MultinomialNB(),
        "naive Bayes, uniform prior": MultinomialNB(fit_prior=False),
        "logistic regression": make_pipeline(tfidf(), LogisticRegression(max_iter=500)),
        "logistic regression, balanced": make_pipeline(
            tfidf(), LogisticRegression(max_iter=500, **balanced)
        ),
        "linear SVM": make_pipeline(tfidf(), LinearSVC()),
        "linear SVM, balanced": make_pipeline(tfidf(), LinearSVC(**balanced)),
        "LDA + SVM, balanced": make_pipeline(lda, LinearSVC(**balanced)),
    }


def supervised_lda(counts, ratings, new, seed):
    """tomotopy's supervised LDA of a numeric rating, rounded to the nearest one seen."""
    import tomotopy as tp

    model = tp.SLDAModel(k=50, vars=["l"], seed=seed + 1)

    def words(matrix, m):
        start, stop = matrix.indptr[m], matrix.indptr[m + 1]
        repeated = np.repeat(matrix.indices[start:stop], matrix.data[start:stop].astype(int))
        return [str(i) for i in repeated]

    for m in range(counts.shape[0]):
        if counts.indptr[m] < counts.indptr[m + 1]:
            model.add_doc(words(counts, m), y=[float(ratings[m])])
    model.train(300, workers=2)
    values = np.unique(ratings)
    predicted = np.full(new.shape[0], values[np.argmax(np.bincount(ratings)[values])])
    spoken = np.flatnonzero(np.diff(new.indptr))
    documents = [model.make_doc(words(new, m), y=[]) for m in spoken]
    model.infer(documents, iterations=100, workers=2)
    found = np.array([model.estimate(document)[0] for document in documents])
    predicted[spoken] = values[np.abs(found[:, None] - values).argmin(axis=1)]
    return predicted


def choose(table):
    """The most probable rating of each document."""
    values = np.array([int(name) for name in table.columns])
    return values[table.to_numpy().argmax(axis=1)]


def papers_rule(model, new, rows, values):
    """The rating whose expected topics, by the paper's ratio, make the words most probable."""
    share = model.components_ / model.components_.sum(axis=1, keepdims=True)
    score = []
    for value in values:
        labels = pd.DataFrame({"rating": [float(value)] * len(rows), "category": rows["category"]})
        proportions = model.expected_topics(labels, method="ratio")
        score.append(np.asarray(new.multiply(np.log(proportions @ share)).sum(axis=1)).ravel())
    return values[np.argmax(score, axis=0)]


def predictions(counts, new, train, test, seed):
    """Yield name, predicted ratings and seconds."""
    ratings = train["rating"].astype(int).to_numpy()
    values = np.unique(ratings)
    for name, classifier in classifiers(seed).items():
        start = time.perf_counter()
        yield name, classifier.fit(counts, ratings).predict(new), time.perf_counter() - start
    start = time.perf_counter()
    yield "supervised LDA", supervised_lda(counts, ratings, new, seed), time.perf_counter() - start
    known = test[["category"]]
    for kind, column in (("categories", ratings.astype(str)), ("number", ratings.astype(float))):
        labels = pd.DataFrame({"rating": column, "category": train["category"]})
        start = time.perf_counter()
        model = HDSP(fixed_number=True, random_state=seed).fit(counts, labels=labels)
        seconds = time.perf_counter() - start
        for prior in (True, False):
            name = f"HDSP, rating as {kind}" + ("" if prior else ", uniform prior")
            found = model.predict_labels(new, "rating", labels=known, prior=prior)
            yield name, choose(found), seconds
        if kind == "number":
            yield "the paper's rule", papers_rule(model, new, test, values), seconds


def main():
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=3)
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    folder = Path(__file__).parent / "results"
    rows, matrices = [], []
    for corpus in CORPORA:
        frame = pd.read_parquet(Path(chosen.data) / f"{corpus}.parquet")
        scores = {}
        for seed in range(chosen.seeds):
            counts, new, train, test = split(frame, seed)
            true = test["rating"].astype(int).to_numpy()
            for name, found, seconds in predictions(counts, new, train, test, seed):
                macro, micro = (f1_score(true, found, average=a) for a in ("macro", "micro"))
                scores.setdefault(name, []).append((macro, micro, seconds))
                print(corpus, seed, name, f"{macro:.3f} {micro:.3f} {seconds:.1f} s", flush=True)
                if seed == 0:
                    values = np.unique(true)
                    for value, line in zip(
                        values, confusion_matrix(true, found, labels=values), strict=True
                    ):
                        matrices.append([corpus, name, value, *line])
        for name, found in sorted(scores.items(), key=lambda item: -np.mean(item[1], axis=0)[0]):
            macro, micro, seconds = np.mean(found, axis=0)
            rows.append([corpus, name, f"{macro:.3f}", f"{micro:.3f}", f"{seconds:.1f}"])
    with (folder / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["corpus", "model", "macro F1", "micro F1", "seconds"], *rows])
    with (folder / "confusion.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [["corpus", "model", "true", "1", "2", "3", "4", "5"], *matrices]
        )


if __name__ == "__main__":
    main()
