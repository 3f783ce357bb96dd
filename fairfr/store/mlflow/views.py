"""Saved views of the MLflow page: which columns, charts and runs it opens with.

The page keeps a view as an experiment tag, ``mlflow.sharedViewState.<name>``; ``?viewStateShareKey=<name>`` opens it.
Without one it lists runs by name alone, and every metric has to be looked for among hundreds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

TAG = "mlflow.sharedViewState."
READING = "paper"
WIDTHS = {  # of each column, in pixels: its heading can be read
    "worst_auroc": 140,
    "auroc": 100,
    "worst_tpr_at_fpr_1e-3": 205,
    "tpr_at_fpr_1e-3": 165,
    "worst_brier": 140,
    "brier": 100,
    "ece_15": 105,
}
TAGS = ("dataset", "backbone", "method", "needs", "source")
MOST_BARS = 100


def all_cells() -> tuple[str, str]:
    """The view of every cell: the tag's name and its value."""
    return _tag("cells", "all cells", "tags.run_key != ''")


def cells_of_sweep(sweep_id: str, name: str, varied: Sequence[str] = ()) -> tuple[str, str]:
    """The view of one sweep's cells, also of those that an earlier sweep had logged.

    ``varied``: parameters that differ from the yaml in some cell; each has a column.
    """
    return _tag(f"sweep-{sweep_id}", name, f"tags.sweeps LIKE '%{sweep_id}%'", varied)


def page(experiment_id: str, view: str, charts: bool = False) -> str:
    """The part of the address after ``#`` that opens a view, as a table or as charts."""
    mode = "&compareRunsMode=CHART" if charts else ""
    return f"/experiments/{experiment_id}/runs?workflowType=machine_learning&viewStateShareKey={view}{mode}"


def report_page(experiment_id: str, parent_run_id: str, source: str) -> str:
    """The part of the address after ``#`` that opens the report of a sweep."""
    file = f"tables/{source}/{READING}/index.html"
    return f"/experiments/{experiment_id}/runs/{parent_run_id}/artifacts/{file}?workflowType=machine_learning"


def _tag(id: str, name: str, condition: str, varied: Sequence[str] = ()) -> tuple[str, str]:
    envelope = {"name": name, "createdAt": 0, "updatedAt": 0, "state": json.dumps(_state(condition, varied))}
    return TAG + id, json.dumps(envelope)


def _state(condition: str, varied: Sequence[str]) -> dict[str, Any]:
    metrics = [f"{READING}/{metric}" for metric in WIDTHS]
    shown, parameters = [f"metrics.`{metric}`" for metric in metrics], [f"params.`{key}`" for key in varied]
    columns = [*parameters, *shown, *(f"tags.`{tag}`" for tag in TAGS), "metrics.`seconds`"]
    return {
        "searchFilter": condition,
        "orderByKey": f"metrics.`{metrics[0]}`",
        "orderByAsc": False,
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "modelVersionFilter": "All Runs",
        "datasetsFilter": [],
        "selectedColumns": columns,
        "columnOrder": columns,
        "columnWidths": dict(zip(shown, WIDTHS.values(), strict=True)),
        "compareRunCharts": _charts(metrics),
        "compareRunSections": [_section()],
        "runsHiddenMode": "SHOW_ALL",
        "viewMaximized": False,
        "runListHidden": False,
        "isAccordionReordered": True,
        "useGroupedValuesInCharts": True,
        "hideEmptyCharts": True,
        "groupBy": None,
        "groupsExpanded": {},
        "chartsSearchFilter": "",
    }


def _section() -> dict[str, Any]:
    name = f"{READING} reading, mean over folds"
    state = {"display": True, "isReordered": False, "deleted": False, "isGenerated": False}
    return {"uuid": READING, "name": name, **state}


def _charts(metrics: Sequence[str]) -> list[dict[str, Any]]:
    """One bar chart for each metric."""
    return [
        {
            "uuid": metric,
            "type": "BAR",
            "metricKey": metric,
            "displayName": metric,
            "metricSectionId": READING,
            "runsCountToCompare": MOST_BARS,
            "deleted": False,
            "isGenerated": False,
        }
        for metric in metrics
    ]
