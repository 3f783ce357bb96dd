"""What the 95 % intervals of ``fairfr tables --against`` cover when pairs share people, on synthetic scores.

Each person has a quality that all of the person's pairs share, so pairs are not independent. Two methods score the same
pairs inside four groups, in two worlds: the groups' impostors lie apart and the second method brings them nearer
together, or all groups are alike. The true values come from a far larger sample of other people. Each trial draws new
people and pairs and asks whether an interval holds the true value. Some minutes:

    python docs/interval_coverage.py
"""

from __future__ import annotations

import argparse
import sys
from typing import NamedTuple, TypeAlias

import numpy as np

from fairfr.core.types import F64, I16, I32, I64, Bool
from fairfr.numerics.bootstrap import draw_bootstrap, interval_to_infinity, resampling_units
from fairfr.numerics.rates_of_draws import Rates, gap_of_groups, rates_of_draws, ratio_of_groups

LEVEL = "1e-2"
LEVELS = {LEVEL: 1e-2}
PEOPLE = 200  # of each group, in a trial
PEOPLE_OF_TRUTH = 40_000
IMPOSTOR_PAIRS = 10  # of each person
GENUINE_PAIRS = 2
DRAWS = 200


class World(NamedTuple):
    """For both methods, how far the impostors and the genuine pairs of each group lie above those of the first."""

    impostors: tuple[tuple[float, ...], tuple[float, ...]]
    genuine: tuple[tuple[float, ...], tuple[float, ...]]


ALIKE = (0.0, 0.0, 0.0, 0.0)
WORLDS = {
    "groups apart": World(((0.0, 0.2, 0.4, 0.6), (0.0, 0.1, 0.2, 0.3)), ((0.0, -0.2, 0.1, 0.1), (0.0, -0.1, 0.2, 0.2))),
    "groups alike": World((ALIKE, ALIKE), (ALIKE, (0.2, 0.2, 0.2, 0.2))),
}
Quantities: TypeAlias = dict[str, F64]
"""What is compared, by its name: the value of a sample, then those of the draws."""


class Pairs(NamedTuple):
    """Pairs of people, and the values of both methods, (2, p)."""

    left: I64
    right: I64
    person: tuple[I32, I32]
    same: Bool
    group: I16
    values: F64


def main() -> None:
    """Print the coverage of each interval."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=300)
    trials = parser.parse_args().trials
    for name, world in WORLDS.items():
        said = [f"{name}: {trials} trials, four groups of {PEOPLE} people, FPR {LEVEL}, {DRAWS} draws"]
        true = compared(pairs_of(world, PEOPLE_OF_TRUTH, seed=0), draws=1)
        inside = dict.fromkeys(true, 0)
        for trial in range(1, trials + 1):
            for quantity, values in compared(pairs_of(world, PEOPLE, trial), DRAWS).items():
                low, high = interval_to_infinity(values[1:])
                inside[quantity] += low <= true[quantity][0] <= high
        for quantity, count in inside.items():
            share = 100 * count / trials
            said.append(f"  {quantity}: true {true[quantity][0]:.2f}, in {share:.1f} % of the intervals")
        sys.stdout.write("\n".join(said) + "\n")


def pairs_of(world: World, people: int, seed: int) -> Pairs:
    """Each person meets others of the group, and the same person again; person i has the images 2 i and 2 i + 1."""
    rng = np.random.default_rng(seed)
    groups = len(world.impostors[0])
    one = np.repeat(np.arange(groups * people), IMPOSTOR_PAIRS)
    first_of_group = one // people * people
    other = first_of_group + (one - first_of_group + rng.integers(1, people, size=len(one))) % people
    twice = np.repeat(np.arange(groups * people), GENUINE_PAIRS)
    left = np.concatenate([2 * one, 2 * twice])
    right = np.concatenate([2 * other, 2 * twice + 1])
    person = ((left // 2).astype(np.int32), (right // 2).astype(np.int32))
    same = np.repeat([False, True], [len(one), len(twice)])
    group = (person[0] // people).astype(np.int16)
    quality = rng.normal(size=groups * people)
    shared = 0.3 * (quality[person[0]] + quality[person[1]]) + 0.8 * rng.normal(size=len(same))
    values = []
    for impostors, genuine in zip(world.impostors, world.genuine, strict=True):
        middle = np.where(same, 2.5 + np.array(genuine)[group], np.array(impostors)[group])
        values.append(middle + shared + 0.3 * rng.normal(size=len(same)))
    return Pairs(left, right, person, same, group, np.stack(values))


def compared(pairs: Pairs, draws: int) -> Quantities:
    """What the tables print of the second method beside the first."""
    units = resampling_units(pairs.left, pairs.right, pairs.same, pairs.person)
    drawn = draw_bootstrap(units, draws)
    before, after = rates_of_draws(drawn.multiplicity, drawn.ends, pairs.same, pairs.values, pairs.group, LEVELS)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _quantities(before, after)


def _quantities(before: Rates, after: Rates) -> Quantities:
    fmr = f"fpr_at_fpr_{LEVEL}"
    lost = before[f"tpr_at_fpr_{LEVEL}"] - after[f"tpr_at_fpr_{LEVEL}"]
    found = {}
    for g in (0, 3):
        found[f"FMR of group {g + 1}, times the first method"] = after[fmr][:, g] / before[fmr][:, g]
        found[f"FNMR of group {g + 1}, minus the first method, points"] = 100 * lost[:, g]
    found["highest / lowest FMR, times the first method"] = ratio_of_groups(after[fmr]) / ratio_of_groups(before[fmr])
    for name, words in (("tpr_at_fpr", "gap of TPR"), ("tpr_at_own_fpr", "gap of TPR at equal FMR")):
        gaps = [100 * gap_of_groups(rates[f"{name}_{LEVEL}"]) for rates in (before, after)]
        found[f"{words}, minus the first method, points"] = gaps[1] - gaps[0]
    return found


if __name__ == "__main__":
    main()
