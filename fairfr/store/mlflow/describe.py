"""What MLflow says of a run: its name, tags, parameters and metrics, from the run folder alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairfr.core.variants import flatten, labelled, variant_text
from fairfr.store.folder import Result

PER_GROUP_METRICS = frozenset({"auroc", "auroc_on_probability", "tpr_at_fpr_1e-3", "brier"})
SUMMARIES = ("worst", "gap")
MAX_NAME = 250


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
    yield from _code_tags(result.get("code"))
    if "threads" in result:
        yield "threads", result["threads"]
    if "error" in result:
        yield "error", result["error"]


def _code_tags(code: dict[str, Any] | None) -> Iterator[tuple[str, Any]]:
    """MLflow's own names for the commit; unknown where fairfr was no checkout."""
    if code is not None:
        yield "mlflow.source.git.commit", code["commit"]
        yield "mlflow.source.git.dirty", code["dirty"]


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
        if row["rule"] == "all":  # of all pairs; an attribute may be called "all" as well
            yield row["metric"], row["mean"]
        elif row["group"] in SUMMARIES:
            yield _fitting(f"{row['group']}/{_plain(row['grouping'])}/{row['rule']}/{row['metric']}"), row["mean"]
        elif row["metric"] in PER_GROUP_METRICS:
            name = f"{_plain(row['grouping'])}/{row['rule']}/{_plain(row['group'])}/{row['metric']}"
            yield _fitting(name), row["mean"]
    for name in ("seconds", "peak_memory_mb"):
        if name in result:
            yield name, result[name]


def _plain(name: str) -> str:
    """A name with only the characters that MLflow takes, another one for each name: ``a/b`` is ``a.x2f.b``.

    What MLflow takes stays as it is; where ``.x`` itself occurs, its dot is written so too (``.x2e.x``), which makes
    the spelling reversible. So are names of dots alone, which MLflow would read as folders, and ``worst`` and ``gap``
    as the first part of a name, where they mean something else.
    """
    is_special = not name.strip(".") or name in SUMMARIES

    def spelled(at: int, c: str) -> str:
        is_taken = (c.isalnum() or c in "_-. ") and not name.startswith(".x", at) and not (is_special and at == 0)
        return c if is_taken else f".x{ord(c):x}."

    return "".join(spelled(at, c) for at, c in enumerate(name))


def _fitting(name: str) -> str:
    """A name as long as MLflow takes; one that is cut keeps a digest of the whole."""
    if len(name) <= MAX_NAME:
        return name
    return f"{name[: MAX_NAME - 17]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
