"""A user's yaml of a method that Hydra would take for ours, or could not read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode

from fairfr.core.errors import ConfigError
from fairfr.sweep.arguments import prepare
from fairfr.sweep.dry_run import split_unreadable
from fairfr.sweep.grids import GridExpander

CONF = Path(__file__).parents[3] / "conf"
YAML = "id: {0}\nlabel: Mine\nestimator: {{_target_: fairfr.methods.platt.Platt}}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "method").mkdir()
    (tmp_path / "method" / "mine.yaml").write_text(YAML.format("mine"))
    return tmp_path


def prepared(folder: Path, *typed: str) -> list[str]:
    return prepare([f"--config-dir={folder}", *typed], CONF)


def test_a_method_of_ones_own_under_its_own_name_passes(folder: Path) -> None:
    assert prepared(folder, "method=mine")[-1] == "method=mine"


@pytest.mark.parametrize("by", ["--config-dir", "hydra.searchpath"])
def test_the_file_name_of_one_of_ours_is_refused(folder: Path, by: str) -> None:
    (folder / "method" / "platt.yaml").write_text(YAML.format("platt_of_mine"))
    given = f"--config-dir={folder}" if by == "--config-dir" else f"hydra.searchpath=['file://{folder}']"
    with pytest.raises(
        ConfigError, match=r"platt\.yaml: fairfr has a method=platt .* such as my_platt\.yaml, .* id: my_platt"
    ):
        prepare([given, "method=mine"], CONF)


def test_the_id_of_one_of_ours_is_refused(folder: Path) -> None:
    (folder / "method" / "mine.yaml").write_text(YAML.format("platt"))
    with pytest.raises(ConfigError, match=r"mine\.yaml: the id 'platt' is that of .*method=platt.* id: my_mine"):
        prepared(folder, "method=mine")


def test_a_broken_yaml_matters_where_it_is_chosen(folder: Path) -> None:
    (folder / "method" / "broken.yaml").write_text("id: broken\nlabel: [unclosed\nestimator: {\n")
    with pytest.raises(ConfigError, match=r"method/broken\.yaml is not readable as yaml: .* line 3.* Correct it\.$"):
        prepared(folder, "method=broken")
    prepared(folder, "method=mine")


def test_a_broken_yaml_does_not_end_a_sweep_over_all_methods(folder: Path) -> None:
    (folder / "method" / "broken.yaml").write_text("id: broken\nlabel: [unclosed\nestimator: {\n")
    searched = f"hydra.searchpath=['file://{folder}']"
    typed = ["dataset=rfw,lfw", "backbone=magface", "method=glob([mine,broken,platt])"]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        config = loader.load_configuration("config", [searched, *typed], RunMode.MULTIRUN)
        jobs, findings = split_unreadable(loader, config, GridExpander(loader, config).jobs(config, typed))
    assert sorted(job[2] for job in jobs) == ["method=mine"] * 2 + ["method=platt"] * 2
    (finding,) = findings
    assert "broken.yaml" in finding.text and "left out" in finding.text
