"""The paper's own claims, judged twice: on the numbers that it prints, and on our runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from types import MappingProxyType

import numpy as np

from fairfr.numerics.bootstrap import percentile_interval
from fairfr.paper.against_tables import synthetic_warning
from fairfr.paper.claims import (
    appendix,
    contradictions,
    groups,
    headline,
    limitations,
    other_sections,
)
from fairfr.paper.claims.claim import Claim, Status, Verdict
from fairfr.paper.numbers import DrawnNumbers, MissingNumberError, Numbers, OurNumbers, PrintedNumbers
from fairfr.paper.order import ROWS, SETTINGS
from fairfr.paper.printed import WORST_BRIER
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner, Tone
from fairfr.report.tables.notes import RunsOfTable
from fairfr.report.tables.places import Place
from fairfr.report.uncertainty.setting_bootstrap import BootstrapCache
from fairfr.stored.results import Results

PARTS = (
    headline.PART,
    groups.PART,
    other_sections.PART,
    appendix.PART,
    limitations.PART,
    contradictions.PART,
)
CLAIMS = tuple(chain.from_iterable(part.claims for part in PARTS))
TONES: dict[Status, Tone] = {"holds": "improved", "does not hold": "degraded", "undetermined": "plain"}
LEVEL = 0.95
SIDES = ("Printed tables", "Our runs")
IN_KIND = Note(
    "in_kind", "From our runs a claim holds if its order, or at least so many settings, hold; digits may differ."
)
NO_INTERVALS = Note(
    "no_intervals",
    "Verdicts from our runs are those of the means; for their intervals:",
    commands=("fairfr tables --uncertainty",),
    for_print=False,
)
INTERVALS = Note(
    "intervals",
    "In brackets, where scores are available: the claim judged again on each draw of the paired bootstrap over "
    "identities. A verdict that fewer than 97.5 % of the draws share is undetermined: the interval includes the "
    "boundary.",
)
NO_GROUP_TABLES = Note(
    "no_group_tables",
    "The paper's per-group tables are absent from its source: claims that rest on them are undetermined.",
)
STATUSES: tuple[Status, ...] = ("holds", "does not hold", "undetermined")


def judge(claim: Claim, numbers: Numbers) -> Verdict:
    """The claim's verdict on these numbers; undetermined where one that it needs does not exist."""
    if claim.arithmetic and not numbers.exact:
        return Verdict("undetermined", "arithmetic of the text: runs have no say in it")
    try:
        return claim.check(numbers)
    except MissingNumberError as absent:
        return Verdict("undetermined", str(absent), lacks_numbers=True)


def judge_draws(claim: Claim, point: Verdict, drawn: DrawnNumbers) -> Verdict:
    """The verdict with its bootstrap interval; undetermined where draws of other people would turn it.

    The claim is judged again on each draw. A verdict is kept if at least 97.5 % of the draws share it: for a claim that
    one figure decides, the 95 % percentile interval of that figure then lies on one side of the boundary. Verdicts on
    numbers that the bootstrap does not measure are left as they are.
    """
    if point.status == "undetermined" and point.figure is None:
        return point
    drawn.restart()
    try:
        verdicts = []
        while drawn.draw < drawn.draws:
            verdicts.append(claim.check(drawn))
            drawn.draw += 1
    except MissingNumberError:
        return point
    share = sum(verdict.status == point.status for verdict in verdicts) / len(verdicts)
    status: Status = "undetermined"
    if share >= (1 + LEVEL) / 2:
        status = point.status
    return Verdict(status, f"{point.detail} [{_in_draws(claim, point, verdicts, share)}]", point.figure)


def _in_draws(claim: Claim, point: Verdict, verdicts: list[Verdict], share: float) -> str:
    agree = f"{point.status} in {share:.1%} of {len(verdicts):,} draws"
    figures = [verdict.figure for verdict in verdicts if verdict.figure is not None]
    if not claim.figure or len(figures) < len(verdicts):
        return agree
    low, high = percentile_interval(np.array(figures), LEVEL)
    return f"{claim.figure}, 95 % interval {low:.3g} to {high:.3g}; {agree}"


def claims(
    results: Results,
    bootstraps: BootstrapCache | None = None,
    studies: Mapping[str, Results] = MappingProxyType({}),
) -> Grid:
    """One line for each claim: where it is printed, its verdict from the printed tables and, if any, from our runs.

    With ``bootstraps`` the verdicts from our runs come with their intervals, wherever scores are at hand.
    """
    judged = _judge_all(OurNumbers(results, studies), bootstraps)
    provenance = RunsOfTable(results, ROWS, SETTINGS, [Place("", quantity=WORST_BRIER)], exact=True)
    sides: tuple[str, ...] = SIDES[:1]
    if provenance.used or studies:
        sides = SIDES
    without_run: set[str] = set()
    if len(sides) > 1:
        without_run = {claim.id for claim in CLAIMS if judged[claim.id][1].lacks_numbers}
    sections = []
    for part in PARTS:
        lines = [_line(one, judged[one.id][: len(sides)]) for one in part.claims if one.id not in without_run]
        sections.append(Section(part.heading, tuple(lines)))
    for part in PARTS:
        lines = [_line(one, judged[one.id][: len(sides)]) for one in part.claims if one.id in without_run]
        sections.append(Section(f"{part.heading}: a run is missing", tuple(lines)))
    tallies = []
    for position, side in enumerate(sides):
        verdicts = [both[position] for both in judged.values()]
        tallies.append(f"{side}: {_tally(verdicts)}.")
    of_runs: tuple[Note, ...] = ()
    if len(sides) > 1:
        of_runs = (IN_KIND, NO_INTERVALS if bootstraps is None else INTERVALS)
    bare = Grid(
        id="claims",
        title="The paper's claims, checked on its printed tables and on our runs",
        corner=("Where",),
        spanners=(Spanner("", ("claim",)), *(Spanner(side, ("verdict", "numbers")) for side in sides)),
        sections=tuple(section for section in sections if section.lines),
        notes=(Note("tally", " ".join(tallies)), *of_runs, NO_GROUP_TABLES),
        about=("The same arithmetic judges both.", *synthetic_warning(results)),
        chapter="Claims of the paper",
    )
    return provenance.annotate(bare, shrink=False)


def _judge_all(ours: OurNumbers, bootstraps: BootstrapCache | None) -> dict[str, tuple[Verdict, Verdict]]:
    """The verdicts on each claim, by its id: from the printed tables, and from our runs."""
    printed = PrintedNumbers()
    drawn = None
    if bootstraps is not None:
        drawn = DrawnNumbers(bootstraps)
    judged = {}
    for claim in CLAIMS:
        of_runs = judge(claim, ours)
        if drawn is not None:
            of_runs = judge_draws(claim, of_runs, drawn)
        judged[claim.id] = (judge(claim, printed), of_runs)
    return judged


def _line(claim: Claim, verdicts: Sequence[Verdict]) -> Line:
    entries = [Entry(claim.words)]
    for one in verdicts:
        entries += [Entry(one.status, tone=TONES[one.status]), Entry(one.detail)]
    return Line(claim.where, tuple(entries))


def _tally(verdicts: Sequence[Verdict]) -> str:
    counts = Counter(verdict.status for verdict in verdicts)
    return ", ".join(f"{status} {counts[status]}" for status in STATUSES)
