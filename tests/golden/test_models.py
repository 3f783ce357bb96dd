"""Models saved by earlier versions stay readable, and mean what they meant.

``models/v2`` has small models as version 2 of the format wrote them, with the probabilities they gave. They are never
written anew: ``pytest tests/golden --update-golden`` adds only what is missing, such as the files of a new version.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairfr
from fairfr.core import serialization as state
from fairfr.library.model_file import VERSION, _pieces_in, read_description

FOLDER = Path(__file__).with_name("models")
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "ac_cohort": ("ACCohort", {"cohort": "both"}),
    "ac_cohort_mixture": ("ACCohort", {"cohort": "both", "keep": "mixture"}),
    "ac_density": ("ACDensity", {"k": 3}),
    "ac_hinge": ("ACHinge", {}),
    "ac_linear": ("ACLinear", {}),
    "ac_mlp": ("ACMLP", {"hidden": 4, "epochs": 1}),
    "baseline": ("Baseline", {}),
    "beta": ("Beta", {}),
    "demonorm": ("DemoNorm", {"variant": "M1"}),
    "demonorm_m1_2": ("DemoNorm", {"variant": "M1.2"}),
    "demonorm_group": ("DemoNormGroup", {}),
    "demonorm_m4": ("DemoNormGroup", {"variant": "M4"}),
    "demonorm_m5": ("DemoNormGroup", {"variant": "M5"}),
    "density_score": ("ComponentLogistic", {"inputs": ("density", "cosine"), "k": 3}),
    "faircal": ("FairCal", {"K": 3, "n_init": 1}),
    "falcon": ("Falcon", {"fmr": 0.1}),
    "falcon_rbf": ("Falcon", {"fmr": 0.1, "kernel": "rbf"}),
    "frappe": ("Frappe", {"clusters": 2, "epochs": 1, "hidden": 4}),
    "fsn": ("FSN", {"K": 3, "n_init": 1}),
    "gst": ("GST", {}),
    "isotonic": ("Isotonic", {}),
    "oracle": ("Oracle", {"mixed": "combo"}),
    "oracle_paper": ("Oracle", {"mixed": "zero"}),
    "platt": ("Platt", {}),
    "temperature": ("Temperature", {}),
}
FILES = sorted(FOLDER.glob("v*/*.fairfr"))


def faces() -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
    """Vectors, pairs, labels, and the names of groups and people; every number is written down, none is drawn."""
    person = np.arange(120) % 40
    axes = np.arange(1, 5)
    embeddings = np.cos(np.outer(person * 1.7, axes)) + 0.35 * np.sin(np.outer(np.arange(120) * 2.3 + 1, axes))
    left = np.arange(240) % 120
    right = np.where(np.arange(240) < 120, (left + 40) % 120, (left * 7 + 3) % 120)
    groups = {"tone": np.where(person % 2, "dark", "light"), "sex": np.where(person % 3 == 0, "f", "m")}
    who = np.where(person == 5, None, person.astype(object))
    return (
        embeddings,
        np.column_stack([left, right]),
        person[left] == person[right],
        {"groups": groups, "identities": who},
    )


def other_faces() -> np.ndarray:
    """Vectors of 200 more images without labels, for methods that take a cohort."""
    return np.cos(np.outer(np.arange(200) * 0.9 + 2, np.arange(1, 5)))


def write_missing() -> None:
    embeddings, pairs, same, names = faces()
    folder = FOLDER / f"v{VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    expected = folder / "expected.json"
    known = json.loads(expected.read_text(encoding="utf-8")) if expected.exists() else {}
    for stem, (name, parameters) in CASES.items():
        if not (folder / f"{stem}.fairfr").exists():
            others = other_faces() if "cohort" in parameters else None
            model = getattr(fairfr, name)(**parameters).fit(embeddings, pairs, same, **names, cohort=others)
            model.save(folder / f"{stem}.fairfr", with_faces=True)
            known[stem] = np.round(model.probability(embeddings, pairs[::12], **names), 9).tolist()
    expected.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def test_every_case_has_a_file_of_this_version(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        write_missing()
    stems = {path.stem for path in (FOLDER / f"v{VERSION}").glob("*.fairfr")}
    assert stems == set(CASES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_saved_models_mean_what_they_meant(path: Path) -> None:
    embeddings, pairs, _, names = faces()
    expected = json.loads(path.with_name("expected.json").read_text(encoding="utf-8"))[path.stem]
    model = fairfr.load(path)
    assert type(model).__name__ == CASES[path.stem][0]
    np.testing.assert_allclose(model.probability(embeddings, pairs[::12], **names), expected, rtol=0, atol=1e-6)


def test_the_files_hold_every_kind_of_part() -> None:
    """A part that changes its fields, or its name, makes some file here unreadable."""
    described_parts = [read_description(path) for path in FILES]
    found = {kind for about in described_parts for kind in _pieces_in([about["state"], about["overlay"]])}
    for name in dir(fairfr):
        if name[:1].isupper():
            getattr(fairfr, name)  # its parts are known once it is imported
    assert found == set(state._classes)
