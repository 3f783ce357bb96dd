"""Saved views of the MLflow page: which columns, charts and runs it opens with.

The page keeps a view as an experiment tag, ``mlflow.sharedViewState.<name>``; ``?viewStateShareKey=<name>`` opens it.
Without one it lists runs by name alone, and every metric has to be looked for among hundreds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

TAG = "mlflow.sharedViewState."
MOST_POINTS = 100
SORTED_BY = "worst_auroc"
STRICT = "strict/"
"""Before the names of metrics in the strict reading; without it they are in that of each run's setting."""
WIDTHS = {
    # In pixels. The page's list is 788 wide in a window of 1400 with the Assistant's pane, which a fresh browser opens;
    # 73 of them are check boxes, which cannot be narrowed, as Created and Duration cannot be left out.
    "attributes.`Run Name`": 160,  # AC-Linear (C=0.01)
    "runDateAndNestInfo": 24,
    "tags.`dataset`": 54,
    "tags.`backbone`": 74,
    "tags.`source`": 74,  # synthetic
    "metrics.`auroc`": 77,  # 0.123456
    "metrics.`worst_auroc`": 84,
    "metrics.`brier`": 84,  # 0.0123456
    "metrics.`worst_brier`": 84,
    "duration": 80,
}
OF_OWN_DATA = {
    # Methods and their variants have columns, so the run's name may be cut.
    "attributes.`Run Name`": 125,
    "runDateAndNestInfo": 24,
    "tags.`dataset`": 54,
    "tags.`backbone`": 74,
    "tags.`method`": 88,
    "tags.`variant`": 86,
    "metrics.`auroc`": 77,
    "metrics.`worst_auroc`": 84,
    "metrics.`tpr_at_fpr_1e-3`": 100,
    # beyond the pane, as the duration is
    "metrics.`brier`": 84,
    "metrics.`worst_brier`": 84,
    "duration": 80,
}
ALWAYS = ("attributes.`Run Name`", "runDateAndNestInfo", "duration")
"""Columns that the page shows whatever is chosen."""
COMPARED = ("auroc", "brier", "tpr_at_fpr_1e-3")
"""Each is drawn against the same metric of the worst group."""
BY_SOURCE = {"files": ("own-data", "own data"), "synthetic": ("synthetic", "synthetic stand-ins")}
"""The view of the runs of each source: its key and its name."""


def cells_of(source: str) -> str:
    """The condition that finds every cell of one source, without the parent runs of sweeps."""
    return f"tags.run_key != '' and tags.source = '{source}'"


def of_source(source: str) -> tuple[str, str]:
    """The view of every cell of one source: the tag's name and its value."""
    key, name = BY_SOURCE[source]
    widths = WIDTHS
    if source == "files":
        widths = OF_OWN_DATA
    return _tag(key, name, cells_of(source), widths=widths)


def of_sweep(sweep_id: str, name: str, varied: Sequence[str] = (), mixed: bool = False) -> tuple[str, str]:
    """The view of one sweep's cells, also of those that an earlier sweep had logged.

    ``varied``: parameters that are not the same in every cell; each has a column, and one alone is an axis of charts.
    ``mixed``: its settings are read in different ways, so its metrics are the strict ones.
    """
    reading = STRICT if mixed else ""
    return _tag(f"sweep-{sweep_id}", name, f"tags.sweeps LIKE '%{sweep_id}%'", varied, reading)


def page(experiment_id: str, view: str, charts: bool = False) -> str:
    """The part of the address after ``#`` that opens a view, as a table or as charts."""
    mode = "&compareRunsMode=CHART" if charts else ""
    return f"/experiments/{experiment_id}/runs?workflowType=machine_learning&viewStateShareKey={view}{mode}"


def report_page(experiment_id: str, parent_run_id: str, source: str, reading: str) -> str:
    """The part of the address after ``#`` that opens the report of a sweep."""
    file = f"tables/{source}/{reading}/index.html"
    return f"/experiments/{experiment_id}/runs/{parent_run_id}/artifacts/{file}?workflowType=machine_learning"


def _tag(
    key: str,
    name: str,
    condition: str,
    varied: Sequence[str] = (),
    reading: str = "",
    widths: Mapping[str, int] = WIDTHS,
) -> tuple[str, str]:
    state = _compact(_state(condition, varied, reading, widths))
    envelope = {"name": name, "createdAt": 0, "updatedAt": 0, "state": state}
    return TAG + key, _compact(envelope)


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))  # a tag of an experiment has room for 5,000 characters


def _state(condition: str, varied: Sequence[str], reading: str, widths: Mapping[str, int]) -> dict[str, Any]:
    widths = {column.replace("metrics.`", f"metrics.`{reading}"): width for column, width in widths.items()}
    chosen = [column for column in widths if column not in ALWAYS]
    parameters = [f"params.`{key}`" for key in varied]
    sections = _sections(varied, reading)
    return {
        "searchFilter": condition,
        "orderByKey": f"metrics.`{reading}{SORTED_BY}`",
        "orderByAsc": False,
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "modelVersionFilter": "All Runs",
        "datasetsFilter": [],
        "selectedColumns": [*chosen, *parameters],
        "columnOrder": [*widths, *parameters],
        "columnWidths": widths,
        "compareRunCharts": [chart for _, charts in sections for chart in charts],
        "compareRunSections": [section for section, _ in sections],
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


def _sections(varied: Sequence[str], reading: str) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """The sections of the page's charts, each with its charts; of a sweep over one parameter first those over it."""
    sections = []
    if len(varied) == 1:
        over = {"key": varied[0], "type": "PARAM"}
        metrics = [name for metric in COMPARED for name in (metric, f"worst_{metric}")]
        axes = [(over, _metric(reading + metric)) for metric in metrics]
        sections.append(_section("over", f"over {varied[0]}", axes))
    axes = [(_metric(reading + metric), _metric(f"{reading}worst_{metric}")) for metric in COMPARED]
    sections.append(_section("worst", "worst group", axes))
    return sections


def _metric(name: str) -> dict[str, str]:
    return {"key": name, "type": "METRIC"}


def _section(
    id: str, name: str, axes: Iterable[tuple[dict[str, str], dict[str, str]]]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A section of two scatter plots a row, because beside the pane a third one would be too narrow to read."""
    kept = {"deleted": False, "isGenerated": False}
    section = {"uuid": id, "name": name, "display": True, "isReordered": False, "columns": 2, "cardHeight": 300, **kept}
    charts = []
    for number, (x, y) in enumerate(axes):
        place = {"uuid": f"{id}{number}", "type": "SCATTER", "metricSectionId": id, "runsCountToCompare": MOST_POINTS}
        charts.append({**place, "xaxis": x, "yaxis": y, **kept})
    return section, charts
