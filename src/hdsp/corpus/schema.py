"""The label space that a model was trained on."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Annotated, Any, NamedTuple, Self, TypeAlias

import numpy as np
from scipy.sparse import csr_array, hstack

from hdsp.checks import check_matrix, count_of, quoted
from hdsp.corpus.columns import column_name, matrix_labels, read_labels
from hdsp.corpus.counting import remap_columns
from hdsp.corpus.frames import is_frame, open_columns
from hdsp.corpus.labels import Kind, LabelBlock, Labels, flat_names
from hdsp.exceptions import LabelDataWarning, UnknownLabelWarning
from hdsp.numerics import FloatArray, IntArray, csr_entries
from hdsp.storage.codec import LARGEST, SMALLEST, Limits, require


class Moments(NamedTuple):
    """Sums over the observed numbers of a column, which add up over parts of a corpus.

    `spread` is the sum of squared differences from `mean`, which is 0 if they are not centred.
    """

    n: int = 0
    mean: float = 0.0
    spread: float = 0.0
    least: float = 0.0
    most: float = 0.0
    centred: bool = True

    @classmethod
    def of(cls, values: FloatArray, centred: bool) -> Self:
        """The sums of a column's observed values."""
        if len(values) == 0:
            return cls(centred=centred)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(values.mean()) if centred else 0.0
            spread = float(np.sum((values - mean) ** 2))
        return cls(len(values), mean, spread, float(values.min()), float(values.max()), centred)

    def add(self, other: "Moments") -> "Moments":
        """The sums over both parts."""
        if not (self.n and other.n):
            return self if self.n else other
        n = self.n + other.n
        shift = other.mean - self.mean
        # About their own means, because the difference of two large sums would lose digits.
        spread = self.spread + other.spread + shift * shift * (self.n * other.n / n)
        mean = self.mean + shift * (other.n / n)
        least, most = min(self.least, other.least), max(self.most, other.most)
        return Moments(n, mean, spread, least, most, self.centred)

    def standard(self, name: str) -> tuple[float, float]:
        """What is subtracted from the values of column `name`, and by what they are divided."""
        if not self.n:
            return 0.0, 1.0
        if self.centred and self.least == self.most:
            return self.least, 1.0
        scale = float(np.sqrt(self.spread / self.n))
        if not max(scale, abs(self.mean)) <= LARGEST:
            raise ValueError(
                "Numbers must be small enough to standardise. "
                f"Got {max(abs(self.least), abs(self.most))} in column {name!r}. Change its unit."
            )
        return self.mean, scale if scale >= SMALLEST else 1.0


# Of the columns of each block of labels; none for a block that is not numeric.
LabelMoments: TypeAlias = tuple[tuple[Moments, ...], ...]


def sum_moments(parts: Iterable[LabelMoments]) -> LabelMoments:
    """The sums over all parts of a corpus, added in their order."""
    blocks = zip(*parts, strict=True)
    return tuple(
        tuple(reduce(Moments.add, sums) for sums in zip(*block, strict=True)) for block in blocks
    )


@dataclass(frozen=True)
class BlockSchema:
    """What training saw of one block of labels.

    Attributes
    ----------
    name : str
        The block's name.
    kind : {"tags", "category", "number"}
        The kind of its labels.
    columns : tuple of str
        Names of its label columns.
    mean : tuple of float
        What is subtracted from each column of numbers; empty for other kinds.
    scale : tuple of float
        By what each column of numbers is then divided; empty for other kinds.
    centred : bool
        Whether numbers are standardised about their mean; see `LabelBlock`.
    """

    name: str
    kind: Kind
    columns: tuple[str, ...]
    mean: tuple[float, ...] = ()
    scale: tuple[Annotated[float, Limits(least=SMALLEST)], ...] = ()
    centred: bool = True

    def check_stored(self) -> None:
        """Raise if a file holds labels that no fit makes."""
        n_numbers = len(self.columns) if self.kind == "number" else 0
        fits = len(self.mean) == len(self.scale) == n_numbers
        unique = len(set(self.columns)) == len(self.columns)
        require(fits and unique, "its labels are not described as they should be")

    @classmethod
    def of(cls, block: LabelBlock, moments: Sequence[Moments] | None = None) -> Self:
        """Return the schema of a block, with mean and scale of its numbers, or by their sums."""
        sums = column_moments(block) if moments is None else moments
        standards = [one.standard(name) for one, name in zip(sums, block.columns, strict=False)]
        mean, scale = zip(*standards, strict=True) if standards else ((), ())
        return cls(block.name, block.kind, block.columns, mean, scale, block.centred)


def column_moments(block: LabelBlock) -> tuple[Moments, ...]:
    """Return the sums of each column of a block's observed numbers; none of other kinds."""
    if block.kind != "number":
        return ()
    by_column = block.values.tocsc()
    return tuple(
        Moments.of(by_column.data[start:end], block.centred)
        for start, end in zip(by_column.indptr[:-1], by_column.indptr[1:], strict=True)
    )


@dataclass(frozen=True)
class LabelSchema:
    """The label space that a model was trained on: it reads labels and encodes them.

    Attributes
    ----------
    blocks : tuple of BlockSchema
        The blocks, in the order of the design's columns.

    Examples
    --------
    >>> import pandas as pd
    >>> labels = Labels.from_frame(pd.DataFrame({"dept": ["a", "b", None], "rating": [1, 3, 5]}))
    >>> schema = LabelSchema.of(labels)
    >>> schema.names
    ('a', 'b', 'rating')
    >>> schema.encode(labels).toarray().round(2)
    array([[ 1.  ,  0.  , -1.22],
           [ 0.  ,  1.  ,  0.  ],
           [ 0.  ,  0.  ,  1.22]])
    """

    blocks: tuple[BlockSchema, ...]

    def check_stored(self) -> None:
        """Raise if two blocks in a file share a name."""
        unique = len({block.name for block in self.blocks}) == len(self.blocks)
        require(unique, "its labels are not described as they should be")

    @classmethod
    def of(cls, labels: Labels, moments: LabelMoments | None = None) -> Self:
        """Return the label space of a model trained on these labels.

        Where labels of no documents stand for many, `moments` are the sums of their numbers.
        """
        sums = moments or [None] * len(labels.blocks)
        return cls(tuple(map(BlockSchema.of, labels.blocks, sums)))

    @property
    def n_labels(self) -> int:
        """Number of label columns J."""
        return sum(len(block.columns) for block in self.blocks)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the J label columns; see `flat_names`."""
        return flat_names(self.blocks)

    def slices(self) -> dict[str, slice]:
        """Return each block's columns of the design."""
        ends = np.cumsum([len(block.columns) for block in self.blocks]).tolist()
        return {
            block.name: slice(end - len(block.columns), end)
            for block, end in zip(self.blocks, ends, strict=True)
        }

    def raw(self, names: Iterable[str]) -> Self:
        """Return the schema in which numbers of the named blocks are not standardised."""
        chosen, blocks = set(names), []
        for block in self.blocks:
            if block.name in chosen:
                n_numbers = len(block.scale)
                block = replace(block, mean=(0.0,) * n_numbers, scale=(1.0,) * n_numbers)
            blocks.append(block)
        return replace(self, blocks=tuple(blocks))

    def restate(self, values: csr_array, other: "LabelSchema") -> csr_array:
        """Return values of labels that `other`, with the same labels, has encoded, as here."""
        if other.blocks == self.blocks:
            return values
        indices, data = values.indices, values.data
        (mean, scale), (old_mean, old_scale) = self._standards(), other._standards()
        numbers = data * old_scale[indices] + old_mean[indices]
        restated = (numbers - mean[indices]) / scale[indices]
        return csr_array((restated, indices, values.indptr), shape=values.shape)

    def _standards(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean and scale of each label; 0 and 1 of those that are no numbers."""
        mean = [m for block in self.blocks for m in block.mean or (0.0,) * len(block.columns)]
        scale = [s for block in self.blocks for s in block.scale or (1.0,) * len(block.columns)]
        return np.array(mean), np.array(scale)

    def block(self, name: str) -> BlockSchema:
        """Return what training saw of a block."""
        for block in self.blocks:
            if block.name == name:
                return block
        known = quoted(block.name for block in self.blocks) or "none"
        raise ValueError(f"The model has no labels {name!r}. Choose from its blocks: {known}.")

    def kind(self, name: str) -> Kind:
        """Return a block's kind."""
        return self.block(name).kind

    def read(self, labels: object, n_documents: int, owner: str) -> Labels:
        """Read labels as `as_labels` does, except that training has decided the kinds.

        So a number stays a number even if it now holds only 0 and 1. Columns of a table that the
        model does not know are left out, and those that the table lacks are missing.

        Parameters
        ----------
        labels : Labels, table, matrix, list or None
            The labels of new documents.
        n_documents : int
            Number of documents M that the labels must have.
        owner : str
            The function whose argument `labels` is, for messages.

        Returns
        -------
        Labels
            The labels of the M documents.
        """
        subject = f"`labels` of {owner}"
        kinds = {block.name: block.kind for block in self.blocks if block.columns}
        if kinds and not isinstance(labels, Labels) and is_frame(labels):
            _warn_without_known_column(labels, kinds, subject)
        result = read_labels(labels, n_documents, subject, self._read_matrix, kinds)
        self._check_agreement(result, subject)
        return result

    def encode(self, labels: Labels, warn: bool = True) -> csr_array:
        """Return the design [M, J] that scaling functions work on.

        A tag or level that a document has is 1.0, a number is (x - mean) / scale, and nothing is
        stored for what is missing. A number that equals its mean is stored as 0.0.

        Parameters
        ----------
        labels : Labels
            Labels of M documents. Those unknown to the schema are ignored.
        warn : bool, default=True
            Whether to warn, once, of unknown labels.

        Returns
        -------
        sparse array of shape [M, J]
            The design.
        """
        self._check_agreement(labels, "`labels`")
        found = {block.name: block for block in labels.blocks}
        nothing = LabelBlock("", "tags", (), csr_array((len(labels), 0)))
        parts = [remap_columns(nothing.values, self._targets(nothing), 0)]
        for known in self.blocks:
            block = found.get(known.name, nothing)
            part = remap_columns(block.values, self._targets(block), len(known.columns))
            if known.kind == "number":
                mean, scale = np.asarray(known.mean), np.asarray(known.scale)
                part.data = (part.data - mean[part.indices]) / scale[part.indices]
            parts.append(part)
        if warn:
            warn_unknown([self.unknown(labels)])
        return csr_array(hstack(parts, format="csr"))

    def unknown(self, labels: Labels) -> tuple[list[str], int]:
        """Return the labels of documents that the schema does not know, and of how many documents.

        Parameters
        ----------
        labels : Labels
            Labels of M documents.

        Returns
        -------
        names : list of str
            The names of the labels.
        n_documents : int
            The number of documents that have one of them.
        """
        names = iter(labels.names)
        unknown: list[str] = []
        touched = np.zeros(len(labels), dtype=np.bool_)
        for block in labels.blocks:
            rows, indices, _ = csr_entries(block.values)
            is_unknown = self._targets(block) < 0
            touched[rows[is_unknown[indices]]] = True
            carried = np.bincount(indices, minlength=len(block.columns)) > 0
            block_names = [next(names) for _ in block.columns]
            unknown += [block_names[j] for j in np.flatnonzero(carried & is_unknown)]
        return unknown, int(touched.sum())

    def _targets(self, block: LabelBlock) -> IntArray:
        """Return, for each column of a block, its position in the same block here, or -1."""
        known = next((own.columns for own in self.blocks if own.name == block.name), ())
        positions = {column: j for j, column in enumerate(known)}
        return np.array([positions.get(column, -1) for column in block.columns], dtype=np.int64)

    def _read_matrix(self, matrix: Any, subject: str) -> Labels:
        if not self.n_labels:
            return matrix_labels(matrix, subject)
        matrix = check_matrix(matrix, subject)
        kinds = {column: block.kind for block in self.blocks for column in block.columns}
        names = [column_name(j) for j in range(matrix.shape[1])]
        if set(kinds) != set(names) or "category" in kinds.values():
            trained = ", ".join(f"{block.kind} {block.name!r}" for block in self.blocks)
            raise ValueError(
                f"{subject} must be of the form that training saw: {trained}. Got a matrix of "
                f"{count_of(len(names), 'column')}. Pass a table or Labels with these names, or a "
                "matrix with the same columns if training saw one."
            )
        centred = all(block.centred for block in self.blocks)
        return matrix_labels(matrix, subject, [kinds[name] for name in names], centred)

    def _check_agreement(self, labels: Labels, subject: str) -> None:
        """Raise if a block is of another kind than in training."""
        kinds = {known.name: known.kind for known in self.blocks if known.columns}
        for block in labels.blocks:
            kind = kinds.get(block.name, block.kind) if block.columns else block.kind
            several = kind == "category" and (np.diff(block.values.indptr) > 1).any()
            if several or (kind == "number") != (block.kind == "number"):
                raise ValueError(
                    f"{subject} must be of the kinds that training saw. "
                    f"Got {block.name!r} as {block.kind}, which was {kind}. "
                    "Convert it, or train again."
                )


def warn_unknown(found: Iterable[tuple[list[str], int]]) -> None:
    """Warn, once, of what `LabelSchema.unknown` returned for parts of a corpus, if there is any."""
    parts = list(found)
    unknown = list(dict.fromkeys(name for names, _ in parts for name in names))
    if not unknown:
        return
    verb = "was" if len(unknown) == 1 else "were"
    n_documents = sum(number for _, number in parts)
    warnings.warn(
        f"{count_of(len(unknown), 'label')} unknown to the model {verb} ignored "
        f"(in {count_of(n_documents, 'document')}): {quoted(unknown)}",
        UnknownLabelWarning,
        stacklevel=3,
    )


def _warn_without_known_column(frame: Any, kinds: Mapping[str, Kind], subject: str) -> None:
    columns = open_columns(frame, subject)
    if columns and not set(columns).intersection(kinds):
        warnings.warn(
            f"{subject} has no column that the model knows, so every label is missing. "
            f"Got {quoted(columns)}; the model knows {quoted(kinds)}.",
            LabelDataWarning,
            stacklevel=3,
        )
