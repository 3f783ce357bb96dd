"""The first line of a user's named sweep: where it is out of place, Hydra overlooks it without a word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from fairfr.core.errors import ConfigError

EXPERIMENT = "experiment"
HEADER = "# @package _global_"
PACKAGE = re.compile(r"\s*#\s*@package\s+(\S+)")


def check_own_experiments(folders: Sequence[Path], chosen: Sequence[str | None]) -> None:
    """ConfigError for a ``chosen`` experiment in ``folders`` that does not begin with ``# @package _global_``.

    Hydra reads that line above all others only. Without it, the file's keys are those of a group ``experiment``: the
    sweep would have one cell, the default one.
    """
    for folder in folders:
        for name in chosen:
            file = folder / EXPERIMENT / f"{name}.yaml"
            if name is not None and file.is_file():
                _check_header(file)


def _check_header(file: Path) -> None:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return  # Hydra says what is wrong
    found = [number for number, line in enumerate(lines) if PACKAGE.match(line)]
    if not found:
        raise ConfigError(
            f'{file}: the line "{HEADER}" is missing. Write it as the first line: without it, Hydra takes the keys of '
            f"the file for those of a group '{EXPERIMENT}', and they change nothing."
        )
    if any(line.strip() for line in lines[: found[0]]):
        raise ConfigError(
            f'{file}: "{lines[found[0]].strip()}" is line {found[0] + 1}, and Hydra reads it in the first line only. '
            "Move it to the top."
        )
