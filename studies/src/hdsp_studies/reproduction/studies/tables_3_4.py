"""Tables 3 and 4 and the confusion matrices: the ratings of reviews, from their words."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from hdsp import Corpus
from hdsp_studies.comparison import CorpusFolder, Reading, confusion_matrix, f1_scores
from hdsp_studies.peers import target_values
from hdsp_studies.reproduction import drawing
from hdsp_studies.reproduction.intervals import with_interval
from hdsp_studies.reproduction.models import DEFAULT, fits_of, reading_of
from hdsp_studies.reproduction.ratings import OURS, RATERS, rate
from hdsp_studies.reproduction.study import (
    Finding,
    Row,
    Settings,
    Study,
    Table,
    distinct,
    graded,
    mean,
    of_fit,
    select,
)
from hdsp_studies.types import FloatArray

_RATING, _CATEGORY = "rating", "category"
_TEST_SIZE = 0.1
_STARS = (1, 2, 3, 4, 5)
_WITH, _WITHOUT = "with", "without"
_SLDA = ("SLDA50", "SLDA100", "SLDA200")
_NOT_PEERS = (OURS, DEFAULT)
# Twice the standard error of a macro F1 on one split, roughly.
_COMPARABLE = 0.03
_MANY = 0.05
_CLAIMS = (
    "wHDSP has a higher macro F1 than every other classifier",
    "wHDSP has a lower micro F1 than SLDA",
    "wHDSP and SLDA are comparable on one star, wHDSP is better on two, three and four stars",
    "Without categories wHDSP does worse",
    "LDA+SVM does about as well without categories",
    "SLDA gives one star or five to more reviews than have them",
)
# The panels of the paper's figure of confusion matrices, and HDSP by the library's own rule.
_PANELS = (
    (OURS, _WITH),
    (OURS, _WITHOUT),
    ("SLDA50", _WITHOUT),
    ("LDA200+SVM", _WITH),
    ("SVM", _WITH),
    ("NaiveBayes", _WITHOUT),
    ("DecisionTree", _WITH),
    (DEFAULT, _WITH),
)


class Tables34(Study):
    """Ratings by wHDSP and the classifiers of the paper, with and without categories."""

    name = "tables-3-4"
    title = "Tables 3 and 4, confusion matrices: the ratings of reviews"
    about = (
        "A tenth of the reviews is held out, another with each seed, and rated by words, and by "
        "categories where a model takes them; words, weights and models know the others alone. "
        'wHDSP is `HDSP.as_published("wHDSP")`: the rating is a number from 1 to 5, and a review '
        "gets the rating that makes its words most probable given the topics expected with it "
        "and the category. `HDSP default`, which the paper does not have, is the library's own "
        "way: the rating is a category, the number of topics is searched, and `predict_labels` "
        "chooses. SLDA is tomotopy's (60 sweeps) with one response per rating, of which the "
        "largest is chosen; it and naive Bayes take no categories. LDA+SVM is scikit-learn's LDA "
        "(10 passes) and linear SVM on proportions and categories; SVM is "
        "linear on tf-idf weights, naive Bayes and the decision tree (CART) see counts. Micro F1 "
        "is accuracy. The reviews are not the paper's: clothing_reviews has its shape, "
        "amazon_4domains is balanced and has no three stars. Comparable means within 0.03 of F1, "
        "worse or better means by more; of SLDA, all that were measured count."
    )
    claims = _CLAIMS
    reasons = (
        "Words taken as independent given a rating favour extreme ratings; classifiers weigh them.",
        "",
        "The rating acts through topics alone, which tell middle ratings little apart.",
        "",
        "",
        "",
    )
    spans = ("models", "without_categories", "corpora")

    def units(self, settings: Settings) -> list[dict[str, Any]]:
        """One fit for each corpus, model, tolerance, seed, and with or without categories."""
        both = settings["without_categories"]
        return [
            {"corpus": corpus, **key, "categories": categories, "seed": seed}
            for seed in settings["seeds"]
            for corpus in settings["corpora"]
            for key in fits_of(settings["models"], settings)
            for categories in (_WITH, _WITHOUT)
            if (
                RATERS[key["model"]].takes_categories
                if categories == _WITH
                else key["model"] in both
            )
        ]

    def group(self, unit: Row) -> Hashable:
        """A model with categories and without starts from the same topics."""
        return unit["corpus"], unit["model"], unit["seed"]

    def measure(self, unit: Row, settings: Settings, corpora: CorpusFolder) -> list[dict[str, Any]]:
        """The confusion matrix, one row for each true rating."""
        reading = reading_of(unit["corpus"], settings)
        reading = _columns(reading, RATERS[unit["model"]].rating_is_number)
        train, test = corpora.split(unit["corpus"], reading, _TEST_SIZE, unit["seed"])
        if unit["categories"] == _WITHOUT:
            train, test = (_without_categories(part) for part in (train, test))
        values = target_values(test.labels, _RATING)
        test = test[[value is not None for value in values]]
        true = [int(float(value)) for value in values if value is not None]
        found, facts = rate(unit, train, test, settings)
        matrix = confusion_matrix(true, found, _STARS).astype(int)
        return [
            {"true": star, **{f"as {s}": n for s, n in zip(_STARS, row, strict=True)}, **facts}
            for star, row in zip(_STARS, matrix, strict=True)
            if row.any()
        ]

    def draw(self, rows: Sequence[Row]) -> Any:
        """Confusion matrices of the first seed: true ratings by rows, shares of each row."""
        rows = of_fit(rows, "published")
        corpora = distinct(rows, "corpus")
        shown = [panel for panel in _PANELS if _of(rows, *panel)]
        figure, panels = drawing.axes(2 * len(corpora), (len(shown) + 1) // 2, 2.1, 2.1)
        for place in panels.flat:
            place.set_visible(False)
        for half, corpus in enumerate(corpora):
            own = select(rows, corpus=corpus, seed=rows[0]["seed"])
            places = panels[2 * half : 2 * half + 2].flat
            for place, (model, categories) in zip(places, shown, strict=False):
                chosen = [star - 1 for star in _present(own)]
                matrix = _confusion(_of(own, model, categories))[np.ix_(chosen, chosen)]
                _draw_matrix(place, _present(own), matrix)
                known = categories == _WITH or (model, _WITH) not in shown
                place.set_title(model if known else f"{model}, no categories", fontsize=9)
            places[0].set_ylabel(f"{corpus}\ntrue rating")
            places[0].set_xlabel("rating given")
        return figure

    def tables(self, rows: Sequence[Row]) -> list[Table]:
        """F1 by rating, macro and micro F1, in one table for each corpus."""
        result = []
        for corpus in distinct(rows, "corpus"):
            own = select(rows, corpus=corpus)
            stars = _present(own)
            body = []
            kinds = dict.fromkeys((row["model"], row["fit"], row["categories"]) for row in own)
            for model, fit, categories in kinds:
                found = _by_seed(select(own, model=model, fit=fit, categories=categories))
                names = [*map(str, stars), "macro", "micro"]
                numbers = [with_interval(found[name], ".3f") for name in names]
                body.append([model, fit, categories, *numbers])
            header = [
                "",
                "fit",
                "categories",
                *(f"F1 of {star}" for star in stars),
                "macro",
                "micro",
            ]
            n = len(distinct(own, "seed"))
            title = f"{corpus}, {f'means over {n} splits' if n > 1 else 'one split'}"
            result.append(Table(title, header, body))
        return result

    def assess(self, rows: Sequence[Row]) -> list[Finding]:
        """wHDSP against the others, by corpus."""
        found = {
            corpus: {
                (model, categories): _scores(_of(own, model, categories))
                for model in distinct(own, "model")
                for categories in (_WITH, _WITHOUT)
                if _of(own, model, categories)
            }
            for corpus in distinct(rows, "corpus")
            for own in [select(rows, corpus=corpus)]
        }
        tests = (_best_macro, _below_slda, _by_stars, _categories_help, _svm_alike, _extremes)
        # Seeds without the slow models compare wHDSP with nothing.
        found = {corpus: scores for corpus, scores in found.items() if _is_whole(scores)}
        return [
            _over_corpora(claim, [(corpus, *test(scores)) for corpus, scores in found.items()])
            for claim, test in zip(_CLAIMS, tests, strict=True)
        ]


# What is known of one corpus: F1 by rating, macro, micro and shares of answers, by model.
_Scores = dict[tuple[str, str], dict[str, float]]


def _over_corpora(claim: str, parts: Sequence[tuple[str, bool, str]]) -> Finding:
    """A claim holds where it holds on every corpus, and in part where it does on some."""
    if not parts:
        return Finding(claim, "not yet run")
    held = [holds for _, holds, _ in parts]
    measured = "; ".join(f"{corpus}: {text}" for corpus, _, text in parts)
    return Finding(claim, graded(all(held), any(held)), measured)


def _best_macro(scores: _Scores) -> tuple[bool, str]:
    ours = scores[OURS, _WITH]["macro"]
    others = {key: found["macro"] for key, found in scores.items() if key[0] not in _NOT_PEERS}
    best = max(others, key=lambda key: others[key])
    text = f"wHDSP {ours:.3f}, the best other ({best[0]}) {others[best]:.3f}"
    if (DEFAULT, _WITH) in scores:
        text += f", the library's default fit {scores[DEFAULT, _WITH]['macro']:.3f}"
    return ours > others[best], text


def _is_whole(scores: _Scores) -> bool:
    """Whether LDA+SVM and SLDA are there, with and without categories where they take them."""
    kinds = {kind for model, kind in scores if model.startswith("LDA")}
    return bool(_slda(scores)) and kinds == {_WITH, _WITHOUT}


def _slda(scores: _Scores) -> dict[str, dict[str, float]]:
    return {model: scores[model, _WITHOUT] for model in _SLDA if (model, _WITHOUT) in scores}


def _below_slda(scores: _Scores) -> tuple[bool, str]:
    ours = scores[OURS, _WITH]["micro"]
    theirs = {model: found["micro"] for model, found in _slda(scores).items()}
    shown = ", ".join(f"{model} {value:.3f}" for model, value in theirs.items())
    return ours < min(theirs.values()), f"wHDSP {ours:.3f}, {shown}"


def _by_stars(scores: _Scores) -> tuple[bool, str]:
    ours = scores[OURS, _WITH]
    model, theirs = max(_slda(scores).items(), key=lambda item: item[1]["macro"])
    stars = [str(star) for star in _STARS[:-1] if str(star) in ours]
    one = abs(ours["1"] - theirs["1"]) <= _COMPARABLE
    middle = all(ours[star] > theirs[star] for star in stars[1:])
    pairs = ", ".join(f"{star}: {ours[star]:.2f} and {theirs[star]:.2f}" for star in stars)
    return one and middle, f"F1 of wHDSP and {model} by stars, {pairs}"


def _categories_help(scores: _Scores) -> tuple[bool, str]:
    given, not_given = (scores[OURS, kind]["macro"] for kind in (_WITH, _WITHOUT))
    return given - not_given > _COMPARABLE, f"macro F1 {given:.3f} with, {not_given:.3f} without"


def _svm_alike(scores: _Scores) -> tuple[bool, str]:
    model = next(m for m, kind in scores if m.startswith("LDA") and kind == _WITHOUT)
    given, not_given = (scores[model, kind]["macro"] for kind in (_WITH, _WITHOUT))
    text = f"{model} {given:.3f} with, {not_given:.3f} without"
    return abs(given - not_given) <= _COMPARABLE, text


def _extremes(scores: _Scores) -> tuple[bool, str]:
    shares = {model: found["extremes"] for model, found in _slda(scores).items()}
    true = scores[OURS, _WITH]["true extremes"]
    shown = ", ".join(f"{model} {value:.0%}" for model, value in shares.items())
    return min(shares.values()) > true + _MANY, f"{shown}; {true:.0%} of the reviews have them"


def _of(rows: Sequence[Row], model: str, categories: str) -> list[Row]:
    return select(rows, model=model, categories=categories)


def _confusion(rows: Sequence[Row]) -> FloatArray:
    """How often each rating (rows) was given each (columns), [5, 5]."""
    matrix = np.zeros((len(_STARS), len(_STARS)))
    for row in rows:
        matrix[_STARS.index(int(row["true"]))] += [row[f"as {star}"] for star in _STARS]
    return matrix


def _present(rows: Sequence[Row]) -> list[int]:
    """The ratings that reviews have."""
    return sorted({int(row["true"]) for row in rows})


def _scores(rows: Sequence[Row]) -> dict[str, float]:
    """Means of F1 of every rating, macro and micro F1, and the share of one and five over seeds."""
    return {name: mean(values) for name, values in _by_seed(rows).items()}


def _by_seed(rows: Sequence[Row]) -> dict[str, list[float]]:
    """The same, seed by seed."""
    found: list[dict[str, float]] = []
    for seed in distinct(rows, "seed"):
        own = select(rows, seed=seed)
        matrix = _confusion(own)
        f1 = f1_scores(matrix)
        one = {str(star): float(f1[star - 1]) for star in _present(own)}
        one["macro"], one["micro"] = float(np.nanmean(f1)), float(np.trace(matrix) / matrix.sum())
        one["extremes"] = float(matrix[:, [0, -1]].sum() / matrix.sum())
        one["true extremes"] = float(matrix[[0, -1]].sum() / matrix.sum())
        found.append(one)
    names = dict.fromkeys(name for one in found for name in one)
    return {name: [one[name] for one in found if name in one] for name in names}


def _draw_matrix(place: Any, stars: Sequence[int], matrix: FloatArray) -> None:
    place.set_visible(True)
    share = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1.0)
    place.imshow(share, cmap="Blues", vmin=0.0, vmax=1.0)
    place.set_xticks(range(len(stars)), stars)
    place.set_yticks(range(len(stars)), stars)
    for i, line in enumerate(matrix):
        for j, value in enumerate(line):
            colour = "white" if share[i, j] > 0.6 else "black"
            place.text(j, i, f"{value:.0f}", ha="center", va="center", fontsize=6, color=colour)


def _columns(reading: Reading, rating_is_number: bool) -> Reading:
    if rating_is_number:
        return reading._replace(tags=(), categories=(_CATEGORY,), numeric=(_RATING,))
    return reading._replace(tags=(), categories=(_CATEGORY, _RATING), numeric=())


def _without_categories(corpus: Corpus) -> Corpus:
    return Corpus(corpus.counts, corpus.words, corpus.labels.without([_CATEGORY]))
