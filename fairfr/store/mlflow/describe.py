"""Runs and sweeps as MLflow shows them: names, tags, parameters, data set and description, all from the run folder."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fairfr.core.readings import usual_reading
from fairfr.core.run_key import flatten, variant_label, variant_text
from fairfr.core.run_result import DataSummary, RunResult
from fairfr.core.storage import open_regular
from fairfr.core.text import error_summary
from fairfr.store.result_file import DamagedRunError

NOUNS = ("dataset", "backbone", "method", "protocol")
MAX_NAME = 250  # characters of a metric's name that MLflow takes
DATASET_DIGEST = 16  # of 64 digits: MLflow takes at most 36
EXPERIMENT_NOTE = """One run is one cell: a method on a data set with a backbone. Parent runs are sweeps.

Metrics are fractions, on held-out folds:
- `auroc`, `brier`, `tpr_at_fpr_1e-3`: means over folds, in the reading of the tables; `worst_...`: of the worst group
- `paper/...`, `strict/...`: these and more, in the two readings of the paper
- `fold/...`: by fold (the step)
- `group/...`: means over folds, by group
"""
SWEEP_NOTE = """A sweep; its cells are the child runs, and those with its id in their tag `sweeps`.

    {command}

Artifacts: `cells.csv` lists every cell, also those that failed; `tables` and `figures` are the report of these cells.
"""


def command_of(overrides: Iterable[str]) -> str:
    """The command of a sweep, as a shell takes it."""
    return shlex.join(["python", "run.py", "-m", *overrides])


def run_name(result: RunResult) -> str:
    """What the MLflow page lists: ``AC-Linear (C=0.1) | synthetic | lfw | magface``.

    The page cuts long names at the end, so the method comes first, then what differs from its default: its own
    parameters before those of the data.
    """
    differs = sorted(result.differs.items(), key=lambda item: not item[0].startswith("method."))
    parts = [variant_label(result.method.label, dict(differs))]
    if result.is_synthetic:
        parts.append("synthetic")
    return " | ".join([*parts, result.dataset.id, result.backbone.id])


def times_of(result: RunResult) -> tuple[int, int]:
    """Start and end of the run itself, in milliseconds, so that the page shows its duration, not the logging's."""
    from datetime import datetime

    end = int(datetime.fromisoformat(result.finished).timestamp() * 1000)
    return end - int(1000 * (result.seconds or 0)), end


def measured_at(result: RunResult) -> str:
    """When the numbers were made: a run that was measured again is logged again."""
    return result.rescored or result.finished


def tags_of(result: RunResult, folder: Path) -> Iterator[tuple[str, Any]]:
    """Tags to filter and group by."""
    yield "mlflow.source.name", "run.py"
    yield "mlflow.source.type", "LOCAL"
    yield "mlflow.note.content", note_of(result)
    yield "run_key", result.key
    yield "status", result.status
    yield "source", result.source
    yield "reading", usual_reading(result)
    yield "dataset", result.dataset.id
    yield "backbone", result.backbone.id
    yield "method", result.method.id
    yield "variant", variant_text(result.differs) or "default"
    yield "needs", ", ".join(result.method.needs) or "scores only"
    yield "run_folder", folder.resolve()
    yield "finished", measured_at(result)
    yield from _code_tags(result.code)
    if result.threads is not None:
        yield "threads", result.threads
    if result.error is not None:
        yield "error", result.error


def _code_tags(code: Mapping[str, Any] | None) -> Iterator[tuple[str, Any]]:
    """MLflow's own names for the commit; unknown where fairfr was no checkout."""
    if code is not None:
        yield "mlflow.source.git.commit", code["commit"]
        yield "mlflow.source.git.dirty", code["dirty"]


def params_of(result: RunResult, folder: Path) -> Iterator[tuple[str, Any]]:
    """The configuration, flattened: what was chosen; of the stand-in only what differs from its yaml."""
    config = _config_of(folder)
    for noun in NOUNS:
        for name, value in flatten(config.get(noun, {}), f"{noun}.").items():
            hidden = name.startswith("dataset.standin") and name not in result.differs
            if not hidden and not name.endswith("_target_"):
                yield name, value
    yield "seed", config.get("seed")


def note_of(result: RunResult) -> str:
    """The description on a run's page (Markdown): what it is, on which data, and what to know about its numbers."""
    where = f"{result.dataset.label} x {result.backbone.label}"
    lines = [f"**{result.method.label}** on **{where}**."]
    if result.is_synthetic:
        lines.append("**SYNTHETIC stand-in, not faces:** the numbers say nothing about a real matcher.")
    variant = variant_text(result.differs)
    lines.append(f"Differs from its yaml: {variant}." if variant else "Default configuration.")
    needs = ", ".join(result.method.needs) or "scores only"
    lines.append(f"The method needs: {needs}.")
    if result.data != DataSummary():
        lines.append(_data_line(result.data))
    if result.error is not None:
        lines.append(f"**Failed:** {result.error}")
    lines += [f"Note: {warning}" for warning in (*result.warnings, *result.metric_warnings)]
    return "\n\n".join(lines)


def _data_line(data: DataSummary) -> str:
    grouping = f"groups by {data.grouping}" if data.grouping else "no groups"
    size = f"{data.pairs:,} pairs ({data.same:,} genuine) of {data.images:,} images"
    return f"Held-out scores of {size} in {len(data.folds)} folds; {grouping}."


def dataset_of(result: RunResult, folder: Path) -> dict[str, str] | None:
    """The data set as MLflow's own entity: name, digest, source and size; None where the digest is not known.

    The digest covers the embeddings, so the name has the backbone in it.
    """
    digest = result.identity.get("data")
    if digest is None:
        return None
    name = f"{result.dataset.id} x {result.backbone.id}"
    source: dict[str, Any] = {"uri": str(Path(_config_of(folder).get("data_root", "")) / result.dataset.id)}
    if result.is_synthetic:
        name = f"{name} (synthetic)"
        source = {"tags": {"mlflow.source.name": "fairfr/data/synthetic.py"}}
    return {
        "name": name,
        "digest": str(digest)[:DATASET_DIGEST],
        "source_type": "code" if result.is_synthetic else "local",
        "source": json.dumps(source),
        "profile": json.dumps(_profile(result.data)),
    }


def _profile(data: DataSummary) -> dict[str, Any]:
    profile: dict[str, Any] = {"num_rows": data.pairs, "genuine": data.same, "folds": len(data.folds)}
    for name in ("images", "dimensions", "grouping"):
        if getattr(data, name) is not None:
            profile[name] = getattr(data, name)
    return profile


def _config_of(folder: Path) -> dict[str, Any]:
    import yaml

    path = folder / "config.yaml"
    try:
        with open_regular(path) as file:
            text = file.read().decode()
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            raise ValueError("it repeats itself by aliases")  # a few lines of which can stand for gigabytes
        config = yaml.safe_load(text)
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        raise DamagedRunError(f"{path} cannot be read: {error_summary(error)}.") from error
    if not isinstance(config, dict) or not all(isinstance(config.get(noun, {}), dict) for noun in NOUNS):
        raise DamagedRunError(f"{path} is no configuration of a run.")
    return config


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
