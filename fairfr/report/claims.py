"""The paper's own claims, judged twice: on the numbers that it prints, and on our runs."""

from __future__ import annotations

from fairfr.report import claims_appendix, claims_elsewhere, claims_groups, claims_results
from fairfr.report.against_paper import simulation
from fairfr.report.book import Book
from fairfr.report.both_sides import NotThereError, Numbers, PrintedNumbers, RunNumbers
from fairfr.report.captions import Story
from fairfr.report.claim import Claim, Status, Verdict
from fairfr.report.grid import Cell, ColumnGroup, Grid, Line, Section, Tone
from fairfr.report.order import ROWS, SETTINGS
from fairfr.report.readings import Reading
from fairfr.report.runs import Runs

SECTIONS: dict[str, tuple[Claim, ...]] = {
    "Results": claims_results.CLAIMS,
    "Groups, counts and figures of the text": claims_groups.CLAIMS,
    "Abstract, related work, conclusion, Brier": claims_elsewhere.CLAIMS,
    "Additional checks of the appendix": claims_appendix.CLAIMS,
}
CLAIMS = tuple(claim for section in SECTIONS.values() for claim in section)
TONES: dict[Status, Tone] = {"holds": "improved", "does not hold": "degraded", "cannot be told": "plain"}
STATUSES: tuple[Status, ...] = ("holds", "does not hold", "cannot be told")


def judge(claim: Claim, numbers: Numbers) -> Verdict:
    """The claim's verdict on these numbers; it cannot be told where one that it needs does not exist."""
    if claim.arithmetic and not numbers.exact:
        return Verdict("cannot be told", "arithmetic of the text: runs have no say in it")
    try:
        return claim.check(numbers)
    except NotThereError as absent:
        return Verdict("cannot be told", str(absent))


def claims(runs: Runs, reading: Reading) -> Grid:
    """One line for each claim: where it stands, its verdict from the printed tables, its verdict from our runs."""
    printed, ours = PrintedNumbers(), RunNumbers(runs, reading)
    judged = {claim.id: (judge(claim, printed), judge(claim, ours)) for claim in CLAIMS}
    sections = tuple(
        Section(heading, tuple(_line(claim, *judged[claim.id]) for claim in section))
        for heading, section in SECTIONS.items()
    )
    story = Story(Book(runs, reading), ROWS, SETTINGS)
    by_print, by_runs = zip(*judged.values(), strict=True)
    return Grid(
        id="claims",
        caption=story.caption(
            "The paper's claims, checked on its printed tables and on our runs",
            "The same arithmetic judges both.",
            *simulation(runs),
        ),
        corner=("Where",),
        groups=(
            ColumnGroup("", ("claim",)),
            ColumnGroup("Printed tables", ("verdict", "numbers")),
            ColumnGroup("Our runs", ("verdict", "numbers")),
        ),
        sections=sections,
        notes=story.notes(
            sections,
            f"Printed tables: {_tally(by_print)}. Our runs: {_tally(by_runs)}.",
            "From our runs a claim holds if it holds in kind (order, at least so many settings), not to the digit.",
            "The paper's per-group tables are absent from its source: claims that rest on them cannot be told.",
        ),
    )


def _line(claim: Claim, printed: Verdict, ours: Verdict) -> Line:
    cells = [(Cell(verdict.status, tone=TONES[verdict.status]), Cell(verdict.detail)) for verdict in (printed, ours)]
    return Line(claim.where, (Cell(claim.words), *cells[0], *cells[1]))


def _tally(verdicts: tuple[Verdict, ...]) -> str:
    return ", ".join(f"{status} {sum(v.status == status for v in verdicts)}" for status in STATUSES)
