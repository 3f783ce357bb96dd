"""The page of an audit: one HTML file that needs no other, for screens, phones and paper."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from fairfr import __version__
from fairfr.auditing.audit_figures import ReliabilityBin, audit_figures, reliability_bins, reliability_figure
from fairfr.auditing.group_rates import CURRENT, KEPT, KINDS, GroupRates, Level, Rate, largest_ratio
from fairfr.auditing.probabilities import SCORE, GroupCalibration, Probabilities
from fairfr.auditing.sentences import AuditFinding, Wording, percent, rounded_down, times_of
from fairfr.core.names import ALL
from fairfr.core.text import escape_control_chars, plural
from fairfr.numerics.error_rates import threshold_at
from fairfr.numerics.rate_bounds import Errors

if TYPE_CHECKING:
    from fairfr.auditing.audit import Audit
    from fairfr.auditing.report import Report

METHOD_NAMES = {"as_is": "the model", "prior": "the model at the prior of these pairs"}
HEADS: dict[str, str] = {"sure": "What is sure", "unclear": "What cannot be told", "note": "Notes"}
STYLE = """
.findings li { margin: 6px 0; max-width: 100ch; overflow-wrap: anywhere; }
.notes { overflow-wrap: anywhere; }
.verdict { font-size: 1.15em; border-left: 4px solid #1c2024; padding-left: 12px; max-width: 100ch; }
svg { max-width: 620px; width: 100%; height: auto; }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(480px, 100%), 1fr)); gap: 0 20px; }
table.words td { text-align: left; }
main { max-width: 1180px; margin: 0 auto; }
textarea { width: 100%; min-height: 190px; font: inherit; font-size: 13px; }
@media print {
  body { background: none; font-size: 12px; }
  h2 { break-after: avoid; }
  .scroll { overflow: visible; }
  table { font-size: 10px; }
  .pictures { grid-template-columns: 1fr 1fr; gap: 0 12px; }
  td { white-space: normal; }
  textarea { border: 0; height: 260px; }
}
"""


def audit_page(found: Audit) -> str:
    """The whole page."""
    title = f"Audit of {found.file.name}"
    sections = [
        header(found, title),
        *findings_section(found.findings),
        *rates_sections(found),
        *figure_sections(found),
        *across_sections(found),
        *probability_sections(found),
        *_since(found),
        _method(found),
    ]
    return html_page(title, sections)


def html_page(title: str, sections: Sequence[str]) -> str:
    """A page around its sections."""
    style = resources.files("fairfr.report.writers").joinpath("templates/style.css").read_text(encoding="utf-8")
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{text(title)}</title>",
            f"<style>{style}{STYLE}</style></head><body><main>",
            *sections,
            "</main></body></html>",
            "",
        ]
    )


def text(anything: object) -> str:
    """Text that is shown as it is, whatever characters it has."""
    return html.escape(escape_control_chars(str(anything)))


def table(
    caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], note: str = "", words: bool = False
) -> str:
    """A table with its caption; cells are plain text. ``words``: not numbers, so they begin at the left."""
    top = "".join(f"<th>{text(head)}</th>" for head in heads)
    lines = []
    for row in rows:
        cells = [f'<td data-label="{text(head)}">{text(cell)}</td>' for head, cell in zip(heads, row, strict=True)]
        cells[0] = f"<th>{text(row[0])}</th>"
        lines.append(f"<tr>{''.join(cells)}</tr>")
    kind = ' class="words"' if words else ""
    below = f'<p class="notes">{text(note)}</p>' if note else ""
    return (
        f'<figure><figcaption><span class="title">{text(caption)}</span></figcaption><div class="scroll"><table{kind}>'
        f"<thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>{below}</figure>"
    )


def figure(title: str, caption: str, svg: str) -> str:
    """A figure with its caption."""
    head = f'<figcaption><span class="title">{text(title)}</span>{text(caption)}</figcaption>'
    return f"<figure>{head}{svg}</figure>"


def pictures(figures: Sequence[str]) -> str:
    """Figures beside each other where there is room."""
    return f'<div class="pictures">{"".join(figures)}</div>'


def header(found: Report, title: str) -> str:
    """What was read, and when."""
    sample = found.sample
    file = found.file
    facts = [plural(len(sample), "pair")]
    if sample.same is not None:
        genuine = int(np.count_nonzero(sample.same))
        facts.append(f"{genuine:,} genuine, {len(sample) - genuine:,} impostors")
    if sample.n_people is not None:
        facts.append(f"{sample.n_people:,} people")
    facts.append(found.created)
    if file.sha256 is not None:
        facts.append(f"sha256 {file.sha256}")
    return f'<h1>{text(title)}</h1><p class="notes">{text("; ".join(facts))}</p>'


def findings_section(findings: Sequence[AuditFinding]) -> Iterator[str]:
    """The sentences, by how sure they are."""
    for kind, head in HEADS.items():
        told = [finding for finding in findings if finding.kind == kind]
        if told:
            items = "".join(f"<li>{text(finding.text)}</li>" for finding in told)
            yield f'<h2>{head}</h2><ul class="findings">{items}</ul>'


# -- rates -----------------------------------------------------------------------------------------------------------


def rates_sections(found: Report) -> Iterator[str]:
    """The error rates of all groups at each threshold."""
    wording = Wording(found.sample)
    for level in found.rates.levels:
        (everything,) = found.rates.at(level, None)
        place = wording.place(level, everything.threshold)
        yield f"<h2>{text(_level_head(level, place))}</h2>"
        rows = [_rate_row(everything, level)]
        notes = [note for note in (_own_threshold_note(found, level),) if note]
        for grouping in found.sample.groupings:
            groups = found.rates.at(level, grouping.id)
            rows += [_rate_row(row, level) for row in groups]
            notes += _at_least_notes(groups, found.rates.people_known)
        heads = ["group", "impostors", "FM", "FMR [95 %]", "genuine", "FNM", "FNMR [95 %]", "at impostor level"]
        if not isinstance(level, str):
            heads.append("impostor pairs needed")
            if not any(row[-1] for row in rows):
                heads.pop()
                rows = [row[:-1] for row in rows]
            notes.append("The threshold was set on these pairs.")
        yield table(f"Error rates at {place}", heads, rows, " ".join(notes))


def _level_head(level: Level, place: str) -> str:
    if level == CURRENT:
        return f"At your threshold, {place}"
    if level == KEPT:
        return f"At the kept threshold, {place}"
    return f"At {place}"


def _rate_row(row: GroupRates, level: Level) -> list[str]:
    cells = [row.group]
    for kind in KINDS:
        rate = row.rate(kind)
        cells += [f"{rate.errors.pairs:,}", f"{rate.errors.errors:,}", _rate(rate)]
    like = needed = ""
    if not np.isnan(row.impostor_like):
        like = percent(row.impostor_like)
    if row.needed is not None:
        needed = f"{row.needed:,}"
    cells.append(like)
    if not isinstance(level, str):
        cells.append(needed)
    return cells


def _rate(rate: Rate) -> str:
    if rate.errors.pairs == 0:
        return "no pairs"
    shown = percent(rate.errors.rate)
    low, high = map(percent, rate.interval)
    mark = " (few)" if rate.is_few else ""
    if low == high == shown:
        return shown + mark
    return f"{shown} [{low}, {high}]{mark}"


def _at_least_notes(groups: Sequence[GroupRates], known: bool) -> Iterator[str]:
    for kind in KINDS:
        bound = largest_ratio(groups, kind, known)
        if bound is not None and bound.times > 1:
            which = "" if known else ", if pairs are independent"
            yield f"{kind.upper()} of {bound.higher.group} {times_of(bound.times)} that of {bound.lower.group}{which}."


def _own_threshold_note(found: Report, level: Level) -> str:
    """What it would cost to take the strictest of the groups' own thresholds for everybody."""
    groups = [one for one in found.rates.subsets if one.grouping is not None and len(one.impostors) > 0]
    (everything,) = found.rates.at(level, None)
    if isinstance(level, str) or len(groups) < 2 or everything.threshold is None:
        return ""
    observed = np.unique(found.sample.similarity)
    own = [threshold_at(one.impostors.ascending, observed, level) for one in groups]
    known = [threshold for threshold in own if threshold is not None]
    if len(known) < len(own):
        return ""
    strictest = max(known)
    fnmr = found.rates.subsets[0].genuine.errors_at(strictest).rate
    return (
        f"The groups' highest own threshold, {found.sample.shown(strictest):.4g}, gives each at most {percent(level)}: "
        f"FNMR {percent(fnmr)} instead of {percent(everything.fnmr.errors.rate)}."
    )


# -- figures, groups against groups, probabilities -------------------------------------------------------------------


def figure_sections(found: Report, scores: bool = True) -> Iterator[str]:
    """Rates over the threshold, and scores, by group."""
    current = [row.threshold for row in found.rates.rows if isinstance(row.level, str) and row.grouping is None]
    threshold = current[0] if current else None
    figures = audit_figures(found.sample, found.rates, threshold, scores)
    if figures:
        yield "<h2>Figures</h2>"
        yield pictures([figure(title, caption, svg) for title, caption, svg in figures])


def across_sections(found: Report) -> Iterator[str]:
    """FMR of impostors from two different groups, at the first threshold."""
    sample = found.sample
    if sample.same is None or not found.rates.rows:
        return
    first = found.rates.rows[0]
    if first.threshold is None:
        return
    accepted = sample.similarity >= first.threshold
    place = Wording(sample).place(first.level, first.threshold)
    for grouping in sample.groupings:
        if not np.any(grouping.across & ~sample.same):
            continue
        rows = []
        for a, name in enumerate(grouping.levels):
            cells = [name]
            for b in range(len(grouping.levels)):
                of_two = (grouping.left == a) & (grouping.right == b) | (grouping.left == b) & (grouping.right == a)
                impostors = of_two & ~sample.same
                errors = Errors(int(np.count_nonzero(impostors & accepted)), int(np.count_nonzero(impostors)))
                cells.append(share_text(errors))
            rows.append(cells)
        yield table(f"FMR at {place}, {grouping.id} against {grouping.id}", ["", *grouping.levels], rows)


def share_text(errors: Errors) -> str:
    """A rate in per cent."""
    if errors.pairs == 0:
        return "no pairs"
    return percent(errors.rate)


CURVES_NOTE = (
    "Curves of the score (platt, beta, isotonic) are fitted on other people's pairs. A curve of the score alone "
    "changes no FMR or FNMR that a threshold can reach."
)


def probability_sections(found: Report, note: str = CURVES_NOTE) -> Iterator[str]:
    """How right probabilities are: a table, and a figure of the best."""
    probabilities = found.probabilities
    if probabilities is None:
        return
    yield "<h2>As probabilities</h2>"
    heads = ["group", "method", "said", "true", "log loss", "Brier", "Cllr", "Cllr min", "slope", "p of ECCE"]
    rows = [_calibration_row(row) for row in probabilities.groups if row.method != SCORE]
    if found.sample.people is None:
        note += " People are not known: no interval and no test."
    yield table("Calibration by group", heads, rows, note)
    if probabilities.shown:
        yield from _reliability(found, probabilities)


def _calibration_row(row: GroupCalibration) -> list[str]:
    if row.said is None or row.true is None:
        return [row.group, row.method, *[""] * 7, row.reason or ""]
    numbers = [row.said, row.true, row.log_loss, row.brier, row.cllr, row.cllr_min]
    cells = [row.group, row.method, *("" if value is None else f"{value:.3g}" for value in numbers)]
    slope = ""
    if row.line is not None:
        slope = f"{row.line.slope:.2f}"
        if row.intervals_known:
            slope += " [{:.2f}, {:.2f}]".format(*row.line.slope_interval)
    p_value = ""
    if row.test is not None and not np.isnan(row.test.p_value):
        p_value = f"{row.test.p_value:.2g}"
    return [*cells, slope, p_value]


def _reliability(found: Report, probabilities: Probabilities) -> Iterator[str]:
    """What was said and what was true, in ten bins of equal mass: for each method that is shown."""
    sample = found.sample
    assert sample.same is not None
    same = sample.same[probabilities.rows]
    subsets = []
    for grouping in sample.groupings:
        inside = grouping.inside[probabilities.rows]
        subsets += [(level, inside == code) for code, level in enumerate(grouping.levels)]
    subsets.append((ALL, np.ones(len(same), dtype=bool)))  # last, so that groups look as in the other figures
    tables = []
    figures = []
    for method in probabilities.shown:
        value = probabilities.of[method]
        bins = {name: reliability_bins(same[chosen], value[chosen]) for name, chosen in subsets if chosen.any()}
        title = f"What {METHOD_NAMES.get(method, method)} says, and what is true"
        caption = "Ten bins of equal mass with 95 % intervals, pairs as if independent. On the line: right."
        figures.append(figure(title, caption, reliability_figure(title, bins)))
        rows = []
        for name, bins_of_subset in bins.items():
            rows += [_bin_row(name, one) for one in bins_of_subset]
        tables.append(table(title, ["group", "said", "true", "95 %", "pairs"], rows))
    yield pictures(figures)
    yield f"<details><summary>The bins as numbers</summary>{''.join(tables)}</details>"


def _bin_row(group: str, one: ReliabilityBin) -> list[str]:
    low, high = one.interval
    return [group, f"{one.said:.3f}", f"{one.errors.rate:.3f}", f"{low:.3f} to {high:.3f}", f"{one.errors.pairs:,}"]


def _since(found: Audit) -> Iterator[str]:
    """Then and now, at the threshold in use."""
    if found.since is None:
        return
    yield "<h2>Since the earlier audit</h2>"
    rows = []
    for change in found.since:
        both = [f"{errors.errors:,} of {errors.pairs:,} ({share_text(errors)})" for errors in (change.then, change.now)]
        verdict = "no change is established"
        if change.higher > 1:
            verdict = f"higher: at least {rounded_down(change.higher)} times"
        elif change.lower > 1:
            verdict = f"lower: it was at least {rounded_down(change.lower)} times as high"
        rows.append([change.group, change.kind.upper(), *both, verdict])
    note = "95 % for all of these comparisons together."
    if found.sample.people is None:
        note += " Pairs are treated as independent."
    yield table("At your threshold, then and now", ["group", "rate", "then", "now", "change"], rows, note)


# -- to copy ---------------------------------------------------------------------------------------------------------


def _method(found: Audit) -> str:
    sample = found.sample
    people = "Pairs that share people are not taken for independent: their spread widens every interval."
    together = "all of them"
    if sample.people is None:
        together = "all of them if pairs are independent"
        people = "It is not known who is on the images: pairs are taken as independent, and intervals are too narrow."
    if sample.is_distance:
        rule = "A pair is accepted if its distance is at most the threshold."
    else:
        rule = "A pair is accepted if its score is at least the threshold."
    lines = [
        f"{rule} FMR: accepted of all impostor pairs. FNMR: rejected of all genuine pairs.",
        "A pair counts for a group if both images are in it.",
        sample_line(found),
        f"Intervals: 95 % for each kind of error at each threshold, not all together. {people}",
        "The threshold of a level is the lowest observed score at which no more impostors than that are accepted.",
        f'"At least x times": all ordered pairs of groups are compared at a threshold; 95 % holds for {together}.',
    ]
    return text_to_copy(found, lines)


def sample_line(found: Report) -> str:
    """Of how many pairs it is, and why rows were left out."""
    sample = found.sample
    left_out = "; ".join(f"{rows:,} rows left out: {reason}" for reason, rows in sample.left_out.items())
    return f"Sample: {plural(len(sample), 'pair')} from {found.file.name}. {left_out or 'No row was left out'}."


def text_to_copy(found: Report, lines: Sequence[str]) -> str:
    """What a report about these numbers should say; it ends with what made them, and room for a name."""
    made_by = f"fairfr {__version__}, {found.created}"
    if found.file.sha256:
        made_by += f", sha256 {found.file.sha256}"
    lines = [*lines, made_by, "Name and date: ______________________________"]
    body = text("\n".join(lines))
    return f'<h2>Method, to copy</h2><textarea readonly rows="{len(lines) + 3}">{body}</textarea>'
