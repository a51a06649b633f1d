"""Tables of drawn documents for pages that begin with a file; not part of the package."""

import numpy as np
import pandas as pd

import hdsp

_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]


def pseudo_words(n_words: int) -> list[str]:
    """Words that a reader of texts counts: three syllables each."""
    first, rest = divmod(np.arange(n_words), len(_SYLLABLES))
    return ["zo" + _SYLLABLES[a] + _SYLLABLES[b] for a, b in zip(first, rest, strict=True)]


def drawn_table(labels: pd.DataFrame, text: str = "text", length: float = 60.0) -> pd.DataFrame:
    """The table of labels with a column of texts, drawn from HDSP with six topics."""
    corpus, _ = hdsp.simulate(
        labels,
        n_topics=6,
        n_words=200,
        document_length=length,
        corpus_concentration=10.0,
        document_concentration=5.0,
        scaling="auto",
        random_state=0,
    )
    words = np.array(pseudo_words(corpus.n_words))
    rows = (np.asarray(row, dtype=int) for row in corpus.counts.toarray())
    return labels.assign(**{text: [" ".join(np.repeat(words, row)) for row in rows]})


def fitted_reviews() -> tuple[pd.DataFrame, hdsp.Corpus, hdsp.Corpus, hdsp.HDSP]:
    """Labels of 400 drawn reviews, training and test documents, and a model of the former."""
    rng = np.random.default_rng(0)
    dates = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1500, 400), "D")
    reviews = pd.DataFrame(
        {
            "department": rng.choice(["dresses", "knitwear", "shoes"], size=400),
            "rating": rng.integers(1, 6, size=400),
            "date": dates,
        }
    )
    labels = reviews[["department", "rating"]]
    reviews["text"] = drawn_table(labels, length=40.0)["text"]
    corpus = hdsp.Corpus.from_texts(reviews["text"], labels)
    train, test = corpus.split(test_size=0.2, random_state=0)
    model = hdsp.HDSP(6, init="nmf", random_state=0).fit(train)
    return reviews, train, test, model
