"""Who is on an image: from the metadata, and where it is silent, from the genuine training pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.state import piece
from fairfr.core.types import I32, UNKNOWN, Bool, StrArray
from fairfr.pairs.people import connected_people
from fairfr.pairs.unit import marks
from fairfr.pairs.view import PairView


@piece
@dataclass(frozen=True, slots=True)
class People:
    """Who the training images show, to be known again on any table.

    A known identity is its name. An image without one is known again by the mark of its vector, so that nobody else
    is mistaken for it. ``names`` (a,) and ``marks`` (b,) are sorted; ``by_name`` and ``by_mark`` are the numbers of
    these people.
    """

    names: StrArray
    by_name: I32
    marks: StrArray
    by_mark: I32

    @classmethod
    def met(cls, view: PairView, identity: I32) -> People:
        """Those on the images of these pairs; ``identity`` (n,) as ``identities_of`` gives it."""
        rows, vectors = view.images()
        name = view.identity_names()[rows]
        named = name != ""
        names, first = np.unique(name[named], return_index=True)
        marked, first_marked = np.unique(marks(vectors[~named]), return_index=True)
        return cls(names, identity[rows[named]][first], marked, identity[rows[~named]][first_marked])

    def of(self, view: PairView) -> I32:
        """The number of the person on every image, (n,); -1 for a stranger, and for images that these pairs lack."""
        rows, vectors = view.images()
        name = view.identity_names()
        out = np.full(len(name), UNKNOWN, dtype=np.int32)
        unnamed = name[rows] == ""
        out[rows] = _look_up(self.names, self.by_name, name[rows])
        if len(self.marks):
            out[rows[unnamed]] = _look_up(self.marks, self.by_mark, marks(vectors[unnamed]))
        return out


def _look_up(keys: StrArray, numbers: I32, wanted: StrArray) -> I32:
    if not len(keys):
        return np.full(len(wanted), UNKNOWN, dtype=np.int32)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, numbers[place], np.int32(UNKNOWN))


def identities_of(view: PairView, same: Bool, ctx: FitContext) -> I32:
    """Identity of every image, (n,), never -1; where they come from goes into the report.

    Known identities stand. Images of unknown identity that genuine training pairs connect, also through images of a
    known one, are one person. An unknown image in no genuine training pair (every one that occurs only in test) is a
    person of its own. ``identities_derived`` counts the training images that the metadata says nothing about.
    """
    known = view.identities()
    left, right = view.ends(np.arange(len(known), dtype=np.int64))
    used = np.zeros(len(known), dtype=bool)
    used[left] = used[right] = True
    derived = int(np.count_nonzero(used & (known < 0)))
    ctx.report["identities"] = "genuine training pairs where unknown" if derived else "metadata"
    ctx.report["identities_derived"] = derived
    return connected_people(known, left[same], right[same]).astype(np.int32) if np.any(known < 0) else known
