"""Fit without a group, and test on it: does a calibration also work for people that it has never seen?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fairfr.core.errors import DataError
from fairfr.core.findings import Finding
from fairfr.core.types import I16, I64, UNKNOWN, Bool, FoldSplit, Grouping, VerificationSet
from fairfr.folds._membership import image_identities, pairs_with_any, protocol_grouping


@dataclass(frozen=True, slots=True)
class LeaveOneGroupOut:
    """For each group one fit on the pairs without it, which scores the pairs inside it, fold by published fold.

    A pair is fitted on only if the groups of both of its images are known and are others, and if it shares no person
    with the tested pairs: an image of unknown group may be of this one. Pairs of two groups are not scored.
    ``grouping`` names the property of images (None: the data set's own).
    """

    grouping: str | None = None

    def split(self, data: VerificationSet) -> Iterator[FoldSplit]:
        grouping = protocol_grouping(data, self.grouping, "leave_group_out")
        inside = grouping.of(data.pairs, "both")
        people = image_identities(data)
        fits = {
            code: (_without(data, grouping, code, people), np.flatnonzero(inside == code))
            for code in range(len(grouping.levels))
        }
        for code, (train, test) in fits.items():
            if len(test) and not len(train):
                raise DataError(
                    f"{data.id}: no pairs are left to fit on without {grouping.levels[code]}: every other pair has an "
                    f"image of unknown {grouping.id}, or a person in common with that group."
                )
        findings = (_finding(data, grouping, inside),)
        for code, (train, test) in fits.items():
            level = grouping.levels[code]
            for fold in np.unique(data.fold[test]):
                label, rows = data.fold_labels[fold], test[data.fold[test] == fold]
                yield FoldSplit(f"{level} {label}", train, rows, fold=label, fit_id=level, findings=findings)


def _without(data: VerificationSet, grouping: Grouping, code: int, people: I64) -> I64:
    """Rows that say nothing about a group; ``people`` (n,) are those on the images."""
    left, right = (grouping.codes[side] for side in (data.pairs.left, data.pairs.right))
    apart: Bool = (left != UNKNOWN) & (right != UNKNOWN) & (left != code) & (right != code)
    return np.flatnonzero(apart & ~pairs_with_any(data.pairs, people, people[grouping.codes == code]))


def _finding(data: VerificationSet, grouping: Grouping, inside: I16) -> Finding:
    scored = int(np.count_nonzero(inside != UNKNOWN))
    left, right = (grouping.codes[side] for side in (data.pairs.left, data.pairs.right))
    unknown = int(np.count_nonzero((left == UNKNOWN) | (right == UNKNOWN)))
    return Finding(
        "group-left-out",
        "note",
        f"{scored:,} of {data.n_pairs:,} pairs lie inside one group by {grouping.id} and are scored, each by a fit "
        f"without that group. {unknown:,} pairs have an image of unknown group, and are neither fitted on nor scored.",
        {"scored": scored, "pairs": data.n_pairs, "unknown": unknown},
    )
