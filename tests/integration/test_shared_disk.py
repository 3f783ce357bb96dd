"""One output folder for several people, or machines: each cell is computed once, and everybody gets its result."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from fairfr.store.claim import FOLDER, Claim, ClaimedError
from fairfr.store.owner import Owner

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
PLAIN = ("dataset.grouping=[]", "threads=1", "store=folder")

METHODS = """
import os, uuid
from dataclasses import dataclass
from pathlib import Path
from fairfr.methods.platt import Platt

@dataclass
class Counted(Platt):
    def fit(self, *arguments):
        Path(os.environ["FITS"], uuid.uuid4().hex).touch()
        return super().fit(*arguments)
"""


def start(out: Path, said: Path, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, ROOT / "run.py", *arguments, f"out_root={out}"]
    with said.open("wb") as file:
        env = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "160", **environment}
        return subprocess.Popen(command, cwd=said.parent, env=env, stdout=file, stderr=file)


@contextmanager
def claimed_elsewhere(out: Path, run: str) -> Iterator[Path]:
    """Meanwhile another machine, whose clock is wrong, has a claim and counts in it."""
    path, over = out / FOLDER / f"{run}.1", threading.Event()
    path.parent.mkdir(parents=True, exist_ok=True)
    owner = {**Owner.me().as_dict(), "boot": "another"}

    def keep_counting() -> None:
        count = 0
        while path.exists() or count == 0:
            text = json.dumps({"who": "anna@node7", "since": "1999-12-31", "owner": owner, "count": f"{count:09d}"})
            if count == 0 or path.exists():
                path.write_text(text)
            count += 1
            if over.wait(0.5):
                return

    counting = threading.Thread(target=keep_counting)
    counting.start()
    try:
        yield path
    finally:
        over.set()
        counting.join()


def test_two_people_who_run_one_sweep_compute_each_cell_once(small: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "users_methods.py").write_text(METHODS)
    fits = tmp_path / "fits"
    fits.mkdir()
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    target = "method.estimator._target_=users_methods.Counted"
    sweep = ("-m", *small, *PLAIN, "method=platt", target, "seed=0,1,2,3")
    people = [
        start(tmp_path / "out", tmp_path / name, *sweep, PYTHONPATH=path, FITS=str(fits)) for name in ("anna", "ben")
    ]
    texts = {}
    for process, name in zip(people, ("anna", "ben"), strict=True):
        assert process.wait(300) == 0, (tmp_path / name).read_text()
        texts[name] = (tmp_path / name).read_text()
    assert len(list(fits.iterdir())) == 4 * 10, "every fold of every cell, once"
    counts = [line for text in texts.values() for line in text.splitlines() if line.startswith("4 cells: ")]
    computed = [int(line.split()[2]) for line in counts]
    assert sum(computed) == 4 and all("0 failed" in line and "not run" not in line for line in counts), counts
    assert not any("Traceback" in text for text in texts.values())
    assert len(list((tmp_path / "out").glob("runs/*/*/*/*/result.json"))) == 4
    assert not list((tmp_path / "out").glob(f"{FOLDER}/*"))


def test_what_another_machine_computes_comes_last_and_its_result_is_taken(
    cell: Any, small: tuple[str, ...], tmp_path: Path
) -> None:
    there = cell(*small, *PLAIN, "method=beta", f"out_root={tmp_path / 'there'}")
    out = tmp_path / "out"
    with claimed_elsewhere(out, str(there.key)) as claim:
        sweep = start(out, tmp_path / "said", "-m", *small, *PLAIN, "method=beta,platt")
        while not list(out.glob("hydra/sweep/*/*/0/progress.json")) and sweep.poll() is None:
            threading.Event().wait(0.1)
        while "is computed by" not in (tmp_path / "said").read_text() and sweep.poll() is None:
            threading.Event().wait(0.1)
        assert list(out.glob("runs/lfw/magface/platt/*")), "the other cell did not wait"
        shutil.copytree(there.folder, out / there.folder.relative_to(tmp_path / "there"))
        claim.unlink()
        assert sweep.wait(300) == 0
    text = (tmp_path / "said").read_text()
    assert "LFW x MagFace x Beta is computed by anna@node7 since 1999-12-31: its result will be taken." in text
    assert "2 cells: 1 computed, 1 already done, 0 failed" in text


def test_a_claimed_cell_is_left_alone_with_and_without_force(
    cell: Any, small: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forced cell runs after the other has ended: two never write folds of one run at the same time."""
    done = cell(*small, *PLAIN, "method=platt")
    other = Claim(tmp_path / "out", str(done.key))
    assert other.take() is None
    assert cell(*small, *PLAIN, "method=platt").status == "skipped", "what is done needs no claim"
    monkeypatch.setattr("fairfr.experiment.cell.time.sleep", lambda seconds: other.release())
    forced = cell(*small, *PLAIN, "method=platt", "force=true")
    assert forced.status == "completed" and not list((tmp_path / "out").glob(f"{FOLDER}/*"))


def test_a_cell_that_fails_or_is_interrupted_is_claimed_no_longer(
    cell: Any, small: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fairfr.methods.platt import Platt

    for error in (RuntimeError, KeyboardInterrupt):
        with monkeypatch.context() as broken:
            broken.setattr(Platt, "fit", lambda *arguments, error=error: (_ for _ in ()).throw(error))
            with suppress(KeyboardInterrupt):
                assert cell(*small, *PLAIN, "method=platt").status == "failed"
        assert not list((tmp_path / "out").glob(f"{FOLDER}/*"))


def test_who_does_not_wait_is_told_who_has_it(cell: Any, small: tuple[str, ...], tmp_path: Path) -> None:
    from hydra import compose, initialize_config_dir

    from fairfr.experiment.cell import run_cell
    from fairfr.sweep import read_settings

    key = cell(*small, *PLAIN, "method=platt", f"out_root={tmp_path / 'there'}").key
    overrides = [*small, *PLAIN, "method=platt", f"out_root={tmp_path / 'out'}"]
    with initialize_config_dir(config_dir=str(ROOT / "conf"), version_base="1.3"):
        settings, plain = read_settings(compose("config", overrides=overrides))
    with claimed_elsewhere(tmp_path / "out", str(key)), pytest.raises(ClaimedError, match="anna@node7 since 1999"):
        run_cell(settings, plain, None, wait=False)  # type: ignore[arg-type]
