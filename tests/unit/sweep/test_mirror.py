"""The mirror with a stand-in for MLflow: what is brought, when nothing is, how long it may take, what is said."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fairfr.core.errors import FairfrError
from fairfr.store.mlflow.client import MlflowError
from fairfr.store.mlflow.describe import measured_at
from fairfr.store.mlflow.ledger import LEDGER
from fairfr.store.result_file import DamagedRunError, try_read_result, write_result
from fairfr.store.settings import StoreSettings
from fairfr.store.sweep_record import CellOutcome, SweepRecord, SweepSummary, write_outcome
from fairfr.sweep import mirror as module
from fairfr.sweep.mirror import Mirror
from tests.helpers.made_runs import result_of

SWEEP = SweepRecord.of(["dataset=lfw"], None, started=0.0)
ENDED = SWEEP.over(1.0, None, [])
FOREVER = 600.0
LATER = "2027-01-01T00:00:00+00:00"


class StandIn:
    """Takes the place of ``MlflowWriter``: keeps what it logs in a database beside the runs, as MLflow does."""

    opened: int
    asked: list[str]
    refuses: dict[str, Exception]
    silent: threading.Event | None
    runs: dict[str, list[Any]]
    sweeps: dict[str, tuple[str, str]]
    on_log: Any

    def __init__(self, store: StoreSettings, out_root: Path) -> None:
        type(self).opened += 1
        self._database = out_root / "mlflow.db" if store.tracking_uri is None else None
        if self.silent is not None:
            self.silent.wait()
        if "open" in self.refuses:
            raise self.refuses["open"]

    def runs_of(self, key: str) -> list[Any]:
        return self.runs.get(key, [])

    def runs_by_key(self) -> dict[str, list[Any]]:
        return self.runs

    def delete_unfinished(self) -> int:
        return 0

    def log_run(self, folder: Path, describe_run: Any, sweep: SweepRecord | None) -> str:
        self.asked.append(folder.name)
        if folder.name in self.refuses:
            raise self.refuses[folder.name]
        result = try_read_result(folder)
        assert result is not None
        run_id = self._store()
        info = SimpleNamespace(run_id=run_id, status="FINISHED" if result.is_completed else "FAILED")
        data = SimpleNamespace(tags={"finished": measured_at(result)})
        self.runs.setdefault(result.key, []).append(SimpleNamespace(info=info, data=data))
        return run_id

    def close_sweep(self, sweep: SweepRecord, end: SweepSummary, state: str, artifacts: Path | None) -> str:
        self.asked.append(f"sweep {sweep.id} of {len(end.keys)}")
        run_id = self._store()
        self.sweeps[sweep.id] = (state, run_id)
        return run_id

    def closed_sweep(self, sweep: SweepRecord, state: str) -> str | None:
        known, run_id = self.sweeps.get(sweep.id, ("", ""))
        return run_id if known == state else None

    def link(self, sweep: SweepRecord, parent: str, keys: Any) -> None:
        self.asked.append(f"linked {len(keys)}")

    def _store(self) -> str:
        run_id = f"id{len(self.asked)}"
        if self._database is not None:
            with closing(sqlite3.connect(self._database)) as database:
                database.execute("CREATE TABLE IF NOT EXISTS runs (run_uuid TEXT, lifecycle_stage TEXT)")
                database.execute("INSERT INTO runs VALUES (?, 'active')", (run_id,))
                database.commit()
        return run_id


@pytest.fixture(autouse=True)
def mlflow(monkeypatch: pytest.MonkeyPatch) -> type[StandIn]:
    clean = {"opened": 0, "asked": [], "refuses": {}, "silent": None, "runs": {}, "sweeps": {}}
    fresh = type("Fresh", (StandIn,), clean)
    monkeypatch.setattr(module, "MlflowWriter", fresh)
    monkeypatch.setattr(module, "import_mlflow", lambda timeout: None)
    monkeypatch.setattr(module, "write_sweep_report", lambda *arguments: None)
    return fresh


@pytest.fixture
def silent(mlflow: type[StandIn]) -> Iterator[None]:
    """An MLflow that does not answer before the test is over."""
    over = mlflow.silent = threading.Event()
    yield
    over.set()


def make_run(out_root: Path, key: str, **keys: Any) -> Path:
    folder = out_root / "runs" / "set" / "net" / "method" / key
    folder.mkdir(parents=True, exist_ok=True)
    write_result(folder, result_of({"key": key, **keys}))
    return folder


def cells_of(*folders: Path, status: str = "completed") -> list[CellOutcome]:
    return [CellOutcome(status, folder.name, folder=folder) for folder in folders]


def mirror(out_root: Path, uri: str | None = None, patience: float = FOREVER) -> Mirror:
    return Mirror(StoreSettings("mlflow", uri, patience=patience), out_root)


def bring(out_root: Path, *folders: Path, uri: str | None = None) -> None:
    """One command that gives these runs to MLflow."""
    made = mirror(out_root, uri)
    for folder in folders:
        made.bring(folder)
    assert made.finish() is None


def run_sweep(out_root: Path, *folders: Path, record: SweepRecord = ENDED) -> None:
    made = mirror(out_root)
    for folder in folders:
        made.bring(folder, record)
    if made.lacks_sweep(record, cells_of(*folders)):
        made.bring_sweep(record, cells_of(*folders))
    assert made.finish() is None


# ---- what is brought -----------------------------------------------------------------------------------------------


def test_everything_is_logged_in_order_before_finish_returns(mlflow: type[StandIn], tmp_path: Path) -> None:
    run_sweep(tmp_path, make_run(tmp_path, "one"), make_run(tmp_path, "two"))
    assert mlflow.asked == ["one", "two", f"sweep {SWEEP.id} of 2"] and mlflow.opened == 1


@pytest.mark.parametrize("uri", [None, "http://server:5000"])
def test_what_was_taken_is_not_asked_for_again(mlflow: type[StandIn], tmp_path: Path, uri: str | None) -> None:
    one, two = make_run(tmp_path, "one"), make_run(tmp_path, "two")
    bring(tmp_path, one, uri=uri)
    bring(tmp_path, one, uri=uri)
    assert mlflow.opened == 1
    bring(tmp_path, one, two, uri=uri)
    assert mlflow.asked == ["one", "two"]
    make_run(tmp_path, "one", finished=LATER)
    bring(tmp_path, one, two, uri=uri)
    assert mlflow.asked == ["one", "two", "one"], "it was measured again"


def test_what_another_process_logged_is_remembered_and_not_logged_again(mlflow: type[StandIn], tmp_path: Path) -> None:
    one = make_run(tmp_path, "one")
    bring(tmp_path, one)
    (tmp_path / LEDGER).unlink()
    bring(tmp_path, one)
    bring(tmp_path, one)
    assert mlflow.asked == ["one"] and mlflow.opened == 2


def test_a_failed_run_of_a_colleague_does_not_stand_for_a_completed_one(mlflow: type[StandIn], tmp_path: Path) -> None:
    """Theirs failed later. The other way round, a completed run that is newer makes a failed one old."""
    bring(tmp_path, make_run(tmp_path, "one", status="failed", finished=LATER))
    bring(tmp_path, make_run(tmp_path, "one"))
    assert mlflow.asked == ["one", "one"]
    (tmp_path / LEDGER).unlink()
    bring(tmp_path, make_run(tmp_path, "one", status="failed", finished="2025-01-01T00:00:00+00:00"))
    assert mlflow.asked == ["one", "one"]


def test_a_failed_repetition_of_a_complete_run_is_not_for_mlflow(mlflow: type[StandIn], tmp_path: Path) -> None:
    one = make_run(tmp_path, "one")
    failed = tmp_path / "failed" / "set-net-method-one"
    one.parent.rename(tmp_path / "aside")
    failed.parent.mkdir()
    (tmp_path / "aside" / "one").rename(failed)
    bring(tmp_path, failed)
    assert mlflow.opened == 0


# ---- what was left out is made up for ------------------------------------------------------------------------------


@pytest.mark.usefixtures("silent")
def test_what_ctrl_c_or_a_dead_server_left_out_the_same_command_brings(mlflow: type[StandIn], tmp_path: Path) -> None:
    folders = [make_run(tmp_path, name) for name in ("one", "two")]
    cut_short = mirror(tmp_path)
    for folder in folders:
        cut_short.bring(folder, SWEEP)
    cut_short.bring_sweep(SWEEP.over(1.0, "KILLED", []), cells_of(*folders))
    assert "not finished within 0.1 s" in str(cut_short.finish(0.1))
    mlflow.silent = None
    run_sweep(tmp_path, *folders)
    assert mlflow.asked == ["one", "two", f"sweep {SWEEP.id} of 2"]
    run_sweep(tmp_path, *folders)
    assert mlflow.opened == 2


def test_a_sweep_whose_parent_was_not_finished_is_finished_by_the_same_command(
    mlflow: type[StandIn], tmp_path: Path
) -> None:
    one = make_run(tmp_path, "one")
    bring(tmp_path, one)  # then it was killed
    run_sweep(tmp_path, one)
    run_sweep(tmp_path, one, record=replace(ENDED, started=5.0, ended=9.0))
    assert mlflow.asked == ["one", f"sweep {SWEEP.id} of 1"]
    run_sweep(tmp_path, one, make_run(tmp_path, "two"))
    assert mlflow.asked[2:] == ["two", f"sweep {SWEEP.id} of 2"]


def test_a_sweep_without_a_run_is_not_for_mlflow(tmp_path: Path) -> None:
    made = mirror(tmp_path)
    assert not made.lacks_sweep(ENDED, [CellOutcome("failed", "a", "no such folder")])


@pytest.mark.parametrize("loss", ["gone", "another", "deleted", "no tables"])
def test_a_database_that_lost_its_runs_gets_them_again(mlflow: type[StandIn], tmp_path: Path, loss: str) -> None:
    one, database = make_run(tmp_path, "one"), tmp_path / "mlflow.db"
    run_sweep(tmp_path, one)
    with closing(sqlite3.connect(database)) as opened:
        if loss == "another":
            opened.execute("UPDATE runs SET run_uuid = 'x'")
        elif loss == "deleted":
            opened.execute("UPDATE runs SET lifecycle_stage = 'deleted'")
        elif loss == "no tables":
            opened.execute("DROP TABLE runs")
        opened.commit()
    if loss == "gone":
        database.unlink()
    mlflow.runs.clear()
    mlflow.sweeps.clear()
    run_sweep(tmp_path, one)
    assert mlflow.asked == ["one", f"sweep {SWEEP.id} of 1"] * 2


def test_another_store_or_experiment_has_a_memory_of_its_own(mlflow: type[StandIn], tmp_path: Path) -> None:
    one = make_run(tmp_path, "one")
    for uri in ("http://me:s3cret@server:5000", "http://me:other@server:5000", "http://elsewhere:5000"):
        mlflow.runs.clear()
        bring(tmp_path, one, uri=uri)
    assert mlflow.opened == 2, "a password does not make another store"
    text = (tmp_path / LEDGER).read_text()
    assert "s3cret" not in text and text.count("\n") == 2
    made = Mirror(StoreSettings("mlflow", "http://elsewhere:5000", "mine"), tmp_path)
    made.bring(one)
    assert made.finish() is None and mlflow.opened == 3


def test_lines_that_were_cut_short_cost_a_question_and_no_more(mlflow: type[StandIn], tmp_path: Path) -> None:
    one, two = make_run(tmp_path, "one"), make_run(tmp_path, "two")
    bring(tmp_path, one, two)
    whole = (tmp_path / LEDGER).read_bytes()
    (tmp_path / LEDGER).write_bytes(b"\xff\n[1, 2]\nnull\n" + whole[:-20])
    bring(tmp_path, one)
    assert mlflow.opened == 1
    bring(tmp_path, one, two)
    assert mlflow.opened == 2 and mlflow.asked == ["one", "two"], "looked up"


def test_a_ledger_that_cannot_be_written_costs_a_question_and_no_more(mlflow: type[StandIn], tmp_path: Path) -> None:
    (tmp_path / LEDGER).symlink_to(tmp_path / "elsewhere")
    one = make_run(tmp_path, "one")
    bring(tmp_path, one)
    bring(tmp_path, one)
    assert mlflow.asked == ["one"] and mlflow.opened == 2 and not (tmp_path / "elsewhere").exists()


# ---- everything at once --------------------------------------------------------------------------------------------


def test_sync_brings_runs_and_sweeps_and_a_second_one_nothing(mlflow: type[StandIn], tmp_path: Path) -> None:
    folders = [make_run(tmp_path, name, status=status) for name, status in (("a", "completed"), ("b", "failed"))]
    sweep = tmp_path / "hydra" / "sweep" / "day" / "time"
    for job, outcome in enumerate(cells_of(*folders)):
        write_outcome(sweep / str(job), outcome)
    ENDED.write(sweep)
    said: list[str] = []
    assert mirror(tmp_path).bring_all(said.append, said.append) == (2, 0, 1, 0, 0)
    assert mlflow.asked == ["a", "b", f"sweep {SWEEP.id} of 2"]
    assert mirror(tmp_path).bring_all(said.append, said.append) == (0, 2, 0, 1, 0)
    assert mlflow.asked[3:] == ["linked 2"] and said == []
    run_sweep(tmp_path, *folders)
    assert mlflow.opened == 2, "and who repeats the sweep asks nothing"


def test_sync_believes_no_ledger(mlflow: type[StandIn], tmp_path: Path) -> None:
    bring(tmp_path, make_run(tmp_path, "one"), uri="http://server:5000")
    mlflow.runs.clear()
    assert mirror(tmp_path, "http://server:5000").bring_all(print, print).runs == 1


# ---- when MLflow is not there --------------------------------------------------------------------------------------


def test_mlflow_is_not_touched_before_it_is_needed(mlflow: type[StandIn], tmp_path: Path) -> None:
    assert mirror(tmp_path).finish() is None and mlflow.opened == 0


@pytest.mark.usefixtures("silent")
def test_without_anything_to_log_nothing_is_waited_for(tmp_path: Path) -> None:
    """The thread was started for a cell that then ended in a mistake."""
    made = mirror(tmp_path)
    made.start()
    made.start()
    assert made.finish() is None


@pytest.mark.usefixtures("silent")
def test_the_process_does_not_end_while_mlflow_is_being_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python would stop the thread inside a C++ library, which aborts the process."""
    goes_on, has_ended = threading.Event(), threading.Event()

    def import_slowly(timeout: float) -> None:
        goes_on.wait()
        has_ended.set()

    monkeypatch.setattr(module, "import_mlflow", import_slowly)
    made = mirror(tmp_path)
    made.start()
    threading.Timer(0.05, goes_on.set).start()
    assert made.finish() is None and has_ended.is_set()


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize(("patience", "limit"), [(0.25, None), (FOREVER, 0.25)], ids=["patience", "after Ctrl-C"])
def test_a_silent_store_costs_the_limit_and_no_more(patience: float, limit: float | None, tmp_path: Path) -> None:
    made = mirror(tmp_path, "http://me:s3cret@server:5000", patience)
    for name in ("one", "two", "three"):
        made.bring(make_run(tmp_path, name))
    expected = "MlflowError: http://me:***@server:5000: logging was not finished within 0.25 s."
    assert made.finish(limit) == expected


def test_after_the_first_refusal_nothing_more_is_tried(mlflow: type[StandIn], tmp_path: Path) -> None:
    mlflow.refuses["two"] = OSError("no room")
    made = mirror(tmp_path)
    for name in ("one", "two", "three"):
        made.bring(make_run(tmp_path, name))
    refusal = made.finish()
    assert refusal is not None and refusal.startswith("MlflowError: sqlite:///") and refusal.endswith(": no room")
    assert mlflow.asked == ["one", "two"]


class InvalidContentError(Exception):
    """What MLflow raises for a name that it does not take."""

    error_code = "INVALID_PARAMETER_VALUE"


@pytest.mark.parametrize("reason", [InvalidContentError("Invalid value"), DamagedRunError("config.yaml is damaged.")])
def test_a_run_whose_content_is_refused_keeps_no_other_out(
    mlflow: type[StandIn], tmp_path: Path, reason: Exception
) -> None:
    mlflow.refuses["two"] = reason
    folders = [make_run(tmp_path, name) for name in ("one", "two", "three")]
    made = mirror(tmp_path)
    for folder in folders:
        made.bring(folder, ENDED)
    made.bring_sweep(ENDED, cells_of(*folders))
    refusal = str(made.finish())
    assert str(reason) in refusal and refusal.endswith(f" Not logged: {folders[1]}.")
    assert mlflow.asked == ["one", "two", "three", f"sweep {SWEEP.id} of 3"]


def test_a_folder_without_a_whole_run_is_told(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "one")
    (folder / "result.json").write_text("{")
    made = mirror(tmp_path)
    made.bring(folder)
    assert made.finish() == f"MlflowError: {folder} has no whole result.json."


def test_a_store_that_cannot_be_opened_says_why(mlflow: type[StandIn], tmp_path: Path) -> None:
    mlflow.refuses["open"] = OSError("http://me:s3cret@server:5000 refused")
    made = mirror(tmp_path, "http://me:s3cret@server:5000")
    made.bring(make_run(tmp_path, "one"))
    refusal = made.finish()
    assert refusal == "MlflowError: http://me:***@server:5000: http://me:***@server:5000 refused"
    assert mlflow.asked == []


def test_an_error_of_ours_keeps_its_own_words(mlflow: type[StandIn], tmp_path: Path) -> None:
    mlflow.refuses["one"] = FairfrError("the folder is damaged")
    made = mirror(tmp_path)
    made.bring(make_run(tmp_path, "one"))
    assert made.finish() == "FairfrError: the folder is damaged"


def test_sync_goes_on_after_a_refusal_until_its_patience_is_over(
    mlflow: type[StandIn], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two", "three"):
        make_run(tmp_path, name)
    mlflow.refuses["three"] = ValueError("a parameter is too long")
    said: list[str] = []
    assert mirror(tmp_path).bring_all(said.append, print).runs == 2
    assert len(said) == 1 and "a parameter is too long" in said[0]
    mlflow.runs.clear()
    clock = iter([0.0, FOREVER + 1])
    monkeypatch.setattr("fairfr.sweep.mirror.time", SimpleNamespace(monotonic=lambda: next(clock)))
    mlflow.refuses["one"] = ConnectionError("no answer")
    with pytest.raises(MlflowError, match="no answer"):
        mirror(tmp_path).bring_all(print, print)


def test_the_address_is_shown_without_its_password(tmp_path: Path) -> None:
    assert mirror(tmp_path, "http://me:s3cret@server:5000").uri == "http://me:***@server:5000"
    assert mirror(tmp_path).uri == f"sqlite:///{tmp_path / 'mlflow.db'}"
