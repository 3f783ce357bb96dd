"""The forms of AC-Density side by side: its own neighbour or not, all references or some, ranked clipped or not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from fairfr.core.types import Source
from fairfr.report.quantity import higher_is_better
from fairfr.report.readings import Reading, Run
from fairfr.report.scores import Scores
from fairfr.report.selection import OF_METHOD, Selection, parameters_of
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner, mark_best, number_entry
from fairfr.report.tables.order import DENSITY, DENSITY_LOO
from fairfr.report.tables.provenance import short_key

FORMS = {DENSITY.id: "self", DENSITY_LOO.id: "LOO"}
# native probabilities: the paper's reading ranks by them, clipped to [0, 1]; the strict one by the unclipped score
RANKINGS: dict[str, Reading] = {"clipped": "paper", "unclipped": "strict"}
METRICS = {"auroc": "AUROC", "tpr_at_fpr_1e-3": "TPR@1e-3", "brier": "Brier", "ece_15": "ECE-15"}
DIGITS = 4
MAX_REFERENCES = "dataset.max_references"
NOTES = (
    Note(
        "forms",
        "With 'self' a training pair in the reference set is its own nearest neighbour, as the paper's text says; "
        "'LOO' leaves it out. References are the training pairs among which neighbours are sought; where there are no "
        "more than the limit, all are, and the forms coincide.",
    ),
    Note(
        "rankings",
        "AUROC and TPR rank by the probability, clipped to [0, 1], or by the value before clipping. Brier and ECE are "
        "those of the clipped probability in both. Means over held-out folds.",
    ),
    Note(
        "bias",
        "mean(p - y) is over all held-out pairs, of the clipped or the unclipped value; above 0 it is too confident "
        "that two images show one person. Impostors at 1 are the share of impostor pairs with p = 1, tied at the top.",
    ),
    Note(
        "how_to_run",
        "To run them on any data:",
        commands=("fairfr run -m experiment=density_forms dataset=rfw backbone=magface",),
        for_print=False,
    ),
)
Form: TypeAlias = tuple[str, int | None]


def density_forms(results: Iterable[Run], source: Source, selection: Selection | None = None) -> list[Grid]:
    """A section for each data set and backbone with such runs, two lines for each form; nothing without any."""
    forms = [result for result in results if _is_form(result, source)]
    found = _newest((selection or Selection()).whatever(MAX_REFERENCES, forms))
    if not found:
        return []
    sections = tuple(_section(setting, forms) for setting, forms in sorted(found.items()))
    keys = ", ".join(short_key(r.stored["key"]) for forms in found.values() for r in forms.values())
    return [
        Grid(
            id="study_density_forms",
            title="Forms of AC-Density",
            corner=("Neighbours, references, ranking",),
            spanners=(Spanner("", (*METRICS.values(), "mean(p - y)", "Impostors at 1")),),
            sections=sections,
            notes=(*NOTES, Note("keys", f"{keys}.", "Run keys", for_print=False)),
            about=("Bold: best of a data set and backbone.",),
            source=source,
            chapter="Studies",
        )
    ]


def max_references_of(result: Run) -> int | None:
    """``dataset.max_references`` of a run; None for all training pairs."""
    limit: int | None = parameters_of(result).get(MAX_REFERENCES)
    return limit


def _is_form(result: Run, source: Source) -> bool:
    """Completed, on this source, and as the yaml has it but for the references: another k is another study."""
    stored = result.stored
    is_one = stored["method"]["id"] in FORMS and stored["status"] == "completed" and stored["source"] == source
    return is_one and not any(key.startswith(OF_METHOD) for key in result.differs)


def _newest(results: Iterable[Run]) -> dict[tuple[str, str], dict[Form, Run]]:
    """The last run of each form, by data set and backbone; forms in the table's order."""
    found: dict[tuple[str, str], dict[Form, Run]] = {}
    for result in sorted(results, key=lambda r: str(r.stored["finished"])):
        form = (result.stored["method"]["id"], max_references_of(result))
        found.setdefault(result.cell[:2], {})[form] = result
    order = list(FORMS)
    return {
        setting: dict(sorted(forms.items(), key=lambda item: (order.index(item[0][0]), item[0][1] or 0)))
        for setting, forms in found.items()
    }


def _section(setting: tuple[str, str], forms: dict[Form, Run]) -> Section:
    lines = [_line(form, ranking, result) for form, result in forms.items() for ranking in RANKINGS]
    some = next(iter(forms.values())).stored
    return Section(
        f"{some['dataset']['label']} x {some['backbone']['label']}",
        tuple(mark_best(lines, [*map(higher_is_better, METRICS), None, None])),
    )


def _line(form: Form, ranking: str, result: Run) -> Line:
    method, limit = form
    references = "all" if limit is None else f"{limit:,}"
    means = [result.mean(metric, "all", RANKINGS[ranking]) for metric in METRICS]
    entries = [_number(mean) for mean in means]
    scores = Scores.at_hand(result)
    if scores is None:
        entries += [Entry(), Entry()]
    else:
        values = scores.probability if ranking == "clipped" else scores.score
        at_one = float((scores.probability[~scores.same] >= 1).mean())
        entries.append(_number(float(values.mean() - scores.same.mean()), "+"))
        entries.append(Entry(f"{at_one:.2%}", at_one) if ranking == "clipped" else Entry())
    return Line(f"{FORMS[method]}, {references}, {ranking}", tuple(entries))


def _number(value: float | None, sign: str = "") -> Entry:
    return number_entry(value, DIGITS, sign=sign)
