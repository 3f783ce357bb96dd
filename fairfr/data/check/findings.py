"""What about a set is suspicious, the worst first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from fairfr.core.types import VerificationSet
from fairfr.data.check.facts import ALIKE, ALL, ALPHAS, DIFFERS, POOLED, Cell, Facts, StoredCosine
from fairfr.data.validation import NAMED, counted, spaced

Severity: TypeAlias = Literal["serious", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("serious", "warning", "note")
ENOUGH_FALSE_MATCHES = 10  # as in fairfr.metrics, which this room may not import
GENERIC = ("cosine", "cos", "score", "similarity")

# What reading a set says in sentences: a part of the sentence, its severity and code; the first that fits counts.
_TOLD: tuple[tuple[str, Severity, str], ...] = (
    ("has no vector for", "serious", "missing-vectors"),
    ("is this a distance?", "serious", "reversed-scores"),
    ("though the identities", "serious", "label-against-identity"),
    ("an earlier pair with the same label", "warning", "repeated-pairs"),
    ("identities occur in more than one fold", "warning", "identities-between-folds"),
    ("their own error rates are undefined", "warning", "one-kind-in-fold"),
    ("their numbers will be missing", "warning", "group-too-small"),
    ("belong to images that no pair uses", "note", "unused-vectors"),
)


class Finding(NamedTuple):
    """One suspicious thing; ``code`` names its kind for programs."""

    severity: Severity
    code: str
    message: str


def find(data: VerificationSet, facts: Facts) -> list[Finding]:
    """All findings, most severe first; among equals in the order of a reader's interest."""
    found = [_classified(sentence) for sentence in data.warnings]
    found += [*_cosines(data, facts), *_shared_images(facts), *_groups(facts)]
    found += [*_thin_folds(facts), *_false_matches(facts)]
    return sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))


def _classified(sentence: str) -> Finding:
    for part, severity, code in _TOLD:
        if part in sentence:
            return Finding(severity, code, sentence)
    return Finding("warning", "other", sentence)


def _cosines(data: VerificationSet, facts: Facts) -> Iterator[Finding]:
    cosine = facts.cosine
    if cosine is None:
        return
    # of a column of scores, reading it has said so already
    if data.embeddings is not None and cosine.mean_same <= cosine.mean_different:
        yield Finding(
            "serious",
            "vectors-against-labels",
            f"The cosines of the vectors are no higher for pairs of one person ({cosine.mean_same:.3f}) than for "
            f"others ({cosine.mean_different:.3f}). Do the vectors belong to these images?",
        )
    if cosine.different_above_095:
        yield Finding(
            "warning",
            "different-but-alike",
            f"{counted(cosine.different_above_095, 'pair')} labelled different with a cosine above {ALIKE}: one "
            "picture twice, or a wrong label.",
        )
    for stored in facts.stored_cosines:
        if stored.differing_pairs:
            yield _disagreement(data.backbone, stored, facts.counts.pairs)


def _disagreement(backbone: str, stored: StoredCosine, n_pairs: int) -> Finding:
    """A column that bears the backbone's name should agree; others may be of another backbone."""
    name, net = (re.sub(r"[^a-z0-9]", "", text.lower()) for text in (stored.column, backbone))
    expected = name in GENERIC or (net != "" and net in name)
    like = "" if stored.correlation is None else f", correlation {stored.correlation:.4f}"
    why = (
        "Another model, another alignment, or vectors of other images?"
        if expected
        else "No fault if it is of another backbone."
    )
    return Finding(
        "serious" if expected else "note",
        "stored-cosine-differs" if expected else "stored-cosine-of-another",
        f"Column '{stored.column}' of the pairs differs by more than {DIFFERS:g} from the cosine of the vectors in "
        f"{spaced(stored.differing_pairs)} of {counted(n_pairs, 'pair')} (mean {stored.mean_difference:.4f}, "
        f"largest {stored.largest_difference:.4f}{like}). {why}",
    )


def _shared_images(facts: Facts) -> Iterator[Finding]:
    shared = facts.shared.images_between_folds
    if shared:
        yield Finding(
            "warning",
            "images-between-folds",
            f"{spaced(shared)} of {counted(facts.counts.images, 'image')} occur in more than one fold: "
            "a fit sees images that it is tested on.",
        )
    if facts.counts.identities == 0:
        yield Finding(
            "note",
            "no-identities",
            "No identities are known: neither labels nor folds can be checked against them, and methods that need "
            "identities cannot run.",
        )


def _groups(facts: Facts) -> Iterator[Finding]:
    if not facts.groupings:
        yield Finding("note", "no-groups", "There are no groups: nothing can be said about fairness.")
    for grouping in facts.groupings:
        if grouping.mixed_same:
            yield Finding(
                "warning",
                "same-person-two-groups",
                f"{grouping.grouping}: {counted(grouping.mixed_same, 'pair')} of one person "
                f"{'has' if grouping.mixed_same == 1 else 'have'} images in two groups.",
            )
        if grouping.images_without_group:
            yield Finding(
                "note",
                "images-without-group",
                f"{grouping.grouping}: unknown for {spaced(grouping.images_without_group)} of "
                f"{counted(facts.counts.images, 'image')}; their {counted(grouping.pairs_without_group, 'pair')} "
                "count for no group.",
            )


def _thin_folds(facts: Facts) -> Iterator[Finding]:
    for grouping in facts.groupings:
        thin: dict[str, int] = {}
        for cell in facts.cells:
            if cell.grouping == grouping.grouping and cell.fold != POOLED and not cell.enough:
                thin[cell.group] = thin.get(cell.group, 0) + 1
        if not thin:
            continue
        named = [f"{group} in {count} of {facts.counts.folds} folds" for group, count in thin.items()]
        more = [f"{len(named) - NAMED} groups more"] if len(named) > NAMED else []
        listed = "; ".join(named[:NAMED] + more)
        yield Finding(
            "warning",
            "too-few-in-fold",
            f"{grouping.grouping}: too few pairs, or of one kind only, for any metric of a single fold: {listed}. "
            "Worst group and gap leave them out there.",
        )


def _false_matches(facts: Facts) -> Iterator[Finding]:
    """For each false positive rate, whether ten false matches stand behind it in a fold, and in a group."""
    for text, alpha in ALPHAS.items():
        least = round(ENOUGH_FALSE_MATCHES / alpha)
        fewest = min(cell.different for cell in facts.cells if cell.grouping == ALL and cell.fold != POOLED)
        if fewest < least:
            yield Finding(
                "warning",
                "few-false-matches",
                f"FPR {text} means {alpha * fewest:.1f} false matches in the smallest fold ({spaced(fewest)} different "
                f"pairs; {spaced(least)} would give {ENOUGH_FALSE_MATCHES}). Prefer pooled values there.",
            )
        groups = [cell for cell in facts.cells if cell.grouping != ALL and cell.fold == POOLED]
        thin = [cell for cell in groups if cell.different < least]
        if thin:
            smallest = min(thin, key=_n_different)
            yield Finding(
                "note",
                "few-false-matches-in-group",
                f"FPR {text}: {len(thin)} of {len(groups)} groups have fewer than {ENOUGH_FALSE_MATCHES} false matches "
                f"even over all folds (fewest: {smallest.group}, {smallest.false_matches[text]:.1f}).",
            )


def _n_different(cell: Cell) -> int:
    return cell.different
