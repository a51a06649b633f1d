"""Tables 1 and 2: the corpora."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hdsp_studies.comparison import CorpusFolder
from hdsp_studies.peers import target_values
from hdsp_studies.reproduction.models import reading_of
from hdsp_studies.reproduction.study import (
    Finding,
    Row,
    Settings,
    Study,
    Table,
    distinct,
    graded,
    select,
)

_SIZES = ("documents", "words", "labels", "labels per document", "documents per label")


class Tables12(Study):
    """Sizes of the labelled corpora, and of the reviews by rating and category."""

    name = "tables-1-2"
    title = "Tables 1 and 2: the corpora"
    about = (
        "Words in ten documents or more and in at most 30% of them (NIPS: 90%), labels of 20 "
        "documents or more (authors: two). The paper's corpora are RCV (23,149 documents, 9,911 "
        "words, 117 labels, 3.2 per document), OHSUMED (7,505; 7,056; 52; 5.2), NIPS (2,484; "
        "14,036; 2,865; 2.4) and 24,259 Amazon reviews of seven categories."
    )
    claims = ("Ratings of reviews are skewed: about half have five stars",)
    reasons = ("Whoever made amazon_4domains balanced it: half of its reviews are good.",)

    def units(self, settings: Settings) -> list[dict[str, Any]]:
        """The corpora."""
        kinds = (("labels", settings["corpora"]), ("ratings", settings["reviews"]))
        return [
            {"corpus": name, "kind": kind, "fit": "published"}
            for kind, own in kinds
            for name in own
        ]

    def measure(self, unit: Row, settings: Settings, corpora: CorpusFolder) -> list[dict[str, Any]]:
        """The sizes of a corpus, or its reviews by rating and category."""
        reading = reading_of(unit["corpus"], settings)
        if unit["kind"] == "labels":
            corpus = corpora.whole(unit["corpus"], reading)
            values = corpus.labels.blocks[0].values
            n_documents, n_labels = values.shape
            each = [n_documents, len(corpus.words), n_labels]
            each += [values.nnz / n_documents, values.nnz / n_labels]
            return [{"item": name, "value": v} for name, v in zip(_SIZES, each, strict=True)]
        reading = reading._replace(tags=(), categories=("category",), numeric=("rating",))
        labels = corpora.whole(unit["corpus"], reading).labels
        rows = [{"item": "reviews", "value": len(labels)}]
        for column in ("rating", "category"):
            known = [value for value in target_values(labels, column) if value is not None]
            names, counts = np.unique(known, return_counts=True)
            kind = " stars" if column == "rating" else ""
            rows += [
                {"item": f"{name}{kind}", "value": int(count)}
                for name, count in zip(names, counts, strict=True)
            ]
        return rows

    def draw(self, rows: Sequence[Row]) -> None:
        """No figure: tables say it all."""

    def tables(self, rows: Sequence[Row]) -> list[Table]:
        """One table of sizes, and one of ratings and categories for each corpus of reviews."""
        sizes = select(rows, kind="labels")
        body = [
            [
                name,
                *(f"{row['value']:,.1f}".removesuffix(".0") for row in select(sizes, corpus=name)),
            ]
            for name in distinct(sizes, "corpus")
        ]
        found = [Table("Table 1: labelled corpora", ["", *_SIZES], body)] if body else []
        for name in distinct(select(rows, kind="ratings"), "corpus"):
            own = select(rows, corpus=name)
            total = own[0]["value"]
            lines = [[r["item"], f"{r['value']:,}", f"{r['value'] / total:.0%}"] for r in own]
            found.append(Table(f"Table 2: {name}", ["", "reviews", "share"], lines))
        return found

    def assess(self, rows: Sequence[Row]) -> list[Finding]:
        """The share of five stars."""
        shares = {}
        for name in distinct(select(rows, kind="ratings"), "corpus"):
            values = {row["item"]: row["value"] for row in select(rows, corpus=name)}
            shares[name] = values["5 stars"] / values["reviews"]
        if not shares:
            return [Finding(self.claims[0], "not yet run")]
        skewed = [0.4 <= share <= 0.6 for share in shares.values()]
        shown = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
        return [Finding(self.claims[0], graded(all(skewed), any(skewed)), f"five stars: {shown}")]
