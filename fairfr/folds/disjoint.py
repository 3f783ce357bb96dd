"""New folds, such that no fold shares its people (or images) with another one's training pairs.

Pairs that share a person, directly or through other pairs, form a unit that goes into one fold as a whole. Where a unit
is larger than a fold, as where everyone is compared with everyone, that is impossible: it is cut into parts, and for
each fold the training pairs that share a person with it are left out. So folds never share people, at the price
of training pairs, and a finding says how many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from fairfr.core.errors import ConfigError
from fairfr.core.findings import Finding, Severity
from fairfr.core.types import I64, FoldSplit, VerificationSet
from fairfr.folds._membership import image_identities, pairs_with_any, unique_image_codes
from fairfr.pairs.deal import deal, linked_units

DEFAULT_FOLDS = 10  # where the pairs have none of their own
SHIFT = 0.2  # in log odds: by about this much are the probabilities of a fold too high or too low


def disjoint_splits(data: VerificationSet, member: I64, n_folds: int | None, what: str) -> Iterator[FoldSplit]:
    """Leave one new fold out, so that no fold shares a member with another one's training pairs.

    Folds have the shares of classes and groups of the whole as nearly as units allow, and a unit stays in the published
    fold of most of its pairs where that is as good.

    Parameters
    ----------
    data : VerificationSet
        The pairs to divide.
    member : ndarray of int64, shape (n_images,)
        The person on each image, or the image itself.
    n_folds : int or None
        How many folds; None: as many as published, ten if there are none.
    what : str
        What members are, in messages: ``people`` or ``images``.

    Yields
    ------
    FoldSplit
        One per fold, each with a finding that says what the new folds cost.
    """
    published = len(data.fold_labels)
    count = n_folds or published
    if n_folds is None and published == 1:
        count = DEFAULT_FOLDS
    if count < 2:
        raise ConfigError(f"protocol.splitter.folds={count}: at least two folds are needed.")
    unit, n_cut = linked_units(member[data.pairs.left], member[data.pairs.right], count)
    n_units = int(unit.max()) + 1
    if n_units < count:
        raise ConfigError(
            f"the pairs of {data.id} cannot be dealt to {count} folds without common {what}: they form {n_units} "
            "connected part(s). Ask for fewer folds: protocol.splitter.folds=..."
        )
    strata = _strata(data)
    fold = deal(unit, strata, count, data.fold.astype(np.int64))
    labels = data.fold_labels
    if count != published:
        labels = tuple(str(code) for code in range(count))
    splits = [_split(data, member, fold, code, label) for code, label in enumerate(labels)]
    finding = _finding(data, fold, splits, (n_cut, what), _imbalance(fold, strata, count))
    for split in splits:
        yield replace(split, findings=(finding,))


def _strata(data: VerificationSet) -> I64:
    """Class and group of each pair as one number, (p,); pairs of two groups are a group of their own."""
    if data.grouping is None:
        return data.same.astype(np.int64)
    group = data.groupings[data.grouping].of(data.pairs, "both").astype(np.int64) + 1
    return 2 * group + data.same


def _split(data: VerificationSet, member: I64, fold: I64, code: int, label: str) -> FoldSplit:
    test = np.flatnonzero(fold == code)
    tested = data.pairs.take(test)
    shared = pairs_with_any(data.pairs, member, np.concatenate([member[tested.left], member[tested.right]]))
    return FoldSplit(label, np.flatnonzero((fold != code) & ~shared), test)


def _imbalance(fold: I64, strata: I64, count: int) -> int:
    """The largest difference, in pairs of one class and group, between a fold and an even share."""
    n_strata = int(strata.max()) + 1
    counts = np.bincount(fold * n_strata + strata, minlength=count * n_strata).reshape(count, n_strata)
    return int(np.ceil(np.abs(counts - counts.mean(axis=0)).max() - 1e-9))


def _finding(
    data: VerificationSet, fold: I64, splits: list[FoldSplit], cut: tuple[int, str], imbalance: int
) -> Finding:
    n_cut, what = cut
    moved = _moved(fold, data.fold.astype(np.int64))
    fewest = min(len(split.train_rows()) + len(split.test) for split in splits)
    dropped = data.n_pairs - fewest
    sizes = [len(split.test) for split in splits]
    compared = f"{moved:,} of {data.n_pairs:,} pairs are in another fold than the published one; "
    if len(data.fold_labels) == 1:
        compared = f"{len(splits)} made of all pairs; "
    text = (
        f"folds without common {what}: {compared}"
        f"folds have {min(sizes):,} to {max(sizes):,} pairs, and no class of a group is more than {imbalance:,} pairs "
        "from an even share."
    )
    severity: Severity = "note"
    if n_cut:
        text += (
            f" {what.capitalize()} are so interlinked that up to {dropped:,} training pairs per fold had to be left "
            "out, because they share some with the tested fold."
        )
        share, shift = _furthest_share(data, splits)
        if shift > SHIFT:
            severity = "warning"
            text += (
                f" They are not like the others: {100 * share:.3g} % of a fold's training pairs are genuine, "
                f"{100 * data.same.mean():.3g} % of all pairs. Held-out probabilities and Brier scores are off by "
                "that; fewer impostor pairs between people of different folds would help."
            )
    counts = {"moved": moved, "pairs": data.n_pairs, "dropped": dropped, "imbalance": imbalance, "cut": n_cut}
    return Finding("folds-anew", severity, text, counts)


def _furthest_share(data: VerificationSet, splits: list[FoldSplit]) -> tuple[float, float]:
    """The share of genuine pairs in the training set where it is furthest from that of all pairs, and how far."""
    from scipy.special import logit

    training = [split.train_rows() for split in splits]
    shares = np.array([data.same[rows].mean() for rows in training if len(rows)])
    if not len(shares):  # the fit says that nothing is left to fit on
        return 0.0, 0.0
    shifts = np.abs(logit(shares) - logit(data.same.mean()))
    furthest = int(shifts.argmax())
    return float(shares[furthest]), float(shifts[furthest])


def _moved(fold: I64, published: I64) -> int:
    """How many pairs are not in the fold that has most in common with their published one, folds matched one to one."""
    from scipy.optimize import linear_sum_assignment

    n_folds = int(fold.max()) + 1
    n_published = int(published.max()) + 1
    counts = np.bincount(fold * n_published + published, minlength=n_folds * n_published)
    common = counts.reshape(n_folds, n_published)
    rows, columns = linear_sum_assignment(common, maximize=True)
    return int(len(fold) - common[rows, columns].sum())


@dataclass(frozen=True, slots=True)
class EndpointDisjoint:
    """Folds that share no image: pairs with an image in common, or with copies of one, lie in one fold.

    Images are the same if their vectors are but for rounding, whatever they are called. People may be on both sides.
    ``folds``: how many; None: as many as published, ten where the pairs have no folds.
    """

    folds: int | None = None

    def split(self, data: VerificationSet) -> Iterator[FoldSplit]:
        yield from disjoint_splits(data, unique_image_codes(data), self.folds, "images")


@dataclass(frozen=True, slots=True)
class IdentityDisjoint:
    """Folds that share no person: a method is never tested on people that it was fitted on.

    Where it is unknown who is on an image, genuine pairs connect images to one person.
    ``folds``: how many; None: as many as published, ten where the pairs have no folds.
    """

    folds: int | None = None

    def split(self, data: VerificationSet) -> Iterator[FoldSplit]:
        yield from disjoint_splits(data, image_identities(data), self.folds, "people")
