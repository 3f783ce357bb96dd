"""The only module that knows Hydra: from a composed configuration to cells, and what a person sees of them."""

from __future__ import annotations

import atexit
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_search_path_impl import ConfigSearchPathImpl
from hydra.core.hydra_config import HydraConfig
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from fairfr.arguments import check_out_root, is_imported, prepare
from fairfr.core.conform import build
from fairfr.core.errors import ConfigError, FairfrError, StorageError
from fairfr.core.storing import storing
from fairfr.experiment.cell import Outcome, run_cell
from fairfr.experiment.settings import DATA_ROOT, Settings
from fairfr.launch import watch_launcher
from fairfr.report.listed import log_run
from fairfr.report.sweep import FAILED, NOT_MIRRORED, RunningSweep
from fairfr.report.terminal import Terminal
from fairfr.store.mlflow.mirror import Mirror
from fairfr.store.secrets import mask_files
from fairfr.store.settings import StoreSettings
from fairfr.store.sweep import Sweep, write_outcome

LEAST_ROOM = 2**17  # bytes: Hydra's own files and a failed run need some of it

_mirrors: dict[tuple[str | None, str], Mirror] = {}
_sweep: RunningSweep | None = None


def guarded(main: Callable[[], Any], arguments: Sequence[str], conf: Path) -> None:
    """Run Hydra's main so that a user's mistake ends in one message and a non-zero exit code."""
    try:
        sys.argv[1:] = prepare(arguments, conf)
        main()
    except FairfrError as error:
        Terminal().error(str(error))
        sys.exit(1)
    except SystemExit:
        _end_sweep("FAILED")  # on_error=stop: Hydra leaves out the end of a sweep that is stopped
        raise
    except KeyboardInterrupt:
        Terminal().error("interrupted. Finished cells are kept; the same command goes on from there.")
        _end_sweep("KILLED")
        sys.exit(130)


def run_job(config: DictConfig) -> None:
    """One cell: compute or skip, mirror, show. In a sweep the outcome is left for the parent's summary."""
    terminal = Terminal()
    in_sweep = HydraConfig.get().mode == RunMode.MULTIRUN
    mask_files(Path(HydraConfig.get().runtime.output_dir) / (HydraConfig.get().output_subdir or ""))
    noted: dict[str, Any] = {"status": "failed", "choices": _choices(), "error": None}
    try:
        settings, plain = read_settings(config)
        outcome = _run(settings, plain, lambda: default_settings(config), terminal)
        noted |= {"status": outcome.status, "folder": str(outcome.folder), "error": outcome.error}
        _show(outcome, in_sweep, terminal)
        noted |= _mirror_run(settings, outcome)
    except FairfrError as error:
        noted |= {"status": "failed", "error": str(error)}
        terminal.failed(_choices(), str(error))
    try:
        write_outcome(Path(HydraConfig.get().runtime.output_dir), noted)
    except OSError as error:  # of a cell without an outcome the summary says that it did not end
        terminal.failed(_choices(), f"{type(error).__name__}: {error}")
    if noted["status"] == "failed" and (not in_sweep or config.get("on_error") == "stop"):
        sys.exit(FAILED)
    if not in_sweep:
        _tell_where(noted, settings, terminal)


def _tell_where(noted: dict[str, Any], settings: Settings, terminal: Terminal) -> None:
    """How a single run ends: with a hint to MLflow, or with an exit code that says that MLflow does not have it."""
    mirror = _mirror(settings.store, settings.out_root)
    if mirror is not None and "unmirrored" in noted:
        terminal.not_mirrored(noted["unmirrored"], Path(settings.out_root), mirror.uri)
        sys.exit(NOT_MIRRORED)
    if mirror is not None:
        terminal.mlflow_hint(settings.out_root)


def _show(outcome: Outcome, in_sweep: bool, terminal: Terminal) -> None:
    if in_sweep:
        terminal.cell_line(outcome.status, outcome.result, outcome.error)
    else:
        terminal.cell_report(outcome.status, outcome.result, outcome.folder, outcome.error)


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
    settings = build(Settings, plain)
    check_out_root(settings.out_root)
    if settings.source == "auto" and _names_data_root(settings):
        settings = replace(settings, source="files")  # whoever names a place means what lies there
    return settings, plain  # type: ignore[return-value]


def _names_data_root(settings: Settings) -> bool:
    typed = HydraConfig.get().overrides.task if HydraConfig.initialized() else []
    return settings.data_root != DATA_ROOT or any(o.lstrip("+").startswith("data_root=") for o in typed)


def _unset(node: Any, at: str) -> Iterator[str]:
    """Keys that a yaml leaves to the user; OmegaConf's own search stumbles over labels that refer to them."""
    if node == "???":
        yield at
    elif isinstance(node, dict):
        for key, value in node.items():
            yield from _unset(value, f"{at}.{key}" if at else str(key))


def default_settings(config: DictConfig) -> Settings:
    """The same data set, backbone and method as their yaml files have them, with the default protocol and seed.

    What a yaml leaves open (``???``) has no default: there the configuration's own values stand, and so does the
    grouping of a data set that has no yaml of its own.
    """
    hydra = HydraConfig.get()
    sources = ConfigSearchPathImpl()
    for source in hydra.runtime.config_sources:
        sources.append(source.provider, f"{source.schema}://{source.path}")
    chosen = [f"{noun}={hydra.runtime.choices[noun]}" for noun in ("dataset", "backbone", "method")]
    loader = ConfigLoaderImpl(sources)
    defaults = loader.load_configuration(hydra.job.config_name, chosen, RunMode.RUN)
    with open_dict(defaults):
        del defaults["hydra"]
    left_open = list(_unset(OmegaConf.to_container(defaults), ""))
    has_yaml = "dataset.id" not in left_open and not is_imported("dataset", hydra.runtime.choices["dataset"])
    for key in left_open + ([] if has_yaml else ["dataset.grouping"]):
        OmegaConf.update(defaults, key, OmegaConf.select(config, key))
    return read_settings(defaults)[0]


def _run(settings: Settings, plain: dict[str, Any], defaults: Callable[[], Settings], terminal: Terminal) -> Outcome:
    mirror = _mirror(settings.store, settings.out_root)
    start = mirror.start if mirror else lambda: None
    with terminal.cell(f"{settings.dataset.label} x {settings.backbone.label} x {settings.method.label}") as progress:
        return run_cell(settings, plain, progress, start, defaults)


def _mirror_run(settings: Settings, outcome: Outcome) -> dict[str, Any]:
    """Log the run unless MLflow has it. The run is stored already: a refusal is only noted."""
    mirror = _mirror(settings.store, settings.out_root)
    if mirror is None or not outcome.is_current or (outcome.status == "skipped" and mirror.has(outcome.result)):
        return {}
    hydra = HydraConfig.get()
    sweep = Sweep.read(Path(hydra.sweep.dir)) if hydra.mode == RunMode.MULTIRUN else None
    if sweep is not None and sweep.unmirrored is not None:
        return {"unmirrored": sweep.unmirrored, "gave_up": True}
    try:
        log_run(mirror, outcome.result, outcome.folder, sweep)
    except FairfrError as error:
        return {"unmirrored": str(error), "gave_up": mirror.has_given_up}
    return {}


def _mirror(store: StoreSettings, out_root: str) -> Mirror | None:
    """The mirror of this process for this store; its MLflow process serves every cell of a sweep."""
    if store.id == "folder":
        return None
    where = (store.tracking_uri, out_root)
    if where not in _mirrors:
        _mirrors[where] = Mirror(store, Path(out_root))
        atexit.register(_mirrors[where].close)
    return _mirrors[where]


def _choices() -> str:
    chosen = HydraConfig.get().runtime.choices
    return " / ".join(str(chosen.get(noun)) for noun in ("dataset", "backbone", "method"))


class SweepReport(Callback):
    """Before a sweep: its parent run in MLflow. After it: one table, every failure, the exit code.

    Hydra turns an exception in a callback into a warning and goes on: here it is shown, and ends in exit code 1. It
    also sends the callback to workers, so the running sweep, which owns a process, is kept outside.
    """

    def on_run_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Before Hydra itself writes below out_root, and shows a traceback when it cannot."""
        check_writable(config)

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Parallel workers would race to make the database and the parent run: they find both."""
        global _sweep
        check_writable(config)
        folder = Path(config.hydra.sweep.dir)
        chosen = config.hydra.runtime.choices.get("experiment")
        about = Sweep.of(config.hydra.overrides.task, chosen, time.time())
        try:
            store = build_store(config)
            mirror = _mirror(store, config.out_root)
            _sweep = RunningSweep(about, folder, Path(config.out_root), mirror, store.report)
            watch_launcher(_sweep.plan, folder, go_on=config.get("on_error") != "stop")
            _sweep.start(in_parallel="BasicLauncher" not in str(config.hydra.launcher.get("_target_")))
        except FairfrError as error:  # the cells go on: their run folders are complete without MLflow
            Terminal().error(str(error))

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """The jobs may have run in other processes: what they left behind is in the sweep's folder."""
        try:
            code = _end_sweep()
        except Exception as error:
            where = Path(config.hydra.sweep.dir) / "error.txt"
            where.write_text(traceback.format_exc(), encoding="utf-8")
            Terminal().error(f"{type(error).__name__}: {error}\ntraceback: {where}")
            code = FAILED
        if code:
            sys.exit(code)


def check_writable(config: DictConfig) -> None:
    """One line and exit code 1 where nothing can be written below out_root."""
    out_root = Path(str(config.out_root))
    try:
        with storing(out_root):
            out_root.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=out_root) as probe:
                probe.write(bytes(LEAST_ROOM))
                probe.flush()
    except StorageError as error:
        Terminal().error(str(error))
        sys.exit(1)


def _end_sweep(status: str | None = None) -> int:
    """Summarise the sweep that runs, if one does; returns the exit code. ``status``: of one that was cut short."""
    global _sweep
    ending, _sweep = _sweep, None
    return 0 if ending is None else ending.finish(status)


def build_store(config: DictConfig) -> StoreSettings:
    """Typed store settings of a sweep's parent, whose other choices may still be open."""
    store = build(StoreSettings, OmegaConf.to_container(config.store, resolve=True), "store")
    assert isinstance(store, StoreSettings)
    return store
