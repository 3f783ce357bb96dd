"""Lists of pairs such as those of LFW and RFW: ``person n1 n2`` is one person, ``person1 n1 person2 n2`` are two.

Nothing in a line names its fold: a fold is a block of genuine pairs followed by as many impostors. So a list is only
accepted when all its blocks are whole and equal; one lost line would put pairs into the wrong folds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fairfr.core.errors import DataError
from fairfr.core.findings import Finding
from fairfr.data.files import DataFile
from fairfr.data.importers.imported_set import image_codes, to_column
from fairfr.data.pairs_file import LabelledPairs
from fairfr.data.text_table import MAX_CELL, TextTable, read_text


def truncated_finding(path: Path) -> Finding:
    """A text may have been cut inside its last line."""
    return Finding("no-line-end", "note", f"{path}: its last line has no line end. Is the file complete?")


OFFICIAL = (10, 600)  # folds, and pairs in each
NUMBER = re.compile(r"\d{1,9}", re.ASCII)


class ListedPair(NamedTuple):
    """One line: image ``left_number`` of person ``left``, and likewise right."""

    line: int
    left: str
    left_number: int
    right: str
    right_number: int
    same: bool


@dataclass(frozen=True, slots=True)
class PairList:
    """The pairs of one file in blocks: fold k has pairs ``k * block`` to ``(k + 1) * block - 1``.

    ``ends``: whether the last line has a line end.
    """

    path: Path
    pairs: tuple[ListedPair, ...]
    block: int
    ends: bool

    @property
    def n_folds(self) -> int:
        return len(self.pairs) // self.block

    def notes(self) -> list[Finding]:
        """Hints that the list was cut short where it cannot be seen: after a block, or inside the last number."""
        found = []
        if (self.n_folds, self.block) != OFFICIAL:
            text = f"{self.path} has {self.n_folds} folds of {self.block:,} pairs; published lists have 10 of 600."
            found.append(Finding("unusual-size", "note", text, {"folds": self.n_folds, "pairs_in_fold": self.block}))
        if not self.ends:
            found.append(truncated_finding(self.path))
        return found


class ListTable(TextTable):
    """Several lists as one table, whose rows are found by file and line."""

    __slots__ = ()

    def location(self, row: int) -> str:
        return str(self.arrays["where"][row])


def read_pair_list(path: Path) -> PairList:
    """A list with or without its header line (folds and pairs of one kind in each, or the latter alone)."""
    text = _text(path)
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    header = _header(lines)
    pairs = tuple(_parse(path, number, text) for number, text in lines[bool(header) :])
    if not pairs:
        raise DataError(f"{path} lists no pairs. Restore the file.", code="no-rows")
    per_kind = _per_kind(path, pairs)
    found = PairList(path, pairs, 2 * per_kind, text.endswith("\n"))
    announced = header
    if len(header) == 1:
        announced = (1, *header)
    if header and announced != (found.n_folds, per_kind):
        raise DataError(
            f"{path}: its first line announces {announced[0]} x ({announced[1]} + {announced[1]}) pairs, but it has "
            f"{found.n_folds} x ({per_kind} + {per_kind}). The file is cut short or changed; restore it.",
            code="incomplete-list",
        )
    return found


def label_lists(
    root: Path, lists: Sequence[PairList], images: Sequence[tuple[str, str]]
) -> tuple[tuple[str, ...], LabelledPairs]:
    """All image ids, sorted, and the pairs of all ``lists`` in order; ``images`` (p,) are each pair's two ids."""
    places: list[str] = []
    labels: list[bool] = []
    folds: list[str] = []
    for part in lists:
        name = "" if len(lists) == 1 else f"{part.path.name}, "
        for row, pair in enumerate(part.pairs):
            places.append(f"{name}line {pair.line}")
            labels.append(pair.same)
            folds.append(str(row // part.block))
    path = lists[0].path if len(lists) == 1 else root
    file = DataFile(path, "")
    table = ListTable(file, ("where",), {"where": places}, len(places), one_line_each=False)
    ids, left, right = image_codes(to_column([pair[0] for pair in images]), to_column([pair[1] for pair in images]))
    same = np.array(labels, dtype=bool)
    return ids, LabelledPairs(table, np.arange(len(places), dtype=np.int64), left, right, same, to_column(folds))


def missing_image_findings(root: Path, files: Sequence[str], folders: str) -> list[Finding]:
    """A note if some of ``files`` (paths inside ``root``) are not there; nothing if ``root`` itself is not."""
    if not root.is_dir():
        return []
    missing = [name for name in files if not (root / name).is_file()]
    if not missing:
        return []
    text = (
        f"{len(missing):,} of {len(files):,} images are not in {folders} (first: {missing[0]}); their pairs are kept."
    )
    return [Finding("missing-images", "note", text, {"images": len(missing), "of": len(files)})]


def _text(path: Path) -> str:
    """The file with one kind of line end."""
    return read_text(path).replace("\r\n", "\n").replace("\r", "\n")


def _header(lines: list[tuple[int, str]]) -> tuple[int, ...]:
    """The numbers of the first line; none if it is not a header."""
    if not lines:
        return ()
    cells = lines[0][1].split()
    if len(cells) > 2 or not all(NUMBER.fullmatch(cell) for cell in cells):
        return ()
    return tuple(int(cell) for cell in cells)


def _parse(path: Path, number: int, text: str) -> ListedPair:
    cells = [cell.strip() for cell in text.split("\t")]
    if len(cells) not in (3, 4):  # tabs let names contain blanks; some lists separate by blanks instead
        cells = text.split()
    if len(cells) == 3:
        cells = [cells[0], cells[1], "", cells[2]]
    if len(cells) != 4 or not (NUMBER.fullmatch(cells[1]) and NUMBER.fullmatch(cells[3])):
        raise DataError(
            f"{path}, line {number}: expected 'person number number' or 'person number person number', separated by "
            f"tabs or blanks; found {text[:60]!r}. Restore the file.",
            code="not-a-pair",
        )
    left = cells[0]
    right = cells[2]
    if not left or "\0" in text or len(text) > MAX_CELL:
        raise DataError(
            f"{path}, line {number}: a name is blank, too long or has a NUL. Restore the file.", code="not-a-pair"
        )
    return ListedPair(number, left, int(cells[1]), right or left, int(cells[3]), not right)


def _per_kind(path: Path, pairs: tuple[ListedPair, ...]) -> int:
    """Pairs of one kind in each block."""
    runs = [tuple(run) for _, run in groupby(pairs, key=lambda pair: pair.same)]
    size = len(runs[0])
    for k, run in enumerate(runs):
        if run[0].same != (k % 2 == 0):
            raise DataError(
                f"{path}, line {run[0].line}: the list starts with pairs of two people. Folds follow from the order "
                "alone (pairs of one person, then as many of two); restore the file.",
                code="incomplete-list",
            )
        if len(run) != size:
            kind = "one person" if run[0].same else "two people"
            raise DataError(
                f"{path}, lines {run[0].line} to {run[-1].line}: {len(run):,} pairs of {kind} where the first block "
                f"has {size:,}. Folds follow from the order alone, so every block must be whole; restore the file.",
                code="incomplete-list",
            )
    if len(runs) % 2:
        raise DataError(
            f"{path} ends after line {pairs[-1].line} in the middle of a block. Restore the file.",
            code="incomplete-list",
        )
    return size
