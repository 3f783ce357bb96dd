"""Skipping what is done, running again, and surviving a kill at any moment."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fairfr.core.run_result import RunResult

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]

# Dies by SIGKILL at the n-th call that changes the file system inside RunFolders.publish.
KILLED = """
import json, os, shutil, signal, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from fairfr.store import run_folder as folder
from fairfr.core.run_key import RunKey
from fairfr.core.run_result import RunResult

fatal, out = int(sys.argv[1]), Path(sys.argv[2])
calls = 0

def dying(function):
    def call(*arguments, **options):
        global calls
        if calls == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        calls += 1
        return function(*arguments, **options)
    return call

key = RunKey("set", "net", "platt", "files", "0123456789abcdef")
runs = folder.RunFolders(out)
with runs.draft(key) as draft:
    (draft / "scores.parquet").write_text("new")
    folder.write_result = dying(folder.write_result)
    folder.os.rename = dying(os.rename)
    folder.shutil.rmtree = dying(shutil.rmtree)
    runs.publish(draft, key, RunResult.from_json({{**json.loads(sys.argv[3]), "study": "new"}}))
    os.kill(os.getpid(), signal.SIGKILL)
"""


BASIC = {
    "key": "0123456789abcdef",
    "status": "completed",
    "source": "files",
    "finished": "2026-01-01",
    "identity": {},
    "differs": {},
    "dataset": {"id": "set"},
    "backbone": {"id": "net"},
    "method": {"id": "platt"},
}


def mtimes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_a_completed_run_is_skipped_and_force_runs_it_again(cell: Any, heard: Any, small: tuple[str, ...]) -> None:
    first = cell(*small, "dataset.grouping=[]", "method=platt")
    before = mtimes(first.folder)
    heard.folds.clear()
    again = cell(*small, "dataset.grouping=[]", "method=platt")
    assert again.status == "skipped" and again.result.to_json() == first.result.to_json() and heard.folds == []
    assert mtimes(first.folder) == before
    forced = cell(*small, "dataset.grouping=[]", "method=platt", "force=true")
    assert forced.status == "completed" and forced.folder == first.folder and len(heard.folds) == 10
    after = mtimes(first.folder)
    assert set(after) == set(before) and all(after[name] > before[name] for name in before)


def test_a_file_in_the_way_is_no_completed_run(cell: Any, small: tuple[str, ...]) -> None:
    first = cell(*small, "dataset.grouping=[]", "method=platt")
    whole = (first.folder / "result.json").read_text()
    for broken in ("", whole[: len(whole) // 2], "null", whole.replace('"completed"', '"failed"')):
        (first.folder / "result.json").write_text(broken)
        again = cell(*small, "dataset.grouping=[]", "method=platt")
        assert again.status == "completed"
        assert json.loads((first.folder / "result.json").read_text())["status"] == "completed"


def test_a_failed_run_is_tried_again(cell: Any, small: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    from fairfr.methods.platt import Platt

    with monkeypatch.context() as broken:
        broken.setattr(Platt, "fit", _raise)
        failed = cell(*small, "dataset.grouping=[]", "method=platt")
    assert failed.status == "failed" and failed.error == "RuntimeError: no luck (fold 0)"
    assert (failed.folder / "error.txt").exists() and not list(failed.folder.glob("*.parquet"))
    again = cell(*small, "dataset.grouping=[]", "method=platt")
    assert again.status == "completed" and again.folder == failed.folder
    assert not (again.folder / "error.txt").exists()


def test_a_forced_rerun_that_fails_keeps_the_good_run_and_its_own_traceback(
    cell: Any, small: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    from fairfr.methods.platt import Platt

    good = cell(*small, "dataset.grouping=[]", "method=platt")
    before = mtimes(good.folder)
    monkeypatch.setattr(Platt, "fit", _raise)
    failed = cell(*small, "dataset.grouping=[]", "method=platt", "force=true")
    assert failed.status == "failed"
    assert mtimes(good.folder) == before
    assert "no luck" in (failed.folder / "error.txt").read_text()
    assert "runs" not in failed.folder.relative_to(good.folder.parents[4]).parts
    assert cell(*small, "dataset.grouping=[]", "method=platt").status == "skipped"


def _raise(*arguments: Any) -> None:
    raise RuntimeError("no luck")


@pytest.mark.kill
@pytest.mark.parametrize("older", ["none", "completed"])
def test_a_kill_inside_publish_leaves_the_old_state_or_the_new_one(tmp_path: Path, older: str) -> None:
    """At each step in turn: what stands under runs/ is whole, and the next run sees it or starts afresh."""
    from fairfr.core.run_key import RunKey
    from fairfr.store.run_folder import RunFolders

    key = RunKey("set", "net", "platt", "files", "0123456789abcdef")
    script = KILLED.format(root=str(ROOT))
    seen = []
    for fatal in range(7):
        out = tmp_path / str(fatal)
        runs = RunFolders(out)
        if older == "completed":
            with runs.draft(key) as draft:
                (draft / "scores.parquet").write_text("old")
                runs.publish(draft, key, RunResult.from_json({**BASIC, "study": "old"}))
        command = [sys.executable, "-c", script, str(fatal), str(out), json.dumps(BASIC)]
        died = subprocess.run(command, capture_output=True, timeout=60)
        assert died.returncode == -signal.SIGKILL, died.stderr.decode()
        for folder in out.glob("runs/*/*/*/*"):
            assert (folder / "result.json").exists()
        found = runs.completed(key)
        seen.append(None if found is None else found.study)
        if found is not None:
            assert (runs.path(key) / "scores.parquet").read_text() == found.study
        with runs.draft(key) as draft:
            (draft / "scores.parquet").write_text("again")
            runs.publish(draft, key, RunResult.from_json({**BASIC, "study": "again"}))
        again = runs.completed(key)
        assert again is not None and again.study == "again"
        assert [path for path in (out / ".partial").iterdir() if path.is_dir()] == [], "drafts of the dead are cleared"
    old = None if older == "none" else "old"
    assert seen[0] == old and seen[-1] == "new"
    assert seen == sorted(seen, key=lambda which: which == "new"), "once new, never old again"
    assert set(seen) == {old, "new"}


# Dies by SIGKILL when it fits its fifth fold.
KILLED_IN_FIT = """
import os, sys
from pathlib import Path
import hydra
import fairfr.sweep
from fairfr.methods.platt import Platt

fit, left = Platt.fit, iter(range(4))
Platt.fit = lambda self, *rest: os.kill(os.getpid(), 9) if next(left, None) is None else fit(self, *rest)
conf = Path({root!r}) / "conf"
sys.argv[0] = str(conf.parent / "run.py")
main = hydra.main(version_base="1.3", config_path=str(conf), config_name="config")(fairfr.sweep.run_job)
fairfr.sweep.guarded(main, sys.argv[1:], conf)
"""


@pytest.mark.kill
def test_a_killed_cell_starts_again_and_ends_with_the_same_bytes(
    cell: Any, heard: Any, small: tuple[str, ...], tmp_path: Path
) -> None:
    """Nothing waits for the lock of the dead, and nothing of its draft is left."""
    chosen = (*small, "dataset.grouping=[]", "method=platt", "threads=1")
    undisturbed = cell(*chosen, f"out_root={tmp_path / 'undisturbed'}")
    out = tmp_path / "out"
    command = [sys.executable, "-c", KILLED_IN_FIT.format(root=str(ROOT)), *chosen, "store=folder", f"out_root={out}"]
    died = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert died.returncode == -signal.SIGKILL, died.stdout + died.stderr
    assert not (out / "runs").exists() and list((out / ".partial").iterdir())
    heard.folds.clear()
    again = cell(*chosen)
    assert again.status == "completed" and len(heard.folds) == 10 and heard.waited_for == []
    for name in ("scores.parquet", "metrics.parquet"):
        assert (again.folder / name).read_bytes() == (undisturbed.folder / name).read_bytes()
    assert list((out / ".partial").iterdir()) == []


@pytest.mark.kill
def test_two_processes_publishing_one_key_at_once_both_succeed(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from fairfr.core.run_key import RunKey\nfrom fairfr.store.run_folder import RunFolders\n"
        "key = RunKey('set', 'net', 'platt', 'files', '0123456789abcdef')\n"
        "from fairfr.core.run_result import RunResult\n"
        "import json\n"
        "runs = RunFolders(Path(sys.argv[1]))\n"
        "result = RunResult.from_json({**json.loads(sys.argv[3]), 'study': sys.argv[2]})\n"
        "for i in range(60):\n"
        "    with runs.draft(key) as draft:\n"
        "        (draft / 'scores.parquet').write_text(sys.argv[2])\n"
        "        runs.publish(draft, key, result)\n"
        "    runs.completed(key)\n"
    )
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path), name, json.dumps(BASIC)], stderr=subprocess.PIPE, text=True
        )
        for name in ("one", "two")
    ]
    errors = [writer.communicate(timeout=60)[1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0], errors
    (folder,) = tmp_path.glob("runs/*/*/*/*")
    assert json.loads((folder / "result.json").read_text())["study"] == (folder / "scores.parquet").read_text()
    assert os.listdir(tmp_path / "runs" / "set" / "net" / "platt") == ["0123456789abcdef"]
