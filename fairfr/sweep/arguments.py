"""What is typed after run.py, checked and put into the form that Hydra takes.

Hydra's own config loader is asked what exists, so a user's folders (--config-dir, hydra.searchpath) count like ours.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.config_loader import ConfigLoader
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.object_type import ObjectType
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, Override, QuotedString
from hydra.errors import CompactHydraException, OverrideParseException

from fairfr.core.errors import ConfigError, did_you_mean
from fairfr.data.locate import available_names
from fairfr.runner.settings import DATA_ROOT, CellSettings
from fairfr.store.secrets import mask_passwords
from fairfr.sweep.own_experiments import EXPERIMENT, check_own_experiments
from fairfr.sweep.own_methods import METHOD, check_own_methods

CONFIG = "config"
TRAINING = "train"
"""Where ``dataset@train`` puts the data set to fit on, which most runs have none of."""
NAMED = ("experiment",)
"""Groups that choose for others, and are not keys of a run."""
TOP_LEVEL = frozenset(key.name for key in fields(CellSettings))


def prepare(arguments: Sequence[str], conf: Path) -> list[str]:
    """``arguments`` as Hydra takes them, flags first; a name that does not exist is a ConfigError with a suggestion."""
    for argument in arguments:
        shown = argument.encode(errors="backslashreplace").decode()
        if shown != argument:
            raise ConfigError(
                f"{shown} is not UTF-8, as names of files must be here. Give the file or folder another name."
            )
    parsed = _parser().parse_intermixed_args(list(arguments))
    flags = _flags(arguments, parsed)
    parsed.overrides = [of_folder(override) for override in parsed.overrides]
    if parsed.cfg and parsed.multirun:
        raise ConfigError("-c shows one configuration: leave out -m. hydra.sweeper.dry_run=true shows a sweep's runs.")
    if parsed.cfg or parsed.info:  # printed by Hydra itself
        parsed.overrides = [mask_passwords(override) for override in parsed.overrides]
    if parsed.shell_completion and "COMP_LINE" in os.environ:
        os.environ["COMP_LINE"] = flag_first(os.environ["COMP_LINE"])
    if "://" in (parsed.config_path or ""):  # a whole set of configurations inside another package
        return [*flags, *parsed.overrides]
    overrides = [] if parsed.shell_completion else _parse(parsed.overrides)
    folders = _user_folders(parsed, overrides)
    check_own_methods(conf, folders, _chosen_of(METHOD, overrides))
    check_own_experiments(folders, _chosen_of(EXPERIMENT, overrides))
    with _configurations(parsed, overrides, conf) as known:
        known.add_imported()
        for override in overrides:
            known.check(override)
            if override.key_or_group == "out_root":
                check_out_root(override.value())
    return [*flags, *parsed.overrides]


def _parse(typed: Sequence[str]) -> list[Override]:
    """Overrides as Hydra reads them. Its message does not always show what was typed, and never without passwords."""
    parser = OverridesParser.create()
    overrides = []
    for override in typed:
        try:
            overrides += parser.parse_overrides([override])
        except OverrideParseException as error:
            reason = mask_passwords(str(error).partition("\n")[0])
            raise ConfigError(
                f"{mask_passwords(override)} cannot be read ({reason}). A value with special characters needs quotes "
                "of its own inside those of the shell: \"key='value'\"."
            ) from None
    return overrides


def _parser() -> argparse.ArgumentParser:
    """Hydra's flags, which may come anywhere here; Hydra itself explains them (--hydra-help) and refuses wrong ones."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("overrides", nargs="*")
    for flags in (("--help", "-h"), ("--hydra-help",), ("--version",), ("--resolve",), ("--run", "-r")):
        parser.add_argument(*flags, action="store_true")
    for flags in (("--multirun", "-m"), ("--shell-completion", "-sc")):
        parser.add_argument(*flags, action="store_true")
    for flags in (("--cfg", "-c"), ("--package", "-p"), ("--experimental-rerun",)):
        parser.add_argument(*flags)
    for flags in (("--config-path", "-cp"), ("--config-name", "-cn"), ("--config-dir", "-cd")):
        parser.add_argument(*flags)
    parser.add_argument("--info", "-i", const="all", nargs="?")
    return parser


def check_out_root(value: object) -> None:
    """Refuse what is not a folder, or one that MLflow cannot name, before Hydra makes the folder."""
    if value is None or value == "":
        raise ConfigError("out_root must name a folder for the results, found nothing (null).")
    for sign in "?%":
        if sign in str(value):
            raise ConfigError(f"out_root={value} holds a '{sign}', which the address of MLflow's database cannot have.")


def flag_first(line: str) -> str:
    """A line that the shell wants completed, with its ``-m`` where Hydra's parser understands it."""
    rest, found = re.subn(r"\s(-m|--multirun)(?=\s)", "", line)
    program = re.match(r"\s*(\S*python\S*\s+)?\S+", rest)
    return f"{program[0]} -m{rest[program.end() :]}" if found and program else line


def of_folder(argument: str) -> str:
    """``method/ablation=density_score``, as Hydra's help and completion have it, in the form that it takes.

    Names only: ``glob(*)`` stays as it is.
    """
    key, equals, names = argument.partition("=")
    group, slash, folder = key.partition("/")
    if not (equals and slash and group in {*TOP_LEVEL, *NAMED}) or "(" in names or "@" in key:
        return argument
    return f"{group}={','.join(f'{folder}/{name}' for name in names.split(','))}"


@dataclass(frozen=True, slots=True)
class Configurations:
    """What Hydra finds on its search path, from the primary configuration ``name`` and with ``searched``, the override
    that adds the user's folders."""

    loader: ConfigLoader
    name: str
    data_root: Path
    searched: list[str]
    _answers: dict[tuple[str, ObjectType], set[str]] = field(default_factory=dict, repr=False)

    def groups(self) -> set[str]:
        return self._listed("", ObjectType.GROUP)

    def choices(self, group: str) -> set[str]:
        """The names that ``group=`` takes, those of a folder inside it as ``folder/name``."""
        folders = self._listed(group, ObjectType.GROUP)
        inside = {f"{folder}/{name}" for folder in folders for name in self.choices(f"{group}/{folder}")}
        return self._listed(group, ObjectType.CONFIG) | inside

    def _listed(self, group: str, kind: ObjectType) -> set[str]:
        """Hydra copies all it has read for each answer: ask once."""
        if (group, kind) not in self._answers:
            self._answers[group, kind] = set(self.loader.get_group_options(group, kind, self.name, self.searched))
        return self._answers[group, kind]

    def add_imported(self) -> None:
        """Data sets and vectors that lie below ``data_root`` are choices too, where no yaml has their name."""
        for group, names in available_names(self.data_root).items():
            for name in set(names) - self.choices(group) if names else ():
                ConfigStore.instance().store(group=group, name=name, node={"defaults": ["custom"], "id": name})
                self._answers[group, ObjectType.CONFIG].add(name)

    def check(self, override: Override) -> None:
        """Refuse a key or a choice that does not exist; what only Hydra understands is left to it."""
        key, groups = override.key_or_group, self.groups()
        if override.is_add() or override.is_force_add() or "/" in key or override.package not in (None, TRAINING):
            return
        if key.partition(".")[0] not in groups | TOP_LEVEL:
            raise ConfigError(f"unknown key '{key}'.{did_you_mean(key, groups | TOP_LEVEL)}")
        if key in groups:
            for choice in _chosen(override):
                self._check_choice(key, choice, optional=override.package == TRAINING)

    def _check_choice(self, group: str, choice: str | None, optional: bool = False) -> None:
        if choice is None and group in TOP_LEVEL and not optional:
            raise ConfigError(f"a run needs a {group}: {group}=... One of: {', '.join(sorted(self.choices(group)))}.")
        if choice is None or choice in self._listed(group, ObjectType.CONFIG):
            return
        if choice not in (names := self.choices(group)):
            hint = _import_hint(group, choice, self.data_root) if "custom" in names else ""
            raise ConfigError(f"unknown {group} '{choice}'.{did_you_mean(choice, names)}{hint}")


@contextmanager
def _configurations(parsed: argparse.Namespace, overrides: Iterable[Override], conf: Path) -> Iterator[Configurations]:
    """Hydra's loader over what the run itself will see."""
    given = {override.key_or_group: override.value() for override in overrides}
    paths = _searched_paths(parsed, given)
    _check_folders(paths)
    searched = [f"hydra.searchpath=[{','.join(json.dumps(path) for path in paths)}]"] if paths else []
    folder = Path(parsed.config_path or conf).absolute()
    try:
        with initialize_config_dir(str(folder), version_base="1.3"):
            loader = GlobalHydra.instance().config_loader()
            default = compose(parsed.config_name).get("data_root") if parsed.config_name else None
            data_root = Path(str(given.get("data_root") or default or DATA_ROOT))
            yield Configurations(loader, parsed.config_name or CONFIG, data_root, searched)
    except CompactHydraException as error:
        raise ConfigError(str(error)) from error


def _searched_paths(parsed: argparse.Namespace, given: Mapping[str, Any]) -> list[str]:
    """What --config-dir and hydra.searchpath name."""
    listed = given.get("hydra.searchpath")
    paths = [str(path) for path in listed] if isinstance(listed, list) else []
    if parsed.config_dir:
        paths.append(str(Path(parsed.config_dir).absolute()))
    return paths


def _user_folders(parsed: argparse.Namespace, overrides: Iterable[Override]) -> list[Path]:
    """Those of the searched paths that are on the disk."""
    given = {override.key_or_group: override.value() for override in overrides}
    paths = [path.removeprefix("file://") for path in _searched_paths(parsed, given)]
    return [Path(path) for path in paths if "://" not in path]


def _check_folders(paths: Iterable[str]) -> None:
    """Hydra would warn of a folder that is not there, and go on without it."""
    for path in paths:
        folder = path.removeprefix("file://")
        if "://" not in folder and not Path(folder).is_dir():
            raise ConfigError(f"{folder}: no such folder of configurations.")


def is_imported(group: str, choice: str) -> bool:
    """Whether a choice is the name of files, without a yaml."""
    return f"{choice}.yaml" in ConfigStore.instance().repo.get(group, {})


def _import_hint(group: str, choice: str, data_root: Path) -> str:
    there = {"dataset": f"{data_root}/{choice}", "backbone": f"{data_root}/<dataset>/embeddings/{choice}.npz"}[group]
    names = ", ".join(available_names(data_root)[group]) or "nothing"
    return (
        f" Your own data: {group}={choice} works once {there} is there ({data_root} has: {names}), and "
        f"{group}=custom {group}.id={choice} names it without looking."
    )


def _chosen(override: Override) -> list[str | None]:
    """The names that an override chooses; none where only Hydra can tell (glob, interpolations)."""
    value, values = override.value(), list[Any]()
    if override.is_delete():
        values = [None]
    elif isinstance(value, ChoiceSweep):
        values = [item.text if isinstance(item, QuotedString) else item for item in value.list]
    elif not override.is_sweep_override() and not isinstance(value, list | dict):
        values = [value]
    return [None if value is None else str(value) for value in values if "${" not in str(value)]


def _chosen_of(group: str, overrides: Iterable[Override]) -> list[str | None]:
    names: list[str | None] = []
    for override in overrides:
        if override.key_or_group == group:
            names += _chosen(override)
    return names


def _flags(arguments: Sequence[str], parsed: argparse.Namespace) -> list[str]:
    """The arguments that are no overrides, with a relative --config-path from where the user stands."""
    flags = list(arguments)
    for override in parsed.overrides:
        flags.remove(override)
    path = parsed.config_path
    if path and "://" not in path:
        flags = [flag.replace(path, str(Path(path).absolute())) if path in flag else flag for flag in flags]
    return flags
