"""Groups and identities that a method may use: which group a pair belongs to, and who is on an image."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import missing_groups_error
from fairfr.core.serialization import serializable
from fairfr.core.types import I16, I32, UNKNOWN, Bool, PairRule, StrArray, pair_groups
from fairfr.pairs.overlap import infer_identities
from fairfr.pairs.vectors import fingerprints
from fairfr.pairs.view import PairView


def fit_grouping(ctx: FitContext, asker: str) -> str:
    """The id of the grouping to use, or an error that says how to name one."""
    if ctx.grouping is None:
        raise missing_groups_error(asker, ctx.dataset)
    return ctx.grouping


@serializable("Levels")
@dataclass(frozen=True, slots=True)
class GroupNames:
    """The groups that a method was fitted with: a grouping, and the ``names`` of its levels.

    A group is its name. Codes are places in ``names``, so that they mean the same for every table.
    """

    grouping: str
    names: tuple[str, ...]

    @classmethod
    def of(cls, view: PairView, ctx: FitContext, asker: str) -> GroupNames:
        """Those of the training pairs' table."""
        grouping = fit_grouping(ctx, asker)
        return cls(grouping, view.group_levels(grouping))

    def __len__(self) -> int:
        return len(self.names)

    def codes(self, view: PairView) -> I16:
        """Group of every image, (n,): its place in ``names``, -1 where unknown, and from ``len(names)`` on for groups
        that were not there in training: these are groups, but nothing was fitted for them."""
        theirs = view.group_levels(self.grouping)
        if theirs == self.names:
            return view.groups(self.grouping)
        own = {name: code for code, name in enumerate(self.names)}
        for name in theirs:
            own.setdefault(name, len(own))
        # one more entry at the end, so that code -1 (unknown) stays -1
        number = np.array([*(own[name] for name in theirs), UNKNOWN], dtype=np.int16)
        return number[view.groups(self.grouping)]


@serializable("GroupRule")
@dataclass(frozen=True, slots=True)
class GroupRule:
    """Puts pairs into groups: made once, when a method is fitted, and asked again when it predicts.

    ``both``: a pair is in the group that its images share; ``first``: in the left image's.
    """

    levels: GroupNames
    rule: PairRule

    def groups(self, view: PairView) -> I16:
        """Group of each pair, (p,); -1 where the rule finds none: mixed (``both``) or unknown."""
        return pair_groups(*self.ends(view), self.rule)

    def ends(self, view: PairView) -> tuple[I16, I16]:
        """Group of the left and of the right image of each pair, (p,) and (p,)."""
        left, right = view.ends(self.levels.codes(view))
        return left, right


def names_of(levels: tuple[str, ...], chosen: list[int]) -> list[str]:
    """Names of the groups with these codes, for a report."""
    return [levels[code] for code in chosen]


@serializable("People")
@dataclass(frozen=True, slots=True)
class IdentityIndex:
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
    def from_training(cls, view: PairView, identity: I32, salt: str) -> IdentityIndex:
        """Those on the images of these pairs; ``identity`` (n,) as ``resolve_identities`` gives it."""
        rows, vectors = view.images()
        name = view.identity_names()[rows]
        named = name != ""
        names, first = np.unique(hashed_names(name[named], salt), return_index=True)
        marked, first_marked = np.unique(fingerprints(vectors[~named]), return_index=True)
        return cls(salt, names, identity[rows[named]][first], marked, identity[rows[~named]][first_marked])

    def look_up(self, view: PairView) -> I32:
        """The number of the person on every image, (n,); -1 for a stranger, and for images that these pairs lack."""
        rows, vectors = view.images()
        name = view.identity_names()
        out = np.full(len(name), UNKNOWN, dtype=np.int32)
        unnamed = name[rows] == ""
        named = rows[~unnamed]
        out[named] = _find_numbers(self.names, self.by_name, hashed_names(name[named], self.salt))
        if len(self.marks):
            out[rows[unnamed]] = _find_numbers(self.marks, self.by_mark, fingerprints(vectors[unnamed]))
        return out


def hashed_names(names: StrArray, salt: str) -> StrArray:
    """A hash of each name, (n,): 16 hex digits that depend on ``salt`` too."""
    distinct, place = np.unique(names, return_inverse=True)
    key = salt.encode()
    spelled = [name.encode("utf-8", "surrogatepass") for name in distinct.tolist()]
    hashes = [hashlib.blake2b(name, digest_size=8, key=key).hexdigest() for name in spelled]
    return np.array(hashes, dtype="<U16")[place]


def _find_numbers(keys: StrArray, numbers: I32, wanted: StrArray) -> I32:
    if not len(keys):
        return np.full(len(wanted), UNKNOWN, dtype=np.int32)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, numbers[place], np.int32(UNKNOWN))


def resolve_identities(view: PairView, same: Bool, ctx: FitContext) -> I32:
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
    ctx.report["identities"] = "metadata"
    if derived:
        ctx.report["identities"] = "genuine training pairs where unknown"
    ctx.report["identities_derived"] = derived
    if not np.any(known < 0):
        return known
    return infer_identities(known, left[same], right[same]).astype(np.int32)
