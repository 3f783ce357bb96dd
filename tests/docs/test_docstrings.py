"""What people who import fairfr call: every parameter is explained, with the default that the code has."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import pytest
from numpydoc.docscrape import NumpyDocString

import fairfr
from fairfr.library.method_classes import method_targets


def explained(what: Any) -> dict[str, tuple[str, str]]:
    """Type and description by the name of each parameter."""
    found = {}
    for parameter in NumpyDocString(inspect.getdoc(what) or "")["Parameters"]:
        for name in parameter.name.split(", "):
            found[name] = parameter.type, " ".join(parameter.desc)
    return found


@pytest.mark.parametrize("name", sorted(method_targets()))
def test_a_method_explains_its_parameters(name: str) -> None:
    cls = getattr(fairfr, name)
    parameters = inspect.signature(cls).parameters
    documented = explained(cls)
    assert list(documented) == list(parameters)
    for parameter, (kind, description) in documented.items():
        _, _, default = kind.partition(", default ")
        assert ast.literal_eval(default) == parameters[parameter].default, parameter
        assert description, parameter


def called_by_people() -> dict[str, Any]:
    """The functions of fairfr and the methods of a model, but for the two that take a table of fairfr's own."""
    found = {"load": fairfr.load, "as_model": fairfr.as_model}
    for name, method in vars(fairfr.Model).items():
        if inspect.isfunction(method) and not name.startswith("_") and not name.endswith("_table"):
            found[f"Model.{name}"] = method
    return found


@pytest.mark.parametrize(("name", "function"), called_by_people().items())
def test_a_function_explains_its_parameters_and_what_it_returns(name: str, function: Any) -> None:
    signature = inspect.signature(function)
    documented = {parameter.lstrip("*"): text for parameter, (_, text) in explained(function).items()}
    assert list(documented) == [parameter for parameter in signature.parameters if parameter != "self"]
    assert all(documented.values())
    if signature.return_annotation not in ("Self", "None"):
        assert NumpyDocString(inspect.getdoc(function) or "")["Returns"]


def takes_arrays() -> dict[str, Any]:
    """What people hand arrays to."""
    found = {**called_by_people(), "compare": fairfr.compare}
    for name in dir(fairfr.metrics):
        found[f"metrics.{name}"] = getattr(fairfr.metrics, name)
    for name in ("__init__", "fit", "predict_proba", "decision_function", "predict"):
        found[f"PairClassifier.{name}"] = getattr(fairfr.PairClassifier, name)
    return found


@pytest.mark.parametrize(("name", "function"), takes_arrays().items())
def test_editors_are_told_what_is_an_array(name: str, function: Any) -> None:
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name not in ("self", "parameters", "method"):
            assert parameter.annotation not in ("Any", inspect.Parameter.empty), parameter.name
