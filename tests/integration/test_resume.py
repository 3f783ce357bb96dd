"""Skipping what is done, running again, and surviving a kill at any moment."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]

# Dies by SIGKILL at the n-th call that changes the file system inside RunFolders.publish.
KILLED = """
import json, os, shutil, signal, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from fairfr.store import folder
from fairfr.core.keys import RunKey

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
    runs.publish(draft, key, {{**json.loads(sys.argv[3]), "which": "new"}})
    os.kill(os.getpid(), signal.SIGKILL)
"""


BASIC = {
    "key": "0123456789abcdef",
    "status": "completed",
    "source": "files",
    "finished": "",
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
    assert again.status == "skipped" and again.result == first.result and heard.folds == []
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
    assert failed.status == "failed" and failed.error == "RuntimeError: no luck"
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
    assert failed.status == "failed" and not failed.is_current
    assert mtimes(good.folder) == before
    assert "no luck" in (failed.folder / "error.txt").read_text()
    assert "runs" not in failed.folder.relative_to(good.folder.parents[4]).parts
    assert cell(*small, "dataset.grouping=[]", "method=platt").status == "skipped"


def _raise(*arguments: Any) -> None:
    raise RuntimeError("no luck")


@pytest.mark.parametrize("older", ["none", "completed"])
def test_a_kill_inside_publish_leaves_the_old_state_or_the_new_one(tmp_path: Path, older: str) -> None:
    """At each step in turn: what stands under runs/ is whole, and the next run sees it or starts afresh."""
    from fairfr.core.keys import RunKey
    from fairfr.store.folder import RunFolders

    key = RunKey("set", "net", "platt", "files", "0123456789abcdef")
    script = KILLED.format(root=str(ROOT))
    seen = []
    for fatal in range(7):
        out = tmp_path / str(fatal)
        runs = RunFolders(out)
        if older == "completed":
            with runs.draft(key) as draft:
                (draft / "scores.parquet").write_text("old")
                runs.publish(draft, key, {**BASIC, "which": "old"})
        command = [sys.executable, "-c", script, str(fatal), str(out), json.dumps(BASIC)]
        died = subprocess.run(command, capture_output=True, timeout=60)
        assert died.returncode == -signal.SIGKILL, died.stderr.decode()
        for folder in out.glob("runs/*/*/*/*"):
            assert (folder / "result.json").exists()
        found = runs.completed(key)
        seen.append(None if found is None else found["which"])
        if found is not None:
            assert (runs.path(key) / "scores.parquet").read_text() == found["which"]
        with runs.draft(key) as draft:
            (draft / "scores.parquet").write_text("again")
            runs.publish(draft, key, {**BASIC, "which": "again"})
        again = runs.completed(key)
        assert again is not None and again["which"] == "again"
        assert [path for path in (out / ".partial").iterdir() if path.is_dir()] == [], "drafts of the dead are cleared"
    old = None if older == "none" else "old"
    assert seen[0] == old and seen[-1] == "new"
    assert seen == sorted(seen, key=lambda which: which == "new"), "once new, never old again"
    assert set(seen) == {old, "new"}


def kill_in_fit(out: Path, method: str, fatal: int, *arguments: str) -> Path:
    """Run a cell in a process that dies by SIGKILL when it fits its fold number ``fatal``; returns ``out``."""
    code = (
        "import os, sys\nfrom pathlib import Path\nimport hydra\nimport fairfr.sweep\n"
        f"from fairfr.methods.{method} import {METHODS[method]} as Method\n"
        f"fit, left = Method.fit, iter(range({fatal}))\n"
        "Method.fit = lambda self, *rest: os.kill(os.getpid(), 9) if next(left, None) is None else fit(self, *rest)\n"
        f"sys.argv[0] = {str(ROOT / 'run.py')!r}\n"
        f"main = hydra.main(version_base='1.3', config_path={str(ROOT / 'conf')!r}, config_name='config')"
        "(fairfr.sweep.run_job)\n"
        f"fairfr.sweep.guarded(main, sys.argv[1:], Path({str(ROOT / 'conf')!r}))\n"
    )
    command = [sys.executable, "-c", code, *arguments, f"method={method}", "store=folder", f"out_root={out}"]
    died = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert died.returncode == -signal.SIGKILL, died.stdout + died.stderr
    assert not (out / "runs").exists() or not list((out / "runs").rglob("*.fold"))
    return out


METHODS = {"platt": "Platt", "frappe": "Frappe"}
PLAIN = ("dataset.grouping=[]", "threads=1")


def kept_folds(out: Path) -> list[Path]:
    return sorted(out.glob(".folds/*/*"))


@pytest.mark.parametrize("method", METHODS)
def test_a_killed_run_goes_on_after_its_last_fold_and_ends_with_the_same_bytes(
    cell: Any, heard: Any, small: tuple[str, ...], tmp_path: Path, method: str
) -> None:
    undisturbed = cell(*small, *PLAIN, f"method={method}", f"out_root={tmp_path / 'undisturbed'}")
    out = kill_in_fit(tmp_path / "out", method, 4, *small, *PLAIN)
    assert len(kept_folds(out)) == 4 and not (out / "runs").exists()
    fitted, heard.folds = heard.folds, []
    outcome, computed = fits_during(lambda: cell(*small, *PLAIN, f"method={method}"), method)
    assert outcome.status == "completed" and outcome.folder.parents[4] == out
    assert computed == 6 and heard.folds == fitted, "progress counts the kept ones"
    for name in ("scores.parquet", "metrics.parquet"):
        assert (outcome.folder / name).read_bytes() == (undisturbed.folder / name).read_bytes()
    assert outcome.result["fit_report"] == undisturbed.result["fit_report"]
    assert outcome.result["metrics"] == undisturbed.result["metrics"]
    assert len(outcome.result["resumed_folds"]) == 4 and "resumed_folds" not in undisturbed.result
    assert not (out / ".folds").exists() and [path for path in (out / ".partial").iterdir() if path.is_dir()] == []


def fits_during(run: Any, method: str) -> tuple[Any, int]:
    """What ``run`` returns, and how many folds it fitted."""
    from importlib import import_module

    kind = getattr(import_module(f"fairfr.methods.{method}"), METHODS[method])
    fit, count = kind.fit, 0

    def counted(self: Any, *rest: Any) -> Any:
        nonlocal count
        count += 1
        return fit(self, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "fit", counted)
        return run(), count


def test_force_a_change_of_configuration_and_damage_start_afresh(
    cell: Any, small: tuple[str, ...], tmp_path: Path
) -> None:
    out = kill_in_fit(tmp_path / "out", "platt", 4, *small, *PLAIN)
    other, fits = fits_during(lambda: cell(*small, *PLAIN, "method=platt", "++method.estimator.C=0.5"), "platt")
    assert other.status == "completed" and fits == 10 and len(kept_folds(out)) == 4, "another key, its own folds"
    kept_folds(out)[0].write_bytes(kept_folds(out)[0].read_bytes()[:-1])
    _, fits = fits_during(lambda: cell(*small, *PLAIN, "method=platt"), "platt")
    assert fits == 7, "the damaged one again"
    shutil.rmtree(out)
    kill_in_fit(out, "platt", 4, *small, *PLAIN)
    forced, fits = fits_during(lambda: cell(*small, *PLAIN, "method=platt", "force=true"), "platt")
    assert forced.status == "completed" and fits == 10 and kept_folds(out) == []


def test_another_number_of_threads_is_in_the_log_and_in_the_result(
    cell: Any, small: tuple[str, ...], tmp_path: Path
) -> None:
    kill_in_fit(tmp_path / "out", "platt", 2, *small, *PLAIN)
    resumed = cell(*small, "dataset.grouping=[]", "method=platt", "threads=2")
    assert resumed.result["threads"] == 2
    assert list(resumed.result["resumed_folds"].values()) == [{"threads": 1}] * 2
    log = (resumed.folder / "run.log").read_text()
    assert log.count("was computed with threads=1, this run has threads=2") == 2


def test_folds_of_a_forced_run_that_was_killed_do_not_outlive_the_next_skip(
    cell: Any, small: tuple[str, ...], tmp_path: Path
) -> None:
    done = cell(*small, *PLAIN, "method=platt")
    out = tmp_path / "out"
    kill_in_fit(out, "platt", 3, *small, *PLAIN, "force=true")
    assert len(kept_folds(out)) == 3 and (done.folder / "result.json").exists()
    assert cell(*small, *PLAIN, "method=platt").status == "skipped"
    assert kept_folds(out) == []


def test_two_processes_publishing_one_key_at_once_both_succeed(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from fairfr.core.keys import RunKey\nfrom fairfr.store.folder import RunFolders\n"
        "key = RunKey('set', 'net', 'platt', 'files', '0123456789abcdef')\n"
        "runs = RunFolders(Path(sys.argv[1]))\n"
        "for i in range(60):\n"
        "    with runs.draft(key) as draft:\n"
        "        (draft / 'scores.parquet').write_text(sys.argv[2])\n"
        "        runs.publish(draft, key, {'status': 'completed', 'which': sys.argv[2]})\n"
        "    runs.completed(key)\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name], stderr=subprocess.PIPE, text=True)
        for name in ("one", "two")
    ]
    errors = [writer.communicate(timeout=60)[1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0], errors
    (folder,) = tmp_path.glob("runs/*/*/*/*")
    assert json.loads((folder / "result.json").read_text())["which"] == (folder / "scores.parquet").read_text()
    assert os.listdir(tmp_path / "runs" / "set" / "net" / "platt") == ["0123456789abcdef"]
