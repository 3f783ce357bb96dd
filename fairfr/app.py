"""The only module that knows Hydra: from a composed configuration to cells, and what a person sees of them."""

from __future__ import annotations

import atexit
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from fairfr.core.conform import build
from fairfr.core.errors import ConfigError, FairfrError, did_you_mean
from fairfr.experiment.cell import Outcome, run_cell
from fairfr.experiment.settings import Settings
from fairfr.report.terminal import Terminal
from fairfr.store.mirror import Mirror

OUTCOME_FILE = "outcome.json"
_mirrors: dict[tuple[str | None, str], Mirror] = {}


def guarded(main: Callable[[], Any], arguments: Sequence[str], conf: Path) -> None:
    """Run Hydra's main so that a user's mistake ends in one message and a non-zero exit code."""
    try:
        check_choices(arguments, conf)
        sys.argv[1:] = [let_through(argument) for argument in arguments]
        main()
    except FairfrError as error:
        Terminal().error(str(error))
        sys.exit(1)
    except KeyboardInterrupt:
        Terminal().error("interrupted. Finished cells are kept; the same command goes on from there.")
        sys.exit(130)


def check_choices(arguments: Sequence[str], conf: Path) -> None:
    """Unknown names of a method, data set, ... get a suggestion instead of Hydra's list."""
    top_level = OmegaConf.load(conf / "config.yaml")
    groups = {p.name for p in conf.iterdir() if p.is_dir()}
    known = groups | {str(key) for key in top_level if key != "defaults"}
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if argument.startswith("-") or not equals or key[:1] in "+~" or "/" in key:
            continue
        if key.partition(".")[0] not in known:
            raise ConfigError(f"unknown key '{key}'.{did_you_mean(key, known)}")
        if key in groups and not any(c in value for c in "($"):
            _check_group_choice(key, value, conf / key)


def let_through(argument: str) -> str:
    """Nested keys as additions: Hydra refuses those that no yaml mentions, ``Settings`` knows which ones exist."""
    key, equals, _ = argument.partition("=")
    is_nested = equals and "." in key and key[0].isalpha() and "/" not in key and not key.startswith("hydra.")
    return f"++{argument}" if is_nested else argument


def _check_group_choice(group: str, value: str, folder: Path) -> None:
    names = {str(p.relative_to(folder).with_suffix("")) for p in folder.rglob("*.yaml")}
    for choice in value.split(","):
        name = choice.strip().strip("'\"")
        if name not in names and name != "null":
            raise ConfigError(f"unknown {group} '{name}'.{did_you_mean(name, names)}")


def run_job(config: DictConfig) -> None:
    """One cell: compute or skip, mirror, show. In a sweep the outcome is left for the parent's summary."""
    terminal = Terminal()
    in_sweep = HydraConfig.get().mode == RunMode.MULTIRUN
    try:
        settings, plain = read_settings(config)
        outcome = _run_and_mirror(settings, plain, terminal)
    except FairfrError as error:
        _note_outcome({"status": "failed", "choices": _choices(), "error": str(error)})
        terminal.failed(_choices(), str(error))
        if not in_sweep or config.get("on_error") == "stop":
            sys.exit(1)
        return
    error_text = outcome.error
    _note_outcome({"status": outcome.status, "folder": str(outcome.folder), "choices": _choices(), "error": error_text})
    if in_sweep:
        terminal.cell_line(outcome.status, outcome.result, error_text)
    else:
        terminal.cell_report(outcome.status, outcome.result, outcome.folder, error_text)
        if error_text is None and settings.store.id == "mlflow":
            terminal.mlflow_hint()
    if error_text is not None and (not in_sweep or settings.on_error == "stop"):
        sys.exit(1)


def read_settings(config: DictConfig) -> tuple[Settings, dict[str, Any]]:
    """Typed settings, and the resolved configuration as plain values."""
    missing = next(_unset(OmegaConf.to_container(config), ""), None)
    if missing is not None:
        raise ConfigError(f"'{missing}' is not set. Add {missing}=... to the command line.")
    try:
        plain = OmegaConf.to_container(config, resolve=True)
    except OmegaConfBaseException as error:
        raise ConfigError(str(error).splitlines()[0]) from error
    assert isinstance(plain, dict)
    return build(Settings, plain), plain  # type: ignore[return-value]


def _unset(node: Any, at: str) -> Iterator[str]:
    """Keys that a yaml leaves to the user; OmegaConf's own search stumbles over labels that refer to them."""
    if node == "???":
        yield at
    elif isinstance(node, dict):
        for key, value in node.items():
            yield from _unset(value, f"{at}.{key}" if at else str(key))


def _run_and_mirror(settings: Settings, plain: dict[str, Any], terminal: Terminal) -> Outcome:
    mirror = _mirror(settings)
    with terminal.cell(f"{settings.dataset.label} x {settings.backbone.label} x {settings.method.label}") as progress:
        outcome = run_cell(settings, plain, progress, before_computing=mirror.start if mirror else lambda: None)
    if mirror is not None and outcome.is_current and not (outcome.status == "skipped" and mirror.has(outcome.key)):
        mirror.log(outcome.key, outcome.folder)
    return outcome


def _mirror(settings: Settings) -> Mirror | None:
    """The mirror of this process for this store; its MLflow process serves every cell of a sweep."""
    if settings.store.id == "folder":
        return None
    where = (settings.store.tracking_uri, settings.out_root)
    if where not in _mirrors:
        _mirrors[where] = Mirror(settings.store, Path(settings.out_root))
        atexit.register(_mirrors[where].close)
    return _mirrors[where]


def _choices() -> str:
    chosen = HydraConfig.get().runtime.choices
    return " / ".join(str(chosen[noun]) for noun in ("dataset", "backbone", "method"))


def _note_outcome(outcome: dict[str, Any]) -> None:
    folder = Path(HydraConfig.get().runtime.output_dir)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / OUTCOME_FILE).write_text(json.dumps(outcome), encoding="utf-8")


class SweepReport(Callback):
    """Before a sweep: make the MLflow database, once. After it: one table, every failure, the exit code."""

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Parallel workers on a fresh database would race to make it."""
        if config.store.id == "mlflow":
            mirror = Mirror(build_store(config), Path(config.out_root))
            _mirrors[(config.store.tracking_uri, config.out_root)] = mirror
            atexit.register(mirror.close)
            process = mirror.start()
            if "BasicLauncher" not in str(config.hydra.launcher.get("_target_")):
                process.wait_until_ready()

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Read what each job left behind; it may have run in another process."""
        files = sorted(Path(config.hydra.sweep.dir).glob(f"*/{OUTCOME_FILE}"), key=lambda p: int(p.parent.name))
        outcomes = [json.loads(path.read_text(encoding="utf-8")) for path in files]
        terminal = Terminal()
        failures = terminal.sweep_report(outcomes, Path(config.out_root))
        if config.store.id == "mlflow":
            terminal.mlflow_hint()
        if failures:
            sys.exit(1)


def build_store(config: DictConfig) -> Any:
    """Typed store settings of a sweep's parent, whose other choices may still be open."""
    from fairfr.store.settings import StoreSettings

    return build(StoreSettings, OmegaConf.to_container(config.store, resolve=True), "store")
