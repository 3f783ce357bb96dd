"""Every yaml block of the docs works: it is written where its comment says, and a sweep is planned by it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
CELLS = {"experiment=mine": 10, "dataset=mine": 1, "method=my_method": 1}
"""How many cells each file chooses, by what is typed."""
OWN_METHOD = """
from dataclasses import dataclass
from fairfr.methods.platt import Platt

@dataclass
class MyMethod(Platt):
    pass
"""


class Block(NamedTuple):
    """A yaml file that a page shows."""

    page: Path
    text: str

    @property
    def path(self) -> Path:
        """Where the block says that it belongs."""
        found = re.search(r"^# (my_conf/\S+?\.yaml)", self.text, re.MULTILINE)
        assert found, f"{self.page.name}: a yaml block says by a comment '# my_conf/GROUP/NAME.yaml' which file it is"
        return Path(found[1])

    @property
    def typed(self) -> str:
        return f"{self.path.parent.name}={self.path.stem}"


def blocks() -> Iterator[Block]:
    for page in PAGES:
        for text in re.findall(r"^ *```ya?ml\n(.*?)^ *```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
            yield Block(page, text)


def write_data(root: Path) -> None:
    folder = root / "mine" / "embeddings"
    folder.mkdir(parents=True)
    images = [f"i{number}" for number in range(8)]
    rows = [f"{image},p{place // 2},asian,female" for place, image in enumerate(images)]
    (root / "mine" / "images.csv").write_text("\n".join(["image,identity,ethnicity,gender", *rows]))
    pairs = [f"{place % 2},i{place},i{other},{int(place // 2 == other // 2)}" for place in range(8) for other in (0, 7)]
    kept = [pair for pair in pairs if len(set(pair.split(",")[1:3])) == 2]
    (root / "mine" / "pairs.csv").write_text("\n".join(["fold,left,right,same", *sorted(set(kept))]))
    np.savez(folder / "mynet.npz", image=np.array(images), vectors=np.random.default_rng(0).normal(size=(8, 4)))


@pytest.mark.parametrize("block", list(blocks()), ids=lambda block: f"{block.page.stem}-{block.typed}")
def test_a_sweep_is_planned_by_the_file(block: Block, tmp_path: Path) -> None:
    path = tmp_path / block.path
    path.parent.mkdir(parents=True)
    path.write_text(block.text)
    for module in ("my_method", "my_package"):
        (tmp_path / f"{module}.py").write_text(OWN_METHOD)
    data = ["source=synthetic"]
    if block.path.parent.name == "dataset":
        write_data(tmp_path / "data")
        data = ["backbone=mynet", "method=platt"]
    words = ["run", "-m", "--config-dir", "my_conf", block.typed, *data, "store=folder", "hydra.sweeper.dry_run=true"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "fairfr", *words]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    number = CELLS[block.typed]
    assert f"{number} runs: 0 done, {number} to do, 0 fails" in done.stdout
