"""Labels: what is known of every document besides its words."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, Self

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics.sparse import frozen_csr
from hdsp.validation import check_length, check_unique, count_of, quoted, row_positions

Kind = Literal["tags", "category", "number"]
KINDS: tuple[Kind, ...] = ("tags", "category", "number")


class NamedColumns(Protocol):
    """What the flat names of a label space are made of."""

    @property
    def name(self) -> str:
        """The block's name."""

    @property
    def kind(self) -> Kind:
        """The block's kind."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of its label columns."""


def flat_names(blocks: Iterable[NamedColumns]) -> tuple[str, ...]:
    """Name every label column of all blocks.

    A tag or level goes by its plain value where that is unique over all blocks, and else by
    "block=value"; a number goes by its column's name.
    """
    blocks = tuple(blocks)
    uses = Counter(column for block in blocks for column in block.columns)
    qualified = {f"{block.name}={column}" for block in blocks for column in block.columns}
    return tuple(
        column
        if block.kind == "number" or (uses[column] == 1 and column not in qualified)
        else f"{block.name}={column}"
        for block in blocks
        for column in block.columns
    )


@dataclass(frozen=True, eq=False)
class LabelBlock:
    """Labels of one kind that belong together, such as one column of a table.

    A stored entry is an observed value. So an observed number that is zero is stored as 0.0,
    and a missing one is not stored.

    Parameters
    ----------
    name
        The block's name: that of the table's column.
    kind
        ``"tags"`` (any number a document; a document without tags is one whose tags are
        missing), ``"category"`` (at most one a document) or ``"number"``.
    columns
        Names of the J label columns: tags, levels, or the numbers' own names.
    values
        [M, J]. Entries of tags and categories are 1.0.
    centred
        Of numbers only: whether they are standardised about their mean. Those of a sparse
        matrix are not, since there a zero means that nothing is to be said, and centring would
        fill all zeros.
    """

    name: str
    kind: Kind
    columns: tuple[str, ...]
    values: csr_array
    centred: bool = True

    def __post_init__(self) -> None:
        subject = f"Block {self.name!r}"
        if self.kind not in KINDS:
            raise ValueError(
                f"{subject} must be of a known kind. Got {self.kind!r}. Use one of {quoted(KINDS)}."
            )
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "values", frozen_csr(self.values))
        check_unique(self.columns, "columns", subject)
        if len(self.columns) != self.values.shape[1]:
            raise ValueError(
                f"{subject} must name each of its {self.values.shape[1]} columns. "
                f"Got {count_of(len(self.columns), 'name')}. Pass one name a column."
            )
        if not np.isfinite(self.values.data).all():
            raise ValueError(
                f"{subject} must store finite values. Got NaN or an infinity. "
                "Store nothing for a missing value."
            )
        if self.kind == "number":
            return
        if (self.values.data != 1.0).any():
            raise ValueError(
                f"{subject} of {self.kind} must store ones only. "
                f"Got {self.values.data[self.values.data != 1.0][0]}. Make it a number block."
            )
        if self.kind == "category" and (np.diff(self.values.indptr) > 1).any():
            row = int(np.argmax(np.diff(self.values.indptr) > 1))
            raise ValueError(
                f"{subject} must have at most one level a document. "
                f"Got {int(np.diff(self.values.indptr)[row])} at row {row}. Make it a tags block."
            )

    def __repr__(self) -> str:
        size = "" if self.kind == "number" and len(self.columns) == 1 else f" {len(self.columns)}"
        return f"{self.kind} {self.name!r}{size}"


@dataclass(frozen=True, eq=False, repr=False)
class Labels:
    """The labels of M documents, in blocks; immutable.

    Labels are indexed by document, as arrays are, and so can be split, shuffled and routed by
    scikit-learn. One integer selects one document and gives `Labels` again.

    Parameters
    ----------
    blocks
        The blocks, with names that differ.
    n_documents
        Number of documents M.

    Examples
    --------
    >>> labels = Labels.from_tags([["red", "long"], [], ["red"]])
    >>> labels
    Labels(3 documents: tags 'tags' 2)
    >>> labels.names
    ('long', 'red')
    >>> labels[1:]
    Labels(2 documents: tags 'tags' 2)
    """

    blocks: tuple[LabelBlock, ...]
    n_documents: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", tuple(self.blocks))
        check_unique([block.name for block in self.blocks], "block names", "`blocks` of Labels")
        for block in self.blocks:
            check_length(block.values.shape[0], self.n_documents, f"Block {block.name!r} of Labels")

    @classmethod
    def empty(cls, n_documents: int) -> Self:
        """Return no labels at all for a number of documents."""
        return cls((), n_documents)

    @classmethod
    def from_tags(cls, tags: Sequence[Iterable[str] | None], name: str = "tags") -> Self:
        """Read one list of tags a document; None and an empty list are a missing one."""
        from hdsp.corpus.blocks import tags_block

        rows = list(tags)
        return cls((tags_block(name, rows, "`tags` of Labels.from_tags"),), len(rows))

    @classmethod
    def from_matrix(
        cls, matrix: Any, kinds: Sequence[Literal["tags", "number"]] | None = None
    ) -> Self:
        """Read a sparse or dense matrix [M, J], NaN being missing.

        Parameters
        ----------
        matrix
            Its column j is called "label_j".
        kinds
            Kind of each column. By default a column of only 0 and 1 is a tag, all of them one
            block "labels", and any other column a number. Each number column of a dense matrix
            is a block; those of a sparse matrix are one block "numbers" that is not centred.
        """
        from hdsp.corpus.matrices import matrix_blocks

        blocks, n_documents = matrix_blocks(matrix, "`matrix` of Labels.from_matrix", kinds=kinds)
        return cls(blocks, n_documents)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        tags: str | Sequence[str] = (),
        categories: str | Sequence[str] = (),
        numeric: str | Sequence[str] = (),
    ) -> Self:
        """Read a pandas, polars or pyarrow table, by position and not by index.

        Parameters
        ----------
        frame
            Strings, categoricals and booleans are categories, lists are tags, numbers are
            numbers and dates are numbers in decimal years; None and NaN are missing.
        tags, categories, numeric
            Columns to read as such, whatever their type. If any are given, the others are left
            out; if none, every column is read by its type.
        """
        from hdsp.corpus.parsing import read_frame

        blocks, n_documents = read_frame(frame, tags, categories, numeric)
        return cls(blocks, n_documents)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of documents and of label columns, (M, J)."""
        return self.n_documents, sum(len(block.columns) for block in self.blocks)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the J label columns; see `flat_names`."""
        return flat_names(self.blocks)

    def __len__(self) -> int:
        return self.n_documents

    def __getitem__(self, key: object) -> "Labels":
        rows = row_positions(key, self.n_documents, "Labels")
        blocks = tuple(replace(block, values=block.values[rows]) for block in self.blocks)
        return Labels(blocks, len(rows))

    def block(self, name: str) -> LabelBlock:
        """Return the block of a name."""
        self._check_names([name])
        return next(block for block in self.blocks if block.name == name)

    def select(self, names: str | Iterable[str]) -> "Labels":
        """Return the blocks of the given names only, in their own order."""
        chosen = self._check_names(names)
        return replace(self, blocks=tuple(b for b in self.blocks if b.name in chosen))

    def without(self, names: str | Iterable[str]) -> "Labels":
        """Return all blocks but those of the given names."""
        dropped = self._check_names(names)
        return replace(self, blocks=tuple(b for b in self.blocks if b.name not in dropped))

    def _check_names(self, names: str | Iterable[str]) -> set[str]:
        wanted = {names} if isinstance(names, str) else set(names)
        for name in sorted(wanted.difference(block.name for block in self.blocks)):
            known = quoted(block.name for block in self.blocks) or "none"
            raise ValueError(f"Labels has no block {name!r}. Choose from its blocks: {known}.")
        return wanted

    def __repr__(self) -> str:
        return f"Labels({count_of(self.n_documents, 'document')}: {self.summary()})"

    def summary(self) -> str:
        """Describe the blocks in one line."""
        return ", ".join(repr(block) for block in self.blocks) or "none"
