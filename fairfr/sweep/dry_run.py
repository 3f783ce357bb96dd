"""The cells of a sweep before any of them runs: whether they can be composed, how many there are, which are done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hydra.core.config_loader import ConfigLoader
from omegaconf import DictConfig, open_dict

from fairfr.core.config import unreadable_text
from fairfr.core.errors import FairfrError
from fairfr.core.findings import Finding
from fairfr.core.text import plural
from fairfr.runner.cell_data import CellData
from fairfr.store.run_folder import RunFolders
from fairfr.store.secrets import mask_passwords
from fairfr.sweep.compose import read_settings
from fairfr.sweep.grids import Job


def split_unreadable(
    loader: ConfigLoader, config: DictConfig, jobs: Iterable[Job]
) -> tuple[list[Job], tuple[Finding, ...]]:
    """The jobs without those of a yaml that cannot be read, and what to say of these; before anything runs.

    Raises Hydra's error for a name that does not exist; one job for each name is enough.
    """
    import yaml

    readable: list[Job] = []
    unreadable: dict[str, None] = {}
    seen: set[str] = set()
    for job in jobs:
        names = {override for override in job if "." not in override.partition("=")[0]}
        try:
            if not names <= seen:
                loader.load_sweep_config(master_config=config, sweep_overrides=list(job))
        except yaml.YAMLError as error:
            unreadable[f"{unreadable_text(error)} Its runs are left out."] = None
            continue
        seen |= names
        readable.append(job)
    return readable, tuple(Finding("unreadable-yaml", "serious", text) for text in unreadable)


def count_by_experiment(jobs: Sequence[Job]) -> str:
    """``485 runs: 320 of appendix, 70 of components``."""
    counts: Counter[str] = Counter()
    for job in jobs:
        for override in job:
            if override.startswith("experiment="):
                counts[override.partition("=")[2]] += 1
    total = plural(len(jobs), "run")
    return f"{total}: {', '.join(f'{count} of {name}' for name, count in counts.items())}"


def describe_cells(loader: ConfigLoader, config: DictConfig, jobs: Sequence[Job]) -> Iterator[str]:
    """Yield a line for each cell, with whether it is done, and then how many there are."""
    counts: Counter[str] = Counter()
    for job in jobs:
        state, name = _state(loader, config, job)
        counts[state] += 1
        yield mask_passwords(f"{state:<6} {name}  {' '.join(job)}")
    yield f"{len(jobs)} runs: " + ", ".join(f"{counts[state]} {state}" for state in ("done", "to do", "fails"))


def _state(loader: ConfigLoader, config: DictConfig, job: Job) -> tuple[str, str]:
    """Whether a cell is done, and what it is called."""
    composed = loader.load_sweep_config(master_config=config, sweep_overrides=list(job))
    with open_dict(composed):
        composed.pop("hydra", None)
    try:
        settings, _ = read_settings(composed)
        name = f"{settings.dataset.label} x {settings.backbone.label} x {settings.method.label}"
        key = CellData.of(settings).key(settings)
        is_done = not settings.force and RunFolders(Path(settings.out_root)).completed(key) is not None
    except FairfrError as error:
        return "fails", error.named()
    return ("done" if is_done else "to do"), name
