"""The plugin that every Hydra program of an environment imports: it must not disturb any of them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = sorted((ROOT / "hydra_plugins" / "fairfr").glob("*.py"))


def imported(path: Path) -> set[str]:
    """What a module imports at its top, by whole names."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(str(node.module))
    return names


@pytest.mark.parametrize("path", PLUGIN, ids=lambda path: path.name)
def test_the_plugin_imports_hydra_alone_and_no_postponed_annotations(path: Path) -> None:
    """Postponed annotations in a plugin with a dataclass end every Hydra program with an AttributeError."""
    assert "__future__" not in imported(path)
    assert {name.partition(".")[0] for name in imported(path)} <= {"dataclasses", "typing", "hydra", "omegaconf"}


def test_the_namespace_has_no_module_of_its_own() -> None:
    """With an ``__init__.py`` there, Hydra finds no other plugin: joblib and submitit would vanish."""
    assert PLUGIN and not (ROOT / "hydra_plugins" / "__init__.py").exists()


@pytest.mark.parametrize("path", sorted((ROOT / "fairfr" / "sweep").glob("*.py")), ids=lambda path: path.name)
def test_hydras_private_modules_are_not_imported(path: Path) -> None:
    assert "hydra._internal" not in path.read_text(encoding="utf-8")
