"""What pairs and labels from people's arrays contradict, repeat, or lack: refused, or warned of."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np

from fairfr.core.errors import DataError, FairfrWarning
from fairfr.core.text import plural
from fairfr.core.types import VerificationSet
from fairfr.library import arrays
from fairfr.numerics.direction import reversed_auroc
from fairfr.pairs.overlap import pair_keys
from fairfr.pairs.table import PairTable

MOST_NAMED = 3
CALLER = 4  # of fit and of prediction, seen from a warning here


def check_training_pairs(data: VerificationSet) -> None:
    """DataError for a pair with both labels; a warning of repeated pairs, and of pairs of one image with itself.

    ``data`` has its pairs in the order in which they were given.
    """
    left, right = data.pairs.left, data.pairs.right
    alone = np.flatnonzero(left == right)
    if len(alone):
        _warn(
            f"{plural(len(alone), 'pair')} of an image with itself, or with its copy (first: pairs[{alone[0]}]). No "
            "two pictures of a person are so similar: leave them out."
        )
    key = pair_keys(left, right, len(data.images))
    order = np.argsort(key, kind="stable")  # stable: a repetition follows what it repeats
    repeats = key[order[:-1]] == key[order[1:]]
    earlier, later = order[:-1][repeats], order[1:][repeats]
    if not len(later):
        return
    differ = data.same[earlier] != data.same[later]
    if differ.any():
        first = int(np.argmin(np.where(differ, later, len(key))))
        raise DataError(
            f"pairs[{later[first]}] and pairs[{earlier[first]}] are the same two images, but same is "
            f"{bool(data.same[later[first]])} for one and {bool(data.same[earlier[first]])} for the other "
            f"({plural(int(np.count_nonzero(differ)), 'pair')} in all). Correct or leave out one of the two."
        )
    first = int(np.argmin(later))
    _warn(
        f"{plural(len(later), 'pair')} repeated (first: pairs[{later[first]}] repeats pairs[{earlier[first]}]). "
        "All are kept, so that they count several times."
    )


def check_direction(table: PairTable, score_range: arrays.ScoreRange | None) -> None:
    """DataError where impostors clearly rank above genuine pairs: no calibrator can be meant to learn that."""
    data = table.data
    area = reversed_auroc(table.cosine, data.same, len(data.images))
    if area is None:
        return
    found = f"pairs of two people are more similar than pairs of one (AUROC {area:.3f}, clearly below 0.5)"
    if data.embeddings is not None:
        raise DataError(f"{found}: are the labels swapped? same is True or 1 for pairs of one person.")
    convert = f"Convert them: {arrays.DISTANCES}."
    if score_range is not None:
        convert = f"Pass {sum(score_range):g} - d."
    raise DataError(
        f"{found}: are these distances, or are the labels swapped? Scores must be higher for more similar images. "
        f"{convert} same is True or 1 for pairs of one person."
    )


def warn_of_small_groups(data: VerificationSet) -> None:
    """A group of one image says nothing about the group."""
    if data.grouping is None:
        return
    grouping = data.groupings[data.grouping]
    images = np.bincount(grouping.codes[grouping.codes >= 0], minlength=len(grouping.levels))
    single = [name for name, count in zip(grouping.levels, images, strict=True) if count == 1]
    if single:
        _warn(f"{_named(single)} of {grouping.id} {_verb(single, 'has', 'have')} one image only. Is a name misspelt?")


def warn_of_new_groups(data: VerificationSet, trained: Iterable[str], model: str) -> None:
    """Groups of new images that were not in training, by the names that were."""
    known = set(trained)
    if data.grouping is None or not known:
        return
    new = [name for name in data.groupings[data.grouping].levels if name not in known]
    if new:
        _warn(
            f"{_named(new)} of {data.grouping} {_verb(new, 'was', 'were')} not in training (there: "
            f"{_named(sorted(known))}). Such images are strangers: help(fairfr.{model}) says what becomes of them."
        )


def _warn(text: str) -> None:
    warnings.warn(text, FairfrWarning, stacklevel=CALLER)


def _verb(names: list[str], one: str, several: str) -> str:
    return one if len(names) == 1 else several


def _named(names: list[str]) -> str:
    listed = ", ".join(repr(name) for name in names[:MOST_NAMED])
    more = len(names) - MOST_NAMED
    return f"{listed} and {more} more" if more > 0 else listed
