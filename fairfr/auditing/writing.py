"""Write a report: a page and its JSON, whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fairfr.core.errors import StorageError
from fairfr.core.storage import translate_os_errors
from fairfr.core.text import escape_json


def write_report(out: Path, name: str, page: str, content: dict[str, Any]) -> str:
    """Write ``<out>/<name>.html`` and ``<name>.json``; returns a line that names both."""
    if out.exists() and not out.is_dir():
        raise StorageError(f"{out} is a file. Name a folder: --out DIR.")
    texts = {f"{name}.html": page, f"{name}.json": escape_json(json.dumps(content, indent=1, allow_nan=False)) + "\n"}
    with translate_os_errors(out, "--out"):
        out.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            draft = out / f".{file}.partial"
            draft.write_text(text, encoding="utf-8")
            draft.replace(out / file)
    return f"written: {out / f'{name}.html'} and {name}.json"
