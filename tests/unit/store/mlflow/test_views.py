"""Saved views show what runs have, beside the pane that a fresh browser opens, as charts in which methods differ."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fairfr.store.mlflow import views
from fairfr.sweep.mlflow_metrics import DETAILED

LIST_WIDTH = 788  # pixels, measured in Chromium: MLflow 3.17, a window of 1400, the Assistant's pane open
CHECK_BOXES = 73
LONGEST_TAG = 5000
HEADLINE = {f"{prefix}{metric}" for metric in DETAILED for prefix in ("", "worst_")}


def state_of(tag: tuple[str, str]) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(json.loads(tag[1])["state"])
    return state


def axes_of(state: dict[str, Any]) -> list[tuple[str, str]]:
    assert {chart["type"] for chart in state["compareRunCharts"]} == {"SCATTER"}, "bars from 0 look alike"
    return [(chart["xaxis"]["key"], chart["yaxis"]["key"]) for chart in state["compareRunCharts"]]


AGAINST_WORST = [
    ("auroc", "worst_auroc"),
    ("brier", "worst_brier"),
    ("tpr_at_fpr_1e-3", "worst_tpr_at_fpr_1e-3"),
]


def test_own_data_shows_method_variant_and_a_low_false_match_rate_beside_the_pane() -> None:
    state = state_of(views.of_source("files"))
    columns = state["selectedColumns"]
    assert columns[:4] == [f"tags.`{tag}`" for tag in ("dataset", "backbone", "method", "variant")]
    assert columns[4:7] == [f"metrics.`{metric}`" for metric in ("auroc", "worst_auroc", "tpr_at_fpr_1e-3")]
    assert state["orderByKey"] in columns and state["columnOrder"][2:-1] == columns
    beside = ["attributes.`Run Name`", "runDateAndNestInfo", *columns[:7]]
    assert CHECK_BOXES + sum(state["columnWidths"][column] for column in beside) <= LIST_WIDTH


def test_another_view_has_the_setting_and_four_metrics_and_fits_beside_the_pane() -> None:
    state = state_of(views.of_source("synthetic"))
    columns = state["selectedColumns"]
    assert columns[:3] == ["tags.`dataset`", "tags.`backbone`", "tags.`source`"], "the method begins the run's name"
    metrics = [column.removeprefix("metrics.`").removesuffix("`") for column in columns[3:]]
    assert len(metrics) == 4 and set(metrics) <= HEADLINE
    assert state["orderByKey"] in columns and state["columnOrder"][2:-1] == columns
    beside = ["attributes.`Run Name`", "runDateAndNestInfo", *columns]
    assert CHECK_BOXES + sum(state["columnWidths"][column] for column in beside) <= LIST_WIDTH


def test_synthetic_runs_and_own_data_have_a_view_each_without_parent_runs() -> None:
    (own, _), (synthetic, _) = views.of_source("files"), views.of_source("synthetic")
    assert own != synthetic
    assert state_of(views.of_source("files"))["searchFilter"] == "tags.run_key != '' and tags.source = 'files'"
    assert "tags.source = 'synthetic'" in state_of(views.of_source("synthetic"))["searchFilter"]
    key, name = views.BY_SOURCE["synthetic"]
    assert synthetic == f"mlflow.sharedViewState.{key}" and "synthetic" in name


@pytest.mark.parametrize("varied", [(), ("seed", "method.estimator.k")])
def test_charts_set_each_metric_against_that_of_the_worst_group(varied: tuple[str, ...]) -> None:
    name, value = views.of_sweep("ab12", "headline | 144 runs", varied)
    assert name == "mlflow.sharedViewState.sweep-ab12" and json.loads(value)["name"] == "headline | 144 runs"
    state = state_of((name, value))
    assert "ab12" in state["searchFilter"] and axes_of(state) == AGAINST_WORST
    assert state["selectedColumns"][7:] == [f"params.`{key}`" for key in varied]
    assert views.page("1", "sweep-ab12").endswith("viewStateShareKey=sweep-ab12")


def test_a_sweep_over_one_parameter_has_every_metric_over_it_too_and_fits_a_tag() -> None:
    parameter = "protocol.splitter." + 30 * "p"
    tag = views.of_sweep("0123456789ab", 100 * "n", [parameter])
    state = state_of(tag)
    over, against = axes_of(state)[:-3], axes_of(state)[-3:]
    assert against == AGAINST_WORST
    assert {x for x, _ in over} == {parameter} and {y for _, y in over} == HEADLINE and len(over) == len(HEADLINE)
    assert {chart["xaxis"]["type"] for chart in state["compareRunCharts"][: len(over)]} == {"PARAM"}
    sections = {section["uuid"] for section in state["compareRunSections"]}
    assert {chart["metricSectionId"] for chart in state["compareRunCharts"]} == sections
    assert len({chart["uuid"] for chart in state["compareRunCharts"]}) == len(axes_of(state))
    assert len(tag[1]) < LONGEST_TAG


def test_a_sweep_that_mixes_readings_is_shown_strictly() -> None:
    """Otherwise a column would have the paper's reading of some runs beside the strict one of others."""
    parameter = "protocol.splitter." + 30 * "p"
    tag = views.of_sweep("0123456789ab", 100 * "n", [parameter], mixed=True)
    state = state_of(tag)
    shown = {column for column in state["columnWidths"] if column.startswith("metrics.")}
    assert shown == {f"metrics.`strict/{name}`" for name in ("auroc", "worst_auroc", "brier", "worst_brier")}
    assert state["orderByKey"] in shown and shown <= set(state["selectedColumns"])
    assert axes_of(state)[-3:] == [(f"strict/{x}", f"strict/{y}") for x, y in AGAINST_WORST]
    assert len(tag[1]) < LONGEST_TAG
