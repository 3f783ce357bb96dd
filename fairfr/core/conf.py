"""Where the configurations lie."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parents[1]
# a wheel has the configurations inside the package, a checkout has them beside it
CONF_DIR = next(folder for folder in (PACKAGE / "conf", PACKAGE.parent / "conf") if (folder / "config.yaml").is_file())
