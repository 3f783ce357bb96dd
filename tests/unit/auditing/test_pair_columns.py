"""Tables of pairs in users' own columns: csv, tsv, parquet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fairfr.auditing.pair_columns import ColumnNames, read_columns
from fairfr.auditing.sample import check_sample
from fairfr.core.errors import DataError

ROWS = "similarity,match,race,left_age,right_age,left_identity,right_identity,fold\n"
BODY = (
    "0.9,genuine,x,old,old,ann,ann,1\n0.8,1,y,old,young,bob,bob,2\n"
    "0.1,impostor,x,,old,ann,bob,1\n0.2,0,y,old,old,eve,,2\n"
)


def written(folder: Path, text: str = ROWS + BODY, name: str = "pairs.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_usual_names_are_found(tmp_path: Path) -> None:
    columns, file = read_columns(written(tmp_path), ColumnNames(groups=("race", "age")))
    assert columns.score.tolist() == [0.9, 0.8, 0.1, 0.2]
    assert columns.label is not None
    assert columns.label.tolist() == [1, 1, 0, 0]
    race, age = columns.groupings
    assert race.sides == 1
    assert age.sides == 2
    assert age.levels == ("old", "young")
    assert age.inside.tolist() == [0, -1, -1, 0]
    assert columns.identity is not None
    assert columns.fold is not None
    assert len(file.digest) == 64


@pytest.mark.parametrize(("separator", "name"), [("\t", "pairs.tsv"), (";", "pairs.csv")])
def test_other_separators(tmp_path: Path, separator: str, name: str) -> None:
    columns, _ = read_columns(written(tmp_path, (ROWS + BODY).replace(",", separator), name), ColumnNames())
    assert columns.score.tolist() == [0.9, 0.8, 0.1, 0.2]


def test_parquet(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"dist": np.float32([0.1, 0.9]), "label": [True, False], "race": ["x", None]})
    frame.to_parquet(tmp_path / "pairs.parquet")
    columns, _ = read_columns(tmp_path / "pairs.parquet", ColumnNames(groups=("race",)))
    assert columns.is_distance
    assert columns.score == pytest.approx([0.1, 0.9])
    assert columns.label is not None
    assert columns.label.tolist() == [1, 0]
    assert columns.groupings[0].inside.tolist() == [0, -1]


@pytest.mark.parametrize(
    ("text", "names", "message"),
    [
        ("score,cosine,label\n1,1,1\n", ColumnNames(), "has 'score' and 'cosine'. Say which one counts"),
        ("score,distance,label\n1,1,1\n", ColumnNames(), "has both 'score' and 'distance'.*--score or --distance"),
        ("s,label\n1,1\n", ColumnNames(), "no column called score or similarity.*Its columns: s, label"),
        ("score,label\n1,1\n", ColumnNames(score="scor"), "no column 'scor'. Did you mean 'score'"),
        ("score,label\n1,1\n", ColumnNames(groups=("race",)), "neither a column 'race' nor both 'left_race'"),
        ("score,label,a\n1,1,p\n", ColumnNames(identity_left="a"), "--identity-left and --identity-right go together"),
    ],
)
def test_what_is_unclear_is_refused(tmp_path: Path, text: str, names: ColumnNames, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_columns(written(tmp_path, text), names)


def test_cells_that_are_no_numbers_are_bad_rows_with_their_lines(tmp_path: Path) -> None:
    path = written(tmp_path, "score,label\n0.9,1\nhigh,1\n,0\n0.1,perhaps\n0.2,0\n")
    columns, _ = read_columns(path, ColumnNames())
    with pytest.raises(DataError, match=r"2 rows: the score is not a finite number \(lines 3 and 4\)"):
        check_sample(columns)
    sample = check_sample(columns, "leave-out")
    assert len(sample) == 2
    assert list(sample.left_out.values()) == [2, 1]


def test_a_named_distance_counts_whatever_scores_are_there(tmp_path: Path) -> None:
    path = written(tmp_path, "score,cosine,d,label\n0.1,0.1,0.9,0\n0.9,0.9,0.1,1\n")
    columns, _ = read_columns(path, ColumnNames(distance="d"))
    assert columns.is_distance
    assert columns.score.tolist() == [0.9, 0.1]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rows_repeat_if_columns_that_are_not_audited_do(tmp_path: Path, ending: str) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"score": [0.9, 0.9, 0.1, 0.1], "label": [1, 1, 0, 0], "left": ["a", "a", None, "b"]})
    path = tmp_path / f"pairs.{ending}"
    if ending == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    columns, _ = read_columns(path, ColumnNames())
    assert check_sample(columns).repeated == 1


def test_a_runs_scores_name_both_groups_in_one_word(tmp_path: Path) -> None:
    """``asian|white`` is a pair across groups there, and people are codes; elsewhere such a name is a group's."""
    rows = ["pair,split,identity_left,identity_right,same,probability,cosine,race"]
    rows += ["0,a,1,1,1,.9,.9,asian", "1,a,1,2,0,.1,.1,asian|white", "2,a,2,3,0,.2,.2,|white", "3,a,1,4,0,.2,.2,"]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(rows) + "\n")
    columns, _ = read_columns(path, ColumnNames(score="cosine", groups=("race",)))
    (race,) = columns.groupings
    assert race.levels == ("asian", "white")
    assert race.left.tolist() == [0, 0, -1, -1]
    assert race.right.tolist() == [0, 1, 1, -1]
    assert race.sides == 2
    assert columns.identity is not None
    assert columns.identity[1].codes.tolist() == [0, 1, 2, 3]
    path.write_text("\n".join(rows).replace("split", "part") + "\n")
    columns, _ = read_columns(path, ColumnNames(score="cosine", groups=("race",)))
    assert columns.groupings[0].levels == ("asian", "asian|white", "|white")
    assert columns.identity is None
