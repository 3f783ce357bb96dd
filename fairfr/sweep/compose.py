"""From a composed configuration to typed settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, ListConfig, OmegaConf, open_dict, read_write
from omegaconf.errors import OmegaConfBaseException

from fairfr.core.config import from_mapping
from fairfr.core.errors import ConfigError
from fairfr.data.settings import DatasetSettings
from fairfr.runner.settings import DATA_ROOT, CellSettings, MethodSettings
from fairfr.store.secrets import HIDDEN
from fairfr.store.settings import StoreSettings
from fairfr.sweep.arguments import check_out_root, is_imported


def read_settings(config: DictConfig) -> tuple[CellSettings, dict[str, Any]]:
    """Typed settings, and the resolved configuration as plain values."""
    composed = OmegaConf.to_container(config)
    missing = next(_unset(composed, ""), None)
    if missing is not None:
        raise ConfigError(f"'{missing}' is not set. Add {missing}=... to the command line.")
    assert isinstance(composed, dict)
    plain = _resolved(composed)
    if not plain.get("train"):  # no data set to fit on is named
        plain.pop("train", None)
    for noun in ("dataset", "train"):
        _list_grouping(plain.get(noun))
    settings = from_mapping(CellSettings, plain)
    check_out_root(settings.out_root)
    if settings.source == "auto" and _names_data_root(settings):
        settings = replace(settings, source="files")  # a folder that was named is meant
    return settings, plain


def _list_grouping(dataset: Any) -> None:
    """``dataset.grouping=sex`` means ``[sex]``; changes the data set's keys in place."""
    if isinstance(dataset, dict) and isinstance(dataset.get("grouping"), str):
        dataset["grouping"] = [dataset["grouping"]]


def read_method(path: Path, dataset: Mapping[str, Any] | None = None) -> MethodSettings:
    """One yaml of conf/method by itself, with what it takes from a data set's keys (None: from their defaults)."""
    composed = {"dataset": dict(dataset or {}), "method": OmegaConf.to_container(OmegaConf.load(path))}
    return from_mapping(MethodSettings, _resolved(composed)["method"], "method")


def _resolved(composed: dict[Any, Any]) -> dict[str, Any]:
    """Interpolations replaced by what they name; a data set's yaml need not have all keys that methods refer to."""
    dataset = composed.get("dataset")
    if isinstance(dataset, dict):
        defaults = {f.name: f.default for f in fields(DatasetSettings) if f.default is not MISSING}
        composed = {**composed, "dataset": {**defaults, **dataset}}
    try:
        plain = OmegaConf.to_container(OmegaConf.create(composed), resolve=True)
    except OmegaConfBaseException as error:
        raise ConfigError(str(error).splitlines()[0]) from error
    assert isinstance(plain, dict)
    return plain  # type: ignore[return-value]


def _names_data_root(settings: CellSettings) -> bool:
    typed = HydraConfig.get().overrides.task if HydraConfig.initialized() else []
    return settings.data_root != DATA_ROOT or any(o.lstrip("+").startswith("data_root=") for o in typed)


def _unset(node: Any, at: str) -> Iterator[str]:
    """Keys that a yaml leaves to the user; OmegaConf's own search stumbles over labels that refer to them."""
    if node == "???":
        yield at
    elif isinstance(node, dict):
        for key, value in node.items():
            yield from _unset(value, f"{at}.{key}" if at else str(key))


def default_settings(config: DictConfig) -> CellSettings:
    """The same data set, backbone, method and protocol as their yaml files have them, with the default seed.

    What a yaml leaves open (``???``) has no default: there the configuration's own values stand, and so does the
    grouping of a data set that has no yaml of its own.
    """
    hydra = HydraConfig.get()
    chosen = [f"{noun}={hydra.runtime.choices[noun]}" for noun in ("dataset", "backbone", "method", "protocol")]
    defaults = _composed(hydra, chosen)
    with open_dict(defaults):
        del defaults["hydra"]
    left_open = list(_unset(OmegaConf.to_container(defaults), ""))
    has_yaml = "dataset.id" not in left_open and not is_imported("dataset", hydra.runtime.choices["dataset"])
    for key in left_open + ([] if has_yaml else ["dataset.grouping"]):
        OmegaConf.update(defaults, key, OmegaConf.select(config, key))
    return read_settings(defaults)[0]


def _composed(hydra: Any, overrides: list[str]) -> DictConfig:
    """The configuration with ``overrides`` alone, from the folders that this run was composed from."""
    searched = [override for override in hydra.overrides.hydra if override.startswith("hydra.searchpath=")]
    loader = GlobalHydra.instance().config_loader()  # launchers hand it to their workers
    return loader.load_configuration(hydra.job.config_name, [*searched, *overrides], RunMode.RUN)


def build_store(config: DictConfig) -> StoreSettings:
    """Typed store settings of a sweep's parent, whose other choices may still be open."""
    store = from_mapping(StoreSettings, OmegaConf.to_container(config.store, resolve=True), "store")
    assert isinstance(store, StoreSettings)
    return store


def hide_address(config: DictConfig | ListConfig, address: str) -> None:
    """Replace the address of the tracking store by stars wherever it stands: it may have a password in it.

    Launchers write the configuration of a job to disk, and jobs need no tracking store: the conductor logs.
    """
    keys = range(len(config)) if isinstance(config, ListConfig) else list(config)
    with read_write(config):
        for key in keys:
            if OmegaConf.is_missing(config, key) or OmegaConf.is_interpolation(config, key):
                continue
            value = config[key]
            if isinstance(value, DictConfig | ListConfig):
                hide_address(value, address)
            elif isinstance(value, str) and address in value:
                config[key] = value.replace(address, HIDDEN)


def without_address(job: Iterable[str]) -> list[str]:
    """What a job overrides, without the address of the tracking store."""
    kept = []
    for override in job:
        key, equals, _ = override.partition("=")
        if equals and key.lstrip("+") == "store.tracking_uri":
            kept.append(f"{key}=null")
        else:
            kept.append(override)
    return kept
