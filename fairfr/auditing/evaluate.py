"""An evaluation: does a saved calibrator still hold on new pairs?"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.auditing.evaluation_text import checks_as_dict, findings_of, verdict_text
from fairfr.auditing.given_arrays import Names, given_columns
from fairfr.auditing.group_rates import CURRENT, KEPT, GroupRates, Level, MeasuredRates, rates_at
from fairfr.auditing.kept import Kept, kept_of
from fairfr.auditing.probabilities import Judged, Probabilities, measure_judged, most_pairs
from fairfr.auditing.report import AuditedFile, Report, calibration_as_list, rate_as_dict, report_as_dict
from fairfr.auditing.sample import Grouping, Sample, check_sample
from fairfr.auditing.sentences import AuditFinding
from fairfr.auditing.shift import Shift, measure_shift
from fairfr.auditing.verdict import Checks, Verdict, check_sample_against, has_enough_pairs
from fairfr.core.errors import ConfigError, DataError
from fairfr.core.names import ALL
from fairfr.core.types import I32, UNKNOWN
from fairfr.library.model import Model

SAME_SHARE = 0.005
"""Shares of genuine pairs that are so near to each other need no other prior."""


@dataclass(frozen=True)
class Evaluation(Report):
    """What an evaluation found. ``print`` shows the verdict and the sentences.

    Attributes
    ----------
    kept : Kept
        What the model keeps of its held-out pairs.
    verdict : str or None
        ``holds``, ``cannot_be_told_yet``, ``holds_after_a_new_prior``, ``ranking_holds_refit``, ``does_not_hold`` or
        ``cannot_be_told``; None without labels.
    checks : Checks or None
        What the verdict rests on; None where it cannot be told.
    shift : tuple of Shift
        Without labels: the probabilities beside those of held-out pairs, of all pairs and of each known group.
    """

    kept: Kept
    verdict: Verdict | None
    checks: Checks | None
    shift: tuple[Shift, ...]

    def __str__(self) -> str:
        lines = [verdict_text(self), super().__str__()]
        return "\n".join(line for line in lines if line)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON: numbers, texts, lists; null where something has no value."""
        return report_as_dict(self) | {
            "verdict": self.verdict,
            "checks": checks_as_dict(self.checks),
            "rates": [rate_as_dict(row, self.sample) for row in self.rates.rows],
            "calibration": calibration_as_list(self.probabilities),
            "shift": [asdict(shift) for shift in self.shift],
        }

    def to_html(self) -> str:
        """The page: one file that needs no other."""
        from fairfr.auditing.evaluation_page import evaluation_page

        return evaluation_page(self)


def evaluate(
    probability: npt.ArrayLike,
    same: npt.ArrayLike | None = None,
    *,
    groups: Mapping[str, Names] | None = None,
    identities: Names | None = None,
    stored: Model,
    fmr: float | None = None,
    threshold: float | None = None,
) -> Evaluation:
    """Evaluate a saved calibrator on new pairs: do its rates, its probabilities and its ranking still hold?

    Parameters
    ----------
    probability : array of shape (n_pairs,)
        What ``stored`` says of the new pairs, without ``prior=``.
    same : array of shape (n_pairs,), optional
        Whether a pair shows one person. None: only whether the probabilities could come from pairs like those before.
    groups : mapping, optional
        As in ``fairfr.audit``; those that the model knows are compared.
    identities : tuple of two arrays of shape (n_pairs,), optional
        Who is on the left and on the right images. Without them pairs count as independent, and the evaluation says so.
    stored : Model
        The model, as ``fairfr calibrate fit`` made it, with a threshold of ``fairfr calibrate threshold --keep``.
    fmr : float, optional
        The rate whose kept threshold counts; the largest by default.
    threshold : float, optional
        Another threshold on the probability whose rates are shown.

    Returns
    -------
    Evaluation
        With ``verdict``, ``to_frame()`` (rates), ``to_dict()`` (everything, as JSON) and ``to_html()`` (the page).

    Raises
    ------
    DataError
        For probabilities outside [0, 1], labels that contradict identities, and shapes that do not fit.
    """
    if not isinstance(stored, Model) or not stored.__sklearn_is_fitted__():
        raise DataError("stored must be a fitted model, such as fairfr.load('mine.fairfr').")
    columns = given_columns(probability, same, groups, identities, "probability")
    columns = replace(columns, probability=columns.score)
    sample = check_sample(columns)
    return evaluate_sample(sample, AuditedFile("arrays", None, len(columns.score)), stored, fmr, threshold)


def evaluate_sample(
    sample: Sample,
    file: AuditedFile,
    model: Model,
    fmr: float | None = None,
    threshold: float | None = None,
    unlike: str | None = None,
) -> Evaluation:
    """Evaluate checked pairs, whose similarity is the model's probability.

    ``unlike``: what the model says of images that are unlike those of its training, if there are many.
    """
    if threshold is not None and not 0 <= threshold <= 1:
        raise ConfigError(f"threshold {threshold!r}: a probability, between 0 and 1.")
    kept = kept_of(model, fmr)
    sample = _with_product(sample, kept)
    thresholds: list[tuple[Level, float | None]] = []
    if kept.threshold is not None:
        thresholds.append((KEPT, kept.threshold.value))
    if threshold is not None:
        thresholds.append((CURRENT, threshold))
    rates = rates_at(sample, thresholds)
    checks: Checks | None = None
    verdict: Verdict | None = None
    shift: tuple[Shift, ...] = ()
    if sample.same is None:
        shift = _shift(sample, kept)
    else:
        verdict = "cannot_be_told"
        if has_enough_pairs(sample.same) and kept.missing is None:
            assert kept.threshold is not None
            compared = _compared(rates, sample, kept)
            checks = check_sample_against(kept, kept.threshold, sample, compared, rates.subsets[0])
            verdict = checks.verdict
    probabilities = _probabilities(sample, kept)
    found = Evaluation(
        findings=[],
        rates=rates,
        probabilities=probabilities,
        sample=sample,
        file=file,
        created=datetime.date.today().isoformat(),
        kept=kept,
        verdict=verdict,
        checks=checks,
        shift=shift,
    )
    findings = findings_of(found)
    if unlike is not None:
        findings.append(AuditFinding("note", unlike))
    return replace(found, findings=findings)


def _with_product(sample: Sample, kept: Kept) -> Sample:
    """With the groups that the model knows, where these are a product such as ``ethnicity_x_gender``."""
    if kept.expected is None or kept.expected.grouping is None:
        return sample
    id = kept.expected.grouping
    given = {grouping.id: grouping for grouping in sample.groupings}
    parts = [given[part] for part in id.split("_x_") if part in given]
    if id in given or len(parts) < 2 or id != "_x_".join(part.id for part in parts):
        return sample
    product = parts[0]
    for part in parts[1:]:
        product = _crossed(product, part)
    return replace(sample, groupings=(*sample.groupings, replace(product, id=id)))


def _crossed(first: Grouping, second: Grouping) -> Grouping:
    """The product of two groupings: level ``asian_female``; an unknown part makes it unknown."""
    levels: list[str] = []
    for level in first.levels:
        levels += [f"{level}_{other}" for other in second.levels]

    def codes(a: I32, b: I32) -> I32:
        crossed = np.where((a == UNKNOWN) | (b == UNKNOWN), UNKNOWN, a * len(second.levels) + b)
        return crossed.astype(np.int32)

    left = codes(first.left, second.left)
    right = codes(first.right, second.right)
    return Grouping(f"{first.id}_x_{second.id}", tuple(levels), left, right, max(first.sides, second.sides))


def _known_grouping(sample: Sample, kept: Kept, groups: list[str]) -> Grouping | None:
    """The grouping whose groups the model knows: the one of its name, or else the first with one of its groups."""
    if kept.expected is not None:
        for grouping in sample.groupings:
            if grouping.id == kept.expected.grouping:
                return grouping
    for grouping in sample.groupings:
        if set(grouping.levels) & set(groups):
            return grouping
    return None


def _compared(rates: MeasuredRates, sample: Sample, kept: Kept) -> list[GroupRates]:
    """The rates at the kept threshold of all pairs, and of the groups that the model knows."""
    assert kept.threshold is not None
    known = kept.threshold.groups
    rows = rates.at(KEPT, None)
    grouping = _known_grouping(sample, kept, known)
    if grouping is not None:
        rows += [row for row in rates.at(KEPT, grouping.id) if row.group in known]
    return rows


def _shift(sample: Sample, kept: Kept) -> tuple[Shift, ...]:
    if kept.expected is None:
        return ()
    histograms = kept.expected.histograms
    threshold = None
    if kept.threshold is not None:
        threshold = kept.threshold.value
    found = [measure_shift(None, ALL, sample.similarity, histograms[ALL], threshold)]
    grouping = _known_grouping(sample, kept, list(histograms))
    if grouping is not None:
        for code, level in enumerate(grouping.levels):
            inside = grouping.inside == code
            if level in histograms and inside.any():
                probability = sample.similarity[inside]
                found.append(measure_shift(grouping.id, level, probability, histograms[level], threshold))
    return tuple(found)


def _probabilities(sample: Sample, kept: Kept) -> Probabilities | None:
    """As they are, and at the share of genuine pairs here; None without labels of both kinds."""
    if sample.same is None or sample.same.all() or not sample.same.any():
        return None
    rows, part = most_pairs(sample)
    as_is = Judged.of("as_is", part.similarity, kept.genuine, kept.impostors)
    share = float(sample.same.mean())
    judged = [as_is]
    if abs(share - kept.share) > SAME_SHARE:
        judged.append(as_is.at_prior("prior", share))
    return measure_judged(rows, part, judged)
