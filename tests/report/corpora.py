"""Small corpora and models whose reports the tests look at."""

import numpy as np
import pandas as pd

from hdsp import HDSP, Corpus, Labels, TextSettings, simulate

PLACES = {
    "shoes": ["sole", "heel", "lace", "leather", "walk"],
    "dresses": ["skirt", "waist", "silk", "hem", "sleeve"],
    "bags": ["strap", "zip", "pocket", "handle", "clasp"],
    "hats": ["brim", "felt", "crown", "ribbon", "straw"],
}
MOODS = {1: "awful broken refund late", 5: "lovely perfect gift thanks"}


def reviews(n_documents=240, seed=0):
    """Texts, and a frame of labels: a category, tags and a number, some of each missing."""
    rng = np.random.default_rng(seed)
    texts, rows = [], []
    for number in range(n_documents):
        place, rating = str(rng.choice(list(PLACES))), int(rng.choice([1, 2, 4, 5]))
        mood = MOODS[1 if rating < 3 else 5].split()
        words = [*rng.choice(PLACES[place], size=12), *rng.choice(mood, size=7)]
        texts.append(f"{number}. " + " ".join(rng.permutation(words)).capitalize() + "!")
        rows.append(
            {
                "department": place if rng.random() < 0.9 else None,
                "labels": [tag for tag in ("sale", "new", "gift set") if rng.random() < 0.3],
                "rating": float(rating) if rng.random() < 0.9 else np.nan,
            }
        )
    return texts, pd.DataFrame(rows)


def make_corpus(texts, frame):
    labels = Labels.from_frame(frame, tags="labels", categories="department", numeric="rating")
    counts, words = TextSettings().count(texts)
    ids = [f"review {number}" for number in range(len(texts))]
    return Corpus(counts, words, labels, text_settings=TextSettings(), ids=ids)


def fit(corpus, n_components=8, **settings):
    options = {"max_iter": 12, "tol": 1e-2, "n_jobs": 1, **settings}
    return HDSP(n_components, random_state=0, **options).fit(corpus)


def fit_searched():
    """A model whose number of topics was searched for, and others are about as good."""
    corpus, _ = simulate(
        n_documents=200,
        n_topics=20,
        n_words=100,
        document_length=30,
        corpus_concentration=20.0,
        random_state=0,
    )
    return fit(corpus, "auto", max_components=40)


SCRIPT = "<script>window.hacked = 1</script>"
HOSTILE_LABELS = [
    f"</script>{SCRIPT}",
    '"><img src=x onerror="window.hacked=2">',
    "javascript:window.hacked=3",
    "__proto__",
    "quote ' and \" and `${window.hacked=4}`",
    "line\u2028end\u2029paragraph",
    "שלום עולם",
    "=HYPERLINK(1)",
]


def hostile():
    """Texts, words, labels and ids that a page must do nothing with but show."""
    rng = np.random.default_rng(1)
    words = [
        "constructor", "__proto__", "hasOwnProperty", "<b>bold</b>", SCRIPT, "&amp;", "\u2028",
        "שלום", "مرحبا", "{{data}}", "-->", "]]>", "'", '"', "\\u003c", "😀",
    ]  # fmt: skip
    counts = rng.poisson(1.0, size=(80, len(words))) + np.eye(80, len(words), dtype=int)
    tags = [[HOSTILE_LABELS[j] for j in rng.choice(8, 2, replace=False)] for _ in range(80)]
    tags[0] = HOSTILE_LABELS[:3]
    texts = [f"{word} before {SCRIPT} and after, {word}" for word in np.resize(words, 80)]
    texts[0] = f"long {SCRIPT} " + "\u202emirror\u202c שלום constructor " * 5000
    texts[1] = "lone surrogate \ud800 and null \x00 and \ufeff mark"
    ids = [f"{SCRIPT} {i}" for i in range(80)]
    return Corpus(counts, words, tags, ids=ids), texts
