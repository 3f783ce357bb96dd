"""The cells of every named sweep, as its header shows it: data set, backbone, method, protocol and parameters.

``python tests/golden/test_sweep_cells.py`` writes the file again, after a change that is wanted.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode
from omegaconf import OmegaConf

from fairfr.sweep.grids import GridExpander, Job

CONF = Path(__file__).parents[2] / "conf"
GOLDEN = Path(__file__).with_name("sweep_cells.json")
CHOICES = ("dataset", "dataset@train", "backbone", "method", "protocol")
USERS_OWN = {"dataset": ("mine", "theirs", "occluded", "clean"), "backbone": ("mynet",)}
SHOWN = ("study", "training_thresholds", "seed", "dataset.grouping", "dataset.min_pairs", "protocol.splitter")


def commands() -> list[str]:
    """What the headers of conf/experiment show, without places on a user's disk."""
    found = []
    for path in sorted((CONF / "experiment").glob("*.yaml")):
        text = re.sub(r"\\\n# +", "", path.read_text(encoding="utf-8"))
        for line in re.findall(r"^#   python run\.py -m (.*)$", text, re.MULTILINE):
            words = shlex.split(re.split(r"\s{3,}(?!\S*=)", line)[0])
            found.append(shlex.join(word for word in words if word not in ("data_root=...", "source=files", "...")))
    return found


@pytest.fixture(autouse=True)
def _users_own() -> Iterator[None]:
    store_users_own()
    yield
    for group in USERS_OWN:
        ConfigStore.instance().repo.pop(group, None)


def store_users_own() -> None:
    for group, names in USERS_OWN.items():
        for name in names:
            ConfigStore.instance().store(group=group, name=name, node={"defaults": ["custom"], "id": name})


def described(command: str) -> dict[str, Any]:
    """The cells of a command, each by what it chooses and sets, and what else the first of them has."""
    typed = shlex.split(command)
    with initialize_config_dir(str(CONF), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        config = loader.load_configuration("config", typed, RunMode.MULTIRUN)
        jobs = GridExpander(loader, config).jobs(config, list(config.hydra.overrides.task))
        cells = sorted(cell(job) for job in jobs)
        first = compose("config", min(jobs, key=cell))
    return {"cells": cells, "first": {key: plain(OmegaConf.select(first, key)) for key in SHOWN}}


def cell(job: Job) -> str:
    """A job by what it chooses and sets, whatever it is spelled like."""
    given = dict(override.lstrip("+").split("=", 1) for override in job)
    chosen = dict(defaults(given.pop("experiment")))
    chosen |= {noun: given.pop(noun) for noun in CHOICES if noun in given}
    return " ".join(f"{key}={value}" for key, value in [*chosen.items(), *sorted(given.items())] if value is not None)


@cache
def defaults(experiment: str) -> dict[str, Any]:
    """What is chosen where a job of this experiment says nothing."""
    config = compose("config", [f"experiment={experiment}"], return_hydra_config=True)
    return {noun: config.hydra.runtime.choices.get(noun) for noun in CHOICES}


def plain(value: Any) -> Any:
    return OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value


def test_every_command_of_a_header_is_recorded() -> None:
    assert commands() == list(json.loads(GOLDEN.read_text(encoding="utf-8")))


@pytest.mark.parametrize("command", commands())
def test_a_command_has_its_cells(command: str) -> None:
    assert described(command) == json.loads(GOLDEN.read_text(encoding="utf-8"))[command]


if __name__ == "__main__":
    store_users_own()
    GOLDEN.write_text(json.dumps({command: described(command) for command in commands()}, indent=1) + "\n")
