"""Which edits make a run a new one: those of code, not of comments; of the method's own modules, not of others."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fairfr.core.code import code_digest

METHOD = '''"""A method."""
from dataclasses import dataclass
from fairfr.methods.platt import Platt
from mypack._maths import double
from . import _names
import otherpack

@dataclass
class Mine(Platt):
    """Doc."""
    C: float = 1.0
    def twice(self):
        """Doc."""
        return double(self.C)  # why
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's package, importable."""
    files = {
        "mypack/__init__.py": "",
        "mypack/method.py": METHOD,
        "mypack/_maths.py": "from mypack._deep import TWO\ndef double(x):\n    return TWO * x\n",
        "mypack/_deep.py": "TWO = 2\n",
        "mypack/_names.py": "A = 'a'\n",
        "mypack/unused.py": "B = 1\n",
        "otherpack.py": "C = 1\n",
        "alone.py": "from neighbour import X\nclass Alone:\n    x = X\n",
        "neighbour.py": "X = 1\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] in ("mypack", "otherpack", "alone")]:
        del sys.modules[name]


def digest(target: str = "mypack.method.Mine") -> str | None:
    code_digest.cache_clear()
    importlib.invalidate_caches()
    return code_digest(target)


def edit(path: Path, change: Callable[[str], str]) -> None:
    before = path.read_text()
    assert change(before) != before
    path.write_text(change(before))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# why", "# because"),
        ('"""Doc."""', '"""Another."""'),
        ("import otherpack\n", "import otherpack\n\n\n"),
        ("C: float = 1.0", "C: float = (1.0)"),
    ],
)
def test_comments_docstrings_and_layout_do_not_count(package: Path, old: str, new: str) -> None:
    before = digest()
    edit(package / "mypack/method.py", lambda text: text.replace(old, new))
    assert before is not None and digest() == before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("mypack/method.py", "1.0", "2.0"),
        ("mypack/_maths.py", "TWO * x", "x * TWO"),
        ("mypack/_deep.py", "2", "3"),
        ("mypack/_names.py", "'a'", "'b'"),
    ],
)
def test_code_of_the_method_and_of_what_it_imports_counts(package: Path, file: str, old: str, new: str) -> None:
    before = digest()
    edit(package / file, lambda text: text.replace(old, new))
    assert digest() != before


@pytest.mark.parametrize("file", ["mypack/unused.py", "otherpack.py"])
def test_what_it_does_not_import_and_other_packages_do_not_count(package: Path, file: str) -> None:
    before = digest()
    edit(package / file, lambda text: text.replace("1", "2"))
    assert digest() == before


def test_a_module_outside_any_package_takes_its_neighbours_along(package: Path) -> None:
    before = digest("alone.Alone")
    edit(package / "neighbour.py", lambda text: text.replace("1", "2"))
    assert before is not None and digest("alone.Alone") != before


def test_a_users_subclass_takes_along_the_method_it_builds_on(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digest()
    real = importlib.util.find_spec("fairfr.numerics.regression")
    assert real is not None and real.origin is not None
    changed = tmp_path / "regression.py"
    changed.write_text(Path(real.origin).read_text() + "\nCHANGED = True\n")
    find = importlib.util.find_spec

    def elsewhere(name: str, package: str | None = None) -> object:
        spec = find(name, package)
        if name == "fairfr.numerics.regression" and spec is not None:
            spec.origin = str(changed)
        return spec

    monkeypatch.setattr(importlib.util, "find_spec", elsewhere)
    assert digest() != before, "Platt's own _logistic is part of it"


def test_what_is_read_is_not_imported(package: Path) -> None:
    assert digest() is not None
    assert "mypack._maths" not in sys.modules


def test_what_cannot_be_read_has_no_digest() -> None:
    assert digest("nowhere.at.All") is None and digest("math.sin") is None
    assert digest("") is None
