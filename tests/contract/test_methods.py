"""What every method promises: each yaml under conf/method is tried, with nothing to register here.

The promises are those of ``fairfr check --method``; what only ours must keep stands here.
"""

from __future__ import annotations

import builtins
import dataclasses
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairfr.core.calibrator import Calibrator
from fairfr.core.config import instantiate
from fairfr.core.errors import ConfigError
from fairfr.core.extras import MissingExtraError
from fairfr.core.threads import SHARED_IMPORTS
from fairfr.core.types import VerificationSet
from fairfr.library.method_contract import CHECKS, NotAskedError, Subject, ignores_the_order
from fairfr.runner.settings import MethodSettings
from fairfr.sweep.compose import read_method

METHODS = Path(__file__).parents[2] / "conf" / "method"
PATHS = sorted(METHODS.rglob("*.yaml"))
BLIND_TO_THE_COSINE = {"midpoint_only"}
FLOAT64, FLOAT32 = 1e-9, 1e-5
REFITTED = 1e-6
"""Sums in another order, carried through a solver."""
REFITTED_FRAPPE = 1e-4
"""It carries them through thousands of steps in float32."""
LOW_LIMITS = {"people": 25, "max_images": 400, "max_clustered": 500, "K": 20, "max_references": 300, "most": 400}


def settings_of(path: Path) -> MethodSettings:
    return read_method(path)


def make(path: Path) -> Calibrator:
    method: Calibrator = instantiate(settings_of(path).estimator, "method.estimator")
    return method


def make_drawing(path: Path) -> Calibrator:
    """With limits so low that a method that may take a random part of the data does."""
    method = make(path)
    present = {field.name for field in dataclasses.fields(method)}  # type: ignore[arg-type]
    limits = {name: limit for name, limit in LOW_LIMITS.items() if name in present}
    return replace(method, **limits)  # type: ignore[type-var]


def uses_torch(method: Calibrator) -> bool:
    """Networks compute in float32, and their sums depend on the size of the batch."""
    return "torch" in Path(sys.modules[type(method).__module__].__file__ or "").read_text(encoding="utf-8")


def subject_of(path: Path, data: VerificationSet, make: Callable[[Path], Calibrator] = make) -> Subject:
    rounding, refitted = FLOAT64, REFITTED
    if uses_torch(make(path)):
        rounding, refitted = FLOAT32, FLOAT32
    if path.stem == "frappe":
        refitted = REFITTED_FRAPPE
    return Subject(lambda: make(path), data, rounding, refitted)


@pytest.fixture(scope="module", params=PATHS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    chosen: Path = request.param
    return chosen


@pytest.fixture(scope="module")
def subject(path: Path, data: VerificationSet) -> Subject:
    """A method of extra/ whose library is not installed says so in a MissingExtraError, and is skipped."""
    found = subject_of(path, data)
    try:
        assert found.fitted
    except MissingExtraError as error:
        if path.parent.name == "extra":
            pytest.skip(str(error))
        raise
    return found


# -- configuration -----------------------------------------------------------------------------------------------------


def test_the_yaml_makes_a_method(path: Path) -> None:
    method = make(path)
    assert isinstance(method, Calibrator)
    assert method.needs <= {"embeddings", "groups", "identities"}
    assert isinstance(method.native_probability, bool)


def test_the_id_is_the_name_of_the_file(path: Path) -> None:
    settings = settings_of(path)
    assert settings.id == path.stem
    assert settings.label


def test_fields_are_stored_as_given_and_kept_by_fit(path: Path, subject: Subject) -> None:
    fields = dataclasses.asdict(make(path))  # type: ignore[call-overload]
    given = {key: value for key, value in settings_of(path).estimator.items() if key != "_target_"}
    stored = {key: list(value) if isinstance(value, tuple) else value for key, value in fields.items()}
    assert given.items() <= stored.items()
    assert dataclasses.asdict(subject.fitted.method) == fields  # type: ignore[call-overload]


def test_an_unknown_key_is_a_config_error(path: Path) -> None:
    make(path)
    with pytest.raises(ConfigError, match=r"unknown key 'method\.estimator\.no_such_key'"):
        instantiate({**settings_of(path).estimator, "no_such_key": 1}, "method.estimator")


def test_a_value_of_the_wrong_type_is_a_config_error(path: Path) -> None:
    estimator = settings_of(path).estimator
    wrong: Any = object()
    for field in dataclasses.fields(make(path)):  # type: ignore[arg-type]
        with pytest.raises(ConfigError, match=rf"method\.estimator\.{field.name}"):
            instantiate({**estimator, field.name: wrong}, "method.estimator")


# -- the contract ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_method_keeps_its_promise(subject: Subject, check: Callable[[Subject], None]) -> None:
    try:
        check(subject)
    except NotAskedError as reason:
        pytest.skip(str(reason))


def test_the_order_of_images_and_pairs_means_nothing_where_a_method_draws(path: Path, data: VerificationSet) -> None:
    data = replace(data, grouping="gender")  # groups with more people than a low limit draws
    try:
        ignores_the_order(subject_of(path, data, make_drawing))
    except MissingExtraError as error:
        if path.parent.name != "extra":
            raise
        pytest.skip(str(error))


# -- what only ours must keep ------------------------------------------------------------------------------------------


def test_a_fit_imports_nothing_that_the_runner_has_not_imported(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: set[str] = set()
    plain_import = builtins.__import__

    def note(name: str, globals: Any = None, *rest: Any) -> Any:
        if (globals or {}).get("__name__", "").startswith("fairfr."):
            asked.add(name)
        return plain_import(name, globals, *rest)

    monkeypatch.setattr(builtins, "__import__", note)
    subject.fit(subject.data)
    monkeypatch.undo()
    imported = {*SHARED_IMPORTS, *getattr(subject.fitted.method, "imports", ())}
    imported |= {"numpy", "scipy", "threadpoolctl"}  # every cell has them
    known = {*sys.stdlib_module_names, "fairfr"}
    assert {name for name in asked if name.partition(".")[0] not in known} <= imported


def test_predictions_are_float64(subject: Subject) -> None:
    found = subject.fitted.method.predict(subject.fitted.test)
    assert found.score.dtype == np.float64
    assert found.probability is None or found.probability.dtype == np.float64


def test_prediction_tells_same_from_different(path: Path, subject: Subject) -> None:
    if path.stem in BLIND_TO_THE_COSINE:
        pytest.skip("an ablation that shows how little the place alone tells")
    same = subject.data.same[subject.held_out]
    score = subject.fitted.prediction.score
    assert (score[same][:, None] > score[~same][None, :]).mean() > 0.7
