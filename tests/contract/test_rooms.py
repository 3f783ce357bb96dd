"""The tests of a module lie where its path says: in ``test_<module>.py`` or ``test_<module>_<topic>.py``."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "tests" / "unit"


@pytest.mark.parametrize("test", sorted(UNIT.rglob("test_*.py")), ids=lambda path: str(path.relative_to(UNIT)))
def test_every_unit_test_has_its_module(test: Path) -> None:
    room = ROOT / "fairfr" / test.parent.relative_to(UNIT)
    name = test.stem.removeprefix("test_")
    modules = {path.stem.strip("_"): path for path in room.iterdir() if path.suffix == ".py" or path.is_dir()}
    known = name in modules or any(name.startswith(f"{module}_") for module in modules if module)
    assert known, f"{room.relative_to(ROOT)} has no module {name}"
