"""Small corpora in the place of the real ones, drawn from the model itself.

They have the names, columns and labels that the studies ask for. What a study finds on them means
nothing.
"""

from itertools import islice, product

import numpy as np
import pandas as pd

import hdsp

TOPIC_CODES = ("MCAT", "GSPO", "GCRIM", "GHEA", "C18")
HEADINGS = (
    "Adolescent", "Child", "Child, Preschool", "Diabetes Mellitus, Type 2", "Heart Failure",
    "Helicobacter Infections", "Hypertension", "Infant", "Migraine Disorders",
    "Osteoporosis, Postmenopausal", "Pain, Postoperative", "Pregnancy", "Schizophrenia",
)  # fmt: skip
DISEASES = ("C01", "C04", "C14", "C20", "C23")
AUTHORS = (
    "Barto_A", "Dayan_P", "Hinton_G", "Jordan_M", "Koch_C", "LeCun_Y", "Moody_J", "Scholkopf_B",
    "Sejnowski_T", "Sutton_R", "Vapnik_V", "Waibel_A",
)  # fmt: skip
# By these words a study looks for topics.
PAPERS_WORDS = (
    "learning", "network", "error", "hidden", "units", "recognition", "character", "digit",
    "handwritten", "policy", "reinforcement", "reward", "state",
)  # fmt: skip
N_WORDS = 150


def write_corpora(folder):
    """Write every corpus that a study reads, as a Parquet file of a few hundred documents."""
    rng = np.random.default_rng(0)
    frames = {
        "rcv1_subset": tagged(TOPIC_CODES, 300, rng),
        "medline_mesh": headings(rng),
        "ohsumed23": tagged(DISEASES, 300, rng),
        "nips_fulltext_1987_1999": papers(rng),
        "clothing_reviews": reviews(("Dresses", "Jackets", "Tops"), (1, 2, 3, 4, 5), rng),
        "amazon_4domains": reviews(("books", "dvd", "electronics", "kitchen"), (1, 2, 4, 5), rng),
    }
    for name, frame in frames.items():
        frame.to_parquet(folder / f"{name}.parquet")
    return folder


def tagged(names, n_documents, rng):
    """Documents with one to three of these labels."""
    labels = [
        list(rng.choice(names, rng.integers(1, 4), replace=False)) for _ in range(n_documents)
    ]
    texts = texts_of(hdsp.Labels.from_tags(labels), rng)
    return pd.DataFrame({"text": texts, "labels": labels})


def headings(rng):
    """The common headings in one column, and those that hardly any document has besides."""
    frame = tagged(HEADINGS, 400, rng)
    frame["mesh_all"] = [
        [*tags, f"Rare {number // 4}"] for number, tags in enumerate(frame["labels"])
    ]
    return frame


def papers(rng):
    """Papers by authors, with their words in a column of another name."""
    return tagged(AUTHORS, 200, rng).rename(columns={"text": "bow"})


def reviews(categories, stars, rng, n_documents=300):
    """Reviews with a category, a rating, and both as labels."""
    frame = pd.DataFrame(
        {
            "category": rng.choice(categories, n_documents),
            "rating": rng.choice(stars, n_documents).astype(np.float64),
        }
    )
    frame["labels"] = [[kind, f"{rating:g}"] for kind, rating in frame.to_numpy()]
    known = hdsp.Labels.from_frame(frame, categories="category", numeric="rating")
    frame["text"] = texts_of(known, rng)
    return frame


def texts_of(labels, rng):
    """Texts that the model draws for these labels."""
    corpus, _ = hdsp.simulate(
        labels, n_topics=12, n_words=N_WORDS, document_length=40, random_state=rng
    )
    names = np.array(vocabulary())
    return [" ".join(np.repeat(names, row.astype(int))) for row in corpus.counts.toarray()]


def vocabulary():
    """Words of four letters such as "baba", after those of the papers."""
    made = ("".join(letters) for letters in product("bdfgk", "aeiou", "lmnrs", "aeiou"))
    return [*PAPERS_WORDS, *islice(made, N_WORDS - len(PAPERS_WORDS))]
