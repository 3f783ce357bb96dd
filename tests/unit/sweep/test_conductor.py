"""A sweep from its cells to its summary, in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import MissingConfigException
from hydra.types import RunMode

from fairfr.sweep.conductor import _summary, check_composes, counted, described
from fairfr.sweep.grids import Expansion

ROOT = Path(__file__).parents[3]


def test_a_plan_counts_the_cells_of_each_experiment() -> None:
    jobs = [["experiment=a", "seed=0"], ["experiment=a", "seed=1"], ["experiment=b"]]
    assert counted(jobs) == "3 cells: 2 of a, 1 of b"


def test_a_dry_run_says_which_cells_are_done_and_which_cannot_run(tmp_path: Path) -> None:
    typed = ["dataset=lfw", "source=synthetic,files", "method=platt", f"out_root={tmp_path}", f"data_root={tmp_path}"]
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        config = loader.load_configuration("config", typed, RunMode.MULTIRUN)
        lines = list(described(loader, config, Expansion(loader, config).jobs(config, typed)))
    assert lines[0].startswith("to do  LFW x MagFace x Platt")
    assert lines[1].startswith("fails  DataError") and lines[2] == "2 cells: 0 done, 1 to do, 1 fails"
    assert not (tmp_path / "runs").exists()


def test_a_name_that_does_not_exist_is_found_before_anything_runs() -> None:
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        config = loader.load_configuration("config", [], RunMode.MULTIRUN)
        with pytest.raises(MissingConfigException, match="plat"):
            check_composes(loader, config, [["method=platt"], ["method=plat"]])


class Sweep:
    """A running sweep whose summary returns ``code``, or raises it."""

    def __init__(self, code: Any) -> None:
        self.code = code
        self.status: str | None = "not asked"

    def finish(self, status: str | None) -> int:
        self.status = status
        if isinstance(self.code, Exception):
            raise self.code
        return int(self.code)


@pytest.mark.parametrize("code", [1, 3])
def test_a_sweep_ends_with_the_exit_code_of_its_summary(tmp_path: Path, code: int) -> None:
    with pytest.raises(SystemExit) as ended, _summary(Sweep(code), tmp_path):  # type: ignore[arg-type]
        pass
    assert ended.value.code == code


def test_a_sweep_that_is_cut_short_has_its_summary_too(tmp_path: Path) -> None:
    sweep = Sweep(1)
    with pytest.raises(RuntimeError, match="the launcher"), _summary(sweep, tmp_path):  # type: ignore[arg-type]
        raise RuntimeError("the launcher")
    assert sweep.status == "FAILED"


def test_a_summary_that_crashes_is_shown_and_ends_in_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = Sweep(ZeroDivisionError("no cells"))
    with pytest.raises(SystemExit) as ended, _summary(broken, tmp_path):  # type: ignore[arg-type]
        pass
    assert ended.value.code == 1
    assert "ZeroDivisionError: no cells" in capsys.readouterr().out
    assert "Traceback" in (tmp_path / "error.txt").read_text()
