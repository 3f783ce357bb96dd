"""The bare package fits, saves, loads and scores every method that trains no network, without any optional package.

A subprocess refuses to import whatever the bare requirements do not bring, as if it had never been installed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fairfr
from fairfr.core.extras import EXTRA_OF_MODULE
from fairfr.library.method_classes import method_targets

NEEDS_EXTRA = {"ACMLP": "torch", "Frappe": "torch", "Multicalibration": "multicalibration"}
ROOT = Path(__file__).parents[2]

PROGRAM = """
import importlib.metadata as metadata
import json, re, sys, tempfile
from contextlib import redirect_stdout
from importlib.abc import MetaPathFinder
from io import StringIO
from pathlib import Path


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(name, found):
    found.add(canonical(name))
    for line in metadata.requires(name) or []:
        requirement, _, marker = line.partition(";")
        wanted = re.match(r"[A-Za-z0-9._-]+", requirement)[0]
        if "extra" in marker or canonical(wanted) in found:
            continue
        try:
            metadata.distribution(wanted)
        except metadata.PackageNotFoundError:
            continue  # for another platform
        closure(wanted, found)
    return found


bare = set()
for requirement in BARE:
    closure(re.match(r"[A-Za-z0-9._-]+", requirement)[0], bare)
blocked = set()
for module, distributions in metadata.packages_distributions().items():
    if module != "fairfr" and not bare & {canonical(name) for name in distributions}:
        blocked.add(module)


class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


sys.meta_path.insert(0, Absent())

import numpy as np

import fairfr
from fairfr.commands.calibrate import main as calibrate
from fairfr.library.method_classes import method_targets

rng = np.random.default_rng(0)
people = rng.normal(size=(60, 16))
embeddings = np.repeat(people, 4, axis=0) + 0.6 * rng.normal(size=(240, 16))
pairs = rng.integers(0, 240, (900, 2))
pairs[:300, 1] = pairs[:300, 0] // 4 * 4 + rng.integers(0, 4, 300)
pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]]), axis=0)
same = pairs[:, 0] // 4 == pairs[:, 1] // 4
groups = {"sex": np.where(np.arange(240) % 8 < 4, "f", "m")}
identities = np.repeat([f"person {i}" for i in range(60)], 4)
told = {}
for name in method_targets():
    known = {}
    model = getattr(fairfr, name)()
    if "groups" in model.needs:
        known["groups"] = groups
    if "identities" in model.needs:
        known["identities"] = identities
    try:
        model.fit(embeddings, pairs, same, **known)
    except ImportError as error:
        told[name] = str(error.args[0])
        continue
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.fairfr"
        model.save(path, with_faces=True)
        again = fairfr.load(path)
        sys.argv[1:] = ["inspect", str(path)]
        with redirect_stdout(StringIO()) as shown:
            calibrate()
    assert "face vectors" in shown.getvalue(), shown.getvalue()
    assert np.array_equal(again.probability(embeddings, pairs, **known), model.probability(embeddings, pairs, **known))
    told[name] = "ok"
print(json.dumps({"told": told, "blocked": sorted(blocked)}))
"""


def bare_requirements() -> list[str]:
    import tomllib

    with (ROOT / "pyproject.toml").open("rb") as file:
        found: list[str] = tomllib.load(file)["project"]["dependencies"]
    return found


def run_bare(program: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    code = f"BARE = {bare_requirements()!r}\n{program}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)


@pytest.fixture(scope="module")
def outcome() -> dict[str, dict[str, str]]:
    done = run_bare(PROGRAM)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, str]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("stem", ["ac_mlp", "frappe"])
def test_a_saved_network_predicts_without_torch(stem: str) -> None:
    path = ROOT / "tests" / "golden" / "models" / "v2" / f"{stem}.fairfr"
    program = PROGRAM.partition("rng = np.random")[0] + (
        f"model = fairfr.load({str(path)!r})\n"
        "print(float(model.probability(np.array([[1.0, 2, 3, 4], [4, 3, 2, 1]]), np.array([[0, 1]]))[0]))\n"
    )
    done = run_bare(program)
    assert done.returncode == 0, done.stderr
    embeddings = np.array([[1.0, 2, 3, 4], [4, 3, 2, 1]])
    expected = fairfr.load(path).probability(embeddings, np.array([[0, 1]]))[0]
    assert float(done.stdout) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", sorted(method_targets()))
def test_a_method_works_on_the_bare_package_or_names_its_extra(name: str, outcome: dict[str, dict[str, str]]) -> None:
    expected = "ok"
    if name in NEEDS_EXTRA:
        expected = f"{name} needs the extra: pip install 'fairfr[{NEEDS_EXTRA[name]}]'"
    assert outcome["told"][name].partition(" (")[0] == expected


def test_the_optional_packages_were_really_out_of_reach(outcome: dict[str, dict[str, str]]) -> None:
    assert {"torch", "pandas", "pyarrow", "hydra", "mlflow", "rich", "matplotlib"} <= set(outcome["blocked"])
    assert not {"numpy", "scipy", "sklearn", "numba", "faiss", "yaml", "safetensors"} & set(outcome["blocked"])


COMMAND = PROGRAM.partition("import numpy as np")[0] + "\nsys.argv = ARGV\nfrom fairfr.__main__ import main\nmain()\n"


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["run", "--help"], "run"),
        (["rescore", "--help"], "run"),
        (["sync", "--help"], "run"),
        (["check", "--dataset", "mine", "--backbone", "net"], "files"),
        (["extract", "--help"], "extract"),
        (["faces", "lfw"], "faces"),
        (["import", "table", "--dataset", "mine", "--pairs", "PAIRS"], "files"),
        (["ui", "--out-root", "FOLDER"], "run"),
    ],
)
def test_a_command_names_its_extra_in_one_line(words: list[str], extra: str, tmp_path: Path) -> None:
    assert bare_message(words, tmp_path) == f"fairfr {words[0]} needs the extra: pip install 'fairfr[{extra}]'\n"


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["fit", "dataset=lfw", "--out", "FOLDER/mine.fairfr"], "run"),
        (["score", "--model", "FOLDER/mine.fairfr", "--pairs", "PAIRS", "--out", "FOLDER/scores.csv"], "files"),
    ],
)
def test_a_part_of_a_command_names_its_own_extra(words: list[str], extra: str, tmp_path: Path) -> None:
    told = bare_message(["calibrate", *words], tmp_path)
    assert told == f"fairfr calibrate {words[0]} needs the extra: pip install 'fairfr[{extra}]'\n"


def bare_message(words: list[str], folder: Path) -> str:
    """What a failing command says; FOLDER has a table of pairs, PAIRS, and a file named like MLflow's database."""
    pairs = folder / "pairs.csv"
    pairs.write_text("left,right,same\na,b,1\n", encoding="utf-8")
    (folder / "mlflow.db").touch()
    named = [word.replace("FOLDER", str(folder)).replace("PAIRS", str(pairs)) for word in words]
    done = run_bare(f"ARGV = {['fairfr', *named]!r}\n{COMMAND}")
    assert done.returncode == 1
    assert not done.stdout
    return done.stderr


def test_every_extra_that_is_named_exists() -> None:
    import tomllib

    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    assert set(EXTRA_OF_MODULE.values()) <= set(extras)
