"""Labels: what is known of every document in addition to its words."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from hdsp.checks import check_length, check_unique, count_of, quoted, row_positions
from hdsp.numerics import frozen_csr

if TYPE_CHECKING:
    from hdsp.corpus.schema import BlockSchema

Kind = Literal["tags", "category", "number"]
KINDS: tuple[Kind, ...] = ("tags", "category", "number")
Names: TypeAlias = str | Sequence[str]


def flat_names(blocks: "Iterable[LabelBlock | BlockSchema]") -> tuple[str, ...]:
    """Name every label column of all blocks.

    The name of a tag or level is its plain value where that is unique over all blocks, and
    "block=value" otherwise. The name of a number is that of its column.
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


def label_kinds(tags: Names, categories: Names, numeric: Names, owner: str) -> dict[str, Kind]:
    """Return the kind of every named label column, or raise if a column has two kinds."""
    kinds: dict[str, Kind] = {}
    named: dict[Kind, Names] = {"tags": tags, "category": categories, "number": numeric}
    for kind, names in named.items():
        for name in [names] if isinstance(names, str) else names:
            if kinds.setdefault(name, kind) != kind:
                raise ValueError(
                    f"A column of {owner} must be of one kind. "
                    f"Got {name!r} as {kinds[name]} and as {kind}. Name it once."
                )
    return kinds


@dataclass(frozen=True)
class ReadingSettings:
    """How a table was read; `read_table(..., like=model)` reads another one in the same way.

    Attributes
    ----------
    text : str, default="text"
        Column of the texts.
    ids, groups : str or None, default=None
        Columns of the document names and of their groups.
    tag_separator : str or None, default=None
        The separator of tags that are written as one text.
    delimiter : str or None, default=None
        The separator of values in a CSV file.
    decimal : str, default="."
        The decimal separator of numbers in a CSV file.
    encoding : str, default="utf-8"
        The encoding of a text file.
    """

    text: str = "text"
    ids: str | None = None
    groups: str | None = None
    tag_separator: str | None = None
    delimiter: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"


@dataclass(frozen=True, eq=False)
class LabelBlock:
    """Labels of one kind that belong together, such as one column of a table.

    A stored entry is an observed value. So an observed number that is zero is stored as 0.0,
    and a missing one is not stored.

    Attributes
    ----------
    name : str
        The block's name: that of the table's column.
    kind : {"tags", "category", "number"}
        A document has any number of tags, at most one category, or one number per column. The
        tags of a document without tags are missing.
    columns : tuple of str
        Names of the J label columns: tags, levels, or the numbers' own names.
    values : sparse array of shape [M, J]
        The labels. Entries of tags and categories are 1.0.
    centred : bool, default=True
        Whether numbers are standardised about their mean. Those of a sparse matrix are not,
        because a zero stands for no value there, and centring would fill in all zeros.
    n_missing : int, default=0
        How many lists of tags were missing, and not empty, where they were read.
    """

    name: str
    kind: Kind
    columns: tuple[str, ...]
    values: csr_array
    centred: bool = True
    n_missing: int = 0

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
                f"Got {count_of(len(self.columns), 'name')}. Pass one name per column."
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
                f"Got {self.values.data[self.values.data != 1.0][0]}. Make it a number."
            )
        if self.kind == "category" and (np.diff(self.values.indptr) > 1).any():
            row = int(np.argmax(np.diff(self.values.indptr) > 1))
            raise ValueError(
                f"{subject} must have at most one level per document. "
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

    Attributes
    ----------
    blocks : tuple of LabelBlock
        The blocks, with names that differ.
    n_documents : int
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
        """Return labels without any block.

        Parameters
        ----------
        n_documents : int
            Number of documents M.

        Returns
        -------
        Labels
            Labels of M documents, all of them missing.
        """
        return cls((), n_documents)

    @classmethod
    def from_tags(cls, tags: Sequence[Iterable[str] | None], name: str = "tags") -> Self:
        """Read one list of tags per document.

        Parameters
        ----------
        tags : sequence of iterable of str or None
            The tags of the M documents. None and an empty list are missing.
        name : str, default="tags"
            Name of the block.

        Returns
        -------
        Labels
            Labels with one block of tags.
        """
        from hdsp.corpus.columns import make_block
        from hdsp.corpus.frames import as_series

        rows = as_series(list(tags))
        return cls((make_block(name, "tags", rows, "`tags` of Labels.from_tags"),), len(rows))

    @staticmethod
    def from_matrix(matrix: Any) -> "Labels":
        """Read a matrix of labels.

        Parameters
        ----------
        matrix : sparse or dense array of shape [M, J]
            The labels; NaN is missing. Column j is called "label_j". A column of only 0 and 1 is a
            tag, all of them one block "labels", and any other column is a number. Each number
            column of a dense matrix is a block; those of a sparse matrix are one block "numbers"
            that is not centred.

        Returns
        -------
        Labels
            The labels of the M rows.
        """
        from hdsp.corpus.columns import matrix_labels

        return matrix_labels(matrix, "`matrix` of Labels.from_matrix")

    @staticmethod
    def from_frame(
        frame: Any, tags: Names = (), categories: Names = (), numeric: Names = ()
    ) -> "Labels":
        """Read a table, by position and not by index.

        Parameters
        ----------
        frame : pandas, polars or pyarrow table
            Strings, categoricals and booleans are categories, lists are tags, numbers are
            numbers and dates are numbers in decimal years; None and NaN are missing.
        tags, categories, numeric : str or sequence of str, default=()
            Columns to read as such, whatever their type. If any are named, only these are read;
            otherwise every column is read by its type.

        Returns
        -------
        Labels
            Labels with one block per column.
        """
        from hdsp.corpus.columns import read_frame

        return read_frame(frame, tags, categories, numeric)

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
        """Return a block.

        Parameters
        ----------
        name : str
            The block's name.

        Returns
        -------
        LabelBlock
            The block.
        """
        self._check_names([name])
        return next(block for block in self.blocks if block.name == name)

    def select(self, names: str | Iterable[str]) -> "Labels":
        """Return labels with some of the blocks.

        Parameters
        ----------
        names : str or iterable of str
            The blocks to keep.

        Returns
        -------
        Labels
            Labels with these blocks, in their present order.
        """
        chosen = self._check_names(names)
        return replace(self, blocks=tuple(b for b in self.blocks if b.name in chosen))

    def without(self, names: str | Iterable[str]) -> "Labels":
        """Return labels without some of the blocks.

        Parameters
        ----------
        names : str or iterable of str
            The blocks to leave out.

        Returns
        -------
        Labels
            Labels with the other blocks.
        """
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
