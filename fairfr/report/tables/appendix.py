"""The appendix's tables: aggregates on the headline settings, then every data set and backbone in detail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from fairfr.report.readings import Reading, Result
from fairfr.report.tables.book import Book, Place, Setting
from fairfr.report.tables.captions import BEST, Story
from fairfr.report.tables.columns import Measure, lifted, number
from fairfr.report.tables.grid import Cell, ColumnGroup, Grid, Line, Section, printed_number
from fairfr.report.tables.headline import alphas_of, headline_table, transposed_table
from fairfr.report.tables.levels import levels_of
from fairfr.report.tables.order import BASELINE, Row

WITHOUT_PROBABILITY = ("baseline", "falcon", "fsn", "demonorm")
BACKBONE_PARTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "rfw": (("arcface_r100", "adaface"), ("magface",), ("arcface_r50", "facenet")),
    "bfw": (("arcface_r100", "adaface"), ("magface",), ("arcface_r50", "facenet")),
    "lfw": (("arcface_r100", "adaface"), ("magface",), ("arcface_r50", "arcface_fairface"), ("facenet",)),
}
SPREAD = "Mean±std over folds."
LIFTED = (
    "K/N: groups lifted over the Baseline, worst Baseline value first, before the first that is not (LU-AUROC: by "
    "AUROC, LD-TPR@0.1: by TPR at FPR=1e-3)."
)
GAPS = (
    "Gaps between the best and the worst group in percentage points: EO of TPR, PE of FPR, DP of the acceptance rate, "
    "at the global threshold."
)
GROUP_METRICS = {"auroc": ("AUROC", "AUROC"), "pauc": ("partial AUC (FPR ≤ 10 %)", "pAUC")}
MCCLISH = "Partial AUC up to FPR 0.1, standardised after McClish: 50 is chance, 100 perfect."
COLOURS = "Green (▲ in Markdown): above the Baseline as printed; red (▼): below."


def appendix_tables(book: Book) -> Iterator[Grid]:
    """In the paper's order."""
    yield from _aggregates(book)
    for dataset in dict.fromkeys(dataset for dataset, _ in book.settings):
        yield from _by_dataset(book, dataset)
    for setting in book.settings:
        yield _summary(book, setting)
    for metric in GROUP_METRICS:
        for setting in book.settings:
            yield from _groups(book, setting, metric)


def _aggregates(book: Book) -> Iterator[Grid]:
    yield headline_table(
        book,
        "appendix_brier",
        "Brier score of methods with a probability of their own",
        [number("Brier", "brier")],
        without=(*WITHOUT_PROBABILITY, *(row.id for row in book.others if not _native(book, row))),
        by_group=False,
    )
    worst = number("Worst-group TPR@1e-3", "tpr_at_fpr_1e-3", "worst")
    yield headline_table(book, "appendix_worst_tpr", "Worst-group TPR at FPR=1e-3", [worst])
    yield headline_table(book, "appendix_auroc", "Global AUROC", [number("AUROC", "auroc")], by_group=False)
    yield transposed_table(
        book,
        "appendix_ld_tpr",
        "LD-TPR@0.1, K/N groups lifted",
        lifted("LD-TPR@0.1", "tpr_at_fpr_1e-3"),
        "As LU-AUROC, with groups ordered and compared by TPR at the global threshold of FPR=1e-3.",
    )


def _native(book: Book, row: Row) -> bool:
    found = (book.result(setting, row) for setting in book.settings)
    return any(result.stored["method"]["native_probability"] for result in found if result is not None)


def _by_dataset(book: Book, dataset: str) -> Iterator[Grid]:
    """Accuracy and calibration, then gaps, a panel for each backbone; split into parts as in the paper."""
    present = [backbone for of, backbone in book.settings if of == dataset]
    parts = BACKBONE_PARTS.get(dataset, ())
    own = tuple((backbone,) for backbone in present if backbone not in chain(*parts))
    for number_of_part, part in enumerate((*parts, *own), start=1):
        settings = tuple((dataset, backbone) for backbone in part if backbone in present)
        if settings:
            names = ", ".join(book.label(backbone) for _, backbone in settings)
            label, ending = book.label(dataset), f"{dataset}_{{}}_{number_of_part}"
            id = f"appendix_{ending}"
            title = f"{label} accuracy and calibration: {names}"
            yield _panels(book, id.format("accuracy"), title, settings, _accuracy(), LIFTED)
            yield _panels(book, id.format("gaps"), f"{label} fairness gaps: {names}", settings, _gaps(), GAPS)


def _accuracy() -> dict[str, tuple[Measure, ...]]:
    return {
        "Higher is better": (
            number("AUROC", "auroc", spread=True),
            number("TPR@1e-3", "tpr_at_fpr_1e-3", spread=True),
            number("TPR@1e-2", "tpr_at_fpr_1e-2", spread=True),
            number("Worst-group AUROC", "auroc", "worst", spread=True),
        ),
        "Lower is better": (number("ECE-15", "ece_15", spread=True), number("Brier", "brier", spread=True)),
        "K/N": (lifted("LD-TPR@0.1", "tpr_at_fpr_1e-3"),),
    }


def _gaps() -> dict[str, tuple[Measure, ...]]:
    return {
        f"Gap at FPR={alpha}": tuple(
            number(gap.upper(), f"{gap}_gap_at_fpr_{alpha}", "gap", digits=2, spread=True) for gap in ("eo", "pe", "dp")
        )
        for alpha in ("1e-3", "1e-2")
    }


def _panels(
    book: Book,
    id: str,
    title: str,
    settings: tuple[Setting, ...],
    measures: dict[str, tuple[Measure, ...]],
    about: str,
) -> Grid:
    """A panel for each setting, columns for the measures; bold is decided inside each panel."""
    flat = [*chain(*measures.values())]
    sections = tuple(
        section
        for setting in settings
        for section in book.sections(
            [Place(setting, measure) for measure in flat], book.label(setting[1]) if len(settings) > 1 else ""
        )
    )
    rows = tuple(row for _, rows in book.blocks() for row in rows)
    story = Story(book, rows, settings, alphas_of(flat))
    return Grid(
        id=id,
        caption=story.caption(title, SPREAD, BEST),
        corner=("Method",),
        groups=tuple(ColumnGroup(head, tuple(m.heading for m in part)) for head, part in measures.items()),
        sections=sections,
        notes=story.notes(sections, about),
    )


def _summary(book: Book, setting: Setting) -> Grid:
    """Everything about one data set with one backbone."""
    measures = {
        "All pairs, %": (
            number("AUROC", "auroc", percent=True, digits=2, spread=True),
            number("TPR@1e-3", "tpr_at_fpr_1e-3", percent=True, digits=2, spread=True),
            number("TPR@1e-2", "tpr_at_fpr_1e-2", percent=True, digits=2, spread=True),
        ),
        "Worst group, %": (
            number("AUROC", "auroc", "worst", percent=True, digits=2, spread=True),
            number("TPR@1e-3", "tpr_at_fpr_1e-3", "worst", percent=True, digits=2, spread=True),
        ),
        "Calibration": (number("ECE-15", "ece_15", spread=True), number("Brier", "brier", spread=True)),
        **_gaps(),
        "Groups lifted, K/N": (lifted("LU-AUROC", "auroc"), lifted("LD-TPR@0.1", "tpr_at_fpr_1e-3")),
    }
    dataset, backbone = setting
    title = f"Summary: {book.label(backbone)} on {book.label(dataset)}"
    return _panels(book, f"appendix_summary_{dataset}_{backbone}", title, (setting,), measures, f"{GAPS} {LIFTED}")


def per_group(metric: str, group: str) -> Measure:
    """A metric of one group, as the paper's text quotes it: in percent with two decimals."""
    heading = group.replace("_", " ").capitalize()
    return number(heading, metric, group, percent=True, digits=2, spread=True)


def _groups(book: Book, setting: Setting, metric: str) -> Iterator[Grid]:
    """One column for each group, coloured against the Baseline; nothing where the data knows no groups."""
    some = book.some_result(setting)
    if some is None or not levels_of(some):
        return
    groups = levels_of(some)
    dataset, backbone = setting
    name, short = GROUP_METRICS[metric]
    measures = {f"{short}, %": tuple(per_group(metric, group) for group in groups)}
    about = f"{COLOURS} {MCCLISH}" if metric == "pauc" else COLOURS
    about += _folds_of_groups(some, metric, book.reading)
    title = f"Per-group {name}: {book.label(backbone)} on {book.label(dataset)}"
    grid = _panels(book, f"appendix_groups_{metric}_{dataset}_{backbone}", title, (setting,), measures, about)
    yield Grid(grid.id, grid.caption, grid.corner, grid.groups, coloured(grid.sections), grid.notes)


def _folds_of_groups(result: Result, metric: str, reading: Reading) -> str:
    """Which groups have a value in fewer folds than there are: their means are not comparable with the others'."""
    rows = {group: result.row(metric, group, reading) for group in levels_of(result)}
    short = [
        f"{per_group(metric, group).heading} {row['folds']} of {row['folds_total']}"
        for group, row in rows.items()
        if row is not None and row["folds"] < row["folds_total"]
    ]
    return f" Folds with enough pairs, where not all: {', '.join(short)}." if short else ""


def coloured(sections: Sequence[Section]) -> tuple[Section, ...]:
    """Green where a printed value lies above the Baseline's of its column, red where below."""
    lines = (line for section in sections for line in section.lines)
    baseline = next((line for line in lines if line.label == BASELINE.label), None)
    if baseline is None:
        return tuple(sections)
    return tuple(
        Section(section.heading, tuple(_against(line, baseline) for line in section.lines), section.panel)
        for section in sections
    )


def _against(line: Line, baseline: Line) -> Line:
    cells = (_toned(cell, reference) for cell, reference in zip(line.cells, baseline.cells, strict=True))
    return Line(line.label, tuple(cells), line.dagger)


def _toned(cell: Cell, reference: Cell) -> Cell:
    if not cell.text or not reference.text:
        return cell
    ours, theirs = printed_number(cell.text), printed_number(reference.text)
    if ours == theirs:
        return cell
    return Cell(cell.text, cell.value, cell.bold, "improved" if ours > theirs else "degraded")
