"""A world of made run folders, on which whole pages of tables are compared: its numbers are drawn, not measured.

The paper's settings on stand-ins and some on files, own data with several groupings and with none, variants, other
seeds, runs by other code, older configurations, a failed run, and the studies whose tables need no scores.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import yaml
from made_runs import result_of

from fairfr.core.provenance import run_code
from fairfr.core.run_key import RESULTS_VERSION
from fairfr.core.run_result import RunResult
from fairfr.metrics.ties import ties_code
from fairfr.store.result_file import write_result

Json: TypeAlias = dict[str, Any]

LABELS = {
    "baseline": "Baseline",
    "faircal": "FairCal",
    "falcon": "FALCON",
    "frappe": "FRAPPÉ",
    "fsn": "FSN",
    "gst": "GST",
    "gst_paper": "GST (paper)",
    "demonorm": "DemoNorm",
    "demonorm_paper": "DemoNorm (paper)",
    "oracle": "Oracle",
    "oracle_paper": "Oracle (paper)",
    "ac_mlp": "AC-MLP",
    "ac_linear": "AC-Linear",
    "ac_density": "AC-Density",
    "ac_density_loo": "AC-Density (LOO)",
    "platt": "Platt",
    "beta": "Beta",
    "beta_paper": "Beta (paper)",
    "isotonic": "Isotonic",
    "ac_hinge": "AC-Hinge",
    "midpoint_only": "Midpoint only",
    "density_score": "Density and score",
}
WITHOUT_PROBABILITY = ("baseline", "falcon", "fsn", "demonorm", "demonorm_paper")
ETHNICITIES = ("african", "asian", "caucasian", "indian")
SEXES = ("female", "male")
PRODUCT = tuple(f"{ethnicity}_{sex}" for ethnicity in ETHNICITIES for sex in SEXES)
DEFAULTS: dict[str, Json] = {"ac_density": {"k": 20}, "ac_linear": {"C": 1.0}, "gst": {"fpr": 0.05}}
OF_ESTIMATOR = "method.estimator."
CONF = Path(__file__).parents[2] / "conf"
SPLITTER = "fairfr.folds.published.LeaveOneFoldOut"
OLD_CODE = {"method": "0123456789abcdef", "protocol": None}
RATES = ("1e-2", "1e-3")
RULES = ("first", "both")


class Data(NamedTuple):
    """A data set: its label, its own grouping, and the levels of all groupings."""

    label: str
    grouping: str | None
    groups: dict[str, tuple[str, ...]]
    folds: int = 10
    negatives: int = 12_000


DATA = {
    "rfw": Data("RFW", "ethnicity", {"ethnicity": ETHNICITIES}),
    "bfw": Data("BFW", "attributes", {"attributes": PRODUCT}, folds=5, negatives=300_000),
    "lfw": Data("LFW", "attributes", {"attributes": PRODUCT}, negatives=3_000),
    "mine": Data("My set", "people", {"people": PRODUCT, "Sex": SEXES, "ethnicity": ETHNICITIES}, folds=3),
    "plain": Data("Without groups", None, {}, folds=4),
}
BACKBONES = {
    "arcface_r100": "ArcFace R100",
    "adaface": "AdaFace",
    "magface": "MagFace",
    "facenet": "FaceNet",
    "mynet": "My net",
    "othernet": "Other net",
}


def write_world(out_root: Path) -> None:
    """Every run as a folder below ``<out_root>/runs``."""
    for result in world():
        folder = out_root.joinpath("runs", *result.run_key.path_parts)
        folder.mkdir(parents=True)
        write_result(folder, result)


def world() -> Iterator[RunResult]:
    """All runs, in an order that is not that of the tables."""
    yield from reversed([*_on_settings(), *_variants(), *_out_of_date(), *_studies()])


def _on_settings() -> Iterator[RunResult]:
    headline = [method for method in LABELS if method not in ("beta_paper", "midpoint_only", "density_score")]
    yield from _runs("rfw", "magface", headline)
    yield from _runs("bfw", "adaface", [m for m in headline if m not in ("oracle_paper", "falcon", "ac_density_loo")])
    yield from _runs("lfw", "arcface_r100", ["baseline", "faircal", "platt", "ac_mlp", "ac_linear", "ac_density"])
    yield from _runs("lfw", "facenet", ["ac_linear", "demonorm", "beta"])
    yield from _runs("lfw", "magface", ["baseline", "gst", "gst_paper", "ac_linear", "isotonic"], source="files")
    yield from _runs(
        "mine", "mynet", ["baseline", "gst", "platt", "ac_linear", "ac_hinge", "ac_density"], source="files"
    )
    yield from _runs("mine", "othernet", ["baseline", "ac_linear"], source="files")
    yield from _runs("plain", "mynet", ["baseline", "beta"], source="files")


def _runs(dataset: str, backbone: str, methods: Sequence[str], **changes: Any) -> Iterator[RunResult]:
    for method in methods:
        yield made(dataset, backbone, method, **changes)


def _variants() -> Iterator[RunResult]:
    for dataset, backbone, source in (("rfw", "magface", "synthetic"), ("mine", "mynet", "files")):
        for k in (500, 50):
            yield made(dataset, backbone, "ac_density", source=source, differs={"method.estimator.k": k})
        yield made(dataset, backbone, "ac_linear", source=source, differs={"method.estimator.C": 0.1})
        for method in ("baseline", "ac_linear", "ac_density"):
            yield made(dataset, backbone, method, source=source, differs={"seed": 1})
        yield made(dataset, backbone, "ac_density", source=source, differs={"method.estimator.k": 500, "seed": 1})
    yield made("rfw", "magface", "gst", differs={"method.estimator.fpr": 0.01})


def _out_of_date() -> Iterator[RunResult]:
    """Older configurations, runs by code that is not installed, and a failed run."""
    older = {"finished": "2025-12-01T00:00:00+00:00"}
    for method in ("baseline", "platt"):
        yield made("mine", "mynet", method, source="files", data="e" * 16, **older)
    yield made("rfw", "magface", "ac_linear", code=OLD_CODE, **older)
    yield made("bfw", "magface", "ac_linear", code=OLD_CODE, **older)
    yield made("bfw", "magface", "baseline")
    yield result_of({**_head("bfw", "magface", "platt", {}), "status": "failed", "error": "DataError: no such file"})


def _studies() -> Iterator[RunResult]:
    context = ("platt", "ac_linear", "ac_density", "ac_density_loo")
    groups = {"study": "attributes", "groupings": ("Sex", "ethnicity")}
    differs = {"dataset.grouping": ["Sex", "ethnicity"]}
    yield from _runs("lfw", "facenet_casia", (*context, "faircal"), differs=differs, **groups)
    yield from _sizes()
    components = ("platt", "beta", "beta_paper", "midpoint_only", "density_score", *context[1:])
    for backbone in ("arcface_original", "mynet"):
        yield from _runs("rfw", backbone, components, study="components")
    for keep in (1.0, 0.05):
        splitter = {"group": "African", "keep": keep, "grouping": None, "repeat": 0}
        yield from _runs("rfw", "arcface_original", context, study="coverage", splitter=splitter)
    for protocol in ("published", "identity_disjoint"):
        yield from _runs("rfw", "facenet_casia", context[:3], study="split", protocol=protocol)


def _sizes() -> Iterator[RunResult]:
    """Two samples of each size for one method, one for the others."""
    for size in (5400, 600):
        for repeat, methods in enumerate((("platt", "ac_mlp", "ac_linear"), ("ac_mlp",))):
            splitter = {"size": size, "repeat": repeat}
            yield from _runs("lfw", "adaface_aligned", methods, study="calibration_size", splitter=splitter)


def made(dataset: str, backbone: str, method: str, **changes: Any) -> RunResult:
    """One completed run; ``changes``: source, differs, finished, code, data, study, splitter, protocol, groupings."""
    head = _head(dataset, backbone, method, changes)
    data = DATA[dataset]
    groupings = {grouping: levels for grouping, levels in data.groups.items()}
    for grouping in changes.get("groupings", ()):
        groupings[grouping] = DATA["mine"].groups[grouping]
    rng = np.random.default_rng(zlib.crc32(f"{dataset} {backbone} {method} {head['key']}".encode()))
    rows = [*_overall(rng, data)]
    for grouping, levels in groupings.items():
        rows += _grouped(rng, data, grouping, levels)
    warnings = []
    if (dataset, method) in (("rfw", "ac_density"), ("rfw", "platt"), ("mine", "ac_density")):
        code = ties_code("tpr_at_fpr_1e-3_on_probability")
        warnings.append({"code": code, "severity": "warning", "text": "many impostors share the highest value."})
    fold_names = [str(fold) for fold in range(data.folds)]
    described = {
        "digest": changes.get("data", "d" * 16),
        "pairs": 2 * data.negatives,
        "same": data.negatives,
        "images": 5_000,
        "dimensions": 512,
        "folds": fold_names,
        "grouping": data.grouping,
        "min_pairs": 20,
        "groups": {grouping: list(levels) for grouping, levels in groupings.items()},
    }
    folds_anew = []
    if changes.get("protocol") == "identity_disjoint":
        counts = {"pairs": 24_000, "moved": 310, "imbalance": 2, "cut": 1, "dropped": 35}
        folds_anew = [{"code": "folds-anew", "severity": "note", "text": "folds were made anew.", "counts": counts}]
    return result_of(
        {
            **head,
            "data": described,
            "seconds": 1.5,
            "fit_report": {"0": {"parameters": 527_361}} if method == "ac_mlp" else {},
            "warnings": folds_anew,
            "metrics_version": "1-made",
            "metric_warnings": warnings,
            "metrics": rows,
        }
    )


def _head(dataset: str, backbone: str, method: str, changes: Json) -> Json:
    """All of a run but its numbers."""
    source = changes.get("source", "synthetic")
    differs = dict(changes.get("differs", {}))
    protocol = changes.get("protocol", "published")
    splitter = changes.get("splitter", {})
    if splitter:
        protocol = changes["study"]
    if protocol != "published":
        differs["protocol"] = protocol
    for key, value in splitter.items():
        differs[f"protocol.splitter.{key}"] = value
    native = method not in WITHOUT_PROBABILITY
    estimator = {"_target_": _target(method), **DEFAULTS.get(method, {})}
    for key, value in differs.items():
        if key.startswith(OF_ESTIMATOR):
            estimator[key.removeprefix(OF_ESTIMATOR)] = value
    identity: Json = {
        "source": source,
        "dataset": {"id": dataset, "grouping": differs.get("dataset.grouping", DATA[dataset].grouping)},
        "backbone": {"id": backbone},
        "method": {"id": method, "estimator": estimator},
        "protocol": {"id": protocol, "splitter": splitter},
        "seed": differs.get("seed", 0),
        "data": changes.get("data", "d" * 16),
    }
    digest = zlib.crc32(repr((identity, changes.get("study"), changes.get("code"))).encode())
    # after the key, which must stay the same when the code of a method changes
    identity["code"] = changes.get("code") or run_code(_target(method), native, SPLITTER, False)
    identity["results_version"] = RESULTS_VERSION
    identity["protocol"] = {"id": protocol, "splitter": {"_target_": SPLITTER, **splitter}}
    prefix = "synthetic-" if source == "synthetic" else ""
    return {
        "key": f"{prefix}{digest:016x}",
        "status": "completed",
        "source": source,
        "dataset": {"id": dataset, "label": DATA[dataset].label},
        "backbone": {"id": backbone, "label": BACKBONES.get(backbone, backbone.title())},
        "method": {
            "id": method,
            "label": LABELS[method],
            "needs": ["groups"] if method.partition("_")[0] in ("gst", "demonorm", "oracle") else [],
            "native_probability": native,
        },
        "protocol": protocol,
        "study": changes.get("study"),
        "seed": identity["seed"],
        "identity": identity,
        "differs": differs,
        "finished": changes.get("finished", "2026-01-01T00:00:00+00:00"),
    }


def _target(method: str) -> str:
    """The class of a method, as its yaml names it."""
    (path,) = CONF.glob(f"method/**/{method}.yaml")
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    return str(config["estimator"]["_target_"])


def _overall(rng: np.random.Generator, data: Data) -> Iterator[Json]:
    place = {"grouping": "all", "rule": "all", "group": "all"}
    yield from _numbers(rng, place, data, data.folds)


def _grouped(rng: np.random.Generator, data: Data, grouping: str, levels: Iterable[str]) -> Iterator[Json]:
    """Every group, the worst and the gap; the second group has a value in few folds, the last in none of one rule."""
    levels = tuple(levels)
    for rule in RULES:
        place = {"grouping": grouping, "rule": rule}
        for number, group in enumerate((*levels, "worst")):
            folds = data.folds
            if number == 1 and len(levels) > 2:
                folds -= 1
            if group == levels[-1] and rule == "both" and len(levels) > 4:
                folds = 0
            yield from _numbers(rng, {**place, "group": group}, data, folds)
        for gap in ("eo", "pe", "dp"):
            for rate in RATES:
                for on in ("", "_on_probability"):
                    metric = f"{gap}_gap_at_fpr_{rate}{on}"
                    yield _row(rng, {**place, "group": "gap"}, metric, (1.0, 12.0), data, data.folds)


def _numbers(rng: np.random.Generator, place: Json, data: Data, folds: int) -> Iterator[Json]:
    for on in ("", "_on_probability"):
        yield _row(rng, place, f"auroc{on}", (0.85, 0.999), data, folds)
        yield _row(rng, place, f"pauc{on}", (0.7, 0.95), data, folds)
        for rate in RATES:
            yield _row(rng, place, f"tpr_at_fpr_{rate}{on}", (0.3, 0.9), data, folds)
    yield _row(rng, place, "brier", (0.02, 0.12), data, folds)
    yield _row(rng, place, "brier_raw", (0.1, 0.3), data, folds)
    yield _row(rng, place, "ece_15", (0.005, 0.03), data, folds)


def _row(
    rng: np.random.Generator, place: Json, metric: str, between: tuple[float, float], data: Data, folds: int
) -> Json:
    """A number with three digits, so that some are equal in print and some are not."""
    mean = round(float(rng.uniform(*between)), 3)
    std = round(float(rng.uniform(0.001, 0.02)), 4)
    share = 1 if place["group"] in ("all", "worst", "gap") else 5
    counts = {
        "folds": folds,
        "folds_total": data.folds,
        "n_same": data.negatives // share,
        "n_diff": data.negatives // share,
    }
    if not folds:
        return {**place, "metric": metric, "mean": None, "std": None, "pooled": None, **counts}
    return {**place, "metric": metric, "mean": mean, "std": std, "pooled": round(mean + 0.001, 4), **counts}
