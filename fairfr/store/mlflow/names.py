"""Metric names that MLflow accepts, a different one for each metric."""

from __future__ import annotations

import hashlib

MAX_NAME = 250


def metric_name(*parts: str) -> str:
    """The parts with slashes between them, ``group/paper/auroc/asian``; a slash inside a part is spelled out."""
    name = "/".join(map(_plain, parts))
    if len(name) <= MAX_NAME:
        return name
    return f"{name[: MAX_NAME - 17]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"  # the digest of the whole


def _plain(part: str) -> str:
    """A part with only the characters that MLflow accepts: ``a/b`` is ``a.x2f.b``.

    What MLflow accepts stays as it is; where ``.x`` itself occurs, its dot is spelled out too (``.x2e.x``), which makes
    the spelling reversible. So is the first dot of a name of dots alone, which MLflow would read as a folder.
    """
    is_dots = not part.strip(".")

    def spelled(at: int, c: str) -> str:
        is_accepted = (c.isalnum() or c in "_-. ") and not part.startswith(".x", at) and not (is_dots and at == 0)
        return c if is_accepted else f".x{ord(c):x}."

    return "".join(spelled(at, c) for at, c in enumerate(part))
