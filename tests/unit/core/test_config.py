"""Configuration becomes typed settings, or an error that names the key as it is typed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from fairfr.core.config import check_above, check_min, configured_targets, conform, from_mapping, instantiate
from fairfr.core.errors import ConfigError


@dataclass
class Inner:
    size: int = 3


@dataclass
class Outer:
    name: str
    rate: float = 0.5
    on: bool = False
    kind: Literal["round", "square"] = "round"
    limit: int | None = None
    parts: tuple[str, ...] = ()
    inner: Inner = field(default_factory=Inner)
    many: dict[str, Inner] = field(default_factory=dict)
    anything: Any = None


def test_defaults_fill_what_is_not_said() -> None:
    assert from_mapping(Outer, {"name": "x"}) == Outer("x")


def test_values_take_their_annotated_type() -> None:
    built = from_mapping(
        Outer,
        {
            "name": "x",
            "rate": 1,
            "on": True,
            "kind": "square",
            "limit": 7,
            "parts": ["a", "b"],
            "inner": {"size": 4},
            "many": {"one": {"size": 1}},
            "anything": {"goes": 1},
        },
    )
    assert built == Outer("x", 1.0, True, "square", 7, ("a", "b"), Inner(4), {"one": Inner(1)}, {"goes": 1})
    assert isinstance(built.rate, float)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": 3}, r"top\.name must be a text, found 3 \(int\)"),
        ({"name": None}, r"top\.name must be a text, found nothing \(null\)"),
        ({"rate": "fast"}, r"top\.rate must be a number, found 'fast'"),
        ({"rate": True}, r"top\.rate must be a number, found True"),
        ({"on": 1}, r"top\.on must be true or false, found 1"),
        ({"limit": 1.5}, r"top\.limit must be a whole number, found 1\.5"),
        ({"limit": True}, r"top\.limit must be a whole number, found True"),
        ({"kind": "oval"}, r"top\.kind=oval is not one of round, square"),
        ({"kind": ["round"]}, r"top\.kind=\['round'\] is not one of"),
        ({"parts": "ab"}, r"top\.parts must be a list, found 'ab'"),
        ({"parts": ["a", 2]}, r"top\.parts\[1\] must be a text, found 2"),
        ({"inner": 3}, r"top\.inner must be a mapping of keys, found 3"),
        ({"inner": {"size": "big"}}, r"top\.inner\.size must be a whole number, found 'big'"),
        ({"inner": {"sise": 3}}, r"unknown key 'top\.inner\.sise'\. Did you mean 'size'\?"),
        ({"many": [1]}, r"top\.many must be a mapping, found \[1\]"),
        ({"many": {"one": {"size": None}}}, r"top\.many\.one\.size must be a whole number, found nothing"),
        ({"colour": "red"}, r"unknown key 'top\.colour'.*Known: anything, inner,"),
    ],
)
def test_a_wrong_value_is_named_by_its_key(change: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        from_mapping(Outer, {"name": "x", **change}, at="top")


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ConfigError, match=r"'top\.name' is not set"):
        from_mapping(Outer, {}, at="top")


def test_without_a_place_the_key_stands_alone() -> None:
    with pytest.raises(ConfigError, match=r"unknown key 'nme'\. Did you mean 'name'\?"):
        from_mapping(Outer, {"nme": "x"})
    with pytest.raises(ConfigError, match="the configuration must be a mapping of keys, found 'x'"):
        from_mapping(Outer, "x")


def test_a_union_takes_the_first_type_that_fits() -> None:
    assert conform("a", int | str, "key") == "a"
    assert conform(2, int | str, "key") == 2
    assert conform(None, int | None, "key") is None
    with pytest.raises(ConfigError, match="key must be a text, found nothing"):
        conform(None, int | str, "key")


# -- _target_ ----------------------------------------------------------------------------------------------------------


def test_a_target_is_built_with_its_fields() -> None:
    platt = instantiate({"_target_": "fairfr.methods.platt.Platt", "C": 2}, "method.estimator")
    assert type(platt).__name__ == "Platt"
    assert platt.C == 2.0


def test_instantiate_leaves_the_mapping_alone() -> None:
    spec = {"_target_": "fairfr.methods.platt.Platt", "C": 2.0}
    instantiate(spec, "method.estimator")
    assert spec == {"_target_": "fairfr.methods.platt.Platt", "C": 2.0}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({}, r"'m\._target_' must name a class.*found None"),
        ({"_target_": 3}, r"'m\._target_' must name a class.*found 3"),
        ({"_target_": "fairfr.methods.plat.Plat"}, r"m\._target_=fairfr\.methods\.plat\.Plat cannot be imported"),
        ({"_target_": "fairfr.methods.platt.Plat"}, r"m\._target_=fairfr\.methods\.platt\.Plat cannot be imported"),
        ({"_target_": "Platt"}, r"m\._target_=Platt cannot be imported"),
        ({"_target_": "os.path.join"}, r"m\._target_=os\.path\.join is not a dataclass"),
        ({"_target_": "pathlib.Path"}, r"m\._target_=pathlib\.Path is not a dataclass"),
        ({"_target_": "fairfr.methods.platt.Platt", "c": 1.0}, r"unknown key 'm\.c'.*Known: C, smooth_targets, solver"),
        ({"_target_": "fairfr.methods.platt.Platt", "needs": []}, r"unknown key 'm\.needs'"),
        ({"_target_": "fairfr.methods.platt.Platt", "C": "1"}, r"m\.C must be a number, found '1'"),
    ],
)
def test_a_wrong_target_is_an_error(spec: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        instantiate(spec, "m")


def test_bounds() -> None:
    check_min(1, k=1)
    check_above(0, C=0.1)
    with pytest.raises(ConfigError, match=r"method\.estimator\.k must be at least 1, found 0"):
        check_min(1, k=0)
    with pytest.raises(ConfigError, match=r"method\.estimator\.C must be above 0, found 0"):
        check_above(0, C=0.0)
    for bound in (check_min, check_above):
        with pytest.raises(ConfigError, match="found nan"):
            bound(0, C=float("nan"))


def test_a_module_that_is_not_python_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "half_written.py").write_text("class Mine(:\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=r"half_written\.Mine cannot be imported: invalid syntax.*half_written\.py"):
        instantiate({"_target_": "half_written.Mine"}, "m")


def test_a_yaml_that_is_none_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "method").mkdir()
    (tmp_path / "method" / "mine.yaml").write_text("id: mine\nlabel: [x\nestimator: {}\n")
    with pytest.raises(ConfigError, match=r"mine\.yaml is not readable as yaml: .* line 3, column 10.* Correct it\.$"):
        configured_targets((tmp_path,))
