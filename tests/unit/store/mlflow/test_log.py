"""The thread that logs to MLflow, with a stand-in for MLflow: what is logged, how long it may take, what is said."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairfr.core.errors import FairfrError
from fairfr.store.mlflow.log import MlflowLogger
from fairfr.store.settings import StoreSettings
from fairfr.store.sweep_record import SweepRecord, SweepSummary

SWEEP = SweepRecord.of(["dataset=lfw"], None, started=0.0)
END = SweepSummary.of(SWEEP.over(1.0, None, []), [])
FOREVER = 600.0


class StandIn:
    """Takes the place of ``MlflowWriter`` and remembers what was asked of it."""

    opened: int
    asked: list[tuple[Any, ...]]
    refuses: dict[str, Exception]
    silent: threading.Event | None

    def __init__(self, store: StoreSettings, out_root: Path) -> None:
        type(self).opened += 1
        if self.silent is not None:
            self.silent.wait()
        if "open" in self.refuses:
            raise self.refuses["open"]

    def log_run(self, folder: Path, describe_run: Any, sweep: SweepRecord | None) -> None:
        self.asked.append((folder.name, describe_run, sweep))
        if folder.name in self.refuses:
            raise self.refuses[folder.name]

    def close_sweep(self, sweep: SweepRecord, end: SweepSummary, artifacts: Path | None) -> None:
        self.asked.append((sweep.id, end, artifacts))


@pytest.fixture
def mlflow(monkeypatch: pytest.MonkeyPatch) -> type[StandIn]:
    fresh = type("Fresh", (StandIn,), {"opened": 0, "asked": [], "refuses": {}, "silent": None})
    monkeypatch.setattr("fairfr.store.mlflow.log.MlflowWriter", fresh)
    return fresh


@pytest.fixture
def silent(mlflow: type[StandIn]) -> Iterator[None]:
    """An MLflow that does not answer before the test is over."""
    mlflow.silent = threading.Event()
    yield
    mlflow.silent.set()


def describe(*arguments: Any) -> dict[str, Any]:
    return {}


def logger(out_root: Path, uri: str | None = None, patience: float = FOREVER) -> MlflowLogger:
    return MlflowLogger(StoreSettings("mlflow", uri, patience=patience), out_root, describe)


def test_everything_is_logged_in_order_before_finish_returns(mlflow: type[StandIn], tmp_path: Path) -> None:
    made = logger(tmp_path)
    made.start()
    made.start()
    made.log_run(tmp_path / "one", SWEEP)
    made.log_run(tmp_path / "two")
    made.close_sweep(SWEEP, END, tmp_path)
    assert made.finish() is None
    assert mlflow.asked == [("one", describe, SWEEP), ("two", describe, None), (SWEEP.id, END, tmp_path)]
    assert mlflow.opened == 1


def test_a_run_alone_starts_the_thread(mlflow: type[StandIn], tmp_path: Path) -> None:
    made = logger(tmp_path)
    made.log_run(tmp_path / "one")
    assert made.finish() is None and len(mlflow.asked) == 1


def test_mlflow_is_not_touched_before_it_is_needed(mlflow: type[StandIn], tmp_path: Path) -> None:
    assert logger(tmp_path).finish() is None and mlflow.opened == 0


@pytest.mark.usefixtures("silent")
def test_without_anything_to_log_nothing_is_waited_for(tmp_path: Path) -> None:
    """The thread was started for a cell that then ended in a mistake."""
    made = logger(tmp_path)
    made.start()
    assert made.finish() is None


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize(("patience", "limit"), [(0.25, None), (FOREVER, 0.25)], ids=["patience", "after Ctrl-C"])
def test_a_silent_store_costs_the_limit_and_no_more(patience: float, limit: float | None, tmp_path: Path) -> None:
    made = logger(tmp_path, "http://me:s3cret@server:5000", patience)
    for name in ("one", "two", "three"):
        made.log_run(tmp_path / name)
    made.close_sweep(SWEEP, END)
    expected = "MlflowError: http://me:***@server:5000: logging was not finished within 0.25 s."
    assert made.finish(limit) == expected


def test_after_the_first_refusal_nothing_more_is_tried(mlflow: type[StandIn], tmp_path: Path) -> None:
    mlflow.refuses["two"] = OSError("no room")
    made = logger(tmp_path)
    for name in ("one", "two", "three"):
        made.log_run(tmp_path / name)
    made.close_sweep(SWEEP, END)
    refusal = made.finish()
    assert refusal is not None and refusal.startswith("MlflowError: sqlite:///") and refusal.endswith(": no room")
    assert [asked[0] for asked in mlflow.asked] == ["one", "two"]


def test_a_store_that_cannot_be_opened_says_why(mlflow: type[StandIn], tmp_path: Path) -> None:
    mlflow.refuses["open"] = OSError("http://me:s3cret@server:5000 refused")
    made = logger(tmp_path, "http://me:s3cret@server:5000")
    made.log_run(tmp_path / "one")
    refusal = made.finish()
    assert refusal == "MlflowError: http://me:***@server:5000: http://me:***@server:5000 refused"
    assert mlflow.asked == []


def test_an_error_of_ours_keeps_its_own_words(mlflow: type[StandIn], tmp_path: Path) -> None:
    mlflow.refuses["one"] = FairfrError("the folder is damaged")
    made = logger(tmp_path)
    made.log_run(tmp_path / "one")
    assert made.finish() == "FairfrError: the folder is damaged"


def test_the_address_is_shown_without_its_password(tmp_path: Path) -> None:
    elsewhere = logger(tmp_path, "http://me:s3cret@server:5000")
    assert elsewhere.uri == "http://me:***@server:5000" and elsewhere.is_elsewhere
    here = logger(tmp_path)
    assert here.uri == f"sqlite:///{tmp_path / 'mlflow.db'}" and not here.is_elsewhere
