"""The forms of AC-Density side by side: its own neighbour or not, all references or some, ranked clipped or not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from fairfr.core.types import Source
from fairfr.report.captions import SOURCE, short_key
from fairfr.report.grid import Cell, ColumnGroup, Grid, Line, Section, mark_best
from fairfr.report.order import DENSITY, DENSITY_LOO
from fairfr.report.readings import Reading, Result
from fairfr.report.scores import Scores

FORMS = {DENSITY.id: "self", DENSITY_LOO.id: "LOO"}
# native probabilities: the paper's reading ranks by them, clipped to [0, 1]; the strict one by the unclipped score
RANKINGS: dict[str, Reading] = {"clipped": "paper", "unclipped": "strict"}
METRICS = {"auroc": "AUROC", "tpr_at_fpr_1e-3": "TPR@1e-3", "brier": "Brier", "ece_15": "ECE-15"}
BETTER = (True, True, False, False, None, None)
DIGITS = 4
UNKNOWN = "unknown"
NOTES = (
    "self: a training pair in the reference set is its own nearest neighbour, as the paper's text says; LOO: it is "
    "left out. References: training pairs among which neighbours are sought; where there are no more than the limit, "
    "all are, and the forms coincide.",
    "Ranked by the probability, clipped to [0, 1], or by the value before clipping: AUROC and TPR. Brier and ECE are "
    "those of the clipped probability in both. Means over held-out folds.",
    "mean(p - y): over all held-out pairs, of the clipped or the unclipped value; above 0: too confident that two "
    "images show one person. Impostors at 1: share of impostor pairs with p = 1, tied at the top of the ranking.",
    "To run them on any data: python run.py -m experiment=density_forms dataset=rfw backbone=magface",
)
Form: TypeAlias = tuple[str, int | None]


def density_forms(results: Iterable[Result], source: Source) -> list[Grid]:
    """A section for each data set and backbone with such runs, two lines for each form; nothing without any."""
    found = _newest(results, source)
    if not found:
        return []
    sections = tuple(_section(setting, forms) for setting, forms in sorted(found.items()))
    keys = ", ".join(short_key(r.stored["key"]) for forms in found.values() for r in forms.values())
    return [
        Grid(
            id="study_density_forms",
            caption=f"Forms of AC-Density [{SOURCE[source]}]. Bold: best of a data set and backbone.",
            corner=("Neighbours, references, ranking",),
            groups=(ColumnGroup("", (*METRICS.values(), "mean(p - y)", "Impostors at 1")),),
            sections=sections,
            notes=(*NOTES, f"Run keys: {keys}."),
        )
    ]


def max_references_of(result: Result) -> int | str | None:
    """``dataset.max_references`` of a run, None for all training pairs; unknown without its folder."""
    import yaml

    path = None if result.folder is None else result.folder / "config.yaml"
    if path is None or not path.is_file():
        return UNKNOWN
    config: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    limit: int | None = config["dataset"].get("max_references")
    return limit


def _newest(results: Iterable[Result], source: Source) -> dict[tuple[str, str], dict[Form, Result]]:
    """The last run of each form, by data set and backbone; forms in the table's order."""
    found: dict[tuple[str, str], dict[Form, Result]] = {}
    for result in sorted(results, key=lambda r: str(r.stored.get("finished"))):
        is_form = result.cell[2] in FORMS and result.stored["status"] == "completed"
        if not is_form or result.stored["source"] != source:
            continue
        limit = max_references_of(result)
        if not isinstance(limit, str):
            found.setdefault(result.cell[:2], {})[result.cell[2], limit] = result
    order = list(FORMS)
    return {
        setting: dict(sorted(forms.items(), key=lambda item: (order.index(item[0][0]), item[0][1] or 0)))
        for setting, forms in found.items()
    }


def _section(setting: tuple[str, str], forms: dict[Form, Result]) -> Section:
    lines = [_line(form, ranking, result) for form, result in forms.items() for ranking in RANKINGS]
    some = next(iter(forms.values())).stored
    return Section(f"{some['dataset']['label']} x {some['backbone']['label']}", tuple(mark_best(lines, list(BETTER))))


def _line(form: Form, ranking: str, result: Result) -> Line:
    method, limit = form
    references = "all" if limit is None else f"{limit:,}"
    means = [result.mean(metric, "all", RANKINGS[ranking]) for metric in METRICS]
    cells = [_number(mean) for mean in means]
    scores = Scores.at_hand(result)
    if scores is None:
        cells += [Cell(), Cell()]
    else:
        values = scores.probability if ranking == "clipped" else scores.score
        at_one = float((scores.probability[~scores.same] >= 1).mean())
        cells.append(_number(float(values.mean() - scores.same.mean()), "+"))
        cells.append(Cell(f"{at_one:.2%}", at_one) if ranking == "clipped" else Cell())
    return Line(f"{FORMS[method]}, {references}, {ranking}", tuple(cells))


def _number(value: float | None, sign: str = "") -> Cell:
    return Cell() if value is None else Cell(f"{value:{sign}.{DIGITS}f}", value)
