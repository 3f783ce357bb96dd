"""Groups made from numbers, by import table and by the audit."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfr.commands import audit
from fairfr.core.errors import ConfigError, DataError
from fairfr.data.files import DataFile
from fairfr.data.importers.bins import cut_column, read_bins
from fairfr.data.importers.own_table import add_arguments, run
from fairfr.data.text_table import read_table

AGES = (0, 17.5, 29.999, 30, 44, 45, 60, 97)
GROUPS = ("0-30", "0-30", "0-30", "30-45", "30-45", "45-60", "60+", "60+")
BINS = ("--bins", "age=0,30,45,60")


def imported(folder: Path, *words: str) -> str:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args([*words, "--out", str(folder), "--name", "mine"]))


def expected(age: float) -> str:
    """By pandas: half-open intervals, closed on the left."""
    edges = [-np.inf, 0, 30, 45, 60, np.inf]
    return str(pd.cut([age], edges, right=False, labels=["under 0", "0-30", "30-45", "45-60", "60+"])[0])


def two_tables(folder: Path, ages: list[object], ending: str = "csv") -> list[str]:
    """Pairs of images 2k and 2k + 1, which have the same age."""
    images = pd.DataFrame({"image": [f"i{k}" for k in range(2 * len(ages))], "age": np.repeat(ages, 2)})
    table = folder / f"images.{ending}"
    if ending == "csv":
        images.to_csv(table, index=False)
    else:
        images.to_parquet(table)
    rows = [f"i{2 * k},i{2 * k + 1},{k % 2},{k % 4 // 2}" for k in range(len(ages))]
    (folder / "pairs.csv").write_text("left,right,same,fold\n" + "\n".join(rows) + "\n")
    return ["--pairs", str(folder / "pairs.csv"), "--images", str(table)]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_import_table_cuts_a_column_of_images(tmp_path: Path, ending: str) -> None:
    ages = [*AGES, -3.5, 200]
    imported(tmp_path, *two_tables(tmp_path, [*ages, np.nan], ending), *BINS)
    images = pd.read_csv(tmp_path / "mine" / "images.csv", keep_default_na=False).set_index("image")["age"]
    found = [images[f"i{2 * k}"] for k in range(len(ages) + 1)]
    assert found == [*map(expected, ages), ""]
    assert tuple(found[: len(AGES)]) == GROUPS


def test_import_table_cuts_columns_of_pairs(tmp_path: Path) -> None:
    rows = [f"{k / 100},{k % 2},{k % 4 // 2},{40 + 10 * (k % 3)},{age}" for k, age in enumerate(AGES)]
    (tmp_path / "p.csv").write_text("score,same,fold,age_left,age_right\n" + "\n".join(rows) + "\n")
    words = ("--pairs", str(tmp_path / "p.csv"), "--score", "score", "--attribute", "age", *BINS)
    said = imported(tmp_path, *words)
    pairs = pd.read_csv(tmp_path / "mine" / "pairs.csv")
    assert pairs["age_right"].tolist() == list(GROUPS)
    assert pairs["age_left"].tolist() == [("30-45", "45-60", "60+")[k % 3] for k in range(len(AGES))]
    assert "age: 0-30, 30-45, 45-60, 60+" in said


@pytest.mark.parametrize(
    "bins", ["age=", "age", "age=30,old", "age=30,30", "age=45,30", "=30", "age=nan", "age=30,inf"]
)
def test_edges_that_are_no_rising_numbers(bins: str) -> None:
    with pytest.raises(ConfigError, match="rising numbers, such as age=30,45,60"):
        read_bins([bins])


def test_mistakes_name_file_row_and_remedy(tmp_path: Path) -> None:
    words = two_tables(tmp_path, [20, "about 40", 50, 60])
    with pytest.raises(DataError, match=r"images.csv, line 4: 'age' must be a number.*leave it blank"):
        imported(tmp_path, *words, *BINS)
    with pytest.raises(ConfigError, match=r"--bins height: .*images.csv has no such attribute.*age"):
        imported(tmp_path, *words, "--bins", "height=1,2")
    with pytest.raises(ConfigError, match="write each column once"):
        imported(tmp_path, *words, *BINS, *BINS)
    assert not (tmp_path / "mine").exists()


def test_decimal_commas_blanks_and_negative_numbers(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('n\n"29,5"\n30\n\n"30,5"\n-2\n 1e1\n'.replace("\n\n", '\n""\n'))
    table = read_table(DataFile.at(tmp_path / "t.csv"), ("n",), ",")
    column = cut_column(table, "n", (-1.0, 30.0))
    codes, groups = column
    assert [(*groups, "")[code] for code in codes] == ["-1-30", "30+", "", "30+", "under -1", "-1-30"]


def audited(folder: Path, *words: str) -> list[dict[str, object]]:
    """The rates of an audit of 400 pairs of people who are both 20, 40 or 70, but for the first ten."""
    rng = np.random.default_rng(0)
    lines = ["score,label,left_age,right_age"]
    for k in range(400):
        age = (20, 40.5, 70)[k % 3]
        other = age if k >= 10 else 30.0
        lines.append(f"{k % 2 + rng.normal():.4f},{k % 2},{age},{other}")
    (folder / "pairs.csv").write_text("\n".join(lines) + "\n")
    command = [str(folder / "pairs.csv"), *words, "--threshold", "0.5", "--out", str(folder / "audit")]
    audit.run(audit.make_parser().parse_args(command))
    content: dict[str, list[dict[str, object]]] = json.loads((folder / "audit" / "audit.json").read_text())
    return [row for row in content["rates"] if row["level"] == "current"]


def test_audit_cuts_a_group(tmp_path: Path) -> None:
    rows = audited(tmp_path, "--group", "age", "--bins", "age=30,60")
    pairs = {row["group"]: (row["impostors"], row["genuine"]) for row in rows}
    assert set(pairs) == {"all", "under 30", "30-60", "60+"}
    for rest, group in enumerate(("under 30", "30-60", "60+")):
        inside = [k for k in range(400) if k % 3 == rest and (k >= 10 or group == "30-60")]
        genuine = sum(k % 2 for k in inside)
        assert pairs[group] == (len(inside) - genuine, genuine)


def test_audit_names_the_group_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--bins age: name the group too, with --group age"):
        audited(tmp_path, "--bins", "age=30,60")
