"""Kill processes of a sweep at random moments, run it again, and compare with a sweep that nobody disturbed.

python tests/soak/kill_sweeps.py --launcher joblib --rounds 20 [--victims worker,parent] [--store folder] [--seed 0]

Each round is a small sweep on a synthetic set in a folder of its own. A worker or the process that started the sweep,
which also logs to MLflow, in turn, gets a SIGKILL; then the same command runs again, and MLflow is brought up to date.
After that every cell has one run, scores and metrics have the bytes of the undisturbed sweep, MLflow has each run once,
and nothing is left of drafts or processes. Linux only: processes are found in /proc. It takes minutes, so
`make test` runs three rounds of it, at fixed moments (tests/integration/test_kill_sweeps.py).
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
METHODS = ("platt", "beta", "temperature", "isotonic")
CELLS = ("dataset=lfw", "backbone=magface", "++dataset.standin.scale=0.1", "source=synthetic", "threads=1")
MARK = "FAIRFR_SOAK"  # in the environment of every process of one round
WORKERS = {
    "basic": "run.py",
    "joblib": "loky.backend.popen_loky",
    "submitit_local": "submitit.core._submit",
    "ray": "ray::_run_job",
}
PATIENCE = 300.0

Moment = Callable[["Round"], bool]
"""Whether to kill now."""


def processes(mark: str) -> dict[int, str]:
    """Number and command line of every process that lives and has this mark."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (path / "environ").read_bytes().split(b"\0"):
                state = (path / "stat").read_text().rpartition(")")[2].split()[0]
                if state not in "ZX":
                    found[int(path.name)] = (path / "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue
    return found


@dataclass
class Round:
    """One sweep in its own ``folder``, its kill, and what it left."""

    launcher: str
    folder: Path
    store: str = "mlflow"
    started: float = 0.0

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def start(self, log: str) -> subprocess.Popen[bytes]:
        choice = [f"hydra/launcher={self.launcher}", f"store={self.store}", "store.patience=100"]
        sweep = ["-m", *CELLS, f"method={','.join(METHODS)}", *choice, f"out_root={self.out}"]
        env = {**os.environ, MARK: str(self.folder), "MLFLOW_DISABLE_TELEMETRY": "true", "PYTHONFAULTHANDLER": "1"}
        self.started = time.monotonic()
        with (self.folder / log).open("wb") as file:
            return subprocess.Popen(
                [sys.executable, str(ROOT / "run.py"), *sweep],
                **{"cwd": self.folder, "env": env, "stdout": file, "stderr": file},
            )

    def outcomes(self) -> int:
        return len(list(self.out.glob("hydra/sweep/*/*/*/outcome.json")))

    def victims(self, kind: str, parent: int) -> list[int]:
        if kind == "parent":
            return [parent]
        return [pid for pid, command in processes(str(self.folder)).items() if WORKERS[self.launcher] in command]

    def kill(self, kind: str, moment: Moment) -> str:
        """Start the sweep, kill one of its processes at the moment, and wait for its end; returns what happened."""
        sweep = self.start("killed.log")
        killed = "too late"
        while sweep.poll() is None and killed == "too late":
            time.sleep(0.01)
            if moment(self) and (found := self.victims(kind, sweep.pid)):
                try:
                    os.kill(found[0], signal.SIGKILL)
                except ProcessLookupError:
                    continue
                at = time.monotonic() - self.started
                killed = f"killed after {at:.1f} s, {self.outcomes()} of {len(METHODS)} cells done"
        return f"{killed}, exit code {self.end(sweep, 'killed.log')}"

    def run_again(self) -> int:
        return self.end(self.start("again.log"), "again.log")

    def end(self, sweep: subprocess.Popen[bytes], log: str) -> int:
        """The exit code of a sweep. One that hangs is ended, and every process of it says where each thread was."""
        try:
            return sweep.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            for pid in processes(str(self.folder)):
                os.kill(pid, signal.SIGABRT)
                time.sleep(1.0)  # each says it alone
            sweep.wait()
            raise AssertionError(f"hangs: {(self.folder / log).read_text()}") from None

    def sync(self) -> int:
        command = [sys.executable, str(ROOT / "scripts" / "sync_mlflow.py"), "--out-root", str(self.out)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, timeout=PATIENCE).returncode

    def scores(self) -> dict[str, bytes]:
        """The bytes of scores and metrics by method and file."""
        found = {}
        for path in self.out.glob("runs/*/*/*/*/*.parquet"):
            name = f"{path.parts[-3]}/{path.name}"
            assert name not in found, f"{name} is there twice"
            found[name] = path.read_bytes()
        return found

    def leftovers(self) -> list[str]:
        return [str(path) for path in (self.out / ".partial").iterdir() if path.is_dir()]

    def logged(self) -> Counter[str]:
        """How many runs MLflow has of each key."""
        runs = "SELECT value FROM tags JOIN runs USING (run_uuid) WHERE key = 'run_key' AND lifecycle_stage = 'active'"
        with closing(sqlite3.connect(self.out / "mlflow.db")) as database:
            return Counter(value for (value,) in database.execute(runs))

    def check(self, wanted: dict[str, bytes]) -> None:
        """Run again, and compare with what an undisturbed sweep left."""
        code = self.run_again()
        assert code == 0, f"exit code {code}: {(self.folder / 'again.log').read_text()}"
        text = (self.folder / "killed.log").read_text() + (self.folder / "again.log").read_text()
        assert "Traceback" not in text, text
        found = self.scores()
        assert found.keys() == wanted.keys(), "a cell is missing"
        assert found == wanted, "scores differ"
        assert not self.leftovers(), self.leftovers()
        if self.store == "mlflow":
            assert self.sync() == 0
            logged = self.logged()
            assert set(logged.values()) == {1} and len(logged) == len(METHODS), logged
        gone_by = time.monotonic() + 60
        while (left := processes(str(self.folder))) and time.monotonic() < gone_by:
            time.sleep(0.1)
        assert not left, left


def undisturbed(calm: Round) -> tuple[dict[str, bytes], float]:
    """What a sweep leaves that nobody kills, and the seconds it takes."""
    calm.folder.mkdir(parents=True, exist_ok=True)
    code = calm.run_again()
    assert code == 0, (calm.folder / "again.log").read_text()
    return calm.scores(), time.monotonic() - calm.started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launcher", choices=list(WORKERS), required=True)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--victims", default="worker,parent", help="whom to kill, in turn")
    parser.add_argument("--store", choices=["mlflow", "folder"], default="mlflow")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, default=None)
    arguments = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="kill-sweeps-", dir=arguments.work))
    draw = random.Random(f"{arguments.launcher} {arguments.seed}")
    store, victims = arguments.store, arguments.victims.split(",")
    wanted, _ = undisturbed(Round("basic", work / "first", store))  # makes the database: that takes longer than a round
    again, seconds = undisturbed(with_database(Round(arguments.launcher, work / "calm", store), work / "first"))
    assert again == wanted, "the launcher alone changes scores"
    print(f"{arguments.launcher}: undisturbed {seconds:.1f} s", flush=True)
    late = failed = done = attempt = 0
    while done < arguments.rounds and attempt < 3 * arguments.rounds:
        kind, attempt = victims[attempt % len(victims)], attempt + 1
        one = with_database(Round(arguments.launcher, work / str(attempt), store), work / "first")
        after, said = draw.uniform(0.0, seconds), ""
        try:
            said = one.kill(kind, lambda this, after=after: time.monotonic() - this.started >= after)
            if said.startswith("too late"):
                late += 1
                continue
            one.check(wanted)
            ended = "as undisturbed"
            shutil.rmtree(one.folder, ignore_errors=True)
        except AssertionError as error:
            failed += 1
            ended = f"FAILED in {one.folder}: {error}"
        done += 1
        print(f"{done:>3} {kind:<7} {said}: {ended}", flush=True)
    print(f"{arguments.launcher}: {done} kills, {failed} failures, {late} came too late")
    sys.exit(1 if failed else 0)


def with_database(one: Round, first: Path) -> Round:
    """A round whose folder has the database of the ``first``, without its runs."""
    one.out.mkdir(parents=True)
    if one.store == "folder":
        return one
    shutil.copy(first / "out" / "mlflow.db", one.out)
    with closing(sqlite3.connect(one.out / "mlflow.db")) as opened, opened:
        for table in ("latest_metrics", "metrics", "params", "tags", "inputs", "input_tags", "datasets", "runs"):
            opened.execute(f"DELETE FROM {table}")
    return one


if __name__ == "__main__":
    main()
