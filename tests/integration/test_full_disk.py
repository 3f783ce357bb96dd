"""Places that cannot be written: one line, exit code 1, nothing half-written."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairfr.core.errors import DataError, FairfrError, StorageError
from fairfr.core.storage import translate_os_errors
from fairfr.core.types import MetricRow
from fairfr.data.importers.embeddings import write_vectors
from fairfr.methods import _clusters
from fairfr.report.write import write_tables
from fairfr.store.parquet_files import write_metrics, write_scores

ROOT = Path(__file__).parents[2]
LEAST = ["dataset=lfw", "backbone=magface", "method=platt", "source=synthetic", "dataset.standin.scale=0.05"]
FULL = Path("/dev/full")  # every write to it fails as on a full disk


@pytest.mark.parametrize("sweep", [[], ["-m"]], ids=["run", "sweep"])
def test_an_out_root_that_cannot_be_is_one_line(command: Any, tmp_path: Path, sweep: list[str]) -> None:
    (tmp_path / "file").write_text("in the way")
    done = command("run", *sweep, f"out_root={tmp_path / 'file' / 'out'}", *LEAST, "store=folder")
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    assert done.stdout.startswith("StorageError: ") and "out_root" in done.stdout
    assert done.stdout.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_disk_that_fills_up_during_a_run_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failure is stored if there is room for it; here there is none."""
    from fairfr.runner import cell

    monkeypatch.setattr(cell, "_compute", _fill_up)
    monkeypatch.setattr(cell, "_write_config", _fill_up)
    with pytest.raises(StorageError, match="no space left on device"):
        _run_cell(tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file() and "lock" not in path.name] == []


@pytest.mark.skipif(not FULL.exists(), reason="Linux has a device that is always full")
def test_a_log_on_a_full_disk_is_cut_short_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    """The run says itself what it could not write; logging would print a traceback for each line."""
    from fairfr.runner.cell import _run_log

    with _run_log(FULL):
        logging.getLogger("fairfr").info("one line")
        logging.getLogger("fairfr").info("another")
    assert capsys.readouterr() == ("", "")


def _fill_up(*_: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _run_cell(out_root: Path) -> None:
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    from fairfr.runner.cell import run_cell
    from fairfr.sweep import read_settings

    with initialize_config_dir(str(ROOT / "conf"), version_base=None):
        config = compose("config", [*LEAST[:4], "+dataset.standin.scale=0.05", "store=folder", f"out_root={out_root}"])
    OmegaConf.set_struct(config, False)
    settings, plain = read_settings(config)
    run_cell(settings, plain, _Silent())


class _Silent:
    def warn(self, text: str) -> None: ...
    def wait_for(self, holder: str) -> None: ...
    def start(self, n_folds: int) -> None: ...
    def fold_done(self, fold: str) -> None: ...


def _link(folder: Path, name: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).symlink_to(FULL)
    return folder / name


WRITERS: dict[str, Callable[[Path], object]] = {
    "scores.parquet": lambda path: write_scores(path, {"score": np.arange(100_000.0)}),
    "metrics.parquet": lambda path: write_metrics(path, [MetricRow("0", "all", "all", "all", "auroc", 0.5, 1, 1)]),
}


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(StorageError, match="no space left"):
        WRITERS[name](_link(tmp_path, name))


def test_tables_on_a_full_disk_are_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("in the way")
    with pytest.raises(FairfrError, match=r"out.* cannot be written"), translate_os_errors(tmp_path / "out"):
        write_tables([], tmp_path / "out" / "tables", "title")


def test_vectors_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "embeddings").write_text("in the way")
    with pytest.raises(DataError, match="cannot be written"):
        write_vectors(tmp_path / "embeddings" / "net.npz", ["a"], np.ones((1, 2), "f4"))
    assert [path.name for path in tmp_path.iterdir()] == ["embeddings"]


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    (tmp_path / "kmeans").write_text("in the way")
    _clusters._write(tmp_path / "kmeans" / "a.npz", np.ones((2, 2), "f4"))
    assert _clusters._read(tmp_path / "kmeans" / "a.npz", (2, 2)) is None
    assert (tmp_path / "kmeans").read_text() == "in the way"


def test_a_closed_pipe_is_not_a_full_disk() -> None:
    with pytest.raises(BrokenPipeError), translate_os_errors(Path("x")):
        raise BrokenPipeError
