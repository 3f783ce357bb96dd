"""What pairs must be (a DataError if they are not), and what about them is odd (findings)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from fairfr.core.errors import DataError, name_groups
from fairfr.core.findings import Finding
from fairfr.core.text import plural, shorten_list
from fairfr.core.types import F64, I16, I32, UNKNOWN, Bool, Grouping, Pairs, VerificationSet
from fairfr.data.images_file import ImageTable
from fairfr.data.pairs_file import LabelledPairs
from fairfr.numerics.direction import reversed_auroc
from fairfr.pairs.overlap import folds_per_value, pair_keys

MAX_NAMED_GROUPS = 4  # groups named in one sentence
MAX_SHARE_DIFFERENCE = 0.1
"""Where groups differ by more in their share of genuine pairs, what is learned from them differs as well."""
NOT_KNOWN = frozenset({"unknown", "none", "n/a", "na", "nan", "null", "?", "-", "unspecified"})
MAX_DIGITS = 1000  # Python refuses to read far longer numbers


def check_pairs(pairs: LabelledPairs, images: Sequence[str]) -> list[Finding]:
    """Refuse pairs of one image with itself and pairs with two labels; find repeated ones.

    ``images`` are the ids (n,) that the pairs index.
    """
    alone = pairs.left == pairs.right
    if alone.any():
        pair = int(np.argmax(alone))
        raise DataError(
            f"{pairs.table.path}, {pairs.location(pair)}: image '{images[pairs.left[pair]]}' is paired with itself. "
            "Remove the row or correct an id.",
            code="self-pair",
        )
    key = pair_keys(pairs.left, pairs.right, len(images))
    if np.all(key[1:] > key[:-1]):
        return []
    order = np.argsort(key, kind="stable")  # stable: a repetition follows what it repeats
    repeats = key[order[:-1]] == key[order[1:]]
    earlier = order[:-1][repeats]
    later = order[1:][repeats]
    _refuse_contradictions(pairs, images, earlier, later)
    if not len(later):
        return []
    elsewhere = int(np.count_nonzero(pairs.fold.codes[earlier] != pairs.fold.codes[later]))
    where = f", {elsewhere:,} of them in another fold" if elsewhere else ""
    verb = "repeats" if len(later) == 1 else "repeat"
    text = (
        f"{pairs.table.path}: {plural(len(later), 'row')} {verb} "
        f"an earlier pair with the same label{where} "
        f"(first: {pairs.location(int(later.min()))}); all are kept."
    )
    return [Finding("repeated-pairs", "warning", text, {"pairs": len(later), "in_another_fold": elsewhere})]


def _refuse_contradictions(
    pairs: LabelledPairs, images: Sequence[str], earlier: np.typing.NDArray[np.intp], later: np.typing.NDArray[np.intp]
) -> None:
    differ = pairs.same[earlier] != pairs.same[later]
    if not differ.any():
        return
    at = int(np.argmin(np.where(differ, later, len(pairs))))
    first = int(earlier[at])
    second = int(later[at])
    raise DataError(
        f"{pairs.table.path}, {pairs.location(second)}: the pair '{images[pairs.left[second]]}', "
        f"'{images[pairs.right[second]]}' has same={int(pairs.same[second])}, but same={int(pairs.same[first])} in "
        f"{pairs.location(first)}. Correct or remove one of the two rows.",
        code="two-labels",
    )


def check_folds(pairs: LabelledPairs, fold: I16, labels: tuple[str, ...]) -> list[Finding]:
    """Refuse training splits (all folds but one) of one class; find test folds of one class.

    ``fold`` (p,) indexes ``labels``.
    """
    if not pairs.has_folds:
        _refuse_one_kind(pairs)
        return []
    total = np.bincount(fold, minlength=len(labels))
    n_same = np.bincount(fold[pairs.same], minlength=len(labels))
    train_same = n_same.sum() - n_same
    train = total.sum() - total
    for label, same, size in zip(labels, train_same.tolist(), train.tolist(), strict=True):
        if same in (0, size):
            raise DataError(
                f"{pairs.table.path}: without fold '{label}', all {plural(size, 'pair')} left to train on have "
                f"same={int(same > 0)}. Spread pairs of both kinds over the folds.",
                code="one-class",
            )
    single = np.flatnonzero((n_same == 0) | (n_same == total))
    if not len(single):
        return []
    first = int(single[0])
    text = (
        f"{pairs.table.path}: {len(single):,} of {plural(len(labels), 'fold')} have only genuine or only impostor "
        f"pairs (first: fold '{labels[first]}', all same={int(n_same[first] > 0)}); their error rates are undefined."
    )
    return [Finding("one-kind-in-fold", "warning", text, {"folds": len(single), "of": len(labels)})]


def _refuse_one_kind(pairs: LabelledPairs) -> None:
    """Refuse pairs of one class alone: no protocol could make folds of them."""
    if pairs.same.all() or not pairs.same.any():
        raise DataError(
            f"{pairs.table.path}: all {plural(len(pairs), 'pair')} have same={int(pairs.same[0])}. "
            "Pairs of both kinds are needed.",
            code="one-class",
        )


def identity_findings(pairs: LabelledPairs, identity: I32, fold: I16) -> list[Finding]:
    """Labels that disagree with the identities (n,), and identities that occur in several folds (p,)."""
    if np.all(identity == UNKNOWN):
        return []
    left = identity[pairs.left]
    right = identity[pairs.right]
    known = (left != UNKNOWN) & (right != UNKNOWN)
    found = []
    for wrong, what in (
        (known & pairs.same & (left != right), "same=1 though the identities differ"),
        (known & ~pairs.same & (left == right), "same=0 though the identities are equal"),
    ):
        if wrong.any():
            count = int(np.count_nonzero(wrong))
            first = pairs.location(int(np.argmax(wrong)))
            verb = "has" if count == 1 else "have"
            text = f"{pairs.table.path}: {plural(count, 'pair')} {verb} {what} (first: {first}); kept as labelled."
            found.append(Finding("label-against-identity", "serious", text, {"pairs": count}))
    return found + _shared_identities(pairs, left, right, fold)


def similar_value_findings(path: Path, what: str, values: Iterable[str]) -> list[Finding]:
    """Values that a person would take for the same: ``1``, ``01`` and ``1 ``, or ``a`` and ``A``."""
    similar: dict[str, list[str]] = {}
    for value in values:
        similar.setdefault(_as_seen(value), []).append(value)
    found = [" and ".join(map(repr, same)) for same in similar.values() if len(same) > 1]
    if not found:
        return []
    text = (
        f"{path}: {what} differ only in blanks, capitals, accents' encoding or leading zeros: "
        f"{shorten_list(found, MAX_NAMED_GROUPS)}. They are kept apart; use one spelling if they mean the same."
    )
    return [Finding("values-look-alike", "warning", text, {"sets_of_values": len(found)})]


def levels_for_unknown(path: Path, name: str, levels: Iterable[str]) -> list[Finding]:
    """Levels of an attribute whose name says that it is not known."""
    found = [repr(level) for level in levels if level.strip().casefold() in NOT_KNOWN]
    if not found:
        return []
    said = f"the level {found[0]}, which counts as a group like any other"
    if len(found) > 1:
        said = f"the levels {' and '.join(found)}, which count as groups like any other"
    text = f"{path}: {name} has {said}. Leave the cells blank where the group is not known."
    return [Finding("level-for-unknown", "note", text, {"levels": len(found)})]


def without_groups(dataset: str, images: ImageTable) -> list[Finding]:
    """A note on the columns that could be groups, where none are asked for."""
    if not images.group_columns:
        return []
    text = f"{dataset} is evaluated without groups. {name_groups(images.group_columns)}"
    return [Finding("no-groups", "note", text, images.group_columns)]


def genuine_shares(levels: Sequence[str], group: I16 | I32, same: Bool, min_pairs: int) -> dict[str, float]:
    """The share of genuine pairs in each group with at least ``min_pairs``; ``group`` (p,) indexes ``levels``."""
    total = np.bincount(group[group != UNKNOWN], minlength=len(levels))
    n_same = np.bincount(group[(group != UNKNOWN) & same], minlength=len(levels))
    shares = {}
    for level, of_level, count in zip(levels, n_same.tolist(), total.tolist(), strict=True):
        if count >= max(min_pairs, 1):
            shares[level] = of_level / count
    return shares


def share_findings(shares: Mapping[str, Mapping[str, float]]) -> list[Finding]:
    """Groups that differ in their ``shares`` of genuine pairs, by grouping: one finding for all groupings."""
    unequal = []
    for name, of_groups in shares.items():
        ordered = sorted(of_groups, key=lambda group: of_groups[group])
        if not ordered:
            continue
        low = ordered[0]
        high = ordered[-1]
        if of_groups[high] - of_groups[low] > MAX_SHARE_DIFFERENCE:
            unequal.append(f"{name} ({high} {of_groups[high]:.0%}, {low} {of_groups[low]:.0%})")
    if not unequal:
        return []
    text = (
        "Groups differ in their share of genuine pairs by more than a tenth: "
        f"{shorten_list(unequal, MAX_NAMED_GROUPS)}. Methods that use the location of a pair learn that share, and "
        "accept pairs more easily where it is high. Draw the impostor pairs for calibration inside groups, or at least "
        "one for each genuine pair's image (fairfr import within-groups --impostors per-image)."
    )
    return [Finding("genuine-share-differs", "warning", text, {"groupings": len(unequal)})]


def _as_seen(value: str) -> str:
    seen = " ".join(unicodedata.normalize("NFKC", value).casefold().split())
    if re.fullmatch(r"[+-]?\d+", seen, re.ASCII) and len(seen) < MAX_DIGITS:
        return str(int(seen))
    return seen


def _shared_identities(pairs: LabelledPairs, left: I32, right: I32, fold: I16) -> list[Finding]:
    folds_of = folds_per_value(left, right, fold)
    shared = int(np.count_nonzero(folds_of > 1))
    if not shared:
        return []
    text = (
        f"{pairs.table.path}: {shared:,} of {len(folds_of):,} identities occur in more than one fold, "
        "so the same people appear in several folds."
    )
    return [Finding("identities-between-folds", "warning", text, {"identities": shared, "of": len(folds_of)})]


def group_findings(pairs: Pairs, same: Bool, groupings: Iterable[Grouping], min_pairs: int) -> list[Finding]:
    """Groups (both images in the group) whose numbers cannot be computed over the whole set."""
    found = []
    for grouping in groupings:
        group = grouping.of(pairs, "both")
        total = np.bincount(group[group != UNKNOWN], minlength=len(grouping.levels))
        n_same = np.bincount(group[(group != UNKNOWN) & same], minlength=len(grouping.levels))
        thin = np.flatnonzero((n_same == 0) | (n_same == total) | (total < min_pairs))
        if not len(thin):
            continue
        named = [f"{grouping.levels[i]}: {plural(int(total[i]), 'pair')}, {n_same[i]} genuine" for i in thin]
        text = (
            f"{grouping.id}: {len(thin)} of {plural(len(grouping.levels), 'group')} have fewer than "
            f"{min_pairs} pairs, or only genuine or only impostor ones "
            f"({shorten_list(named, MAX_NAMED_GROUPS, '; ')}); their numbers will be missing."
        )
        found.append(Finding("group-too-small", "warning", text, {"groups": len(thin), "of": len(grouping.levels)}))
    return found


def reversed_scores(path: Path, column: str, cosine: F64, same: Bool, n_images: int) -> list[Finding]:
    """A finding if a column of cosines (p,) over ``n_images`` images looks like distances, or the labels swapped."""
    area = reversed_auroc(cosine, same, n_images)
    if area is None:
        return []
    text = (
        f"{path}: '{column}' is lower for pairs of one person than for others (AUROC {area:.3f}). Scores must be "
        "higher for more similar images. Are these distances, or does 'same' have its labels swapped? A cosine "
        "distance d is written 1 - d (fairfr import table --distance does), a euclidean one of vectors of length 1 "
        "as 1 - d^2 / 2."
    )
    return [Finding("reversed-scores", "serious", text)]


def reversed_cosines(data: VerificationSet, cosine: F64) -> list[Finding]:
    """A finding if the cosines (p,) of vectors say the opposite of the labels."""
    area = reversed_auroc(cosine, data.same, len(data.images))
    if area is None:
        return []
    text = (
        f"{data.id}, {data.backbone}: the cosines of the vectors are lower for pairs of one person than for others "
        f"(AUROC {area:.3f}). Are the labels swapped, or do the vectors belong to other images?"
    )
    return [Finding("reversed-cosines", "serious", text)]
