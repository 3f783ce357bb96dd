"""A user's yaml files of methods, before Hydra reads them: readable, and under names of their own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fairfr.core.config import unreadable_text
from fairfr.core.errors import ConfigError

METHOD = "method"


def check_own_methods(conf: Path, folders: Sequence[Path], chosen: Sequence[str | None]) -> None:
    """ConfigError for a yaml with the file name or the id of one in ``conf``, and for a ``chosen`` one that is broken.

    Hydra would take ours for theirs by the file name, and tables would by the id.
    """
    theirs = [file for folder in folders if folder.absolute() != conf.absolute() for file in method_files(folder)]
    if not theirs:
        return
    names = {method_name(file, conf) for file in method_files(conf)}
    ids = {_id(file): method_name(file, conf) for file in method_files(conf)}
    for file in theirs:
        name = method_name(file, next(folder for folder in folders if file.is_relative_to(folder)))
        if name in names:
            raise ConfigError(
                f"{file}: fairfr has a method={name} of its own. Rename the file, such as my_{file.name}, and write "
                f"its id likewise: id: my_{file.stem}."
            )
        try:
            id = _id(file)
        except ConfigError:
            if name in chosen:
                raise
            continue  # glob(*) goes on without it, and says so
        if id in ids:
            raise ConfigError(
                f"{file}: the id '{id}' is that of fairfr's own method={ids[id]}, whose runs its runs would be taken "
                f"for. Write another one, such as id: my_{file.stem.removeprefix('my_')}."
            )


def method_files(folder: Path) -> list[Path]:
    """The yamls of methods in a folder of configurations."""
    return sorted((folder / METHOD).rglob("*.yaml"))


def method_name(file: Path, folder: Path) -> str:
    """A method as it is typed: ``platt``, ``ablation/midpoint_only``."""
    return file.relative_to(folder / METHOD).with_suffix("").as_posix()


def _id(file: Path) -> str | None:
    import yaml

    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(unreadable_text(error, file)) from None
    return str(content["id"]) if isinstance(content, dict) and "id" in content else None
