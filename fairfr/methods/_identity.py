"""Who is on an image: from the metadata, and where it is silent, from the genuine training pairs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.serialization import serializable
from fairfr.core.types import I32, UNKNOWN, Bool, StrArray
from fairfr.pairs.people import infer_identities
from fairfr.pairs.unit import fingerprints
from fairfr.pairs.view import PairView


@serializable("People")
@dataclass(frozen=True, slots=True)
class People:
    """Who the training images show, to be known again on any table.

    A known identity is a hash of its name, with ``salt``: who has a name can look it up, the name itself is not here.
    An image without one is known again by the mark of its vector, so that no other is mistaken for it. ``names`` (a,)
    and ``marks`` (b,) are sorted; ``by_name`` and ``by_mark`` are the numbers of these people.
    """

    salt: str
    names: StrArray
    by_name: I32
    marks: StrArray
    by_mark: I32

    @classmethod
    def met(cls, view: PairView, identity: I32, salt: str) -> People:
        """Those on the images of these pairs; ``identity`` (n,) as ``identities_of`` gives it."""
        rows, vectors = view.images()
        name = view.identity_names()[rows]
        named = name != ""
        names, first = np.unique(hashed_names(name[named], salt), return_index=True)
        marked, first_marked = np.unique(fingerprints(vectors[~named]), return_index=True)
        return cls(salt, names, identity[rows[named]][first], marked, identity[rows[~named]][first_marked])

    def of(self, view: PairView) -> I32:
        """The number of the person on every image, (n,); -1 for a stranger, and for images that these pairs lack."""
        rows, vectors = view.images()
        name = view.identity_names()
        out = np.full(len(name), UNKNOWN, dtype=np.int32)
        unnamed = name[rows] == ""
        named = rows[~unnamed]
        out[named] = _look_up(self.names, self.by_name, hashed_names(name[named], self.salt))
        if len(self.marks):
            out[rows[unnamed]] = _look_up(self.marks, self.by_mark, fingerprints(vectors[unnamed]))
        return out


def hashed_names(names: StrArray, salt: str) -> StrArray:
    """A hash of each name, (n,): 16 hex digits that depend on ``salt`` too."""
    distinct, place = np.unique(names, return_inverse=True)
    key = salt.encode()
    spelled = [name.encode("utf-8", "surrogatepass") for name in distinct.tolist()]
    hashes = [hashlib.blake2b(name, digest_size=8, key=key).hexdigest() for name in spelled]
    return np.array(hashes, dtype="<U16")[place]


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
    return infer_identities(known, left[same], right[same]).astype(np.int32) if np.any(known < 0) else known
