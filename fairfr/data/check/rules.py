"""What about a set is suspicious, the worst first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fairfr.core.errors import name_groups
from fairfr.core.findings import SEVERITIES, Finding
from fairfr.core.names import ALL, ENOUGH_FALSE_MATCHES, FPR_LEVELS, POOLED
from fairfr.core.text import plural
from fairfr.core.types import VerificationSet
from fairfr.data.check.facts import SAME_PICTURE_COSINE, STORED_COSINE_TOLERANCE, Facts, StoredCosine
from fairfr.data.check.vector_rows import vector_findings
from fairfr.data.validation import MAX_NAMED_GROUPS, genuine_shares, share_findings

GENERIC = ("cosine", "cos", "score", "similarity")


def find_suspicious(data: VerificationSet, facts: Facts, min_pairs: int) -> list[Finding]:
    """All findings: those of reading ``data``, and what follows from its ``facts``.

    Parameters
    ----------
    data : VerificationSet
        Pairs that can be read.
    facts : Facts
        Of these pairs.
    min_pairs : int
        How many pairs a group needs to be measured.

    Returns
    -------
    list of Finding
        The most severe first; among equals in the order of a reader's interest.
    """
    read = [finding for finding in data.warnings if finding.code != "no-groups"]  # told below, as this command has it
    found = [*read, *_cosines(data, facts), *vector_findings(data), *_folds(facts), *_shared_images(facts)]
    found += [*_without_groups(data), *_groups(facts), *_genuine_shares(data, min_pairs)]
    found += [*_thin_folds(facts), *_false_matches(facts)]
    return sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))


def _cosines(data: VerificationSet, facts: Facts) -> Iterator[Finding]:
    cosine = facts.cosine
    if cosine is None:
        return
    # of a column of scores, reading it has said so already
    if data.embeddings is not None and cosine.mean_same <= cosine.mean_different:
        yield Finding(
            "vectors-against-labels",
            "serious",
            f"The cosines of the vectors are no higher for pairs of one person ({cosine.mean_same:.3f}) than for "
            f"others ({cosine.mean_different:.3f}). Do the vectors belong to these images? Is same=1 for pairs of "
            "one person?",
        )
    if cosine.different_above_095:
        yield Finding(
            "different-but-alike",
            "warning",
            f"{plural(cosine.different_above_095, 'pair')} labelled as two people with a cosine above "
            f"{SAME_PICTURE_COSINE}: one picture twice, or a wrong label.",
            {"pairs": cosine.different_above_095},
        )
    for stored in facts.stored_cosines:
        if stored.differing_pairs:
            yield _disagreement(data.backbone, stored, facts.counts.pairs)


def _disagreement(backbone: str, stored: StoredCosine, n_pairs: int) -> Finding:
    """A column that bears the backbone's name should agree; others may be of another backbone."""
    name, net = (re.sub(r"[^a-z0-9]", "", text.lower()) for text in (stored.column, backbone))
    expected = name in GENERIC or (net != "" and net in name)
    like = "" if stored.correlation is None else f", correlation {stored.correlation:.4f}"
    text = (
        f"Column '{stored.column}' of the pairs differs by more than {STORED_COSINE_TOLERANCE:g} from the cosine "
        f"of the vectors in {stored.differing_pairs:,} of {plural(n_pairs, 'pair')} "
        f"(mean {stored.mean_difference:.4f}, largest {stored.largest_difference:.4f}{like})."
    )
    counts = {"pairs": stored.differing_pairs, "of": n_pairs}
    if not expected:
        text += " No fault if it is of another backbone."
        return Finding("stored-cosine-of-another", "note", text, counts)
    text += " Another model, another alignment, or vectors of other images?"
    return Finding("stored-cosine-differs", "serious", text, counts)


def _folds(facts: Facts) -> Iterator[Finding]:
    if facts.counts.folds == 1:
        yield Finding(
            "no-folds",
            "serious",
            "The pairs have no folds: run with protocol=identity_disjoint, which makes folds without common people.",
        )


def _shared_images(facts: Facts) -> Iterator[Finding]:
    shared = facts.shared.images_between_folds
    if shared:
        yield Finding(
            "images-between-folds",
            "warning",
            f"{shared:,} of {plural(facts.counts.images, 'image')} occur in more than one fold: "
            "a fit sees images that it is tested on.",
            {"images": shared, "of": facts.counts.images},
        )
    if facts.counts.identities == 0:
        yield Finding(
            "no-identities",
            "note",
            "No identities are known: neither labels nor folds can be checked against them, and methods that need "
            "identities cannot run.",
        )


def _without_groups(data: VerificationSet) -> Iterator[Finding]:
    if data.grouping is not None:
        return
    here = f" (here: --grouping {next(iter(data.group_columns))})" if data.group_columns else ""
    text = f"Without groups nothing can be said about fairness. {name_groups(data.group_columns)}{here}"
    yield Finding("no-groups", "note", text, data.group_columns)


def _groups(facts: Facts) -> Iterator[Finding]:
    for grouping in facts.groupings:
        if grouping.mixed_same:
            yield Finding(
                "same-person-two-groups",
                "warning",
                f"{grouping.grouping}: {plural(grouping.mixed_same, 'pair')} of one person "
                f"{'has' if grouping.mixed_same == 1 else 'have'} images in two groups.",
                {"pairs": grouping.mixed_same},
            )
        if grouping.images_without_group:
            yield Finding(
                "images-without-group",
                "note",
                f"{grouping.grouping}: unknown for {grouping.images_without_group:,} of "
                f"{plural(facts.counts.images, 'image')}; their {plural(grouping.pairs_without_group, 'pair')} "
                "count for no group.",
                {"images": grouping.images_without_group, "pairs": grouping.pairs_without_group},
            )


def _genuine_shares(data: VerificationSet, min_pairs: int) -> list[Finding]:
    shares = {}
    for grouping in data.groupings.values():
        group = grouping.of(data.pairs, "both")
        shares[grouping.id] = genuine_shares(grouping.levels, group, data.same, min_pairs)
    return share_findings(shares)


def _thin_folds(facts: Facts) -> Iterator[Finding]:
    for grouping in facts.groupings:
        thin: dict[str, int] = {}
        for part in facts.fold_groups:
            if part.grouping == grouping.grouping and part.fold != POOLED and not part.enough:
                thin[part.group] = thin.get(part.group, 0) + 1
        if not thin:
            continue
        named = [f"{group} in {count} of {facts.counts.folds} folds" for group, count in thin.items()]
        more = [f"{len(named) - MAX_NAMED_GROUPS} groups more"] if len(named) > MAX_NAMED_GROUPS else []
        listed = "; ".join(named[:MAX_NAMED_GROUPS] + more)
        yield Finding(
            "too-few-in-fold",
            "warning",
            f"{grouping.grouping}: too few pairs, or only genuine or only impostor ones, "
            f"for any metric of a single fold: {listed}. "
            "Worst group and gap leave them out there.",
            {"groups": len(thin), "groups_in_folds": sum(thin.values())},
        )


def _false_matches(facts: Facts) -> Iterator[Finding]:
    """For each false positive rate, whether ten false matches stand behind it in a fold, and in a group."""
    for text, alpha in FPR_LEVELS.items():
        least = round(ENOUGH_FALSE_MATCHES / alpha)
        fewest = min(part.different for part in facts.fold_groups if part.grouping == ALL and part.fold != POOLED)
        if fewest < least:
            yield Finding(
                "few-false-matches",
                "warning",
                f"FMR {text} means {alpha * fewest:.1f} false matches in the smallest fold ({fewest:,} impostor "
                f"pairs; {least:,} would give {ENOUGH_FALSE_MATCHES}). Prefer pooled values there.",
                {"different_pairs": fewest, "enough": least},
            )
        groups = [part for part in facts.fold_groups if part.grouping != ALL and part.fold == POOLED]
        thin = [part for part in groups if part.different < least]
        if thin:
            smallest = min(thin, key=lambda part: part.different)
            yield Finding(
                "few-false-matches-in-group",
                "note",
                f"FMR {text}: {len(thin)} of {len(groups)} groups have fewer than {ENOUGH_FALSE_MATCHES} false matches "
                f"even over all folds (fewest: {smallest.group}, {smallest.false_matches[text]:.1f}).",
                {"groups": len(thin), "of": len(groups)},
            )
