"""A module name means one thing, and its tests are in ``test_<module>.py`` or ``test_<module>_<topic>.py``."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "tests" / "unit"

SAME_IDEA = {
    "beta": "the map and the method that fits it",
    "order": "the type and its value for the paper",
    "settings": "the typed settings of a room",
    "transfer": "a protocol and its study",
}


@pytest.mark.parametrize("test", sorted(UNIT.rglob("test_*.py")), ids=lambda path: str(path.relative_to(UNIT)))
def test_every_unit_test_has_its_module(test: Path) -> None:
    room = ROOT / "fairfr" / test.parent.relative_to(UNIT)
    name = test.stem.removeprefix("test_")
    modules = {path.stem.strip("_"): path for path in room.iterdir() if path.suffix == ".py" or path.is_dir()}
    known = name in modules or any(name.startswith(f"{module}_") for module in modules if module)
    assert known, f"{room.relative_to(ROOT)} has no module {name}"


def test_a_module_name_means_one_thing() -> None:
    """Commands are named after what they call. The list of exceptions may only become shorter."""
    seen: dict[str, list[str]] = {}
    for path in sorted((ROOT / "fairfr").rglob("*.py")):
        if path.stem not in ("__init__", "__main__") and path.parent.name != "commands":
            seen.setdefault(path.stem.strip("_"), []).append(str(path.relative_to(ROOT)))
    repeated = {name: paths for name, paths in seen.items() if len(paths) > 1}
    new = {name: paths for name, paths in repeated.items() if name not in SAME_IDEA}
    assert not new, f"modules with one name and different contents: {new}"
    unique = set(SAME_IDEA) - set(repeated)
    assert not unique, f"no longer repeated, so take them out of the list above: {unique}"
