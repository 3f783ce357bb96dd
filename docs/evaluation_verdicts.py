"""How often ``fairfr evaluate`` calls unchanged conditions worse: the number in docs/evaluate.md, on synthetic scores.

Each trial draws people of two groups and a model of their pairs, then other people of the same kind, and evaluates the
model on these. People differ in how similar they are to others and to themselves, so pairs that share people are not
independent. A minute:

    python docs/evaluation_verdicts.py
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import fairfr
from fairfr.core.types import F64, I64, Bool
from fairfr.library.expected import KEY, expected_of
from fairfr.library.threshold import ThresholdRequest, find_threshold

PEOPLE = 400
PAIRS = 6000
FMR = 1e-2
FOLDS = 5
GROUPS = ("a", "b")
FALSE_ALARMS = ("does_not_hold", "ranking_holds_refit", "holds_after_a_new_prior")
Names = npt.NDArray[np.str_]


class Pairs(NamedTuple):
    """Pairs of people: ``cosine`` and ``same`` (p,), and the names of the people and of their groups on both sides."""

    cosine: F64
    same: Bool
    people: tuple[Names, Names]
    groups: tuple[Names, Names]
    fold: I64


def main() -> None:
    """Print how often each verdict was given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=150)
    trials = parser.parse_args().trials
    warnings.simplefilter("ignore")
    verdicts = Counter(verdict_of(trial) for trial in range(trials))
    lines = [f"{trials} evaluations of unchanged conditions, {PEOPLE} people and {PAIRS:,} pairs each (synthetic)"]
    lines += [f"  {verdict}: {count}" for verdict, count in verdicts.most_common()]
    lines.append(f"called worse or other: {sum(verdicts[verdict] for verdict in FALSE_ALARMS)}")
    sys.stdout.write("\n".join(lines) + "\n")


def verdict_of(trial: int) -> str | None:
    """The verdict on pairs of other people than those of the model."""
    model = model_of(pairs_of(2 * trial))
    new = pairs_of(2 * trial + 1)
    found = fairfr.evaluate(
        model.probability_scores(new.cosine),
        new.same,
        groups={"group": new.groups},
        identities=new.people,
        stored=model,
    )
    return found.verdict


def model_of(pairs: Pairs) -> fairfr.Beta:
    """A model that keeps what ``calibrate fit`` and ``calibrate threshold --keep`` write into its file."""
    compared = fairfr.compare(
        {"beta": fairfr.Beta()},
        cosine=pairs.cosine,
        same=pairs.same,
        groups={"group": pairs.groups},
        identities=pairs.people,
        folds=pairs.fold,
        progress=False,
    )
    held_out = compared.runs["beta"]
    model = fairfr.Beta().fit_scores(pairs.cosine, pairs.same)
    model.origin_ = {KEY: expected_of(held_out)}
    model.thresholds_ = (find_threshold(held_out, ThresholdRequest(FMR)),)
    return model


def pairs_of(seed: int) -> Pairs:
    """Half of the pairs show one person; the others show two of one group and fold."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, PEOPLE, PAIRS)
    same = rng.random(PAIRS) < 0.5
    step = len(GROUPS) * FOLDS  # to the next person of the same group and fold
    other = (left + step * rng.integers(1, PEOPLE // step, PAIRS)) % PEOPLE
    right = np.where(same, left, other)
    to_others = 0.08 * rng.normal(size=PEOPLE)
    to_themselves = 0.1 * rng.normal(size=PEOPLE)
    of_people = np.where(same, to_themselves[left], to_others[left] + to_others[right])
    cosine = np.clip(0.1 + 0.5 * same + of_people + 0.12 * rng.normal(size=PAIRS), -1, 1)
    people = np.array([f"{seed}-{person}" for person in range(PEOPLE)])
    groups = np.array(GROUPS)[np.arange(PEOPLE) % len(GROUPS)]
    fold = left // len(GROUPS) % FOLDS
    return Pairs(cosine, same, (people[left], people[right]), (groups[left], groups[right]), fold)


if __name__ == "__main__":
    main()
