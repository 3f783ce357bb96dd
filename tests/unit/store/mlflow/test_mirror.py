"""The mirror's bookkeeping, with a stand-in for the process that runs MLflow."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fairfr.store.mlflow.client import MlflowError
from fairfr.store.mlflow.mirror import Mirror
from fairfr.store.mlflow.process import MlflowEndedError, MlflowProcess
from fairfr.store.settings import StoreSettings
from fairfr.store.sweep import Sweep, SweepEnd

NAMES = {"dataset": {"id": "lfw"}, "backbone": {"id": "magface"}, "method": {"id": "platt"}}
RESULT = {"key": "synthetic-1", "source": "synthetic", **NAMES}


class Recorder:
    """Takes the place of ``MlflowProcess``; the first request makes the database, as MLflow does."""

    refuses: MlflowError | None = None
    takes = 0.0
    started = 0

    def __init__(self, uri: str, experiment: str, artifact_root: Path | None, patience: float) -> None:
        self._database = Path(uri.removeprefix("sqlite:///"))
        Recorder.started += 1

    def request(self, call: str, arguments: Mapping[str, Any], timeout: float) -> Any:
        Clock.now += min(self.takes, timeout)
        if self.refuses is not None:
            raise self.refuses
        self._database.touch()

    def close(self) -> None:
        pass


class Clock:
    """Seconds that pass only when MLflow takes them."""

    now = 0.0

    @classmethod
    def monotonic(cls) -> float:
        return cls.now


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mirror:
    monkeypatch.setattr("fairfr.store.mlflow.mirror.MlflowProcess", Recorder)
    monkeypatch.setattr("fairfr.store.mlflow.mirror.time", Clock)
    monkeypatch.setattr(Recorder, "started", 0)
    return Mirror(StoreSettings("mlflow", patience=30.0), tmp_path)


def test_a_new_database_has_nothing_of_what_the_deleted_one_had(mirror: Mirror, tmp_path: Path) -> None:
    other = RESULT | {"key": "synthetic-2"}
    mirror.log(RESULT, tmp_path)
    assert mirror.has(RESULT) and not mirror.has(other)
    (tmp_path / "mlflow.db").unlink()
    again = Mirror(StoreSettings("mlflow"), tmp_path)
    again.log(other, tmp_path)
    assert again.has(other) and not again.has(RESULT)


def test_a_run_that_is_refused_is_not_marked_any_more(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror.log(RESULT, tmp_path)
    monkeypatch.setattr(Recorder, "refuses", MlflowError("no room"))
    with pytest.raises(MlflowError):
        mirror.log(RESULT, tmp_path)
    assert not mirror.has(RESULT)


def test_an_mlflow_that_refuses_slowly_costs_the_patience_once_and_is_then_left_alone(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Recorder, "refuses", MlflowError("down"))
    monkeypatch.setattr(Recorder, "takes", 12.0)
    began = Clock.now
    for _ in range(20):
        with pytest.raises(MlflowError, match="down"):
            mirror.log(RESULT, tmp_path)
    assert Clock.now - began == 30.0 and mirror.has_given_up and Recorder.started == 3


def test_an_answer_restores_the_patience(mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recorder, "takes", 20.0)
    for refusal in (MlflowError("down"), None, MlflowError("down")):
        monkeypatch.setattr(Recorder, "refuses", refusal)
        with pytest.raises(MlflowError) if refusal else contextlib.nullcontext():
            mirror.log(RESULT, tmp_path)
    assert not mirror.has_given_up


def test_a_process_that_has_died_is_started_again_within_the_same_request(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Dying(Recorder):
        def request(self, *arguments: Any) -> Any:
            if Recorder.started == 1:
                raise MlflowEndedError("killed")
            return super().request(*arguments)

    monkeypatch.setattr("fairfr.store.mlflow.mirror.MlflowProcess", Dying)
    mirror.log(RESULT, tmp_path)
    assert mirror.has(RESULT) and Recorder.started == 2


def test_no_password_stands_in_a_mark_a_message_or_the_address_shown(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Recorder, "request", lambda *arguments: None)
    secret = Mirror(StoreSettings("mlflow", "http://me:s3cret@server:5000"), tmp_path)
    secret.log(RESULT, tmp_path)
    assert secret.has(RESULT) and secret.uri == "http://me:***@server:5000"
    (mark,) = (tmp_path / ".mirrored").iterdir()
    assert "s3cret" not in mark.read_text()
    assert "s3cret" not in str(MlflowError("http://me:s3cret@server:5000: refused"))


def test_logged_to_one_experiment_is_not_logged_to_another(mirror: Mirror, tmp_path: Path) -> None:
    mirror.log(RESULT, tmp_path)
    assert not Mirror(StoreSettings("mlflow", experiment="other"), tmp_path).has(RESULT)


def test_a_sweep_is_finished_again_only_when_it_says_something_new(mirror: Mirror) -> None:
    sweep = Sweep.of(["dataset=lfw"], None, started=0.0)
    end = SweepEnd.of(sweep.over(1.0, None, []), [])
    assert not mirror.has_sweep(sweep)
    mirror.close_sweep(sweep, end)
    later = SweepEnd.of(sweep.over(9.0, None, []), [])
    assert mirror.has_sweep(sweep) and mirror.has_sweep(sweep, later), "the same cells, a later hour"
    assert not mirror.has_sweep(sweep, SweepEnd.of(sweep.over(9.0, "KILLED", []), []))


def test_an_answer_that_nobody_waited_for_is_not_taken_for_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while a run is logged leaves its answer unread; then the sweep's end asks again."""

    class Process:
        stdin = io.StringIO()
        stdout = io.StringIO('{"number": 1, "ok": "of the run"}\n{"number": 2, "ok": "of the sweep"}\n')

    monkeypatch.setattr("subprocess.Popen", lambda *arguments, **options: Process())
    asked = MlflowProcess("sqlite:///x.db", "fairfr", None, 1.0)
    asked._asked = 1
    assert asked.request("open_sweep", {}, timeout=60.0) == "of the sweep"
    asked._stderr.close()
