"""Which image a key means: keys of vectors are paths, written from wherever their writer stood.

Two paths mean one image if, freed of known folders and of their ending, they are equal, or one is the end of the
other and no other image fits. Numbers count as numbers only where nothing fits otherwise.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fairfr.core.types import I64, UNKNOWN
from fairfr.core.wording import first_few, spaced

HOW = ("exact", "by suffix", "by zero-padding", "ambiguous", "unmatched")
EXACT, SUFFIX, PADDING, AMBIGUOUS, UNMATCHED = range(5)
NAMED = 5  # keys named in a report

_SEVERAL = -2
_ROOTS = re.compile(r"^(?:.*/)?(?:rfw/data|bfw-cropped-aligned|uncropped-face-samples|face-samples)/")
_ENDING = re.compile(r"\.(?:jpe?g|png|npy)$", re.IGNORECASE)
_CROPPED = re.compile(r"_cropped(?=/)")
_NUMBER = re.compile(r"_0*(\d+)$")


def normalised(key: str) -> str:
    """``key`` without known roots, ``_cropped``, leading ``./``, backslashes and the ending of an image."""
    path = "/".join(part for part in key.strip().replace("\\", "/").split("/") if part not in ("", "."))
    return _ENDING.sub("", _CROPPED.sub("", _ROOTS.sub("", path)))


def without_padding(path: str) -> str:
    """The normalised ``path`` with its last number unpadded: ``_0012`` and ``_00012`` both become ``_12``."""
    return _NUMBER.sub(r"_\1", path)


@dataclass(frozen=True, slots=True)
class Matches:
    """For each of m keys the row (m,) of its image (-1 = none) and ``how`` (m,) it was found, an index into HOW."""

    keys: Sequence[str]
    row: I64
    how: I64

    def report(self) -> str:
        """Counts of what matched how, and the first keys that did not."""
        counts = Counter(self.how.tolist())
        text = "keys: " + ", ".join(f"{spaced(counts[i])} {name}" for i, name in enumerate(HOW) if counts[i])
        for code in (AMBIGUOUS, UNMATCHED):
            if counts[code]:
                keys = [self.keys[i] for i in np.flatnonzero(self.how == code).tolist()]
                text += f"\n  {HOW[code]}: {first_few(keys, NAMED)}"
        return text


def match(keys: Sequence[str], images: Sequence[str]) -> Matches:
    """The image (its row in ``images``) that each key means."""
    given, known = [normalised(key) for key in keys], [normalised(image) for image in images]
    find = _finder(known)
    find_number = _finder([without_padding(path) for path in known])
    literal = {image: row for row, image in enumerate(images)}
    row, how = np.full(len(keys), UNKNOWN, np.int64), np.full(len(keys), UNMATCHED, np.int64)
    for i, path in enumerate(given):
        if keys[i] in literal:
            row[i], how[i] = literal[keys[i]], EXACT
        else:
            row[i], how[i] = _resolve(path, find, find_number)
    return Matches(keys, row, how)


_Find = Callable[[str], tuple[int, int]]


def _resolve(path: str, find: _Find, find_number: _Find) -> tuple[int, int]:
    row, how = find(path)
    if how == UNMATCHED:
        row, how = find_number(without_padding(path))
        how = PADDING if how in (EXACT, SUFFIX) else how
    return row, how


def _finder(known: Sequence[str]) -> _Find:
    """Looks a path up among ``known`` paths; where several fit, none is taken."""
    whole: dict[str, int] = {}
    ends: dict[str, int] = {}
    for row, path in enumerate(known):
        whole[path] = row if path not in whole else _SEVERAL
        for end in _ends(path):
            ends[end] = row if end not in ends else _SEVERAL

    def find(path: str) -> tuple[int, int]:
        if path in whole:
            return _found(whole[path], EXACT)
        # an image's id is the end of the key; else the key is the end of an image's id
        longest = next((end for end in _ends(path) if end in whole), None)
        if longest is not None:
            return _found(whole[longest], SUFFIX)
        return _found(ends[path], SUFFIX) if path in ends else (UNKNOWN, UNMATCHED)

    return find


def _ends(path: str) -> list[str]:
    """The proper ends of a path, longest first: ``a/b/c`` has ``b/c`` and ``c``."""
    parts = path.split("/")
    return ["/".join(parts[i:]) for i in range(1, len(parts))]


def _found(row: int, how: int) -> tuple[int, int]:
    return (UNKNOWN, AMBIGUOUS) if row == _SEVERAL else (row, how)
