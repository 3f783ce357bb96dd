"""The cells of a sweep before any of them runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import MissingConfigException
from hydra.types import RunMode

from fairfr.sweep.dry_run import count_by_experiment, describe_cells, split_unreadable
from fairfr.sweep.grids import GridExpander

ROOT = Path(__file__).parents[3]


def test_a_plan_counts_the_cells_of_each_experiment() -> None:
    jobs = [["experiment=a", "seed=0"], ["experiment=a", "seed=1"], ["experiment=b"]]
    assert count_by_experiment(jobs) == "3 runs: 2 of a, 1 of b"


def test_a_dry_run_says_which_cells_are_done_and_which_cannot_run(tmp_path: Path) -> None:
    typed = ["dataset=lfw", "source=synthetic,files", "method=platt", f"out_root={tmp_path}", f"data_root={tmp_path}"]
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        config = loader.load_configuration("config", typed, RunMode.MULTIRUN)
        lines = list(describe_cells(loader, config, GridExpander(loader, config).jobs(config, typed)))
    assert lines[0].startswith("to do  LFW x MagFace x Platt")
    assert lines[1].startswith("fails  DataError") and lines[2] == "2 runs: 0 done, 1 to do, 1 fails"
    assert not (tmp_path / "runs").exists()


def test_a_dry_run_shows_no_password(tmp_path: Path) -> None:
    typed = ["source=synthetic", "store.tracking_uri=http://me:s3cret@server:5000", f"out_root={tmp_path}"]
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        config = loader.load_configuration("config", typed, RunMode.MULTIRUN)
        lines = list(describe_cells(loader, config, [typed]))
    assert "me:***@server" in lines[0] and "s3cret" not in lines[0]


def test_a_name_that_does_not_exist_is_found_before_anything_runs() -> None:
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        config = loader.load_configuration("config", [], RunMode.MULTIRUN)
        with pytest.raises(MissingConfigException, match="plat"):
            split_unreadable(loader, config, [["method=platt"], ["method=plat"]])
