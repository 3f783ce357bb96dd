"""The pairs file with its ids resolved to rows of the image table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairfr.core import names
from fairfr.core.errors import DataError
from fairfr.core.types import I16, I32, I64, UNKNOWN, Bool
from fairfr.data.text_table import CodedColumn, TextTable

# pandas writes whole numbers with gaps as 1.0
LABELS = {"0": False, "0.0": False, "false": False, "1": True, "1.0": True, "true": True}
MAX_FOLDS = 32_000  # fold numbers are int16


@dataclass(frozen=True, slots=True)
class LabelledPairs:
    """Pairs ``left``, ``right`` (p,) with their labels; ``rows`` (p,) says which row of the file each one is.

    Without folds (``has_folds`` False) all pairs are in one, for protocols that make folds themselves.
    """

    table: TextTable
    rows: I64
    left: I32
    right: I32
    same: Bool
    fold: CodedColumn
    has_folds: bool = True

    def __len__(self) -> int:
        return len(self.left)

    def location(self, pair: int) -> str:
        return self.table.location(int(self.rows[pair]))

    def keep(self, chosen: Bool) -> LabelledPairs:
        """Only the pairs marked in ``chosen`` (p,)."""
        fold = CodedColumn(self.fold.codes[chosen], self.fold.values)
        return replace(
            self,
            rows=self.rows[chosen],
            left=self.left[chosen],
            right=self.right[chosen],
            same=self.same[chosen],
            fold=fold,
        )

    def used(self, n_images: int) -> Bool:
        """Which of ``n_images`` occur in a pair (n,)."""
        used = np.zeros(n_images, dtype=bool)
        used[self.left] = True
        used[self.right] = True
        return used

    def renumbered(self, used: Bool) -> LabelledPairs:
        """The same pairs over the images marked in ``used`` (n,) alone."""
        if used.all():
            return self
        number = (np.cumsum(used) - 1).astype(np.int32)
        return replace(self, left=number[self.left], right=number[self.right])


def label_pairs(table: TextTable, left: I32, right: I32) -> LabelledPairs:
    """Add ``same`` and ``fold`` of each row of ``table`` to its two images ``left`` and ``right`` (rows,)."""
    same = _read_labels(table)
    has_folds = "fold" in table.names
    fold = one_fold(table.n_rows)
    if has_folds:
        fold = table.required_text("fold")
    return LabelledPairs(table, np.arange(table.n_rows, dtype=np.int64), left, right, same, fold, has_folds)


def one_fold(n_pairs: int) -> CodedColumn:
    """The fold of ``n_pairs`` pairs that have none."""
    return CodedColumn(np.zeros(n_pairs, dtype=np.int32), (names.ALL,))


def index_of(values: Sequence[str], among: Sequence[str]) -> I32:
    """Position of each of ``values`` ``among`` distinct others, (values,); -1 if nowhere."""
    number = {value: i for i, value in enumerate(among)}
    return np.fromiter((number.get(value, UNKNOWN) for value in values), dtype=np.int32, count=len(values))


def image_rows(table: TextTable, name: str, images: Sequence[str], images_of: str) -> I32:
    """The image (rows,) that column ``name`` of a pairs table names."""
    column = table.required_text(name)
    found = index_of(column.values, images)[column.codes]
    unknown = found == UNKNOWN
    if unknown.any():
        row = int(np.argmax(unknown))
        image = column.values[column.codes[row]]
        raise DataError(
            f"{table.path}, {table.location(row)}: {name} image '{image}' is not in {images_of} "
            f"(where the first is '{images[0]}'). Add it there or remove the pair; ids must match exactly.",
            code="unknown-image",
        )
    return found


def fold_codes(pairs: LabelledPairs) -> tuple[I16, tuple[str, ...]]:
    """Fold of each pair (p,) and the folds' labels: by number if all are whole numbers, else as they appear."""
    present = np.unique(pairs.fold.codes).tolist()
    values = pairs.fold.values
    if len(present) < 2 and pairs.has_folds:
        raise DataError(
            f"{pairs.table.path} has one fold only, '{values[present[0]]}'. "
            "Number the pairs by at least two folds: each is tested with a fit on the others. Or remove the column: "
            "protocol=identity_disjoint makes folds without common people.",
            code="one-fold",
        )
    if len(present) > MAX_FOLDS:
        raise DataError(
            f"{pairs.table.path} has {len(present)} different folds; at most {MAX_FOLDS} are possible. "
            "Put the number of the fold in column 'fold'.",
            code="too-many-folds",
        )
    reserved = names.FOLDS.intersection(values[code] for code in present)
    if reserved:
        raise DataError(
            f"{pairs.table.path}: a fold is called '{min(reserved)}', which is kept for all folds together. "
            "Give it another name.",
            code="reserved-name",
        )
    if all(re.fullmatch(r"[+-]?\d+", values[code], re.ASCII) for code in present):
        present.sort(key=lambda code: int(values[code]))
    number = np.zeros(len(values), dtype=np.int16)
    number[present] = np.arange(len(present))
    return number[pairs.fold.codes], tuple(values[code] for code in present)


def _read_labels(table: TextTable) -> Bool:
    """Whether each row (rows,) is of one person."""
    column = table.required_text("same")
    labels = [LABELS.get(value.lower()) for value in column.values]
    for code, (value, label) in enumerate(zip(column.values, labels, strict=True)):
        if label is None:
            raise DataError(
                f"{table.path}, {table.first_location(column.codes == code)}: same is {value!r}. "
                "Write 1 (or true) for pairs of one person, 0 (or false) for others.",
                code="wrong-label",
            )
    return np.array(labels, dtype=bool)[column.codes]
