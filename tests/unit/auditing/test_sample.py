"""What an audit takes for a pair: bad rows, people, groups, direction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fairfr.auditing.sample import Coded, Columns, Grouping, check_sample
from fairfr.core.errors import DataError


def coded(*names: str) -> Coded:
    levels = tuple(sorted({name for name in names if name}))
    codes = [levels.index(name) if name else -1 for name in names]
    return Coded(np.array(codes, dtype=np.int32), levels)


def columns(**changes: object) -> Columns:
    """Four pairs, rightly ranked."""
    given = Columns(
        score=np.array([0.9, 0.8, 0.2, 0.1]),
        label=np.array([1, 1, 0, 0], dtype=np.int32),
        place=lambda rows: f"rows {list(rows)}",
    )
    return replace(given, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"score": np.array([0.9, np.nan, 0.2, np.inf])},
            r"2 rows: the score is not a finite number \(rows \[1, 3\]\)",
        ),
        ({"label": np.array([1, -1, 0, 0], dtype=np.int32)}, "1 row: the label cannot be read"),
        ({"probability": np.array([0.9, 1.2, 0, 0])}, "the probability is not between 0 and 1"),
        ({"identity": (coded("a", "b", "c", "d"), coded("a", "x", "e", "f"))}, "one person, with two identities"),
        ({"identity": (coded("a", "b", "c", "d"), coded("a", "b", "c", "f"))}, "two people, with one identity"),
    ],
)
def test_rows_that_cannot_be_right_are_refused_or_counted(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        check_sample(columns(**wrong))
    left = check_sample(columns(**wrong), "leave-out")
    assert sum(left.left_out.values()) == 4 - len(left) > 0


def test_a_row_is_counted_for_the_first_thing_that_is_wrong() -> None:
    given = columns(score=np.array([np.nan, 0.8, 0.2, 0.1]), label=np.array([-1, 1, 0, 0], dtype=np.int32))
    assert list(check_sample(given, "leave-out").left_out.values()) == [1]


def test_distances_are_turned_round() -> None:
    sample = check_sample(columns(score=np.array([0.1, 0.2, 0.8, 0.9]), is_distance=True))
    assert sample.similarity.tolist() == [-0.1, -0.2, -0.8, -0.9]
    assert sample.shown(-0.4) == 0.4


@pytest.mark.parametrize(("is_distance", "advice"), [(False, "--distance"), (True, "--score")])
def test_scores_that_fall_with_likeness_are_refused(is_distance: bool, advice: str) -> None:
    falling = np.array([0.1, 0.2, 0.8, 0.9])
    if is_distance:
        falling = falling[::-1]
    with pytest.raises(DataError, match=rf"AUROC 0.000\): swapped labels.*{advice}"):
        check_sample(columns(score=falling, is_distance=is_distance))


def test_a_pair_counts_for_a_group_if_both_sides_are_in_it() -> None:
    grouping = Grouping.of("race", coded("x", "y", "", "x"), coded("x", "x", "x", "z"))
    assert grouping.levels == ("x", "y", "z")
    assert grouping.inside.tolist() == [0, -1, -1, -1]
    assert grouping.across.tolist() == [False, True, False, True]


def test_too_many_groups_are_refused() -> None:
    with pytest.raises(DataError, match=r"group 'age' has 51 different values.*--bins age=30,60"):
        Grouping.of("age", coded(*map(str, range(51))))


def test_people_are_known_if_nearly_all_sides_name_one() -> None:
    known = coded("a", "b", "c", "d"), coded("a", "b", "e", "f")
    sample = check_sample(columns(identity=known))
    assert sample.n_people == 6
    half = coded("a", "", "c", ""), coded("a", "", "e", "f")
    assert check_sample(columns(identity=half)).people is None


def test_a_blank_side_is_a_person_of_its_own_but_in_a_genuine_pair() -> None:
    n = 30
    names = [f"p{k}" for k in range(n)]
    left = coded("", *names[1:])
    right = coded(names[0], *names[1:15], "", *[f"q{k}" for k in range(16, n)])
    label = np.array([1] * 15 + [0] * 15, dtype=np.int32)
    sample = check_sample(columns(score=label + np.linspace(0, 0.1, n), label=label, identity=(left, right)))
    assert sample.people is not None
    a, b = sample.people
    assert a[0] == b[0], "a genuine pair shows one person"
    assert b[15] not in np.delete(np.append(a, b), n + 15), "nobody else"


def test_rows_that_repeat_in_every_cell_are_counted() -> None:
    twice = columns(
        score=np.array([0.9, 0.9, 0.2, 0.2]), identity=(coded("a", "a", "c", "c"), coded("a", "a", "e", "f"))
    )
    assert check_sample(twice).repeated == 1
    assert check_sample(replace(twice, identity=None)).repeated == 2
    images = np.array([1, 1, 3, 4])
    other = replace(twice, identity=None, other_cells=lambda rows: [images[rows]])
    assert check_sample(other).repeated == 1, "the third and the fourth are of other images"
    bad = replace(other, score=np.array([np.nan, 0.9, 0.2, 0.2]))
    assert check_sample(bad, "leave-out").repeated == 0
