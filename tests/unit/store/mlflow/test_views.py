"""Saved views show columns that runs have."""

from __future__ import annotations

import json

from fairfr.app.listed import LISTED
from fairfr.store.mlflow import views


def test_a_view_shows_only_metrics_that_runs_have_and_fits_a_tag() -> None:
    logged = {f"paper/{prefix}{metric.id}" for metric in LISTED for prefix in ("", "worst_")}
    name, value = views.cells_of_sweep("ab12", "headline | 144 cells")
    assert name == "mlflow.sharedViewState.sweep-ab12" and len(value) < 5000
    envelope = json.loads(value)
    state = json.loads(envelope["state"])
    assert envelope["name"] == "headline | 144 cells" and "ab12" in state["searchFilter"]
    charts = {chart["metricKey"] for chart in state["compareRunCharts"]}
    assert charts and charts <= logged
    shown = {column[len("metrics.`") : -1] for column in state["selectedColumns"] if column.startswith("metrics.")}
    assert shown == charts | {"seconds"}
    assert state["orderByKey"] in state["selectedColumns"]
    assert views.page("1", "sweep-ab12").endswith("viewStateShareKey=sweep-ab12")
