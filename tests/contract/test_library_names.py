"""What editors, type checkers and ``dir`` are told of the library is what the library has."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import fairfr
from fairfr._methods import METHODS
from fairfr.library.method_classes import method_targets, model_class

STUB = ast.parse((Path(fairfr.__file__).parent / "__init__.pyi").read_text(encoding="utf-8"))
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}


def test_every_method_is_in_the_table_and_in_the_stub() -> None:
    assert method_targets() == METHODS
    assert set(CLASSES) == set(METHODS)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_the_stub_has_the_parameters_and_defaults_of_the_class(name: str) -> None:
    (constructor,) = [node for node in CLASSES[name].body if isinstance(node, ast.FunctionDef)]
    stubbed = {}
    for argument, default in zip(constructor.args.kwonlyargs, constructor.args.kw_defaults, strict=True):
        assert default is not None
        stubbed[argument.arg] = ast.literal_eval(default)
    parameters = inspect.signature(getattr(fairfr, name)).parameters
    assert stubbed == {parameter.name: parameter.default for parameter in parameters.values()}
    described = ast.get_docstring(CLASSES[name]) or ""
    for parameter in stubbed:
        assert f"\n{parameter} : " in described


def test_the_stub_names_all_else_that_is_public() -> None:
    stubbed = set(CLASSES)
    for node in STUB.body:
        if isinstance(node, ast.ImportFrom):
            stubbed |= {alias.asname for alias in node.names if alias.asname is not None}
    values = {name: getattr(fairfr, name) for name in dir(fairfr) if not name.startswith("_")}
    rooms = {name for name, value in values.items() if inspect.ismodule(value)} - set(fairfr._ROOMS)
    assert stubbed == set(values) - rooms


def test_dir_reads_no_yaml() -> None:
    code = "import sys, fairfr; print('ACLinear' in dir(fairfr), 'yaml' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


def test_a_method_that_is_newer_than_the_table_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(METHODS, "Platt")
    model_class.cache_clear()
    assert fairfr.Platt.__name__ == "Platt"


def test_public_functions_stay_callable_when_every_module_is_imported() -> None:
    """A room of the name of a function would take its place as soon as something imports it."""
    code = """
import pkgutil, fairfr
for module in pkgutil.walk_packages(fairfr.__path__, "fairfr."):
    if not module.name.endswith("__main__"):
        __import__(module.name)
print(*(name for name in fairfr._MORE if not callable(getattr(fairfr, name))))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
