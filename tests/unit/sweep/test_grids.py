"""From an experiment's yaml and a command line to cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode

from fairfr.sweep.grids import Cells, Job

PAIRS = {"one": ("rfw", "magface"), "two": ("lfw", "magface"), "three": ("rfw", "adaface")}
EXPERIMENTS = {
    "product": {"hydra": {"sweeper": {"params": {"dataset": "rfw,lfw", "method": "platt,beta"}}}},
    "grids": {
        "repeats": 2,
        "grids": [{"method": "platt", "seed": "0,1"}, {"method": "beta", "seed": "range(${repeats})"}],
    },
    "settings": {"grids": [{"setting": "one,two,three", "method": "platt"}]},
    "compared": {
        "grids": [
            {"setting": "one", "fixed": {"seed": 0, "dataset@train": None}},
            {"setting": "one", "seed": 1, "dataset@train": "lfw"},
        ]
    },
    "together": {"experiments": ["product", "settings"], "grids": [{"method": "gst", "seed": 5}]},
}
PRIMARY = {
    "defaults": [
        "_self_",
        {"dataset": "rfw"},
        {"dataset@train": None},
        {"backbone": "magface"},
        {"method": "platt"},
        {"setting": None},
        {"experiment": None},
    ],
    "seed": 0,
}


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Callable[..., list[Job]]]:
    """``jobs("experiment=grids", ...)``: the overrides of each cell."""
    files: dict[str, object] = {"config": PRIMARY}
    files |= {f"{group}/{name}": {"id": name} for group, names in _choices().items() for name in names}
    files |= {
        f"setting/{name}": {"defaults": [{"override /dataset": data}, {"override /backbone": net}]}
        for name, (data, net) in PAIRS.items()
    }
    files |= {f"experiment/{name}": {"hydra": {"mode": "MULTIRUN"}, **node} for name, node in EXPERIMENTS.items()}
    for name, node in files.items():
        path = tmp_path / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        header = "# @package _global_\n" if name.startswith(("experiment/", "setting/")) else ""
        path.write_text(header + yaml.safe_dump(node, sort_keys=False))
    with initialize_config_dir(str(tmp_path), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()

        def made(*typed: str) -> list[Job]:
            config = loader.load_configuration("config", list(typed), RunMode.MULTIRUN)
            pair_of = lambda setting: dict(zip(("dataset", "backbone"), PAIRS[setting], strict=True))  # noqa: E731
            return Cells(loader, "config", pair_of).jobs(config, list(typed))

        yield made


def _choices() -> dict[str, tuple[str, ...]]:
    return {"dataset": ("rfw", "lfw", "mine"), "backbone": ("magface", "adaface"), "method": ("platt", "beta", "gst")}


def test_a_plain_sweep_is_hydra_s_product(jobs: Callable[..., list[Job]]) -> None:
    assert jobs("method=platt,beta", "seed=1") == [["method=platt", "seed=1"], ["method=beta", "seed=1"]]
    assert len(jobs("experiment=product")) == 4


def test_grids_follow_one_another_and_may_count_repeats(jobs: Callable[..., list[Job]]) -> None:
    found = [job[:2] for job in jobs("experiment=grids")]
    assert found == [[f"method={m}", f"seed={s}"] for m in ("platt", "beta") for s in (0, 1)]
    assert len(jobs("experiment=grids", "repeats=4")) == 6


def test_what_is_typed_replaces_a_grid_s_values_and_equal_cells_are_one(jobs: Callable[..., list[Job]]) -> None:
    assert jobs("experiment=grids", "method=gst", "seed=7") == [["experiment=grids", "method=gst", "seed=7"]]
    swept = jobs("experiment=grids", "seed=7,8")
    assert sorted(tuple(sorted(job)) for job in swept) == sorted(
        ("experiment=grids", f"method={m}", f"seed={s}") for m in ("platt", "beta") for s in (7, 8)
    )


def test_a_typed_data_set_picks_among_the_settings_or_replaces_them(jobs: Callable[..., list[Job]]) -> None:
    assert [job[0] for job in jobs("experiment=settings")] == ["setting=one", "setting=two", "setting=three"]
    assert [job[0] for job in jobs("experiment=settings", "dataset=rfw")] == ["setting=one", "setting=three"]
    assert jobs("experiment=settings", "dataset=mine") == [["method=platt", "experiment=settings", "dataset=mine"]]


def test_an_experiment_of_experiments_has_its_own_cells_and_theirs_under_their_names(
    jobs: Callable[..., list[Job]],
) -> None:
    found = jobs("experiment=together")
    assert found[0] == ["method=gst", "seed=5", "experiment=together"]
    names = [next(o for o in job if o.startswith("experiment=")) for job in found]
    assert names == ["experiment=together"] + 4 * ["experiment=product"] + 3 * ["experiment=settings"]


def test_fixed_values_stay_whatever_is_typed(jobs: Callable[..., list[Job]]) -> None:
    name = "experiment=compared"
    assert jobs(name) == [["setting=one", "seed=0", name], ["setting=one", "seed=1", "dataset@train=lfw", name]]
    typed = ("dataset=mine", "dataset@train=lfw", "++train.id=theirs", "seed=3")
    assert jobs(name, *typed) == [["seed=0", name, "dataset=mine"], [name, *typed]]
