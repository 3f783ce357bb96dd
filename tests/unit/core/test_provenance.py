"""Which edits make a run a new one: those of code that decides its numbers, not of comments nor of other code."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fairfr.core import provenance
from fairfr.core.provenance import canonical, code_digest, code_version, run_code
from fairfr.metrics.catalogue import metrics_version

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


@pytest.fixture
def edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """As if a statement had been added to a module of fairfr."""
    find = provenance.source_file

    def add_statement(module: str, statement: str = "CHANGED = True") -> None:
        real = find(module)
        assert real is not None
        changed = tmp_path / f"{module}.py"
        changed.write_text(real.read_text(encoding="utf-8") + f"\n{statement}\n", encoding="utf-8")
        monkeypatch.setattr(provenance, "source_file", lambda name: changed if name == module else find(name))
        code_digest.cache_clear()

    code_digest.cache_clear()
    yield add_statement
    code_digest.cache_clear()


Codes = dict[str, str | None]
NATIVE = {"ac_density.ACDensity": True, "platt.Platt": True, "baseline.Baseline": False, "falcon.Falcon": False}


def code_of(method: str, protocol: str = "published.LeaveOneFoldOut", thresholds: bool = False) -> Codes:
    code_digest.cache_clear()
    return run_code(f"fairfr.methods.{method}", NATIVE[method], f"fairfr.folds.{protocol}", thresholds)


@pytest.mark.parametrize(
    ("method", "module"),
    [
        ("ac_density.ACDensity", "fairfr.pairs.neighbours"),  # its engine
        ("ac_density.ACDensity", "fairfr.pairs._scan"),  # imported inside a function
        ("ac_density.ACDensity", "fairfr.numerics.regression"),
        ("ac_density.ACDensity", "fairfr.methods._density"),
        ("baseline.Baseline", "fairfr.numerics.beta"),  # its probability, which it does not import
        ("falcon.Falcon", "fairfr.numerics.beta"),
        ("baseline.Baseline", "fairfr.numerics.regression"),  # what the beta map is fitted by
        ("platt.Platt", "fairfr.pairs.vectors"),
        ("platt.Platt", "fairfr.core.types"),
        ("platt.Platt", "fairfr.core.calibrator"),  # seeds
    ],
)
def test_code_that_decides_a_methods_numbers_counts(edited: Callable[[str], None], method: str, module: str) -> None:
    before = code_of(method)
    edited(module)
    assert code_of(method)["method"] != before["method"]


@pytest.mark.parametrize(
    ("method", "module"),
    [
        ("platt.Platt", "fairfr.numerics.beta"),  # it has a probability of its own
        ("ac_density.ACDensity", "fairfr.methods.falcon"),
        ("ac_density.ACDensity", "fairfr.metrics.calibration"),  # can be measured again
        ("ac_density.ACDensity", "fairfr.core.errors"),
        ("baseline.Baseline", "fairfr.stored.runs"),
    ],
)
def test_code_that_does_not_decide_a_methods_numbers_does_not_count(
    edited: Callable[[str], None], method: str, module: str
) -> None:
    before = code_of(method)
    edited(module)
    assert before["method"] is not None and code_of(method) == before


def test_code_that_deals_pairs_to_folds_counts(edited: Callable[[str], None]) -> None:
    disjoint, published = "disjoint.EndpointDisjoint", "published.LeaveOneFoldOut"
    before = [code_of("platt.Platt", name)["protocol"] for name in (disjoint, published)]
    edited("fairfr.pairs.deal")
    after = [code_of("platt.Platt", name)["protocol"] for name in (disjoint, published)]
    assert None not in before and after[0] != before[0] and after[1] == before[1]


def test_thresholds_of_the_training_pairs_count_where_they_are_asked_for(edited: Callable[[str], None]) -> None:
    """They are made while fitting, and cannot be measured again."""
    before = [code_of("platt.Platt", thresholds=asked) for asked in (False, True)]
    edited("fairfr.metrics.roc_metrics")
    after = [code_of("platt.Platt", thresholds=asked) for asked in (False, True)]
    assert after[0] == before[0] and after[1] != before[1]


@pytest.mark.parametrize("module", ["cell_metrics", "calibration", "roc_metrics", "differentials", "catalogue", "ties"])
def test_metrics_have_a_digest_of_their_own(edited: Callable[[str], None], module: str) -> None:
    before = metrics_version()
    edited(f"fairfr.metrics.{module}")
    assert before is not None and metrics_version() != before


@pytest.mark.parametrize("module", ["fairfr.numerics.roc", "fairfr.core.names", "fairfr.core.types"])
def test_what_metrics_are_computed_with_counts_for_them(edited: Callable[[str], None], module: str) -> None:
    before = metrics_version()
    edited(module)
    assert metrics_version() != before


@pytest.mark.parametrize("module", ["fairfr.methods.platt", "fairfr.pairs.neighbours", "fairfr.numerics.regression"])
def test_methods_do_not_count_for_metrics(edited: Callable[[str], None], module: str) -> None:
    before = metrics_version()
    edited(module)
    assert metrics_version() == before


@pytest.mark.parametrize("module", ["fairfr.methods.platt", "fairfr.numerics.regression", "fairfr.pairs.view"])
def test_a_users_subclass_takes_along_the_method_it_builds_on(
    package: Path, edited: Callable[[str], None], module: str
) -> None:
    before = digest()
    edited(module)
    assert digest() != before


@pytest.mark.parametrize(
    ("module", "native", "counts"),
    [
        ("fairfr.pairs.view", True, True),
        ("fairfr.core.calibrator", True, True),
        ("fairfr.numerics.beta", False, True),
        ("fairfr.numerics.beta", True, False),
    ],
)
def test_a_users_method_takes_along_what_it_is_given_and_the_overlay(
    package: Path, edited: Callable[[str], None], module: str, native: bool, counts: bool
) -> None:
    """It imports nothing of fairfr, but its pairs, its seeds and its probability come from there."""
    code_digest.cache_clear()
    before = run_code("alone.Alone", native, "None", False)
    edited(module)
    after = run_code("alone.Alone", native, "None", False)
    assert before["method"] is not None and (after != before) is counts


def test_what_is_read_is_not_imported(package: Path) -> None:
    """Nor are the packages that it lies in: they may come from anywhere."""
    for name in ("mypack", "mypack/deep"):
        (package / name).mkdir(exist_ok=True)
        (package / name / "__init__.py").write_text("raise SystemExit('imported')\n")
    (package / "mypack/deep/method.py").write_text(METHOD)
    assert digest() is not None and digest("mypack.deep.method.Mine") is not None
    assert not any(name.partition(".")[0] == "mypack" for name in sys.modules)


def test_a_name_of_any_length_is_a_name_that_is_not_there(package: Path) -> None:
    assert digest(".".join(["mypack"] * 3000)) is None


@pytest.mark.parametrize("text", ["def half(:\n", "x = '\0'\n", "(" * 5000])
def test_a_file_that_is_no_python_counts_as_it_is(package: Path, text: str) -> None:
    """It may lie beside a method that works."""
    before = digest()
    (package / "mypack/_names.py").write_text(text)
    broken = digest()
    assert broken not in (None, before)
    edit(package / "mypack/_names.py", lambda old: old + "# more")
    assert digest() not in (None, broken)


def test_what_cannot_be_read_has_no_digest() -> None:
    assert digest("nowhere.at.All") is None and digest("math.sin") is None
    assert digest("") is None


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=me", "-c", "user.email=me@example.org"]
    return subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_the_commit_is_that_of_the_checkout_and_dirty_means_other_code(tmp_path: Path) -> None:
    package = tmp_path / "project" / "package"
    installed = tmp_path / "project" / ".venv" / "package"
    for folder in (package, installed):
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("")
    assert code_version(package) is None, "no repository"
    git(package.parent, "init")
    git(package.parent, "add", "package")
    git(package.parent, "commit", "-m", "first")
    commit = git(package, "rev-parse", "HEAD").strip()

    def now() -> dict[str, Any] | None:
        code_version.cache_clear()
        return code_version(package)

    (package.parent / "notes.txt").write_text("of no consequence")
    assert now() == {"commit": commit, "dirty": False}
    (package / "new.py").write_text("")
    assert now() == {"commit": commit, "dirty": True}, "a file that git does not know"
    (package / "new.py").unlink()
    (package / "__init__.py").write_text("x = 1")
    assert code_version(package) == {"commit": commit, "dirty": True}, "asked once"
    assert now() == {"commit": commit, "dirty": True}
    assert code_version(installed) is None, "installed inside somebody else's repository"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('def f(a):\n "one"\n return a  # why', 'def f(a):\n "two"\n\n return (a)'),
        ('"""A module."""\nx = 1', "x = 0x1"),
        ("class A:\n 'one'\n x: int = 1", "class A:\n  x: int = 1\n  'about x'"),
    ],
)
def test_two_layouts_of_one_code_have_one_text(one: str, other: str) -> None:
    assert one != other and canonical(one.encode()) == canonical(other.encode())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(a):\n return a", "def f(b):\n return b"),
        ("def f(a):\n b = a\n return b", "def f(a):\n c = a\n return c"),
        ("X = 1", "Y = 1"),
        ("X = 1", "X = 1.0"),
        ("X = 1", "X = True"),
        ("class A:\n x = 1", "class A:\n y = 1"),
        ("def f():\n return g()", "def f():\n return h()"),
        ("def f(a):\n return a.x", "def f(a):\n return a.y"),
        ("def f(a):\n return a(x=1)", "def f(a):\n return a(y=1)"),
        ("def f():\n x = 'a'", "def f():\n x = 'b'"),
        ("x = f'{a:{b}}'", "x = f'{a:{c}}'"),
    ],
)
def test_other_code_has_another_text(one: str, other: str) -> None:
    assert canonical(one.encode()) != canonical(other.encode())
