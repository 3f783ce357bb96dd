"""What MLflow says of a run: its name, tags, parameters and metrics, from the run folder alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairfr.core.variants import flatten, labelled, variant_text
from fairfr.store.folder import Result

PER_GROUP_METRICS = frozenset({"auroc", "auroc_on_probability", "tpr_at_fpr_1e-3", "brier"})


def run_name(result: Result) -> str:
    """What the MLflow page lists: the method first, because the page cuts long names at the end."""
    method = labelled(result["method"]["label"], result["differs"])
    name = f"{method} | {result['dataset']['id']} | {result['backbone']['id']}"
    return f"{name} | synthetic" if result["source"] == "synthetic" else name


def times_of(result: Result) -> tuple[int, int]:
    """Start and end of the run itself, in milliseconds, so that the page shows its duration and not the mirror's."""
    from datetime import datetime

    end = int(datetime.fromisoformat(result["finished"]).timestamp() * 1000)
    return end - int(1000 * result.get("seconds", 0)), end


def measured_at(result: Result) -> str:
    """When the numbers were made: a run that was measured anew is logged anew."""
    return str(result.get("rescored") or result["finished"])


def tags_of(result: Result, folder: Path) -> Iterator[tuple[str, Any]]:
    """Tags to filter and group by."""
    yield "mlflow.source.name", "run.py"
    yield "mlflow.source.type", "LOCAL"
    yield "run_key", result["key"]
    yield "status", result["status"]
    yield "source", result["source"]
    for noun in ("dataset", "backbone", "method"):
        yield noun, result[noun]["id"]
    yield "variant", variant_text(result["differs"]) or "default"
    yield "needs", ", ".join(result["method"]["needs"]) or "scores only"
    yield "run_folder", folder.resolve()
    yield "finished", measured_at(result)
    if "threads" in result:
        yield "threads", result["threads"]
    if "error" in result:
        yield "error", result["error"]


def params_of(result: Result, folder: Path) -> Iterator[tuple[str, Any]]:
    """The configuration, flattened: what was chosen; of the stand-in only what differs from its yaml."""
    import yaml

    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    for noun in ("dataset", "backbone", "method", "protocol"):
        for name, value in flatten(config.get(noun, {}), f"{noun}.").items():
            hidden = name.startswith("dataset.standin") and name not in result["differs"]
            if not hidden and not name.endswith("_target_"):
                yield name, value
    yield "seed", config.get("seed")


def metrics_of(result: Result) -> Iterator[tuple[str, float]]:
    """Fold means by readable names: ``auroc``, ``worst/ethnicity/first/auroc``, ``ethnicity/both/asian/auroc``."""
    for row in result.get("metrics", []):
        if row["mean"] is None:
            continue
        if row["grouping"] == "all":
            yield row["metric"], row["mean"]
        elif row["group"] in ("worst", "gap"):
            yield f"{row['group']}/{_plain(row['grouping'])}/{row['rule']}/{row['metric']}", row["mean"]
        elif row["metric"] in PER_GROUP_METRICS:
            yield f"{_plain(row['grouping'])}/{row['rule']}/{_plain(row['group'])}/{row['metric']}", row["mean"]
    for name in ("seconds", "peak_memory_mb"):
        if name in result:
            yield name, result[name]


def _plain(group: str) -> str:
    """A group's name with only the characters that MLflow takes."""
    return "".join(c if c.isalnum() or c in "_-. " else "_" for c in group)
