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

    Parameters
    ----------
    grouping : str or None, default None
        The property of images; None: the one that group-aware methods use.
    """

    grouping: str | None = None

    def split(self, data: VerificationSet) -> Iterator[FoldSplit]:
        grouping = protocol_grouping(data, self.grouping, "leave_group_out")
        inside = grouping.of(data.pairs, "both")
        people = image_identities(data)
        trains = []
        tests = []
        for code, level in enumerate(grouping.levels):
            train = _without(data, grouping, code, people)
            test = np.flatnonzero(inside == code)
            if len(test) and not len(train):
                raise DataError(
                    f"{data.id}: no pairs are left to fit on without {level}: every other pair has an "
                    f"image of unknown {grouping.id}, or a person in common with that group."
                )
            trains.append(train)
            tests.append(test)
        findings = (_finding(data, grouping, inside),)
        for level, train, test in zip(grouping.levels, trains, tests, strict=True):
            for fold in np.unique(data.fold[test]):
                label = data.fold_labels[fold]
                rows = test[data.fold[test] == fold]
                yield FoldSplit(f"{level} {label}", train, rows, fold=label, fit_id=level, findings=findings)


def _without(data: VerificationSet, grouping: Grouping, code: int, people: I64) -> I64:
    """Rows that say nothing about a group; ``people`` (n,) are those on the images."""
    left = grouping.codes[data.pairs.left]
    right = grouping.codes[data.pairs.right]
    elsewhere: Bool = (left != UNKNOWN) & (right != UNKNOWN) & (left != code) & (right != code)
    shared = pairs_with_any(data.pairs, people, people[grouping.codes == code])
    return np.flatnonzero(elsewhere & ~shared)


def _finding(data: VerificationSet, grouping: Grouping, inside: I16) -> Finding:
    scored = int(np.count_nonzero(inside != UNKNOWN))
    left = grouping.codes[data.pairs.left]
    right = grouping.codes[data.pairs.right]
    unknown = int(np.count_nonzero((left == UNKNOWN) | (right == UNKNOWN)))
    return Finding(
        "group-left-out",
        "note",
        f"{scored:,} of {data.n_pairs:,} pairs lie inside one group by {grouping.id} and are scored, each by a fit "
        f"without that group. {unknown:,} pairs have an image of unknown group, and are neither fitted on nor scored.",
        {"scored": scored, "pairs": data.n_pairs, "unknown": unknown},
    )
