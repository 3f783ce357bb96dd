"""A user's named sweep whose first line Hydra would overlook."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairfr.core.config import CONF_DIR
from fairfr.core.errors import ConfigError
from fairfr.sweep.arguments import prepare


@pytest.mark.parametrize("text", ["", "# a sweep\n# @package _global_\n"])
def test_an_experiment_whose_first_line_hydra_would_overlook_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "experiment" / "mine.yaml"
    path.parent.mkdir()
    path.write_text(text + "study: mine\n")
    said = "is line 2, and Hydra reads it in the first line only" if text else "is missing. Write it as the first line"
    with pytest.raises(ConfigError, match=rf"mine\.yaml: .*{said}"):
        prepare([f"--config-dir={tmp_path}", "experiment=mine"], CONF_DIR)
    path.write_text("\n# @package _global_\nstudy: mine\n")
    assert prepare([f"--config-dir={tmp_path}", "experiment=mine"], CONF_DIR)[-1] == "experiment=mine"
