"""One label column as values to predict."""

from collections import Counter
from collections.abc import Sequence

from scipy.sparse import csr_array

from hdsp import Labels


def target_values(labels: Labels, target: str) -> list[str | None]:
    """Each document's value of a category or a number; None where it is missing."""
    block = labels.block(target)
    if block.kind == "tags" or (block.kind == "number" and len(block.columns) > 1):
        raise ValueError(
            f"A target has one value a document, and {target!r} is of {block.kind}: choose a "
            "category or a number."
        )
    values: csr_array = block.values
    found: list[str | None] = []
    for a, b in zip(values.indptr[:-1], values.indptr[1:], strict=True):
        if a == b:
            found.append(None)
        elif block.kind == "category":
            found.append(block.columns[values.indices[a]])
        else:
            found.append(f"{values.data[a]:g}")
    return found


def other_labels(labels: Labels, target: str) -> Labels:
    """The labels without the target."""
    return labels.without([block.name for block in labels.blocks if block.name == target])


def most_frequent(values: Sequence[str]) -> str:
    """The value that occurs most; of several, the first by name."""
    if not values:
        raise ValueError("No training document has a value of the target.")
    counts = Counter(values)
    return min(counts, key=lambda value: (-counts[value], value))
