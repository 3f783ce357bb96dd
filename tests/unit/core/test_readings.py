"""Which settings are the paper's: its data sets with the backbones that conf/ names."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_runs import result_of

from fairfr.core.readings import BACKBONES, DATASETS, shared_reading, usual_reading
from fairfr.core.run_result import RunResult

CONF = Path(__file__).parents[3] / "conf"


def result(dataset: str, backbone: str, column: str | None = None) -> RunResult:
    identity = {"backbone": {"id": backbone, "column": column}}
    return result_of({"dataset": {"id": dataset}, "backbone": {"id": backbone}, "identity": identity})


def test_the_named_backbones_and_data_sets_are_those_of_conf() -> None:
    named = {path.stem for path in (CONF / "backbone").glob("*.yaml")}
    assert named - {"custom", "scores"} == BACKBONES
    assert {path.stem for path in (CONF / "dataset").glob("*.yaml")} - {"custom"} == DATASETS - {"lfw_degraded"}


@pytest.mark.parametrize("dataset", ["rfw", "bfw", "lfw"])
def test_a_setting_of_the_paper_has_its_data_set_and_its_backbone(dataset: str) -> None:
    assert usual_reading(result(dataset, "magface")) == "paper"
    assert usual_reading(result(dataset, "mynet")) == "strict"
    assert usual_reading(result("mine", "magface")) == "strict"
    assert usual_reading(result(dataset, "magface", column="magface")) == "strict", "scores are no vectors of the paper"


def test_runs_together_are_read_as_the_paper_does_only_if_all_are_its_own() -> None:
    assert shared_reading([result("rfw", "magface"), result("lfw", "adaface")]) == "paper"
    assert shared_reading([result("rfw", "magface"), result("lfw", "mynet")]) == "strict"
