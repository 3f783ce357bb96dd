"""From an experiment's yaml and a command line to cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode

from fairfr.core.errors import ConfigError
from fairfr.sweep.grids import GridExpander, Job

EXPERIMENTS = {
    "product": {"params": {"dataset": "rfw,lfw", "method": "platt,beta"}},
    "grids": {
        "repeats": 2,
        "grids": [{"method": "platt", "seed": "0,1"}, {"method": "beta", "seed": "range(${hydra.sweeper.repeats})"}],
    },
    "pairs": {
        "params": {"method": "platt"},
        "grids": [{"dataset": "rfw", "backbone": "magface,adaface"}, {"dataset": "lfw", "backbone": "magface"}],
    },
    "compared": {
        "grids": [
            {"dataset": "rfw", "backbone": "magface", "fixed": {"seed": 0, "dataset@train": None}},
            {"dataset": "rfw", "backbone": "magface", "seed": 1, "dataset@train": "lfw"},
        ]
    },
    "together": {"experiments": ["product", "pairs"], "grids": [{"method": "gst", "seed": 5}]},
}
PRIMARY = {
    "defaults": [
        "_self_",
        {"dataset": "rfw"},
        {"dataset@train": None},
        {"backbone": "magface"},
        {"method": "platt"},
        {"experiment": None},
        {"override hydra/sweeper": "fairfr"},
    ],
    "seed": 0,
}


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Callable[..., list[Job]]]:
    """``jobs("experiment=grids", ...)``: the overrides of each cell."""
    files: dict[str, object] = {"config": PRIMARY}
    files |= {f"{group}/{name}": {"id": name} for group, names in _choices().items() for name in names}
    for name, sweeper in EXPERIMENTS.items():
        files[f"experiment/{name}"] = {"hydra": {"mode": "MULTIRUN", "sweeper": sweeper}}
    for name, node in files.items():
        path = tmp_path / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        header = "# @package _global_\n" if name.startswith("experiment/") else ""
        path.write_text(header + yaml.safe_dump(node, sort_keys=False))
    with initialize_config_dir(str(tmp_path), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()

        def made(*typed: str) -> list[Job]:
            config = loader.load_configuration("config", list(typed), RunMode.MULTIRUN)
            return GridExpander(loader, config).jobs(config, list(config.hydra.overrides.task))

        yield made


def _choices() -> dict[str, tuple[str, ...]]:
    return {"dataset": ("rfw", "lfw", "mine"), "backbone": ("magface", "adaface"), "method": ("platt", "beta", "gst")}


def test_a_plain_sweep_is_hydra_s_product(jobs: Callable[..., list[Job]]) -> None:
    assert jobs("method=platt,beta", "seed=1") == [["method=platt", "seed=1"], ["method=beta", "seed=1"]]
    assert len(jobs("experiment=product")) == 4


def test_grids_follow_one_another_and_may_count_repeats(jobs: Callable[..., list[Job]]) -> None:
    found = [job[:2] for job in jobs("experiment=grids")]
    assert found == [[f"method={m}", f"seed={s}"] for m in ("platt", "beta") for s in (0, 1)]
    assert len(jobs("experiment=grids", "hydra.sweeper.repeats=4")) == 6


def test_what_is_typed_replaces_a_grid_s_values_and_equal_cells_are_one(jobs: Callable[..., list[Job]]) -> None:
    assert jobs("experiment=grids", "method=gst", "seed=7") == [["experiment=grids", "method=gst", "seed=7"]]
    swept = jobs("experiment=grids", "seed=7,8")
    assert sorted(tuple(sorted(job)) for job in swept) == sorted(
        ("experiment=grids", f"method={m}", f"seed={s}") for m in ("platt", "beta") for s in (7, 8)
    )


def pairs(jobs: list[Job]) -> list[tuple[str, str]]:
    found = []
    for job in jobs:
        chosen = dict(override.split("=", 1) for override in job)
        found.append((chosen.get("dataset", "-"), chosen.get("backbone", "-")))
    return found


def test_a_typed_data_set_or_backbone_picks_the_grids_that_contain_it(jobs: Callable[..., list[Job]]) -> None:
    every = [("rfw", "magface"), ("rfw", "adaface"), ("lfw", "magface")]
    assert pairs(jobs("experiment=pairs")) == every
    assert pairs(jobs("experiment=pairs", "dataset=rfw")) == every[:2]
    assert pairs(jobs("experiment=pairs", "backbone=magface")) == [every[0], every[2]]
    assert pairs(jobs("experiment=pairs", "dataset=rfw,lfw", "backbone=magface")) == [every[0], every[2]]


def test_a_typed_pair_that_no_grid_contains_replaces_them(jobs: Callable[..., list[Job]]) -> None:
    assert jobs("experiment=pairs", "dataset=mine") == [["method=platt", "experiment=pairs", "dataset=mine"]]
    assert pairs(jobs("experiment=pairs", "dataset=lfw", "backbone=adaface")) == [("lfw", "adaface")]
    assert pairs(jobs("experiment=pairs", "dataset=rfw,mine")) == [("rfw", "-"), ("mine", "-")], "both were asked for"


def test_cells_of_one_data_set_and_backbone_follow_one_another(jobs: Callable[..., list[Job]]) -> None:
    found = pairs(jobs("method=platt,beta", "dataset=rfw,lfw", "backbone=magface"))
    assert found == [("rfw", "magface"), ("rfw", "magface"), ("lfw", "magface"), ("lfw", "magface")]


def test_several_experiments_may_be_typed_and_a_list_of_them_is_refused(jobs: Callable[..., list[Job]]) -> None:
    assert len(jobs("experiment=product,pairs")) == 4 + 3
    with pytest.raises(ConfigError, match="experiment=a,b"):
        jobs("experiment=[product,pairs]")


def test_a_sweep_without_end_is_refused(jobs: Callable[..., list[Job]]) -> None:
    with pytest.raises(ConfigError, match="seed=interval"):
        jobs("seed=interval(0,1)")


def test_an_experiment_of_experiments_has_its_own_cells_and_theirs_under_their_names(
    jobs: Callable[..., list[Job]],
) -> None:
    found = jobs("experiment=together")
    assert found[0] == ["method=gst", "seed=5", "experiment=together"]
    names = [next(o for o in job if o.startswith("experiment=")) for job in found]
    assert names == ["experiment=together"] + 4 * ["experiment=product"] + 3 * ["experiment=pairs"]


def test_fixed_values_stay_whatever_is_typed(jobs: Callable[..., list[Job]]) -> None:
    name = "experiment=compared"
    data = ["dataset=rfw", "backbone=magface"]
    assert jobs(name) == [[*data, "seed=0", name], [*data, "seed=1", "dataset@train=lfw", name]]
    typed = ("dataset=mine", "dataset@train=lfw", "++train.id=theirs", "seed=3")
    assert jobs(name, *typed) == [["seed=0", name, "dataset=mine"], [name, *typed]]
