"""One file and one yaml for each method, none knowing another."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PUBLIC = sorted(path for path in (ROOT / "fairfr" / "methods").rglob("*.py") if not path.name.startswith("_"))
YAMLS = sorted((ROOT / "conf" / "method").rglob("*.yaml"))


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


PUBLIC_MODULES = {module_of(path) for path in PUBLIC}


def imported_modules(path: Path) -> set[str]:
    """Every module that a file names in an import, at any depth; ``from a import b`` counts as a and a.b."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parts = module_of(path).split(".")[: -node.level] if node.level else []
            base = ".".join([*parts, *([node.module] if node.module else [])])
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return names


def test_there_are_methods() -> None:
    assert {"baseline", "platt", "beta", "ac_linear", "ac_density", "ac_mlp"} <= {path.stem for path in PUBLIC}
    assert YAMLS


@pytest.mark.parametrize("path", PUBLIC, ids=lambda path: path.stem)
def test_no_method_imports_another(path: Path) -> None:
    assert not imported_modules(path) & PUBLIC_MODULES


@pytest.mark.parametrize("path", PUBLIC, ids=lambda path: path.stem)
def test_a_method_says_what_it_does_and_where_it_deviates(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring
    assert "deviations" in docstring.lower()


@pytest.mark.parametrize("path", PUBLIC, ids=lambda path: path.stem)
def test_heavy_libraries_wait_until_they_are_used(path: Path) -> None:
    heavy = {"torch", "sklearn", "faiss", "scipy", "numba", "pandas"}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            assert not {name.partition(".")[0] for name in names} & heavy


def shared_files() -> list[Path]:
    return [p for p in (ROOT / "fairfr" / "methods").rglob("_*.py") if p.name != "__init__.py"]


@pytest.mark.parametrize("path", shared_files(), ids=lambda path: path.stem)
def test_shared_numerics_know_no_method(path: Path) -> None:
    assert not imported_modules(path) & PUBLIC_MODULES


@pytest.mark.parametrize("path", YAMLS, ids=lambda path: path.stem)
def test_every_yaml_chooses_a_class_of_a_public_file(path: Path) -> None:
    target = yaml.safe_load(path.read_text(encoding="utf-8"))["estimator"]["_target_"]
    module, _, name = target.rpartition(".")
    assert module in PUBLIC_MODULES
    tree = ast.parse((ROOT / Path(*module.split("."))).with_suffix(".py").read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.ClassDef)}


def test_every_public_file_is_reached_by_a_yaml() -> None:
    targets = {yaml.safe_load(path.read_text(encoding="utf-8"))["estimator"]["_target_"] for path in YAMLS}
    assert {target.rpartition(".")[0] for target in targets} == PUBLIC_MODULES


def test_ids_are_unique() -> None:
    stems = [path.stem for path in YAMLS]
    assert len(set(stems)) == len(stems)
