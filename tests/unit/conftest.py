"""Results made by hand, whose numbers can be read off the call that made them, and small runs with scores on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from made_runs import change, results_of, run_of

from fairfr.core.findings import Finding
from fairfr.core.run_key import RunKey
from fairfr.core.types import Grouping, Pairs, ScoreFrame
from fairfr.metrics.catalogue import METRIC_BY_ID
from fairfr.metrics.cell_metrics import PairGroups, compute_metrics, summarise
from fairfr.metrics.ties import ties_code
from fairfr.report.tables.grid import Entry, Grid, Line
from fairfr.runner.record import jsonable, readable_groups
from fairfr.store.parquet_files import write_scores
from fairfr.store.result_file import checksums
from fairfr.stored.results import Results
from fairfr.stored.run import Run

Numbers: TypeAlias = Mapping[str, float | None]
NEEDS_GROUPS = ("gst", "demonorm", "oracle")
WITHOUT_PROBABILITY = ("baseline", "falcon", "fsn", "demonorm")


def made_result(
    method: str,
    setting: str = "rfw/magface",
    overall: Numbers | None = None,
    worst: Numbers | None = None,
    groups: Mapping[str, Numbers] | None = None,
    **changes: Any,
) -> Run:
    """``overall``, ``worst`` and ``groups`` hold fold means by metric; both pair rules get the same."""
    dataset, backbone = setting.split("/")
    plain = method.removesuffix("_paper")
    native = plain not in WITHOUT_PROBABILITY
    groups = groups or {}
    options = {"folds": 2, "n_diff": 100_000, "std": 0.01, "source": "files", "needs": None, **changes}
    rows = _rows("all", ("all",), "all", overall or {}, native, options)
    for group, numbers in (("worst", worst or {}), *groups.items()):
        rows += _rows("ethnicity", ("both", "first"), group, numbers, native, options)
    needs = options["needs"]
    stored = {
        "key": options.get("key", f"{options['source']}-{dataset}{backbone}{method}"),
        "status": options.get("status", "completed"),
        "source": options["source"],
        "finished": options.get("finished", "2026-01-01T00:00:00+00:00"),
        "dataset": {"id": dataset, "label": dataset.upper()},
        "backbone": {"id": backbone, "label": backbone.title()},
        "method": {
            "id": method,
            "label": options.get("label", method.replace("_", " ").title()),
            "needs": list(needs) if needs is not None else ["groups"] if plain in NEEDS_GROUPS else [],
            "native_probability": native,
        },
        "data": {
            "folds": [str(i) for i in range(options["folds"])],
            "grouping": "ethnicity",
            "groups": {"ethnicity": list(groups)},
        },
        "metrics": rows,
    }
    return run_of(stored)


def _rows(
    grouping: str, rules: Iterable[str], group: str, numbers: Numbers, native: bool, options: Mapping[str, Any]
) -> list[dict[str, Any]]:
    counts = {"folds": options["folds"], "folds_total": options["folds"], "n_same": 100, "n_diff": options["n_diff"]}
    place = {"grouping": grouping, "group": group, **counts}
    rows = []
    for metric, mean in numbers.items():
        twin = f"{metric}_on_probability"
        names = [metric, twin] if native and twin in METRIC_BY_ID and twin not in numbers else [metric]
        rows += [
            {**place, "rule": rule, "metric": name, "mean": mean, "std": options["std"]}
            for rule in rules
            for name in names
        ]
    return rows


@pytest.fixture
def result() -> Callable[..., Run]:
    return made_result


@pytest.fixture
def tied() -> Run:
    """AC-Density as on the stand-in of RFW with MagFace: ties at a clipped probability decide TPR at 1e-3."""
    tpr = "tpr_at_fpr_1e-3"
    overall = {tpr: 0.533, f"{tpr}_on_probability": 0.106}
    made = made_result("ac_density", overall=overall, worst={tpr: 0.491, f"{tpr}_on_probability": 0.1})
    finding = Finding(ties_code(f"{tpr}_on_probability"), "warning", "102 of 12,000 impostors share the highest value.")
    change(made, metric_warnings=[asdict(finding)])
    return made


@pytest.fixture
def runs() -> Callable[..., Results]:
    """``runs(result, result, ...)``, of one data source."""

    def make(*results: Run, source: Any = "files") -> Results:
        return results_of(results, source)

    return make


@pytest.fixture
def find() -> Callable[..., Any]:
    """``find(grids, id)``, ``find(grids, id, row)`` and ``find(grids, id, row, column)``."""

    def look(grids: Iterable[Grid], id: str, row: str | None = None, column: int | None = None) -> Grid | Line | Entry:
        grid = next(grid for grid in grids if grid.id == id)
        if row is None:
            return grid
        line = next(line for section in grid.sections for line in section.lines if line.label == row)
        return line if column is None else line.entries[column]

    return look


N_PAIRS = 600
LEVELS = ("one", "two_parts", "three")
NEEDS = {"gst": ["groups"], "gst_paper": ["groups"]}
NATIVE = ("beta", "platt", "faircal", "ac_linear", "ac_density", "ac_density_loo")
FakeRun = Callable[..., Run]


@pytest.fixture
def fake_run(tmp_path: Path) -> FakeRun:
    """``fake_run(method, noise=...)``: a completed run on the same pairs (600) whatever the method.

    ``known_people``: how many of the 120 people are known by name, ``per_person`` of them to one code.
    """

    def make(
        method: str,
        noise: float = 0.5,
        dataset: str = "rfw",
        source: Any = "synthetic",
        known_people: int = 0,
        per_person: int = 1,
        n_pairs: int = N_PAIRS,
        **data: Any,
    ) -> Run:
        rng = np.random.default_rng(5)
        same = rng.random(n_pairs) < 0.5
        left = np.where(same, 2 * rng.integers(120, size=n_pairs), rng.integers(240, size=n_pairs)).astype(np.int32)
        right = np.where(same, left + 1, (left + 2 + rng.integers(200, size=n_pairs)) % 240).astype(np.int32)
        pairs = Pairs(left, right)
        codes = (np.arange(240) // 2 % 4).astype(np.int16)  # the fourth is unknown
        grouping = Grouping("kind", LEVELS, np.where(codes == 3, -1, codes).astype(np.int16))
        score = same + np.random.default_rng(len(method)).normal(0, noise, n_pairs)
        probability = np.clip(score, 0.0, 1.0)
        fold = (np.arange(n_pairs) % 3).astype(np.int16)
        key = RunKey(dataset, "facenet", method, source, "0123456789abcdef")
        frame = ScoreFrame(fold, same, score, probability)
        groups = [PairGroups.of(grouping, pairs, rule) for rule in ("both", "first")]
        rows = compute_metrics(frame, ("a", "b", "c"), groups, min_pairs=5)
        folder = tmp_path / dataset / method
        folder.mkdir(parents=True)
        columns = {
            "pair": np.arange(n_pairs),
            "fold": np.array(["a", "b", "c"])[fold],
            "split": np.array(["a", "b", "c"])[fold],
            "left": np.char.add("image", left.astype(str)),
            "right": np.char.add("image", right.astype(str)),
            "same": same,
            "cosine": np.tanh(score),
            "score": score,
            "probability": probability,
            "kind": readable_groups(grouping, pairs),
        }
        for side, images in (("left", left), ("right", right)):
            person = images // 2
            columns[f"identity_{side}"] = np.ma.masked_array(person // per_person, person >= known_people)
        write_scores(folder / "scores.parquet", columns)
        stored = {
            "key": str(key),
            "status": "completed",
            "source": source,
            "finished": "2026-01-01T00:00:00+00:00",
            "dataset": {"id": dataset, "label": dataset.upper()},
            "backbone": {"id": "facenet", "label": "FaceNet"},
            "method": {
                "id": method,
                "label": method.title(),
                "needs": NEEDS.get(method, []),
                "native_probability": method in NATIVE,
            },
            "data": {
                "digest": "d",
                "pairs": n_pairs,
                "same": int(same.sum()),
                "folds": ["a", "b", "c"],
                "grouping": "kind",
                "groups": {"kind": list(LEVELS)},
                **data,
            },
            "files": checksums(folder),
            "metrics": jsonable(summarise(rows)),
        }
        return run_of(stored, folder)

    return make


TPR = "tpr_at_fpr_1e-3"
Make = Callable[..., Run]
MakeRuns = Callable[..., Results]


@pytest.fixture
def tpr(result: Make) -> Make:
    """``tpr(method, value, ...)``: a run of which only the global TPR is known."""

    def make(method: str, value: float, **changes: Any) -> Run:
        return result(method, overall={TPR: value}, **changes)

    return make


@pytest.fixture
def notes() -> Callable[..., list[str]]:
    """``notes(grid, code)``: the notes of this code, in full."""
    return lambda grid, code: [str(note) for note in grid.notes if note.code == code]


@pytest.fixture
def bold_rows() -> Callable[[Grid, int], set[str]]:
    """``bold_rows(grid, column)``."""
    return lambda grid, column: {line.label for line in grid.lines() if line.entries[column].bold}


@pytest.fixture
def lifted(result: Make, runs: MakeRuns) -> Results:
    def groups(asian: float, white: float) -> dict[str, dict[str, float]]:
        return {g: {"auroc": v, TPR: v / 2, "pauc": v} for g, v in (("asian", asian), ("white", white))}

    return runs(
        result("baseline", groups=groups(0.94187, 0.97)),
        result("fsn", groups=groups(0.9, 0.98)),
        result("gst_paper", groups=groups(0.99, 0.99)),
        result("ac_linear", groups=groups(0.95, 0.97)),
        result("ac_density", groups=groups(0.96021, 0.98)),
    )
