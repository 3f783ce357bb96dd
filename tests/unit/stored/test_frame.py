"""Stored runs as data frames: what tables show, once for each run, group and metric."""

from __future__ import annotations

import csv
import gc
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_world import made, write_world

import fairfr
from fairfr.commands import tables
from fairfr.core.types import MetricRow
from fairfr.store.parquet_files import write_metrics
from fairfr.store.result_file import write_result

PLACE = ["source", "dataset", "backbone", "method", "reading", "group", "metric"]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    write_world(folder)
    return folder


@pytest.mark.parametrize("reading", [None, "paper", "strict"])
def test_no_place_has_two_numbers(out: Path, reading: str | None) -> None:
    """A pivot averages silently: one row for each run, group and metric."""
    found = fairfr.results(out, reading=reading)
    assert len(found) > 1000 and set(found["source"]) == {"files", "synthetic"}
    assert not found.duplicated(PLACE).any()
    assert found.attrs["sources"] == ["files", "synthetic"] and found.attrs["out_root"] == str(out)
    with_variant = fairfr.results(out, reading=reading, where="k=500")
    assert not with_variant.duplicated(PLACE).any()
    added = set(with_variant["method"]) - set(found["method"])
    assert added == {"ac_density (k=500)"}


@pytest.mark.parametrize("reading", ["paper", "strict"])
def test_the_numbers_are_those_of_the_tables(
    out: Path, reading: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runs").symlink_to(out / "runs")
    monkeypatch.setattr(
        sys, "argv", ["fairfr tables", "--out-root", str(tmp_path), "--reading", reading, "--no-figures"]
    )
    try:
        tables.main()
    finally:
        gc.enable()
    path = tmp_path / "tables" / "synthetic" / reading / "appendix_groups_auroc_rfw_magface.csv"
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    found = fairfr.results(out, reading=reading, metrics="auroc")
    mean = found[(found["source"] == "synthetic") & (found["dataset"] == "rfw") & (found["backbone"] == "magface")]
    by_method = mean.pivot(index="label", columns="group", values="mean")  # noqa: PD010 - it refuses duplicates
    compared = 0
    for row in csv.DictReader(lines):
        if row["Method"] in by_method.index and not row["Method"].startswith(("GST", "DemoNorm", "Oracle")):
            for group in ("african", "asian", "caucasian", "indian"):
                printed = row[f"AUROC, % {group.capitalize()}"].partition("±")[0]
                assert printed == f"{100 * by_method.loc[row['Method'], group]:.2f}"
                compared += 1
    assert compared > 40


def test_a_reading_names_what_it_takes(out: Path) -> None:
    """The paper ranks by the probability, and calls the score's number after the score."""
    wanted = {"dataset": "rfw", "backbone": "magface", "method": "ac_linear", "group": "all"}
    paper = _numbers(fairfr.results(out, reading="paper"), **wanted)
    strict = _numbers(fairfr.results(out, reading="strict"), **wanted)
    assert paper["auroc"] == strict["auroc_on_probability"] != strict["auroc"] == paper["auroc_by_score"]
    wanted |= {"method": "baseline", "group": "asian"}
    paper = _numbers(fairfr.results(out, reading="paper"), **wanted)
    (path,) = [p for p in out.glob("runs/rfw/magface/baseline/*/result.json") if _is_default(p)]
    stored = json.loads(path.read_text(encoding="utf-8"))["metrics"]
    first = {row["metric"]: row["mean"] for row in stored if (row["rule"], row["group"]) == ("first", "asian")}
    assert paper["brier"] == first["brier_raw"] and paper["brier_by_probability"] == first["brier"]


def _numbers(found: pd.DataFrame, **wanted: str) -> dict[str, float]:
    synthetic = found[found["source"] == "synthetic"]
    for column, value in wanted.items():
        synthetic = synthetic[synthetic[column] == value]
    return dict(zip(synthetic["metric"], synthetic["mean"], strict=True))


def _is_default(path: Path) -> bool:
    return not json.loads(path.read_text(encoding="utf-8"))["differs"]


def test_metrics_and_groups_are_chosen_and_a_wrong_name_is_told(out: Path) -> None:
    found = fairfr.results(out, metrics=["auroc", "brier"], groups="worst")
    assert set(found["metric"]) == {"auroc", "brier"} and set(found["group"]) == {"worst"}
    with pytest.raises(fairfr.ConfigError, match=r"metrics='aurox'.*Did you mean 'auroc'"):
        fairfr.results(out, metrics="aurox")
    with pytest.raises(fairfr.ConfigError, match=r"groups='asain'.*'asian'"):
        fairfr.results(out, groups=["asain"])
    with pytest.raises(fairfr.ConfigError, match="reading='papers'"):
        fairfr.results(out, reading="papers")  # type: ignore[arg-type]
    with pytest.raises(fairfr.ConfigError, match="has no runs"):
        fairfr.results(out / "nowhere")


def test_every_run_and_grouping_on_request(out: Path) -> None:
    usual = fairfr.results(out)
    assert set(usual["study"]) == {""} and set(usual[usual["dataset"] == "mine"]["grouping"]) == {"all", "people"}
    every = fairfr.results(out, every=True)
    assert {"attributes", "split"} <= set(every["study"])
    assert set(every[every["dataset"] == "mine"]["grouping"]) == {"all", "people", "Sex", "ethnicity"}
    assert not every.duplicated([*PLACE, "key", "grouping"]).any()
    seeds = fairfr.results(out, every=True, where="seed=1")
    assert set(seeds["key"]) < set(every["key"])


def test_runs_say_why_they_are_left_aside(out: Path) -> None:
    found = fairfr.runs(out)
    assert len(found) == len(list(out.glob("runs/*/*/*/*")))
    assert set(found["why"]) == {"", "failed", "study", "variant", "configuration", "older"}
    shown = set(fairfr.results(out)["key"])
    assert set(found[found["why"] == ""]["key"]) == shown
    variants = found[(found["why"] == "variant") & (found["method"] == "ac_density")]
    assert set(variants["params.method.estimator.k"]) == {20, 50, 500} and set(variants["params.seed"]) == {0, 1}
    old = found[(found["dataset"] == "bfw") & (found["backbone"] == "magface") & (found["method"] == "ac_linear")]
    assert not old["current"].any() and old["why"].tolist() == [""]


def test_folds_are_those_of_the_parquet_file(tmp_path: Path) -> None:
    values = {("all", "all", "all", "auroc"): (0.9, 0.8), ("people", "both", "worst", "auroc"): (0.7, np.nan)}
    for method in ("baseline", "ac_linear"):
        result = made("mine", "mynet", method, source="files")
        folder = tmp_path.joinpath("runs", *result.run_key.path_parts)
        folder.mkdir(parents=True)
        rows = []
        for place, numbers in values.items():
            rows += [MetricRow(fold, *place, value, 1, 1) for fold, value in zip("ab", numbers, strict=True)]
            rows.append(MetricRow("pooled", *place, 0.1, 1, 1))
        write_metrics(folder / "metrics.parquet", rows)
        write_result(folder, result)
    found = fairfr.results(tmp_path, folds=True, metrics="auroc", groups=["all", "worst"])
    ours = found[found["method"] == "ac_linear"]
    by_fold = ours.pivot(index="group", columns="fold", values="value")  # noqa: PD010 - it refuses duplicates
    assert by_fold.loc["all"].tolist() == [0.9, 0.8]
    assert by_fold.loc["worst", "a"] == 0.7 and np.isnan(by_fold.loc["worst", "b"])
    assert len(found) == 8
