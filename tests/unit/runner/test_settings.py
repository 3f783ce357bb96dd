"""What makes two runs the same run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, open_dict

from fairfr.core import run_key as keys
from fairfr.core.run_key import changed_parameters
from fairfr.runner.settings import CellSettings
from fairfr.sweep import read_settings

CONF = Path(__file__).parents[3] / "conf"
BASE = ("dataset=lfw", "backbone=magface", "method=platt")


def composed(*overrides: str) -> DictConfig:
    with initialize_config_dir(config_dir=str(CONF), version_base="1.3"):
        return compose("config", overrides=[*BASE, *overrides])


def settings(*overrides: str) -> CellSettings:
    return read_settings(composed(*overrides))[0]


def key(*overrides: str, source: Any = "files", digest: str = "d" * 64) -> keys.RunKey:
    return settings(*overrides).key(source, digest)


@pytest.fixture(scope="module")
def plain() -> keys.RunKey:
    return key()


@pytest.mark.parametrize(
    "override",
    [
        "data_root=elsewhere",
        "out_root=elsewhere",
        "store=folder",
        "store.experiment=other",
        "store.tracking_uri=http://localhost:5000",
        "threads=7",
        "force=true",
        "on_error=stop",
        "dataset.label=Other",
        "backbone.label=Other",
        "method.label=Other",
        "source=files",
        "method.estimator={_target_: fairfr.methods.platt.Platt}",
        "dataset.standin.seed=1",
        "dataset.standin=null",
        "dataset.max_references=100",
        "dataset.oracle_mixed=zero",
    ],
)
def test_what_does_not_decide_the_result_is_not_in_the_key(plain: keys.RunKey, override: str) -> None:
    assert key(override) == plain


@pytest.mark.parametrize(
    "override",
    [
        "seed=1",
        "method.estimator.C=0.5",
        "dataset.min_pairs=21",
        "dataset.missing=drop",
        "dataset.grouping=[gender]",
        "dataset.id=other",
        "backbone.id=other",
        "backbone.column=vendor",
        "method.id=other",
        "method=beta",
        "protocol.id=other",
    ],
)
def test_what_decides_the_result_is_in_the_key(plain: keys.RunKey, override: str) -> None:
    assert key(override).digest != plain.digest


def test_the_bytes_of_the_data_and_where_they_come_from_are_in_the_key(plain: keys.RunKey) -> None:
    assert key(digest="e" * 64).digest != plain.digest
    assert key(source="synthetic").digest != plain.digest


def test_a_default_written_out_makes_no_new_run() -> None:
    target = "_target_: fairfr.methods.ac_density.ACDensity"
    bare = key("method=ac_density", f"method.estimator={{{target}}}")
    assert bare == key("method=ac_density", f"method.estimator={{{target}, k: 20, alpha: 1}}")
    assert bare == key("method=ac_density")
    assert bare != key("method=ac_density", "method.estimator.k=21")


METHODS_FIELDS = [
    ("ac_density", "max_references", "max_references", 100),
    ("ac_density_loo", "max_references", "max_references", 100),
    ("ablation/density_score", "max_references", "max_references", 100),
    ("oracle_paper", "oracle_mixed", "mixed", "combo"),
]


@pytest.mark.parametrize(("method", "of_dataset", "of_method", "value"), METHODS_FIELDS)
def test_what_a_method_takes_from_the_data_set_counts_once_as_its_own(
    method: str, of_dataset: str, of_method: str, value: object
) -> None:
    plain, named = settings(f"method={method}"), f"method.estimator.{of_method}"
    by_dataset = settings(f"method={method}", f"dataset.{of_dataset}={value}")
    by_method = settings(f"method={method}", f"++{named}={value}")
    for changed in (by_dataset, by_method):
        assert changed_parameters(changed.parameters("files"), plain.parameters("files")) == {named: value}
        assert changed.key("files", "d") != plain.key("files", "d")
    assert by_dataset.key("files", "d") == by_method.key("files", "d")


def test_every_data_set_has_its_own_defaults_of_them() -> None:
    def fields(dataset: str) -> tuple[object, object]:
        density, oracle = (settings(f"dataset={dataset}", f"method={m}").method for m in ("ac_density", "oracle_paper"))
        return density.estimator["max_references"], oracle.estimator["mixed"]

    assert {d: fields(d) for d in ("rfw", "bfw", "lfw")} == {
        "rfw": (None, "global"),
        "bfw": (6000, "zero"),
        "lfw": (None, "first"),
    }


@pytest.mark.parametrize(("method", "field"), [("ac_density", "max_references"), ("oracle_paper", "mixed")])
def test_a_data_sets_yaml_need_not_have_the_keys_that_methods_refer_to(method: str, field: str) -> None:
    bare = composed("dataset=rfw", f"method={method}")
    with open_dict(bare):
        del bare.dataset.max_references, bare.dataset.oracle_mixed
    assert read_settings(bare)[0] == settings("dataset=rfw", f"method={method}")
    assert field in read_settings(bare)[1]["method"]["estimator"]


def test_a_whole_number_for_a_real_one_makes_no_new_run(plain: keys.RunKey) -> None:
    assert key("method.estimator.C=1") == plain == key("method.estimator.C=1.0")


def test_the_version_of_results_is_in_the_key(plain: keys.RunKey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "RESULTS_VERSION", keys.RESULTS_VERSION + 1)
    assert key().digest != plain.digest


def test_the_key_names_the_folder() -> None:
    assert str(key(source="synthetic")).startswith("synthetic-")
    assert str(key()) == key().digest and len(key().digest) == 16
    assert int(key().digest, 16) >= 0


@pytest.mark.parametrize("group", ["dataset", "backbone", "protocol", "store"])
def test_every_yaml_is_well_typed(group: str) -> None:
    for path in sorted((CONF / group).glob("*.yaml")):
        extra = {
            "custom": [f"{group}.id=x"],
            "scores": ["backbone.column=x"],
            "coverage": ["protocol.splitter.group=x"],
        }.get(path.stem, [])
        chosen = getattr(settings(f"{group}={path.stem}", *extra), group)
        assert chosen.id == ("x" if path.stem in ("custom", "scores") else path.stem)


def test_a_method_is_called_what_its_file_is_called() -> None:
    found = {path: yaml.safe_load(path.read_text()) for path in (CONF / "method").rglob("*.yaml")}
    assert len(found) >= 8
    for path, content in found.items():
        assert content["id"] == path.stem and content["label"]
    assert len({content["label"] for content in found.values()}) == len(found), "rows of a table must differ"
