"""The report of a sweep is in the reading of its settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairfr.core.run_result import RunResult
from fairfr.store.result_file import write_result
from fairfr.store.sweep_record import CellOutcome
from fairfr.sweep.sweep_report import write_sweep_report


def outcome(folder: Path, backbone: str) -> CellOutcome:
    """A cell with one number, and its run folder."""
    row = {"grouping": "all", "rule": "all", "group": "all", "metric": "auroc", "mean": 0.9, "std": 0.0}
    counts = {"folds": 2, "folds_total": 2, "n_same": 100, "n_diff": 100}
    stored = {
        "key": backbone,
        "status": "completed",
        "source": "files",
        "finished": "2026-01-01T00:00:00+00:00",
        "identity": {},
        "differs": {},
        "dataset": {"id": "lfw", "label": "LFW"},
        "backbone": {"id": backbone, "label": backbone},
        "method": {"id": "baseline", "label": "Baseline", "needs": [], "native_probability": False},
        "data": {"folds": ["0", "1"], "grouping": None},
        "metrics": [{**row, **counts}],
    }
    (folder / backbone).mkdir()
    write_result(folder / backbone, RunResult.from_json(stored))
    return CellOutcome(status="completed", folder=folder / backbone)


@pytest.mark.parametrize(
    ("backbones", "readings"),
    [
        (("magface",), {"paper", "strict"}),
        (("mynet",), {"strict"}),
        (("magface", "mynet"), {"strict"}),
    ],
)
def test_own_data_in_a_sweep_is_reported_strictly_alone(
    tmp_path: Path, backbones: tuple[str, ...], readings: set[str]
) -> None:
    report = tmp_path / "report"
    write_sweep_report([outcome(tmp_path, backbone) for backbone in backbones], report)
    assert {path.name for path in (report / "tables" / "files").iterdir()} == readings
    page = (report / "tables" / "files" / "strict" / "index.md").read_text(encoding="utf-8")
    assert all(f"_lfw_{backbone}" in page for backbone in backbones), "all cells are on one page"
