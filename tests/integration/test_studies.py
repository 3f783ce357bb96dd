"""Studies from the command line to their tables, at small size."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

SMALL = ("dataset.standin.scale=0.1", "store=folder", "threads=1", "source=synthetic")
COVERAGE = ("experiment=coverage", "method=platt", "protocol.splitter.keep=1")


Run: TypeAlias = Callable[..., str]


@pytest.fixture
def run(command: Callable[..., Any], tmp_path: Path) -> Run:
    def sweep(*arguments: str, code: int = 0) -> str:
        done = command("run", "-m", *arguments, f"out_root={tmp_path}")
        assert done.returncode == code, done.stdout + done.stderr
        return str(done.stdout)

    return sweep


def table(out: Path, name: str, reading: str = "paper") -> str:
    return (out / "tables" / "synthetic" / reading / f"{name}.md").read_text()


def test_components_and_attributes_and_sizes(run: Run, tmp_path: Path) -> None:
    run("experiment=components", "dataset=lfw", "backbone=vit_b", "method=platt,ac_linear", *SMALL)
    run("experiment=attributes", "method=ac_linear", *SMALL)
    sizes = ("protocol.splitter.size=100,200", "hydra.sweeper.repeats=2", "method=ac_linear")
    run("experiment=calibration_size", *sizes, *SMALL)
    components = table(tmp_path, "study_components")
    (line,) = [line for line in components.splitlines() if line.startswith("| LFW x ViT-B")]
    ours, paper = (line.split("|")[column].strip() for column in (2, 3))
    assert paper == "0.9907" and 0.5 < float(ours) <= 1 and "0.5796" in line  # printed beside ours
    by_attribute = table(tmp_path, "study_attributes")
    assert all(f"| {name} |" in by_attribute for name in ("Gender", "Ethnicity", "Eyeglasses"))
    groups = table(tmp_path, "study_attributes_groups")
    assert all(f"| {name} |" in groups for name in ("Female", "Male", "Asian", "No", "Yes"))
    assert "| 100 |" in table(tmp_path, "study_calibration_size")
    assert (tmp_path / "figures" / "synthetic" / "paper" / "study_calibration_size.png").stat().st_size > 10_000
    results = [json.loads(path.read_text()) for path in tmp_path.glob("runs/*/*/*/*/result.json")]
    assert {result["study"] for result in results} == {"components", "attributes", "calibration_size"}
    assert not list((tmp_path / "tables" / "synthetic" / "paper").glob("table*")), "no headline row is filled"


def test_a_study_s_runs_do_not_stand_for_the_same_configuration_without_it(
    run: Run, command: Callable[..., Any], tmp_path: Path
) -> None:
    chosen = ("dataset=lfw", "backbone=vit_b", "method=platt")
    run("experiment=components", *chosen, *SMALL)
    shown = run("seed=0", *chosen, *SMALL)
    assert "1 computed" in shown and len(list(tmp_path.glob("runs/lfw/vit_b/platt/*"))) == 2
    out = tmp_path / "alone"
    (out / "runs").parent.mkdir()
    (out / "runs").symlink_to(tmp_path / "runs")
    done = command("tables", "--where", "study=components", "--no-figures", "--out-root", str(out))
    assert done.returncode == 0, done.stderr
    written = {path.stem for path in out.glob("tables/synthetic/paper/*.md")}
    assert "study_components" in written and not any(name.startswith("table") for name in written)


def test_coverage_and_split_and_transfer(run: Run, tmp_path: Path) -> None:
    few = ("method=ac_linear", *SMALL)
    run("experiment=coverage", "protocol.splitter.keep=1,0.1", *few)
    run("experiment=split", "dataset=rfw", "backbone=facenet_casia", *few)
    run("experiment=transfer_groups", *few)
    shown = run("experiment=transfer_conditions", "++train.standin.scale=0.1", *few)
    assert "no person or image of a tested pair was fitted on" in shown
    coverage, split = (table(tmp_path, f"study_{name}") for name in ("coverage", "split"))
    assert "African" in coverage and "| 10% |" in coverage and "0.9649" in coverage  # the paper's, beside ours
    assert all(f"| {name} |" in split for name in ("Original", "Endpoint-disjoint", "Identity-disjoint"))
    assert "| Identity-disjoint | 2400 |" in table(tmp_path, "study_split_folds")
    transfer = table(tmp_path, "study_transfer")
    sections = ("*RFW x MagFace, fitted without the group*", "*LFW (degraded) x MagFace, fitted on LFW*")
    assert all(section in transfer for section in sections) and transfer.count("| AC-Linear |") == 2
    assert "| Asian |" in table(tmp_path, "study_transfer_groups")
    figures = {path.name for path in (tmp_path / "figures" / "synthetic" / "paper").glob("*.png")}
    assert {"study_coverage.png", "study_transfer.png"} <= figures
    away = list(tmp_path.glob("runs/lfw_degraded/magface/ac_linear/synthetic-from_lfw-*"))
    assert len(away) == 1, "the run key names both sides"
    shown = run("experiment=transfer_groups", *few)
    assert "2 already done" in shown


def test_people_on_both_sides_are_refused(run: Run, tmp_path: Path) -> None:
    same = ("experiment=transfer_sets", "method=platt", "dataset@train=lfw", "++train.standin.scale=0.1")
    shown = run(*same, *SMALL, code=1)
    assert "600 of 600 pairs of lfw show people or images that the fit on lfw has met" in shown
    assert "1 computed" in shown and "1 failed" in shown and "Traceback" not in shown
    shown = run(*same, "protocol.splitter.leave_out=people", *SMALL)
    assert "1 computed, 1 already done" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*COVERAGE, "protocol.splitter.group=martian"), "has no such group"),
        ((*COVERAGE, "dataset.grouping=[]"), "needs groups"),
        (("experiment=transfer_sets", "method=platt", "dataset@train=lfv"), "Did you mean 'lfw'"),
        (("experiment=calibration_size", "method=platt", "protocol.splitter.size=9999"), "size=9999"),
        (("experiment=attributes", "method=platt", "dataset.grouping=[gender,hats]"), "no attribute 'hats'"),
    ],
)
def test_bad_input_is_said_before_anything_is_fitted(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    shown = run(*arguments, *SMALL, code=1)
    assert said in shown and "Traceback" not in shown
    assert not [path for path in tmp_path.glob("runs/*/*/*/*/scores.parquet")]
