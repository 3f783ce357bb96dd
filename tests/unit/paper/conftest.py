"""Runs that give back the numbers which the paper prints, whole or with known changes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

import pytest
from made_runs import results_of, run_of

from fairfr.paper.order import BACKBONES, DATASETS, GROUP_AWARE, HEADLINE, ROWS, SETTINGS
from fairfr.paper.printed import LD_TPR, LU_AUROC, printed_headline
from fairfr.report.quantity import LIFTED
from fairfr.stored.results import Results
from fairfr.stored.run import Run

GROUPS = {"rfw": 4, "bfw": 8, "lfw": 8}
NATIVE = {"faircal", "frappe", "gst", "oracle", "ac_mlp", "ac_linear", "ac_density", "ac_density_loo"}
Cell: TypeAlias = tuple[str, str, str]
Values: TypeAlias = Mapping[tuple[str, str], float]  # (metric, group) -> mean


def make_result(cell: Cell, values: Values, source: str = "files", **more: Any) -> Run:
    """A completed run with these numbers, whichever reading asks for them."""
    dataset, backbone, method = cell
    row = next((row for row in ROWS if method in (row.strict, row.paper)), None)
    metrics = [
        {"grouping": grouping, "rule": rule, "group": group, "metric": name, "mean": mean, **_COUNTS}
        for (metric, group), mean in values.items()
        for grouping, rule in ([("all", "all")] if group == "all" else [("eth", "first"), ("eth", "both")])
        for name in (metric, f"{metric}_on_probability", f"{metric}_raw")
    ]
    groups = [f"g{i}" for i in range(GROUPS[dataset])]
    return run_of(
        {
            "key": f"{source}-{'-'.join(cell)}",
            "status": "completed",
            "source": source,
            "finished": "2026-01-01",
            "dataset": {"id": dataset, "label": DATASETS[dataset]},
            "backbone": {"id": backbone, "label": BACKBONES[backbone]},
            "method": {
                "id": method,
                "label": method,
                "needs": ["groups"] if row in GROUP_AWARE else [],
                "native_probability": row is not None and row.id in NATIVE,
            },
            "data": {"grouping": "eth", "groups": {"eth": groups}, "folds": ["0", "1"], "dimensions": 512},
            "metrics": metrics,
            **more,
        }
    )


_COUNTS = {"std": 0.0, "folds": 2, "folds_total": 2, "n_same": 600, "n_diff": 600}


def group_values(dataset: str, metric: str, lifted: int | None) -> dict[tuple[str, str], float]:
    """Groups from worst to best; the first ``lifted`` are better than Baseline's, the others worse (None: Baseline)."""
    steps = range(GROUPS[dataset])
    return {
        (metric, f"g{i}"): 0.8 + i / 100 + (0 if lifted is None else 0.005 if i < lifted else -0.005) for i in steps
    }


def printed_values(dataset: str, backbone: str, method: str) -> dict[tuple[str, str], float]:
    """All that the paper prints for a cell; K/N as groups that give it."""
    mine = [p for p in printed_headline() if (p.dataset, p.backbone, p.method) == (dataset, backbone, method)]
    values = {(p.quantity.metric, p.quantity.group): p.value for p in mine if p.quantity.group != LIFTED}
    for quantity in (LU_AUROC, LD_TPR):
        lifted = next((int(p.text.split("/")[0]) for p in mine if p.quantity == quantity), None)
        values |= group_values(dataset, quantity.metric, lifted)
    return values


@pytest.fixture(scope="session")
def make_run() -> Callable[..., Run]:
    """``make_run((dataset, backbone, method), {(metric, group): value})``."""
    return make_result


@pytest.fixture(scope="session")
def paper_runs() -> Callable[..., Results]:
    """``paper_runs(change={(cell): {(metric, group): value}}, without={cell}, source="files")``: the paper, as runs.

    Platt, which its headline tables do not have, is as the Baseline; both forms of AC-Density are as the printed one.
    """

    def make(
        change: Mapping[Cell, Values] | None = None, without: Collection[Cell] = (), source: Any = "files"
    ) -> Results:
        results = []
        for dataset, backbone in HEADLINE:
            for row in ROWS:
                cell = (dataset, backbone, row.id)
                printed = printed_values(dataset, backbone, row.printed or row.id)
                values = printed | dict((change or {}).get(cell, {}))
                if cell not in without:
                    ids = {row.strict, row.paper}
                    results += [make_result((dataset, backbone, method), values, source) for method in ids]
            platt = (dataset, backbone, "platt")
            values = printed_values(dataset, backbone, "baseline") | dict((change or {}).get(platt, {}))
            results.append(make_result(platt, values, source))
        return results_of(results, source)

    return make


@pytest.fixture(scope="session")
def group_runs() -> Callable[..., Results]:
    """Runs of every label-free method on all 16 settings, with group values from ``value(setting, group, method)``."""

    def make(value: Callable[[tuple[str, str], int, str], float], settings: Any = SETTINGS) -> Results:
        return results_of(
            [
                make_result(
                    (*setting, row.id),
                    {
                        (m, f"g{i}"): value(setting, i, row.id)
                        for m in ("auroc", "pauc")
                        for i in range(GROUPS[setting[0]])
                    },
                )
                for setting in settings
                for row in ROWS
                if row not in GROUP_AWARE
            ],
            "files",
        )

    return make
