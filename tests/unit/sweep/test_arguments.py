"""What may be typed after run.py: names of our own, of a user's folders and of imported data, in any order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode

from fairfr.core.errors import ConfigError
from fairfr.sweep.arguments import flag_first, prepare
from fairfr.sweep.grids import GridExpander

CONF = Path(__file__).parents[3] / "conf"


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """Hydra keeps names and folders for the length of a process; here each test is one."""
    yield
    for group in ("dataset", "backbone"):
        ConfigStore.instance().repo.pop(group, None)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder ``data`` with a set ``mine`` that has vectors of ``mynet``, from where the user stands."""
    vectors = tmp_path / "data" / "mine" / "embeddings"
    vectors.mkdir(parents=True)
    for name in ("mynet.npz", "magface.npz", "notes.txt"):
        (vectors / name).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A user's folder of configurations, with a method, one in a folder, and a sweep."""
    folder = tmp_path / "conf"
    (folder / "method" / "tries").mkdir(parents=True)
    (folder / "experiment").mkdir()
    text = "id: {0}\nlabel: {0}\nestimator: {{_target_: fairfr.methods.platt.Platt}}\n"
    (folder / "method" / "my_method.yaml").write_text(text.format("my_method"))
    (folder / "method" / "tries" / "one.yaml").write_text(text.format("one"))
    params = "{method: 'my_method,platt', seed: '7,8', source: synthetic}"
    sweep = f"# @package _global_\nhydra: {{mode: MULTIRUN, sweeper: {{params: {params}}}}}\n"
    (folder / "experiment" / "my_sweep.yaml").write_text(sweep)
    return folder


def composed(*overrides: str) -> Any:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("config", overrides=list(overrides))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("method/ablation=density_score", "method=ablation/density_score"),
        ("method/ablation=density_score,demonorm_m4", "method=ablation/density_score,ablation/demonorm_m4"),
        ("dataset/study=lfw_degraded", "dataset=study/lfw_degraded"),
        ("hydra/launcher=basic", "hydra/launcher=basic"),
        ("dataset@train=lfw", "dataset@train=lfw"),
    ],
)
def test_a_folder_of_choices_may_be_typed_as_the_help_lists_it(typed: str, meant: str) -> None:
    assert prepare([typed], CONF) == [meant]


def test_a_name_that_no_folder_has_gets_a_suggestion() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'ablation/density_score'"):
        prepare(["method/ablation=density_scor"], CONF)


# ---- order ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", range(4))
def test_a_flag_may_stand_anywhere(at: int) -> None:
    words = ["dataset=lfw", "method=platt,beta", "seed=1"]
    assert prepare([*words[:at], "-m", *words[at:]], CONF) == ["-m", *words]


def test_a_flag_keeps_its_value(mine: Path) -> None:
    given = prepare(["method=my_method", "--config-dir", str(mine), "method.estimator.C=2", "-c", "job"], CONF)
    assert given == ["--config-dir", str(mine), "-c", "job", "method=my_method", "method.estimator.C=2"]


def test_a_config_path_starts_where_the_user_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CONF.parent)
    assert prepare(["-cp", "conf", "method=platt"], CONF) == ["-cp", str(CONF), "method=platt"]


@pytest.mark.parametrize("program", ["fairfr", "python run.py"])
def test_completion_understands_a_flag_anywhere(program: str) -> None:
    assert flag_first(f"{program} method=a,b -m sou") == f"{program} -m method=a,b sou"
    assert flag_first(f"{program} --multirun dataset=") == f"{program} -m dataset="
    assert flag_first(f"{program} dataset=") == f"{program} dataset="


def test_completion_is_hydras_own() -> None:
    assert prepare(["-sc", "install=bash"], CONF) == ["-sc", "install=bash"]


# ---- a user's own configurations -----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["--config-dir={}", "hydra.searchpath=[{}]", "hydra.searchpath=[file://{}]"])
def test_a_users_names_count_like_ours(mine: Path, way: str) -> None:
    folder = way.format(mine)
    for words in (["method=my_method"], ["method=tries/one"], ["-m", "method=platt,'my_method'"]):
        assert set(prepare([folder, *words], CONF)) == {folder, *words}
    assert folder in prepare([folder, "experiment=my_sweep"], CONF)
    with pytest.raises(ConfigError, match=r"unknown method 'my_metod'\. Did you mean 'my_method'\?.*tries/one"):
        prepare([folder, "method=my_metod"], CONF)


def test_names_of_another_folder_are_unknown(mine: Path) -> None:
    with pytest.raises(ConfigError, match="unknown method 'my_method'"):
        prepare(["method=my_method"], CONF)


def test_glob_finds_methods_of_the_search_path(mine: Path) -> None:
    ours = len(list((CONF / "method").glob("*.yaml")))
    with initialize_config_dir(str(CONF), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        config = loader.load_configuration("config", [f"hydra.searchpath=[{mine}]"], RunMode.MULTIRUN)
        assert len(GridExpander(loader, config).jobs(config, ["method=glob(*)"])) == ours + 1


def test_the_configuration_of_a_sweep_is_shown_without_the_flag() -> None:
    with pytest.raises(ConfigError, match=r"leave out -m.*hydra\.sweeper\.dry_run=true"):
        prepare(["-m", "dataset=lfw", "method=platt,beta", "-c", "job"], CONF)


# ---- imported data -------------------------------------------------------------------------------------------------


def test_imported_data_are_choices_without_a_yaml(data: Path) -> None:
    words = ["-m", "dataset=mine", "backbone=magface,mynet"]
    assert prepare(words, CONF) == words
    config = composed("dataset=mine", "backbone=mynet", "dataset.grouping=[gender]")
    assert (config.dataset.id, config.dataset.label, config.dataset.grouping) == ("mine", "mine", ["gender"])
    assert (config.backbone.id, config.backbone.label, config.backbone.column) == ("mynet", "mynet", None)
    assert config.dataset.standin is None


def test_a_yaml_of_that_name_comes_first(data: Path) -> None:
    prepare(["dataset=mine", "backbone=magface"], CONF)
    assert composed("backbone=magface").backbone.label == "MagFace"


def test_imported_data_are_looked_for_below_data_root(data: Path) -> None:
    elsewhere = data.rename(data.with_name("elsewhere"))
    with pytest.raises(ConfigError, match="unknown dataset 'mine'"):
        prepare(["dataset=mine"], CONF)
    words = [f"data_root={elsewhere}", "dataset=mine", "backbone=mynet"]
    assert prepare(words, CONF) == words


def test_names_without_files_are_told_what_is_there_and_what_to_type(data: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        prepare(["dataset=mine", "backbone=magface,mynte"], CONF)
    for part in ("'mynte'", "Did you mean 'mynet'", "data has: magface, mynet", "custom backbone.id=mynte", ".npz"):
        assert part in str(caught.value)
    with pytest.raises(ConfigError, match=r"data/meine is there.*dataset=custom dataset\.id=meine"):
        prepare(["dataset=meine"], CONF)


@pytest.mark.parametrize("value", ["null", "''", "a?b", "50%25"])
def test_a_place_that_is_none_is_refused_before_a_folder_is_made(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="out_root"):
        prepare([f"out_root={value}"], CONF)
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_is_not_utf_8_is_refused_with_a_sentence() -> None:
    with pytest.raises(ConfigError, match=r"out_root=caf\\udce9 is not UTF-8"):
        prepare(["out_root=caf\udce9"], CONF)


@pytest.mark.parametrize("flags", [("--cfg", "job"), ("--info", "all")])
def test_what_hydra_prints_itself_holds_no_password(flags: tuple[str, ...]) -> None:
    typed = "store.tracking_uri='http://bob:hunter2@server:5000'"
    assert "hunter2" not in " ".join(prepare([*flags, typed], CONF))
    assert "hunter2" in " ".join(prepare([typed], CONF)), "a run needs it"


@pytest.mark.parametrize("sign", ["=", "{", "!", "("])
def test_what_hydra_cannot_read_is_named_without_its_password(sign: str) -> None:
    with pytest.raises(ConfigError) as found:
        prepare(["dataset=lfw", f"store.tracking_uri=http://bob:hun{sign}ter2@server:5000"], CONF)
    message = str(found.value)
    assert "store.tracking_uri=http://bob:***@server:5000 cannot be read" in message and "\n" not in message
    assert "hun" not in message and "ter2" not in message
