"""Running cells and commands, on sets small enough to take seconds: in this process, or in one of their own."""

from __future__ import annotations

import copy
import gc
import io
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pytest
from filelock import FileLock
from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.plugins import Plugins

from fairfr.__main__ import dispatch
from fairfr.core.findings import Finding
from fairfr.core.threads import VARIABLES
from fairfr.runner.cell import FinishedCell, run_cell
from fairfr.store.mlflow.log import MlflowWriter
from fairfr.store.settings import StoreSettings
from fairfr.sweep import read_settings

ROOT = Path(__file__).parents[2]
PATIENCE = 100.0  # seconds: importing MLflow on a busy machine is no fault
SMALL = ("dataset=lfw", "++dataset.standin.scale=0.03", "source=synthetic")

RunCell: TypeAlias = Callable[..., FinishedCell]


class Done(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


Command: TypeAlias = Callable[..., Done]


class Heard:
    """A Progress that remembers instead of printing."""

    def __init__(self) -> None:
        self.warnings: list[Finding] = []
        self.folds: list[str] = []
        self.waited_for: list[str] = []
        self.n_folds = 0

    def warn(self, finding: Finding) -> None:
        self.warnings.append(finding)

    def wait_for(self, holder: str) -> None:
        self.waited_for.append(holder)

    def start(self, n_folds: int) -> None:
        self.n_folds = n_folds

    def fold_done(self, fold: str) -> None:
        self.folds.append(fold)


@pytest.fixture(autouse=True)
def _same_environment() -> Iterator[None]:
    """A cell sets thread variables for libraries loaded later; other tests must not inherit them."""
    before = {name: os.environ.get(name) for name in VARIABLES}
    yield
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def small() -> tuple[str, ...]:
    """Overrides of a synthetic set of 180 pairs."""
    return SMALL


@pytest.fixture
def cell(tmp_path: Path, heard: Heard) -> RunCell:
    """Compose and run one cell in this process: ``cell("method=platt", "seed=1")``."""

    def run(*overrides: str) -> FinishedCell:
        basics = [f"out_root={tmp_path / 'out'}", "store=folder", "threads=1"]
        with initialize_config_dir(config_dir=str(ROOT / "conf"), version_base="1.3"):
            config = compose("config", overrides=[*basics, *overrides])
        settings, plain = read_settings(config)
        return run_cell(settings, plain, heard)

    return run


class NoInterruption:
    """Instead of handlers for signals, which a test process has for itself."""

    came = False

    def __init__(self, say: Callable[[], None]) -> None: ...


@contextmanager
def as_in_a_new_process(folder: Path) -> Iterator[None]:
    """Meanwhile the working directory is ``folder``; what a command changes in its process is as before afterwards."""
    root, environment, argv, directory = logging.getLogger(), dict(os.environ), sys.argv, os.getcwd()
    handlers, level, on_sigterm = list(root.handlers), root.level, signal.getsignal(signal.SIGTERM)
    Plugins.instance()  # they add themselves to the ConfigStore, once
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(ConfigStore.instance(), "repo", copy.deepcopy(ConfigStore.instance().repo))
        changed.setattr("fairfr.sweep.cli.InterruptHandler", NoInterruption)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(directory)
            sys.argv = argv
            os.environ.clear()
            os.environ.update(environment)
            signal.signal(signal.SIGTERM, on_sigterm)
            root.handlers[:] = handlers
            root.setLevel(level)
            GlobalHydra.instance().clear()
            HydraConfig.instance().cfg = None
            gc.enable()


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Run a command of fairfr in this process, as ``fairfr NAME ...`` does: ``command("tables", "--no-figures")``.

    Its working directory is a folder without data: a developer's own must not count.
    """

    def run(name: str, *arguments: object) -> Done:
        out, err, code = io.StringIO(), io.StringIO(), None
        with as_in_a_new_process(tmp_path), redirect_stdout(out), redirect_stderr(err):
            os.environ["COLUMNS"] = "160"
            sys.argv = [str(ROOT / "run.py")]
            try:
                dispatch(name, [str(argument) for argument in arguments])
            except SystemExit as ending:
                code = ending.code
        if isinstance(code, str):
            return Done(1, out.getvalue(), f"{err.getvalue()}{code}\n")
        return Done(code or 0, out.getvalue(), err.getvalue())

    return run


def basics(tmp_path: Path) -> list[str]:
    return [f"out_root={tmp_path / 'out'}", "threads=1", f"store.patience={PATIENCE}"]


@pytest.fixture
def start_run_py(tmp_path: Path) -> Command:
    """Run ``run.py`` as a user does, in a process of its own; keywords are variables of its environment."""

    def run(*arguments: str, **environment: str) -> Done:
        command = [sys.executable, ROOT / "run.py", *basics(tmp_path), *arguments]
        inherited = {k: v for k, v in os.environ.items() if k not in VARIABLES}
        env = {**inherited, "OMP_NUM_THREADS": "1", "COLUMNS": "160", **environment}
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def run_py(request: pytest.FixtureRequest, command: Command, start_run_py: Command, tmp_path: Path) -> Command:
    """Run ``fairfr run``: in this process, or in one of its own where a test is marked for that it needs one."""
    if any(request.node.get_closest_marker(mark) for mark in ("server", "launcher", "kill")):
        return start_run_py
    return lambda *arguments: command("run", *basics(tmp_path), *arguments)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A database with its tables made, which takes seconds: once for all workers, copied by each test."""
    root = tmp_path_factory.getbasetemp()
    shared = root if worker_id == "master" else root.parent
    path = shared / "mlflow_template.db"
    with FileLock(f"{path}.making"):
        if not path.exists():
            MlflowWriter(StoreSettings("mlflow", f"sqlite:///{path}.new", patience=PATIENCE), shared)
            Path(f"{path}.new").rename(path)
    return path


@pytest.fixture
def out(tmp_path: Path, template: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    shutil.copy(template, folder / "mlflow.db")
    return folder


@pytest.fixture
def store() -> StoreSettings:
    return StoreSettings("mlflow", experiment="fairfr", patience=PATIENCE)


@pytest.fixture
def writer(store: StoreSettings, out: Path) -> MlflowWriter:
    return MlflowWriter(store, out)


@pytest.fixture
def write_set(tmp_path: Path) -> Callable[..., Path]:
    """Write a set in the neutral layout: 120 images of 60 people, 120 pairs, 3 folds, vectors of width 12."""

    def write(
        dataset: str = "mine", backbone: str = "mynet", ending: str = "csv", vectors: Any = None, without: int = 0
    ) -> Path:
        folder = tmp_path / "data" / dataset
        (folder / "embeddings").mkdir(parents=True, exist_ok=True)
        images, pairs, plain = small_set()
        if vectors is None:
            vectors = plain
        for name, table in (("images", images), ("pairs", pairs)):
            path = folder / f"{name}.{ending}"
            if ending == "csv":
                table.to_csv(path, index=False)
            else:
                table.to_parquet(path, index=False)
        ids = images["image"].to_numpy(dtype=str)
        np.savez(folder / "embeddings" / f"{backbone}.npz", image=ids[without:], vectors=vectors[without:])
        return tmp_path / "data"

    return write


def small_set() -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Images, pairs and vectors of 60 people with two images each; a fold holds 20 same and 20 different pairs."""
    rng = np.random.default_rng(7)
    people = np.repeat(np.arange(60), 2)
    centres = rng.normal(size=(60, 12))
    vectors = (centres[people] + 0.7 * rng.normal(size=(120, 12))).astype(np.float32)
    images = pd.DataFrame(
        {
            "image": [f"p{person:02d}/{i % 2}.jpg" for i, person in enumerate(people)],
            "identity": [f"p{person:02d}" for person in people],
            "ethnicity": np.where(people % 2 == 0, "asian", "white"),
            "gender": np.where(people % 4 < 2, "female", "male"),
        }
    )
    same = [(f"p{i:02d}/0.jpg", f"p{i:02d}/1.jpg", i // 20, 1) for i in range(60)]
    # the partner four people on (inside the fold's block of twenty) has the same ethnicity and gender
    other = [(f"p{i:02d}/0.jpg", f"p{i // 20 * 20 + (i + 4) % 20:02d}/1.jpg", i // 20, 0) for i in range(60)]
    pairs = pd.DataFrame(same + other, columns=["left", "right", "fold", "same"])[["fold", "left", "right", "same"]]
    return images, pairs, vectors
