"""Passwords inside addresses, such as ``http://me:secret@server:5000``: for MLflow alone, shown nowhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from fairfr.core.storage import replace_text

HIDDEN = "***"
_PASSWORD = re.compile(r"(://[^\s:/@]*:)\S*@")  # to the last @: a password may contain one, or a slash
_TOKEN = re.compile(r"(https?://)[^\s/:@]+@", re.IGNORECASE)
_QUERY = re.compile(r"([?&](?:password|passwd|pwd|token|access_token|api_key|secret)=)[^&\s'\"]+", re.IGNORECASE)


def mask_passwords(text: str) -> str:
    """The text with the password of every address in it replaced by ``***``."""
    text = _PASSWORD.sub(rf"\1{HIDDEN}@", text)
    text = _TOKEN.sub(rf"\1{HIDDEN}@", text)
    return _QUERY.sub(rf"\1{HIDDEN}", text)


def mask_config(value: Any) -> Any:
    """A configuration as it may be written down."""
    if isinstance(value, dict):
        return {key: mask_config(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [mask_config(entry) for entry in value]
    return mask_passwords(value) if isinstance(value, str) else value


def mask_files(*folders: Path) -> None:
    """Mask the passwords in the yaml files of these folders: Hydra writes down the command line as it was typed."""
    for folder in folders:
        for path in folder.glob("*.yaml"):
            text = path.read_text(encoding="utf-8")
            hidden = mask_passwords(text)
            if hidden != text:
                replace_text(path, hidden)
