"""Who is in a stand-in and which pairs are asked: the structure of the three benchmarks, without any vectors.

It depends on the benchmark, the seed and the scale only, so that every backbone has the same images and pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from fairfr.core.types import I64, Bool

Benchmark: TypeAlias = Literal["rfw", "bfw", "lfw"]

# Each group of a benchmark as its attribute values, in the order of ATTRIBUTES; attribute levels are sorted.
ATTRIBUTES: dict[Benchmark, tuple[str, ...]] = {
    "rfw": ("ethnicity",),
    "bfw": ("ethnicity", "gender"),
    "lfw": ("ethnicity", "gender"),
}
_ETHNICITY_AND_GENDER = (
    ("asian", "female"),
    ("asian", "male"),
    ("black", "female"),
    ("black", "male"),
    ("indian", "female"),
    ("indian", "male"),
    ("white", "female"),
    ("white", "male"),
)
GROUPS: dict[Benchmark, tuple[tuple[str, ...], ...]] = {
    "rfw": (("african",), ("asian",), ("caucasian",), ("indian",)),
    "bfw": _ETHNICITY_AND_GENDER,
    "lfw": _ETHNICITY_AND_GENDER,
}
FOLD_LABELS: dict[Benchmark, tuple[str, ...]] = {
    "rfw": tuple(map(str, range(10))),
    "bfw": tuple(map(str, range(1, 6))),
    "lfw": tuple(map(str, range(10))),
}
# Attributes that make no groups of their own: how many people have each value, sorted; of the others it is unknown.
PERSONAL_ATTRIBUTES: dict[Benchmark, dict[str, dict[str, float]]] = {
    "rfw": {},
    "bfw": {},
    "lfw": {"eyeglasses": {"no": 0.8, "yes": 0.1}},
}
LFW_SHARES = (0.035, 0.05, 0.04, 0.08, 0.025, 0.05, 0.17, 0.55)  # of people, in the order of GROUPS


@dataclass(frozen=True, slots=True)
class BenchmarkStructure:
    """People, images and pairs of one benchmark.

    ``group`` and ``subgroup`` (K,) are of identities; ``identity`` and ``number`` (n,) of images (``number`` counts a
    person's images); ``left``, ``right`` and ``fold`` (p,) are of pairs and sorted by fold.
    """

    group: I64
    subgroup: I64
    identity: I64
    number: I64
    left: I64
    right: I64
    fold: I64


def make_structure(benchmark: Benchmark, scale: float, subgroups: int, rng: np.random.Generator) -> BenchmarkStructure:
    """The structure of ``benchmark``, with a share ``scale`` of its people and pairs."""
    make = {"rfw": _rfw, "bfw": _bfw, "lfw": _lfw}[benchmark]
    return make(scale, subgroups, rng)


def _rfw(scale: float, subgroups: int, rng: np.random.Generator) -> BenchmarkStructure:
    """4 x 2,850 people with 3 or 4 images; per ethnicity 10 x (300 + 300) pairs in random folds that share people.

    Half of the impostors come from one subgroup, because the benchmark chose its impostors to be hard.
    """
    people = max(15, round(2850 * scale))
    per_fold = max(2, round(300 * scale))
    images = np.full(people, 3)
    images[: round(people * 1600 / 2850)] += 1
    counts = np.tile(images, 4)
    group = np.repeat(np.arange(4), people)
    subgroup = rng.integers(subgroups, size=len(group))
    identity = np.repeat(np.arange(len(group)), counts)
    parts = []
    for g in range(4):
        members = np.flatnonzero(group[identity] == g)
        genuine = _once_per_person(members, identity, 10 * per_fold, rng)
        impostor = _rfw_impostors(members, genuine, identity, subgroup, rng)
        parts += [(genuine, np.arange(10 * per_fold) % 10), (impostor, np.arange(10 * per_fold) % 10)]
    ends = np.concatenate([pairs for pairs, _ in parts])
    return _assemble(group, subgroup, counts, ends, np.concatenate([fold for _, fold in parts]))


def _once_per_person(members: I64, identity: I64, count: int, rng: np.random.Generator) -> I64:
    """Genuine pairs (count, 2): everybody's first two images, then the other two of those who have four."""
    starts = np.flatnonzero(np.diff(identity[members], prepend=-1))
    sizes = np.diff(starts, append=len(members))
    firsts = rng.permutation(starts)
    seconds = rng.permutation(starts[sizes == 4] + 2)
    at = rng.permutation(np.concatenate([firsts, seconds])[:count])
    return np.stack([members[at], members[at + 1]], axis=1)


def _rfw_impostors(members: I64, genuine: I64, identity: I64, subgroup: I64, rng: np.random.Generator) -> I64:
    """As many impostor pairs as genuine ones: the images still unused, and as many used ones as are missing."""
    used = rng.permutation(genuine.ravel())
    fresh = rng.permutation(np.setdiff1d(members, used))
    slots = rng.permutation(np.concatenate([fresh, used])[: len(used)])
    near, far = np.split(slots, [len(slots) // 4 * 2])
    near = near[np.argsort(subgroup[identity[near]], kind="stable")]
    pairs = [_different_people(part.reshape(-1, 2), identity, rng) for part in (near, far)]
    return rng.permutation(np.concatenate(pairs))


def _different_people(pairs: I64, identity: I64, rng: np.random.Generator) -> I64:
    """``pairs`` (p, 2) with right ends swapped between neighbours in the list until no pair is of one person."""
    while True:
        bad = np.flatnonzero(identity[pairs[:, 0]] == identity[pairs[:, 1]])
        if not len(bad):
            return pairs
        for i in bad:
            j = (i + rng.integers(1, 5)) % len(pairs)
            pairs[[i, j], 1] = pairs[[j, i], 1]


def _bfw(scale: float, subgroups: int, rng: np.random.Generator) -> BenchmarkStructure:
    """8 x 100 people x 25 images in 5 identity-disjoint folds; all genuine pairs, 2.85 impostors for each.

    Half of the impostors stay inside the left image's group. A small set has fewer images per person as well, because
    a fold needs three people of a group for its impostors.
    """
    people = max(3, round(20 * scale))
    m = int(np.clip(round(0.5 + np.sqrt(0.25 + 2 * 6000 * scale / people)), 3, 25))
    group = np.repeat(np.arange(8), 5 * people)
    fold = np.tile(np.arange(5), 8 * people)
    counts = np.full(len(group), m)
    a, b = np.triu_indices(m, 1)
    first = np.arange(len(group))[:, None] * m
    ends = [np.stack([(first + a).ravel(), (first + b).ravel()], axis=1)]
    folds = [np.repeat(fold, len(a))]
    for f in range(5):
        ends.append(_bfw_impostors(group, fold == f, m, round(1.425 * people * len(a)), rng))
        folds.append(np.full(len(ends[-1]), f))
    subgroup = rng.integers(subgroups, size=len(group))
    return _assemble(group, subgroup, counts, np.concatenate(ends), np.concatenate(folds))


def _bfw_impostors(group: I64, in_fold: Bool, m: int, quota: int, rng: np.random.Generator) -> I64:
    """``quota`` pairs inside each group and ``quota`` from it to the others, among one fold's people (p, 2)."""
    identity = np.repeat(np.arange(len(group)), m)
    usable = in_fold[identity]
    of_image = group[identity]
    none = np.empty((0, 2), dtype=np.int64)
    within = []
    across = none
    for g in range(8):
        own = np.flatnonzero(usable & (of_image == g))
        others = np.flatnonzero(usable & (of_image != g))
        within.append(_extend(none, quota, partial(_draw_ends, own, own, rng), identity, same=False))
        across = _extend(across, quota, partial(_draw_ends, own, others, rng), identity, same=False)
    return np.concatenate([*within, across])


def _lfw(scale: float, subgroups: int, rng: np.random.Generator) -> BenchmarkStructure:
    """5,749 people, most with one image, in 10 identity-disjoint folds of 300 genuine and 300 impostor pairs.

    Impostors are two random people of the fold, so most are mixed. People are dealt to the folds by how many images
    they have: a small set must find enough genuine pairs in every fold.
    """
    people = max(100, round(5749 * scale))
    per_fold = max(2, round(300 * scale))
    counts = _lfw_counts(people)
    rank = np.arange(people)
    fold = rng.permuted(np.tile(np.arange(10), (-(-people // 10), 1)), axis=1).ravel()[:people]
    shares = np.searchsorted(np.cumsum(LFW_SHARES), (rank + 0.5) / people)
    group = rng.permutation(np.minimum(shares, 7))
    identity = np.repeat(rank, counts)
    first = np.cumsum(counts) - counts
    ends = []
    folds = []
    for f in range(10):
        here = np.flatnonzero(fold == f)
        several = here[counts[here] > 1]
        pairs = np.empty((0, 2), dtype=np.int64)
        pairs = _extend(pairs, per_fold, partial(_draw_genuine, several, first, counts, rng), identity, same=True)
        pairs = _extend(pairs, per_fold, partial(_draw_people, here, first, counts, rng), identity, same=False)
        ends.append(pairs)
        folds.append(np.full(len(pairs), f))
    subgroup = rng.integers(subgroups, size=people)
    return _assemble(group, subgroup, counts, np.concatenate(ends), np.concatenate(folds))


def _lfw_counts(people: int) -> I64:
    """Images per person (K,), most first: the quantiles of a law n^-2.3 up to 60."""
    law = np.cumsum(np.arange(1, 61) ** -2.3)
    quantiles = (np.arange(people)[::-1] + 0.5) / people
    return np.searchsorted(law / law[-1], quantiles) + 1


def _draw_ends(left: I64, right: I64, rng: np.random.Generator, size: int) -> I64:
    """Pairs (size, 2) of an image from ``left`` and one from ``right``."""
    return np.stack([rng.choice(left, size), rng.choice(right, size)], axis=1)


def _draw_people(people: I64, first: I64, counts: I64, rng: np.random.Generator, size: int) -> I64:
    """Pairs (size, 2): two random people, a random image of each."""
    who = rng.choice(people, (size, 2))
    images: I64 = first[who] + rng.integers(counts[who])
    return images


def _draw_genuine(people: I64, first: I64, counts: I64, rng: np.random.Generator, size: int) -> I64:
    """Pairs (size, 2): a random person, two different images."""
    who = rng.choice(people, size)
    one = rng.integers(counts[who])
    other = (one + 1 + rng.integers(counts[who] - 1)) % counts[who]
    images: I64 = first[who, None] + np.stack([one, other], axis=1)
    return images


def _extend(pairs: I64, count: int, draw: Callable[[int], I64], identity: I64, same: bool) -> I64:
    """``pairs`` (p, 2) and ``count`` more from ``draw``, none twice in either order, of one person or of two."""
    goal = len(pairs) + count
    while len(pairs) < goal:
        missing = goal - len(pairs)
        drawn = draw(missing + missing // 8 + 16)  # some to spare: one round is nearly always enough
        drawn = drawn[(identity[drawn[:, 0]] == identity[drawn[:, 1]]) == same]
        every = np.concatenate([pairs, drawn])
        keys = every.min(axis=1) * len(identity) + every.max(axis=1)
        pairs = every[np.sort(np.unique(keys, return_index=True)[1])][:goal]
    return pairs


def _assemble(group: I64, subgroup: I64, counts: I64, ends: I64, fold: I64) -> BenchmarkStructure:
    """The structure with only the images that a pair uses (``ends`` (p, 2) index all images), sorted by fold."""
    identity = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(len(identity)) - np.repeat(np.cumsum(counts) - counts, counts)
    order = np.argsort(fold, kind="stable")
    used, rows = np.unique(ends[order], return_inverse=True)
    left, right = rows.reshape(-1, 2).T
    return BenchmarkStructure(group, subgroup, identity[used], number[used], left, right, fold[order])
